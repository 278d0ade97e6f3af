// Package tradeoff shows how each default of the policy sits between two mistakes: to replace what is well, and to leave what is broken. It
// plays the game days with one key at a time set to each of several values, everything else built in, and tells what it cost.
//
// It decides nothing and changes no default; a person reads the table. The same seeds give the same table, byte for byte.
//
// Start reading at [Keys] and [Run].
package tradeoff
