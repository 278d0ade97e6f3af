// Command mutate measures the tests of one package: it changes the package in one small place at a time, and asks whether a test fails.
//
// A change is a mutant: another comparison, another operator, a condition that always or never holds, a number one more or less, a statement, a
// field or a result left out. A mutant that no test notices has survived, and is either a missing test or a change that makes no difference. The second
// kind is listed with its reason in a file; a survivor that is not in the file fails the run, and so does a line of the file that is no longer true.
//
// All mutants but those of constants are woven into one copy of the sources, and a test binary built once from it carries them all; the environment says
// which one is awake. So a mutant costs a run of the tests, not a build. The real sources are never written: the copy is given to go as an overlay.
//
// It never mutates tests, texts or types, and it judges one package whose imports are of the standard library.
//
// Start reading at main; find.go has the list of changes, weave.go the copy, run.go the judging, listed.go the file of survivors.
package main
