// Package dynamo is an in-memory DynamoDB for the operations that a ledger and a heartbeat table need.
//
// It answers the SDK's own typed inputs with the SDK's own typed outputs and exceptions, so a protocol layer
// only has to decode and encode. Every operation runs under one lock: a condition and the write that it guards,
// and all the actions of a transaction, are one step. Races between callers therefore end as they do on AWS,
// with exactly one winner.
//
// What is judged like AWS: condition, update, filter, key and projection expressions, reserved words, unused
// placeholders, key and size rules, consumed units, cancellation reasons, request tokens. What it never does:
// it keeps no secondary index and no legacy (pre-expression) parameters and refuses both; it deletes nothing on
// expiry, because DynamoDB goes on returning expired items for days; it reads no clock but the one it is given.
//
// Start reading at Tables in tables.go; the expressions begin at parser in parse.go.
package dynamo
