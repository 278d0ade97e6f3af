// Package strict decodes the JSON that a person or a schedule writes by hand: what is misspelt or stands twice is an error, because
// something else than was meant would be done.
//
// It never reads events of AWS, which may get new keys at any time.
//
// Start reading at Object in object.go.
package strict
