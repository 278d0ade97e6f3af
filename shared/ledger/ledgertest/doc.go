// Package ledgertest is the contract of runner.Ledger as tests: the table behind package ledger, the ledger in memory and
// every other one must pass Contract. It decides nothing and is imported by tests only.
//
// Start reading at Contract.
package ledgertest
