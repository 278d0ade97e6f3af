// Package report shows the result of an audit: as text for a terminal, as JSON, as SARIF 2.1.0 for code scanning, and as one HTML page
// that asks nothing of anybody else.
//
// It judges nothing and reads no clock: the same report gives the same bytes. Names and texts may come from anybody, so that every form
// shows control characters and characters that turn the direction of writing as what they are.
//
// Start reading at text.go, sarif.go and html.go; order.go has what they share.
package report
