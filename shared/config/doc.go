// Package config turns a function's environment into one validated value. The names of the variables are exported, because
// infra sets what the functions read.
//
// It repairs nothing and guesses nothing: a value outside its range is an error that names the variable, and all errors come
// at once. It knows no policy of a group: that lives in the parameter store.
//
// Start reading at config.go.
package config
