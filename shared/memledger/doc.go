// Package memledger is runner.Ledger in memory: the same versions, conflicts and transactions as the table behind package
// ledger, for tests and for the simulator. Contents go in and out as JSON, so nothing is shared with the caller and nothing
// survives here that the table would lose; NewOfValues leaves that out where speed is worth more. A call can be made to fail
// before or after it takes effect.
//
// It never expires anything and reads no clock: a transaction token is remembered for ever, where DynamoDB forgets it after
// ten minutes.
//
// Start reading at memledger.go; hooks.go has the failures.
package memledger
