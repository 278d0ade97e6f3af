// Package template reads infrastructure that is not deployed yet as an account to audit: CloudFormation and CDK templates, as JSON or
// YAML, and Terraform plans as `terraform show -json` writes them.
//
// It computes what a template alone can tell: parameters by their defaults, mappings, conditions and intrinsic functions of literal
// values. What only AWS or a person knows stays unknown and is listed as unread with its property. Where a template states nothing, the
// default of the tool that will read it is taken, and each default names its source.
//
// It opens no file, asks nobody and reads no clock; it is bounded in size, depth and work, because a template may come from anybody.
//
// Start reading at [Read] in read.go; node.go is the text as a tree, eval.go the intrinsic functions, cloudformation.go and terraform.go
// the two kinds of template, settings.go what both have in common.
package template
