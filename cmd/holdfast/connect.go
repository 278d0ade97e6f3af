package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go/logging"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/alarms"
	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/clock"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/policystore"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// surroundings are the flags that every command against AWS has; by is nil for one that asks for nothing.
type surroundings struct {
	stateTable, by *string
	// flags are where they came from.
	flags *flag.FlagSet
}

// needs says what every command against AWS takes from its surroundings.
func needs() string {
	return "It needs the credentials and the Region of the AWS command line, and the state table by --state-table or " + config.EnvStateTable + ".\n" +
		"Where sweeps are not " + config.DefaultSweepInterval + " apart, " + config.EnvSweepInterval + " says how far, as it does for the functions."
}

func tableFlag(fs *flag.FlagSet) surroundings {
	return surroundings{flags: fs, stateTable: fs.String("state-table", os.Getenv(config.EnvStateTable), "`name` or ARN of the state table; preset by "+config.EnvStateTable)}
}

func surroundingFlags(fs *flag.FlagSet) surroundings {
	u := tableFlag(fs)
	u.by = fs.String("by", operatorName(), "`who` asks, as notices will say; preset by HOLDFAST_OPERATOR, USER, LOGNAME, USERNAME or the account's name")
	return u
}

// operatorName is who asks, unless --by says so.
func operatorName() string {
	for _, name := range []string{"HOLDFAST_OPERATOR", "USER", "LOGNAME", "USERNAME"} {
		if v := os.Getenv(name); strings.TrimSpace(v) != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && strings.TrimSpace(u.Username) != "" {
		return u.Username
	}
	return "an unnamed operator"
}

// desk assembles the real clients from the environment, as the AWS command line does.
func (u surroundings) desk(ctx context.Context) (*operator.Desk, error) {
	interval, err := sweepInterval()
	if err != nil {
		return nil, err
	}
	now, err := clock.FromEnv(os.Getenv) // the machine's, but in a build for the embedded AWS
	if err != nil {
		return nil, err
	}
	// What the SDK notes beside its errors is for its own developers; every error comes back and is told.
	sdk, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration: %w", err)
	}
	if sdk.Region == "" {
		return nil, errors.New("no AWS Region: set AWS_REGION or a profile with one")
	}
	if _, err := sdk.Credentials.Retrieve(ctx); err != nil {
		return nil, noCredentials(err)
	}
	parameters := ssm.NewFromConfig(sdk)
	fleet := awsfleet.New(awsfleet.API{
		AutoScaling: autoscaling.NewFromConfig(sdk), LoadBalancing: elasticloadbalancingv2.NewFromConfig(sdk), EC2: ec2.NewFromConfig(sdk),
	}, awsfleet.Options{})
	ports := operator.Ports{Fleet: fleet.NewRun(), Policies: policystore.New(parameters), Parameters: operator.NewStore(parameters), Alarms: alarms.New(cloudwatch.NewFromConfig(sdk))}
	if *u.stateTable != "" {
		memory, err := ledger.New(dynamodb.NewFromConfig(sdk), ledger.Options{Table: *u.stateTable, Now: now})
		if err != nil {
			return nil, err
		}
		ports.Ledger = stateTable{memory, *u.stateTable, sdk.Region, u.tableFrom()}
	}
	o := operator.Options{Now: now, NewID: func() string { return rand.Text()[:8] }, SweepInterval: interval}
	if u.by != nil {
		o.By = *u.by
	}
	return operator.New(ports, o), nil
}

// noCredentials says what to do without credentials. That the SDK's last resort, the instance it may run on, has none either tells a
// person nothing.
func noCredentials(err error) error {
	const advice = "no AWS credentials: set a profile or AWS_ACCESS_KEY_ID"
	if strings.Contains(err.Error(), "no EC2 IMDS role found") {
		return errors.New(advice)
	}
	return fmt.Errorf(advice+": %w", err)
}

// stateTable is the ledger with an error that names the table when there is none.
type stateTable struct {
	operator.Ledger
	// from is the flag or the variable that named the table.
	table, region, from string
}

// tableFrom is what named the state table.
func (u surroundings) tableFrom() string {
	from := config.EnvStateTable
	u.flags.Visit(func(f *flag.Flag) {
		if f.Name == "state-table" {
			from = "--state-table"
		}
	})
	return from
}

func (t stateTable) named(err error) error {
	if errors.Is(err, fault.Gone) {
		return fmt.Errorf("state table %q does not exist in %s (%s)", t.table, t.region, t.from)
	}
	return err
}

// Load implements operator.Ledger.
func (t stateTable) Load(ctx context.Context, groupARN string) (runner.Record, error) {
	rec, err := t.Ledger.Load(ctx, groupARN)
	return rec, t.named(err)
}

// LoadRegion implements operator.Ledger.
func (t stateTable) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	rec, err := t.Ledger.LoadRegion(ctx)
	return rec, t.named(err)
}

// ReplaceRequest implements operator.Ledger.
func (t stateTable) ReplaceRequest(ctx context.Context, groupARN string, q guard.Request, seen string) error {
	return t.named(t.Ledger.ReplaceRequest(ctx, groupARN, q, seen))
}

func sweepInterval() (time.Duration, error) {
	text := os.Getenv(config.EnvSweepInterval)
	if text == "" {
		text = config.DefaultSweepInterval
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < config.SweepIntervalMin || d > config.SweepIntervalMax {
		return 0, fmt.Errorf("%s: %q, want a duration from %s to %s, such as 60s", config.EnvSweepInterval, text, config.SweepIntervalMin, config.SweepIntervalMax)
	}
	return d, nil
}
