// Package probeaws gives package probe its parameter, its memory and its members: SSM, the state table, Auto Scaling and EC2.
//
// In the state table it owns the item with pk "probe" and sk "results": one JSON document under a version. It never touches an
// item of another key, never decides what a result means, and keeps nothing between calls.
//
// Start reading at memory.go, then parameter.go and members.go.
package probeaws
