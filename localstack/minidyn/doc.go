// Command minidyn serves the DynamoDB of the library github.com/truora/minidyn on a loopback address, as a peer of the contract suite. It is a module of
// its own, because the library brings requirements that the product must not have.
//
// It keeps nothing, and never listens on any other address. Start reading at main.
package main
