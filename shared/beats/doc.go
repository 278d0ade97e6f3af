// Package beats reads heartbeats from the heartbeat table and implements runner.Beats.
//
// It asks for exactly the members that a group has, by key, with strongly consistent reads. A row that is not there, a row that
// makes no sense and a row that could not be read are three different answers. It never judges how old a beat is and never
// writes.
//
// Start reading at reader.go; row.go has the format of a row.
package beats
