package metadata

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

// Paths of the metadata service. Source: EC2 user guide, "Instance metadata categories"; Auto Scaling user guide, "Retrieve the target
// lifecycle state through instance metadata".
const (
	partitionPath = "services/partition"
	groupPath     = "tags/instance/aws:autoscaling:groupName"
	lifecyclePath = "autoscaling/target-lifecycle-state"
)

// InService is the target lifecycle state of a member that stays.
const InService = "InService"

// answerMax bounds an answer, in bytes; timeout one request; attempts how often one is made.
const (
	answerMax = 4096
	timeout   = time.Second
	attempts  = 2
)

// Instance is what an agent needs to know of its own instance.
type Instance struct {
	ID, Region, Account, Partition string
	// Group is the name of the Auto Scaling group; empty when instance tags are not shown in the metadata. Nothing depends on it:
	// Holdfast joins rows and members by the instance's ARN.
	Group string
}

// Key is the instance's ARN, which is the key of its row.
func (i Instance) Key() string { return heartbeat.Key(i.Partition, i.Region, i.Account, i.ID) }

// Source asks the metadata service. It is safe for concurrent use.
type Source struct{ client *imds.Client }

// New makes a Source. An empty endpoint means the service's own address, or AWS_EC2_METADATA_SERVICE_ENDPOINT.
func New(endpoint string) *Source {
	return &Source{client: Client(endpoint)}
}

// Client is the SDK's client with the rules of this package: version 2 only, short timeouts, few tries.
func Client(endpoint string) *imds.Client {
	return imds.New(imds.Options{
		Endpoint: endpoint, EnableFallback: aws.FalseTernary,
		HTTPClient: &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}},
		Retryer:    retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts }),
	})
}

// Instance asks which instance this is. A group that cannot be read is no error.
func (s *Source) Instance(ctx context.Context) (Instance, error) {
	doc, err := s.client.GetInstanceIdentityDocument(ctx, &imds.GetInstanceIdentityDocumentInput{})
	if err != nil {
		return Instance{}, fmt.Errorf("read instance identity: %w", err)
	}
	partition, err := s.read(ctx, partitionPath)
	if err != nil {
		return Instance{}, fmt.Errorf("read partition: %w", err)
	}
	i := Instance{ID: doc.InstanceID, Region: doc.Region, Account: doc.AccountID, Partition: partition}
	if i.ID == "" || i.Region == "" || i.Account == "" || i.Partition == "" {
		return Instance{}, fmt.Errorf("read instance identity: %+v, want no empty field", i)
	}
	if group, err := s.read(ctx, groupPath); err == nil {
		i.Group = group
	}
	return i, nil
}

// Leaving says whether the instance is heading for anything but service: termination, standby, detachment or a warm pool. An instance
// that is in no group, or whose group does not tell, is not leaving.
func (s *Source) Leaving(ctx context.Context) (bool, error) {
	state, err := s.read(ctx, lifecyclePath)
	var refused *smithyhttp.ResponseError
	if errors.As(err, &refused) && refused.HTTPStatusCode() == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read target lifecycle state: %w", err)
	}
	return state != InService, nil
}

func (s *Source) read(ctx context.Context, path string) (string, error) {
	out, err := s.client.GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(out.Content, answerMax))
	if err := errors.Join(err, out.Content.Close()); err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

// bootFile is where Linux tells the random name of this boot. Source: random(4).
const bootFile = "/proc/sys/kernel/random/boot_id"

// Boot identifies this boot of the machine; where the kernel does not tell, this run of the process.
func Boot() string {
	if text, err := os.ReadFile(bootFile); err == nil {
		if boot := strings.TrimSpace(string(text)); boot != "" {
			return boot
		}
	}
	return "run-" + rand.Text()
}
