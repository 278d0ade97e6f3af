// Package heartbeat is what runs on an instance, or inside an application: it carries out local checks on their own schedule, writes
// the instance's own row of the heartbeat table, and answers /health and /debug/status.
//
// An Agent runs checks and beats at an interval; it says ok, failing, or draining when the instance is leaving. A Worker is for
// queue consumers: it beats because work was done, not because time passed. Both write through a Writer, which has at most one
// request under way and never lets the row's sequence number go back.
//
// It never reads another row, never asks another host of its own accord, never writes a file, and never acts on what it finds: a row
// is a report, and Holdfast decides. Timers run on the monotonic clock, so that a step of the machine's clock changes the stamps in
// the row and nothing else.
//
// Folder local has the checks that an agent usually makes, folder metadata finds out which instance this is.
//
// Start reading at agent.go, then writer.go and row.go.
package heartbeat
