package heartbeat_test

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/heartbeat/local"
	"github.com/holdfast-aws/holdfast/shared/heartbeat/metadata"
)

// An application that reports its own instance and lets the load balancer's probe travel its own path.
func ExampleAgent() {
	ctx := context.Background()
	disk, err := local.Disk(local.DiskOptions{Path: os.TempDir(), FreeBytes: 500 << 20})
	if err != nil {
		log.Fatal(err)
	}
	pool := make(chan struct{}, 40) // the workers that requests take
	source := metadata.New("")
	agent, err := heartbeat.New(heartbeat.Options{
		Connect: func(ctx context.Context) (*heartbeat.Writer, error) {
			instance, err := source.Instance(ctx)
			if err != nil {
				return nil, err
			}
			// The agent tries again by itself, with a newer beat, so the client must not.
			table := dynamodb.New(dynamodb.Options{Region: instance.Region, Retryer: aws.NopRetryer{}})
			return heartbeat.NewWriter(table, heartbeat.WriterOptions{
				Table: "holdfast-heartbeats", Key: instance.Key(), Boot: metadata.Boot(), Agent: "orders 7.1",
			})
		},
		Leaving:     source.Leaving,
		Checks:      []heartbeat.Check{{Name: "disk", Run: disk, Timeout: time.Second, Every: 10 * time.Second, Failures: 3}},
		StartWithin: heartbeat.DefaultStartWithin,
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/health", agent.Health(func(ctx context.Context) error {
		select {
		case pool <- struct{}{}:
			<-pool
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	go func() { log.Print(agent.Run(ctx)) }() // writes its last beat when ctx ends
}

// A queue consumer that beats because it worked.
func ExampleWorker() {
	consume := func(ctx context.Context, w *heartbeat.Worker, receive func() []string, acknowledge func([]string)) {
		for ctx.Err() == nil {
			batch := receive() // waits up to 20 s; an empty one is work done too
			acknowledge(batch)
			if err := w.Beat(ctx); err != nil {
				log.Print(err) // the batch is done all the same
			}
		}
		if err := w.Leave(context.WithoutCancel(ctx)); err != nil {
			log.Print(err)
		}
	}
	_ = consume
}
