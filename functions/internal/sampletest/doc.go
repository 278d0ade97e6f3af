// Package sampletest says, for every sample event in events/, which function owns it and what comes of it, or why it is not for us. The tests of every
// function read the same table: the owner must do what stands here, and all others must refuse the event by name.
//
// It is for tests only and decides nothing. Start reading at Rows.
package sampletest
