// Package whatif answers the question with which an audit begins: what would a shared dependency's bad minutes do to each group? It
// puts a group with its own settings into the simulator, lets every probe of its targets fail for a while, and counts what Auto Scaling
// terminates, by itself and with Holdfast on watch.
//
// Nothing is estimated by formula. What the settings do not tell is assumed and listed with the answer. It reads no clock and no network.
//
// Start reading at whatif.go.
package whatif
