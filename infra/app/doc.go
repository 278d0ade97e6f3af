// Package app is the CDK app: which stacks there are, for which accounts and Regions, with the settings of cdk.json.
//
// It declares no resource itself and needs no account: without stages, its stacks fit any account and Region.
//
// Start reading at app.go; the resources are in package stack, the example service in package example.
package app
