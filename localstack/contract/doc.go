// Package contract is one suite of rules about AWS's APIs, as tests: what Holdfast relies on, asked with the real SDK clients and with
// Holdfast's own adapters of several implementations that know nothing of each other. The embedded AWS is always asked, in this
// process. Others are asked if a variable has their address: HOLDFAST_PEER_MOTO, HOLDFAST_PEER_MINISTACK, HOLDFAST_PEER_DYNALITE and
// HOLDFAST_PEER_MINIDYN.
//
// A rule comes from AWS's documentation, never from what a peer does. Where a peer is known not to keep one, the table of gaps says so
// and why; the suite fails if a gap is missing from the table, and also if one in the table has closed. No peer is evidence of what AWS
// does, but where two strangers and the embedded AWS agree, the reading of the documentation was probably right.
//
// Rules leave their names behind, so the peers must be there to be thrown away. A real account is asked by one test alone, which runs only when its
// owner says so (account_test.go): the rules that change nothing, and the questions that the documentation leaves open, on one group of three
// instances that the test ends. The path of these questions is tried on the embedded AWS and on moto in every run. On AWS it has not been run yet.
//
// Start reading at contract_test.go, then gaps_test.go (what is missing where and why) and the rules, a file for each service.
package contract
