// Package drive runs the incidents of package sim with the real runner on watch, on virtual time and in memory, or with nobody on
// watch. What comes of it is a [Story], which other drivers of the simulator fill in as well.
//
// It decides nothing: runner and guard do. It reads no clock, writes nothing outside memory, and knows no AWS package: its ports
// answer from a sim.Cloud, and the ledger is package memledger. The same incident and options give the same story, byte for byte.
//
// Start reading at [Run] in drive.go; ports.go is the simulator as the runner sees it, story.go is what can be told afterwards.
package drive
