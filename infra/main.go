// Command infra synthesizes the CDK app: for CDK's command line, which cdk.json tells to run it, or alone into the folder that
// CDK_OUTDIR names. It calls nothing in AWS.
//
// Start reading at package app.
package main

import (
	"fmt"
	"os"

	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/app"
)

func main() {
	if err := synth(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// synth is apart from main, because leaving the process before jsii has closed would leave its temporary files behind. What CDK refuses
// is a panic.
func synth() (err error) {
	defer jsii.Close()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("synth: %v", r)
		}
	}()
	a, err := app.New(app.Files{CDK: "cdk.json", Thresholds: "infra/thresholds.json", CodeDir: "build"})
	if err != nil {
		return err
	}
	a.Synth(nil)
	return nil
}
