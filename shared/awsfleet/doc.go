// Package awsfleet reads Auto Scaling groups, their load balancer targets, activities and opt-outs, and implements runner.Fleet.
//
// It never changes anything, never decides about health, and never takes what it could not read for something that is not
// there: a page that is missing, a token that comes back twice or an answer that leaves out what was asked for is a failed read.
// It makes no call per member: calls grow with groups, target groups and pages.
//
// A Reader makes one Run per sweep. Within a Run, target groups that several groups share and the Region's opt-outs are read
// once; from the moment that Run.Group has read a group afresh, the details of that group come from fresh reads only.
//
// Start reading at reader.go, then details.go.
package awsfleet
