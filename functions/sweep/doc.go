// Command sweep is the function that looks at every guarded group of its shard each minute, through package runner, and acts on
// what guard decides. Its event only says when to look and at what; everything else is read at run time.
//
// It decides nothing, and keeps nothing from one invocation to the next but its clients and the fact that it has started.
//
// Start reading at main.go, then handler.go, then event.go (what it accepts); what it is made of stands in
// functions/internal/assemble.
package main
