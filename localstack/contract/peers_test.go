package contract_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wholeclient"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Names of the peers.
const (
	embedded  = "world"
	worldJSON = "world in JSON"
	moto      = "moto"
	ministack = "ministack"
	dynalite  = "dynalite"
	minidyn   = "minidyn"
)

const region = "us-east-1"

// peer is one implementation of AWS's APIs.
type peer struct {
	name string
	// variable has its address; empty for the one in this process.
	variable, install string
	// services are what it is asked about.
	services []string
	// sequential peers are not asked what holds between concurrent calls: what they answer then differs from run to run.
	sequential bool
	// jsonAlarms says that CloudWatch's client is told to speak JSON to it.
	jsonAlarms bool
	// neverActive says that a table is there at once and never says that it is active, so that nobody can wait for it.
	neverActive bool
}

func peers() []peer {
	return []peer{
		{
			name:     embedded,
			services: []string{"autoscaling", "loadbalancing", "ec2", "cloudwatch", "dynamodb", "ssm", "events", "sqs", "sns"},
		},
		{
			// The AWS command line asks for alarms in JSON, where the SDK asks in CBOR.
			name: worldJSON, services: []string{"cloudwatch"}, jsonAlarms: true,
		},
		{
			name: moto, variable: "HOLDFAST_PEER_MOTO", install: "moto_server of the package moto[server]==5.2.5 from PyPI",
			services:   []string{"autoscaling", "loadbalancing", "ec2", "cloudwatch", "dynamodb", "ssm", "events", "sqs", "sns"},
			sequential: true, jsonAlarms: true,
		},
		{
			// It has no SetInstanceHealth, so that it can say nothing about groups; its functions are tested in infra/deploy.
			name: ministack, variable: "HOLDFAST_PEER_MINISTACK", install: "ministack of the package ministack==1.5.33 from PyPI",
			services:   []string{"cloudwatch", "dynamodb", "ssm", "events", "sqs", "sns"},
			jsonAlarms: true,
		},
		{
			name: dynalite, variable: "HOLDFAST_PEER_DYNALITE", install: "dynalite@4.0.0 from npm",
			services: []string{"dynamodb"},
		},
		{
			name: minidyn, variable: "HOLDFAST_PEER_MINIDYN", install: "the program of localstack/minidyn",
			services: []string{"dynamodb"}, neverActive: true,
		},
	}
}

// subject is a peer that runs, with the real clients on it.
type subject struct {
	peer
	// run is a word that no earlier run on the same peer used.
	run   string
	world *world.Region // nil but for the embedded one
	still fleet

	autoscaling *autoscaling.Client
	elb         *elb.Client
	ec2         *ec2.Client
	// cloudwatch speaks what the peer is asked in, cloudwatchCBOR what the client speaks by itself.
	cloudwatch, cloudwatchCBOR *cloudwatch.Client

	dynamodb *dynamodb.Client
	ssm      *ssm.Client
	events   *eventbridge.Client
	sqs      *sqs.Client
	sns      *sns.Client
}

// open starts the embedded peer, or finds one that somebody else started, or skips.
func open(t *testing.T, p peer) *subject {
	t.Helper()
	s := &subject{peer: p, run: strings.ToLower(rand.Text()[:8])}
	url := os.Getenv(p.variable)
	switch {
	case p.variable == "":
		r, err := world.NewRegion(sim.Config{Start: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), Seed: 1, Region: region})
		if err != nil {
			t.Fatalf("new region: %v", err)
		}
		server := httptest.NewServer(r)
		t.Cleanup(server.Close)
		s.world, url = r, server.URL
	case url == "":
		t.Skipf("%s is not set: start %s and give its address", p.variable, p.install)
	}
	t.Logf("%s at %s, names of this run have %s in them", p.name, url, s.run)
	s.connect(url)
	return s
}

func (s *subject) connect(url string) {
	cfg := aws.Config{
		Region: region, BaseEndpoint: aws.String(url), HTTPClient: wholeclient.Client{Inner: &http.Client{}},
		// No peer can read compressed metrics, and a retry would hide what the first answer was.
		DisableRequestCompression: true,
		Retryer:                   func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
	}
	s.clients(cfg)
}

// clients makes the real clients.
func (s *subject) clients(cfg aws.Config) {
	s.autoscaling, s.elb, s.ec2 = autoscaling.NewFromConfig(cfg), elb.NewFromConfig(cfg), ec2.NewFromConfig(cfg)
	s.cloudwatchCBOR = cloudwatch.NewFromConfig(cfg)
	s.cloudwatch = cloudwatch.NewFromConfig(cfg, func(o *cloudwatch.Options) {
		if s.jsonAlarms {
			o.Protocol = awsjson.New10(cwschemas.GraniteServiceVersion20100801)
		}
	})
	s.dynamodb, s.ssm, s.events = dynamodb.NewFromConfig(cfg), ssm.NewFromConfig(cfg), eventbridge.NewFromConfig(cfg)
	s.sqs, s.sns = sqs.NewFromConfig(cfg), sns.NewFromConfig(cfg)
}

// name makes a name that only this rule in this run has.
func (s *subject) name(word string) string { return "contract-" + word + "-" + s.run }

// now is the time as the peer has it: the embedded one keeps its own, the others have the machine's.
func (s *subject) now() time.Time {
	if s.world != nil {
		return s.world.Clock.Now()
	}
	return time.Now()
}

// pass lets time pass on the embedded peer. The others do on their own what they do.
func (s *subject) pass(ctx context.Context, d time.Duration) error {
	if s.world == nil {
		return nil
	}
	return s.world.Advance(ctx, d)
}
