// Command infra synthesizes the CDK app: for CDK's command line, which cdk.json tells to run it, or alone into the folder that
// CDK_OUTDIR names. It calls nothing in AWS.
//
// Start reading at package app.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/app"
)

func main() {
	f := app.Files{Environment: map[string]string{}}
	flag.StringVar(&f.CDK, "cdk", "cdk.json", "the settings")
	flag.StringVar(&f.Thresholds, "thresholds", "infra/thresholds.json", "the reviewed thresholds")
	flag.StringVar(&f.CodeDir, "code", "build", "the folder of the built functions")
	flag.Func("env", "NAME=VALUE, one more variable of every function, such as the address of an emulator; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE")
		}
		f.Environment[name] = value
		return nil
	})
	flag.Parse()
	if err := synth(f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// synth is apart from main, because leaving the process before jsii has closed would leave its temporary files behind. What CDK refuses
// is a panic.
func synth(f app.Files) (err error) {
	defer jsii.Close()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("synth: %v", r)
		}
	}()
	a, err := app.New(f)
	if err != nil {
		return err
	}
	a.Synth(nil)
	return nil
}
