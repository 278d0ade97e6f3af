// Package example is a service under guard, small enough to be read at once: a network, a load balancer, a group of two small instances
// that serve a page and write heartbeats, and a dependency alarm. It is what a new account deploys first.
//
// Its instances have no way to the internet: they reach DynamoDB through a gateway endpoint, and use only what the image brings along.
//
// Start reading at example.go, then user_data.sh, which is the agent of the example.
package example
