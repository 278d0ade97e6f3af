// Package deploy has what brings the agent onto an instance: the systemd unit, an example of its file, and user data, which it renders
// for whoever declares the instances.
//
// It calls nothing and reads no file at run time. Start reading at user-data.sh, which is what an instance runs.
package deploy
