// Package picture draws stories of the simulator: members by time, what AWS did to them, what Holdfast did, and what was lost. The
// result is one HTML page that needs no script, no style sheet and no font from anywhere else.
//
// It decides and computes nothing about the story itself, reads no clock, and the same stories give the same bytes.
//
// Start reading at [Page] in page.go; chart.go turns a story into shapes, and page.html and chart.svg say how they look.
package picture
