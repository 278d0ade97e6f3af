// Package params is an in-memory SSM Parameter Store for plain and secure strings.
//
// It answers the SDK's own typed inputs with the SDK's own typed outputs and exceptions: versions, the overwrite
// rule, allowed patterns, size limits, pages of at most ten that may be short or empty while a token is set, and
// names whose access is denied. It never encrypts anything (a SecureString read without decryption is an opaque
// text that is not its value), keeps no labels and no policies, and reads no clock but the one it is given.
//
// Start reading at Store in store.go.
package params
