// Package review holds the reviewed thresholds of a service: the numbers of its target group and its Auto Scaling group, the
// arithmetic that says whether they fit together, and the record of who reviewed them, when and why.
//
// It knows no CDK and no AWS client, and it never repairs a number: what breaks a rule is told with its sum. The arithmetic itself is
// package timing, which the command line prints as well.
//
// Start reading at thresholds.go, then register.go (the file that people edit) and rules.go.
package review
