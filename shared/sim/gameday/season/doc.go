// Package season plays many seeds of many game days with many guardians and sums up what they cost, with confidence intervals over the
// seeds, as a table that can be written as Markdown, JSON or a page of small pictures.
//
// It decides nothing and changes no measure: package gameday measures, this package adds up. The same plan gives the same bytes, however
// many workers play it. It reads no clock.
//
// Start reading at [Play]; sum.go says how the figures come about, verdict.go which of them are put beside each other.
package season
