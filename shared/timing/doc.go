// Package timing is the arithmetic of health-check thresholds and of heartbeats: how long a failure goes unseen, which timeout must
// end inside which, what probes put on a service, and what heartbeats cost. Infrastructure code and the command line share it, so
// that both refuse the same numbers with the same sums.
//
// It reads nothing, writes nothing and knows no AWS client. It never repairs a number: what breaks a rule is told with its sum.
//
// Start reading at check.go, then group.go and beats.go.
package timing
