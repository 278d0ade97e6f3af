package world

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cloudwatchschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// simulated returns the services whose state is the simulator.
func simulated(s *Server) []wire.Mount {
	alarms := wire.Mount{
		Name: "cloudwatch", Key: "GraniteServiceVersion20100801",
		Codec:   wire.CBOR(cloudwatchschemas.GraniteServiceVersion20100801),
		JSON:    wire.JSON10(cloudwatchschemas.GraniteServiceVersion20100801),
		Service: &cloudWatch{server: s},
	}
	// Older clients ask in the query form, which is refused by the name of the
	// service instead of by a date.
	queried := alarms
	queried.Key = "2010-08-01"
	return []wire.Mount{
		alarms, queried,
		{
			Name: "autoscaling", Key: "2011-01-01",
			Codec:   wire.Query("http://autoscaling.amazonaws.com/doc/2011-01-01/"),
			Service: &autoScaling{server: s},
		},
		{
			Name: "elasticloadbalancing", Key: "2015-12-01",
			Codec:   wire.Query("http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"),
			Service: &loadBalancing{server: s},
		},
		{
			Name: "ec2", Key: "2016-11-15",
			Codec:   wire.EC2Query("http://ec2.amazonaws.com/doc/2016-11-15/"),
			Service: &ec2Service{server: s},
		},
	}
}

// seconds and number turn the simulator's values into the SDK's optional ones.
func seconds(d time.Duration) *int32 { return number(int(d / time.Second)) }

func number(n int) *int32 { return aws.Int32(int32(n)) }

// text returns nil for an empty string: AWS leaves such members out.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return aws.String(s)
}

// instant returns nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return aws.Time(t.UTC())
}

// zoneID derives a zone ID such as use1-az1 from a zone name such as us-east-1a.
// In AWS the mapping differs by account; here it is the alphabet.
func zoneID(zone string) *string {
	if len(zone) < 2 {
		return nil
	}
	region, letter := zone[:len(zone)-1], zone[len(zone)-1]
	short := ""
	part := 0
	for _, r := range region {
		switch {
		case r == '-':
			part++
		case part == 0, r >= '0' && r <= '9':
			short += string(r)
		case short[len(short)-1] != byte(r) && len(short) < 2+part:
			short += string(r)
		}
	}
	return aws.String(short + "-az" + string(rune('1'+letter-'a')))
}

// one reports whether want is empty or holds got; many requests filter that way.
func one[T comparable](want []T, got T) bool {
	if len(want) == 0 {
		return true
	}
	for _, w := range want {
		if w == got {
			return true
		}
	}
	return false
}
