// Package metadata finds out which instance this is, and whether it is about to leave its group, from the instance metadata service.
//
// It speaks version 2 only: without a session token it asks nothing. It makes no call to AWS itself and changes nothing.
//
// Start reading at source.go.
package metadata
