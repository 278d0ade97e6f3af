package main

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/heartbeat/metadata"
)

// Times of one connection to the table. A dead one must be noticed within a write's own timeout.
const (
	dialTimeout = time.Second
	idleConn    = 90 * time.Second
	// expiryWindow is how long before their end credentials are renewed; the metadata service has new ones five minutes before.
	// Source: EC2 user guide, "Retrieve security credentials from instance metadata".
	expiryWindow = 4 * time.Minute
)

// connect finds out which instance this is and makes the writer of its row.
func connect(ctx context.Context, source *metadata.Source, p agentParts) (*heartbeat.Writer, error) {
	instance, err := source.Instance(ctx)
	if err != nil {
		return nil, err
	}
	p.log.InfoContext(ctx, "instance", "key", instance.Key(), "group", instance.Group)
	return heartbeat.NewWriter(client(instance.Region), heartbeat.WriterOptions{
		Table: p.config.Table, Key: instance.Key(), Boot: metadata.Boot(), Agent: version(),
		Timeout: writeTimeout(time.Duration(p.config.Interval)),
	})
}

// writeTimeout leaves room for a second try within an interval.
func writeTimeout(interval time.Duration) time.Duration {
	return min(heartbeat.DefaultTimeout, interval/2)
}

// client is the table's client. It never tries again by itself: the agent does, with a newer beat. It takes no configuration files and
// no chain of credential sources: on an instance there is one right source, the instance profile, because only its requests carry the
// instance's ARN. Variables of the environment come first, for tests.
func client(region string) *dynamodb.Client {
	o := dynamodb.Options{
		Region: region, Retryer: aws.NopRetryer{}, Credentials: aws.NewCredentialsCache(credentialsFromEnv(), func(o *aws.CredentialsCacheOptions) {
			o.ExpiryWindow = expiryWindow
		}),
		HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 1, MaxConnsPerHost: 1, IdleConnTimeout: idleConn,
		}},
	}
	if endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL")); endpoint != "" {
		o.BaseEndpoint = aws.String(endpoint)
	}
	return dynamodb.New(o)
}

func credentialsFromEnv() aws.CredentialsProvider {
	if id := os.Getenv("AWS_ACCESS_KEY_ID"); id != "" {
		return credentials.NewStaticCredentialsProvider(id, os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	}
	return ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = metadata.Client("") })
}
