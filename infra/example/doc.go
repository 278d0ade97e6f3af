// Package example is a service under guard, small enough to be read at once: a network, a load balancer, a group of two small instances
// that serve a page and run the heartbeat agent, and a dependency alarm. It is what a new account deploys first.
//
// Its instances have no way to the internet: they reach DynamoDB and S3 through gateway endpoints, fetch the agent's binary from the assets
// that the deploy uploaded, and use only what the image brings along.
//
// Start reading at example.go, then site.py, which shows how a health check travels the path of the requests.
package example
