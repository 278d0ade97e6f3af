// Package policystore reads the policy layers and the one big switch from SSM Parameter Store and implements runner.Policies.
//
// It never writes a parameter, never looks into a layer's content, and never takes a layer that it could not read for one that
// does not exist. Two operators' changes between its pages may be seen half: each layer is one parameter, so that each layer is
// whole.
//
// Start reading at reader.go.
package policystore
