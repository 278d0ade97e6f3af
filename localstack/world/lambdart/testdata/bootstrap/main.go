// Command bootstrap is the function that the tests of lambdart run. What it does is in the event.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do string `json:"do"`
}

type seen struct {
	PID       int    `json:"pid"`
	RequestID string `json:"request_id"`
	ARN       string `json:"arn"`
	Left      int64  `json:"left_ms"`
	Name      string `json:"name"`
	Memory    int    `json:"memory"`
	Greeting  string `json:"greeting"`
	Home      string `json:"home"`
}

func handle(ctx context.Context, e event) (seen, error) {
	fmt.Println("doing", e.Do)
	switch e.Do {
	case "fail":
		return seen{}, errors.New("the table is unreadable")
	case "panic":
		panic("lost its way")
	case "exit":
		os.Exit(3)
	case "meddle":
		return meddle()
	case "hang":
		time.Sleep(time.Hour)
	}
	deadline, _ := ctx.Deadline()
	c, _ := lambdacontext.FromContext(ctx)
	return seen{
		PID: os.Getpid(), RequestID: c.AwsRequestID, ARN: c.InvokedFunctionArn, Left: time.Until(deadline).Milliseconds(),
		Name: lambdacontext.FunctionName, Memory: lambdacontext.MemoryLimitInMB, Greeting: os.Getenv("GREETING"),
		Home: os.Getenv("HOME"),
	}, nil
}

// meddle answers an invocation that it was never given, and tells what came of it.
func meddle() (seen, error) {
	url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/another/response"
	resp, err := http.Post(url, "application/json", strings.NewReader(`{"pid":-1}`))
	if err != nil {
		return seen{}, fmt.Errorf("post answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	return seen{Greeting: resp.Status}, nil
}

func main() {
	if os.Getenv("REFUSE") != "" {
		fmt.Fprintln(os.Stderr, "refusing to start")
		os.Exit(7)
	}
	lambda.Start(handle)
}
