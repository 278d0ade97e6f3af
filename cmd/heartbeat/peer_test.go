package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
)

// Programs of others, built and started outside this repository, judge the agent where it must not judge itself.
const (
	// mockVariable has the path of AWS's metadata mock.
	mockVariable = "HOLDFAST_IMDS_MOCK"
	// peerVariable has the URL of another DynamoDB on this machine, such as dynalite, ministack or moto.
	peerVariable = "HOLDFAST_DYNAMODB_PEER"
)

// TestAgainstAWSsMetadataMock runs the agent on AWS's own mock of the metadata service, version 2 only, whose target lifecycle state
// changes to Terminated after some seconds.
func TestAgainstAWSsMetadataMock(t *testing.T) {
	t.Parallel()
	mock := os.Getenv(mockVariable)
	if mock == "" {
		t.Skipf("%s is not set: it has the path of ec2-metadata-mock, which `go install github.com/aws/amazon-ec2-metadata-mock/cmd/ec2-metadata-mock@v1.13.0` builds", mockVariable)
	}
	p := newPlace(t)
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	must(t, err)
	cmd := exec.Command(mock, "asglifecycle", "--imdsv2", "--hostname", host, "--port", port, "--asg-termination-delay-sec", "6")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "HOME="+t.TempDir())
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	p.imds = "http://" + address
	until(t, "the mock wants a token", func() bool {
		res, err := http.Get(p.imds + "/latest/meta-data/instance-id")
		if err != nil {
			return false
		}
		_ = res.Body.Close() // only its status counts
		return res.StatusCode == http.StatusUnauthorized
	})
	a := p.start(t, "", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	status := func() string {
		for _, item := range p.region.Tables.Items(world.HeartbeatTable) {
			if s, ok := item["status"].(*types.AttributeValueMemberS); ok {
				return s.Value
			}
		}
		return ""
	}
	until(t, "ok", func() bool { return status() == "ok" && a.health() == http.StatusOK })
	until(t, "draining before it is terminated", func() bool { return status() == "draining" && a.health() == http.StatusServiceUnavailable })
	items := p.region.Tables.Items(world.HeartbeatTable)
	if pk, ok := items[0]["pk"].(*types.AttributeValueMemberS); len(items) != 1 || !ok || pk.Value != "arn:aws:ec2:us-east-1:0123456789:instance/i-1234567890abcdef0" {
		t.Errorf("rows %v, want one, of the mock's instance", items)
	}
}

// TestAgainstAnotherTable runs the agent on another DynamoDB, ends it without a word, and starts it again.
func TestAgainstAnotherTable(t *testing.T) {
	t.Parallel()
	url := os.Getenv(peerVariable)
	if url == "" {
		t.Skipf("%s is not set: it has the URL of another DynamoDB, such as `npx dynalite@4.0.0`", peerVariable)
	}
	p := newPlace(t)
	p.url, p.table = url, tableClient(t, url)
	_, err := p.table.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(world.HeartbeatTable), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	var there *types.ResourceInUseException
	if !errors.As(err, &there) {
		must(t, err)
	}
	must(t, dynamodb.NewTableExistsWaiter(p.table).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(world.HeartbeatTable)}, time.Minute))
	last := p.seq(t) // of an earlier run, perhaps
	grows := func() bool {
		seq := p.seq(t)
		if seq < last {
			t.Fatalf("seq went back from %d to %d", last, seq)
		}
		grew := seq > last
		last = seq
		return grew
	}
	a := p.start(t, "")
	for range 3 {
		until(t, "a beat", grows)
	}
	a.signal(t, syscall.SIGKILL)
	b := p.start(t, "")
	for range 3 {
		until(t, "a beat after the restart", grows)
	}
	if code := b.signal(t, syscall.SIGTERM); code != exitOK || p.status(t) != "draining" {
		t.Errorf("exit %d, row %s", code, p.status(t))
	}
}
