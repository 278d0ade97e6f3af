// Command heartbeat is the agent on an instance. It reads one YAML file, looks at this host at intervals, writes the instance's own row of
// the heartbeat table, and serves /health and /debug/status. It finds out from the metadata service which instance it is, and says
// draining when the instance is about to leave.
//
// It never restarts, marks or repairs anything, reads no other row, and asks no other host unless the file declares it as a dependency. A
// file that breaks a rule is refused with the numbers; nothing is guessed.
//
//	heartbeat --config /etc/holdfast/heartbeat.yaml           run
//	heartbeat --config /etc/holdfast/heartbeat.yaml --check   say whether the file is good, and end
//
// Exit codes: 0 ended by a signal after its last beat, or a good file; 1 something failed; 2 the file or the command line is refused.
//
// Start reading at main.go, then config.go.
package main
