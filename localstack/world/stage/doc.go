// Package stage plays the simulator's incidents in the embedded AWS, with the real functions on watch: as built binaries over the
// Lambda Runtime API, or as handlers in this process. What comes of it is a drive.Story, taken from the Region's own records.
//
// It states causes only and decides nothing: the incident breaks things, Auto Scaling and the load balancer follow their rules, and
// the functions act through the AWS SDK like anywhere else. Nothing listens beyond loopback.
//
// Start reading at [Play].
package stage
