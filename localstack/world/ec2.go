package world

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// ec2Service answers the EC2 calls that are needed. The SDK's ec2 module has no
// schemas, so the answers are written by hand; the tests read them with the real client.
type ec2Service struct{ server *Server }

// Handle implements wire.Service.
func (e *ec2Service) Handle(_ context.Context, call wire.Call) (any, error) {
	var form url.Values
	if err := call.Decode(&form); err != nil {
		return nil, err
	}
	switch call.Operation {
	case "DescribeInstances":
		return e.describeInstances(form)
	case "DescribeApplicationStatusChecks":
		return e.describeChecks(form)
	case "DescribeApplicationStatusCheckAssociations":
		return e.describeAssociations(form)
	case "DescribeApplicationStatus":
		return e.describeStatus(form)
	}
	return nil, wire.UnknownOperation(call.Operation)
}

type xmlInstances struct {
	Reservations []xmlReservation `xml:"reservationSet>item"`
	NextToken    string           `xml:"nextToken,omitempty"`
}

type xmlReservation struct {
	ID        string        `xml:"reservationId"`
	Owner     string        `xml:"ownerId"`
	Instances []xmlInstance `xml:"instancesSet>item"`
}

type xmlInstance struct {
	XMLName   xml.Name `xml:"item"`
	ID        string   `xml:"instanceId"`
	Type      string   `xml:"instanceType"`
	StateCode int      `xml:"instanceState>code"`
	State     string   `xml:"instanceState>name"`
	Launched  string   `xml:"launchTime"`
	Zone      string   `xml:"placement>availabilityZone"`
	PrivateIP string   `xml:"privateIpAddress,omitempty"`
	Tags      []xmlTag `xml:"tagSet>item"`
}

type xmlTag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

func (e *ec2Service) describeInstances(form url.Values) (*xmlInstances, error) {
	ids := numbered(form, "InstanceId")
	filters, err := ec2Filters(form)
	if err != nil {
		return nil, err
	}
	var found []sim.Member
	account := ""
	e.server.Do(func(c *sim.Cloud) {
		account = c.Config().Account
		for _, g := range c.Groups() {
			found = append(found, g.Members...)
		}
	})
	for _, id := range ids {
		if !slices.ContainsFunc(found, func(m sim.Member) bool { return m.ID == id }) {
			return nil, &wire.Error{Code: "InvalidInstanceID.NotFound",
				Message: fmt.Sprintf("The instance ID '%s' does not exist", id), Status: http.StatusBadRequest}
		}
	}
	found = slices.DeleteFunc(found, func(m sim.Member) bool {
		return !one(ids, m.ID) || !passes(m, filters)
	})
	part, next, err := page(e.server, found, ec2Page("DescribeInstances", form))
	if err != nil {
		return nil, err
	}
	out := &xmlInstances{NextToken: aws.ToString(next)}
	for _, m := range part {
		out.Reservations = append(out.Reservations, xmlReservation{
			ID: "r-" + strings.TrimPrefix(m.ID, "i-"), Owner: account, Instances: []xmlInstance{instanceOf(m)},
		})
	}
	return out, nil
}

// ec2Page is how EC2's clients ask for a page.
func ec2Page(operation string, form url.Values) pageAsk {
	ask := pageAsk{
		operation: "ec2:" + operation, token: aws.String(form.Get("NextToken")), fallback: 1000, most: 1000,
		badToken: &wire.Error{Code: "InvalidParameterValue", Message: "Unable to parse pagination token"},
	}
	if n, err := strconv.Atoi(form.Get("MaxResults")); err == nil {
		ask.asked = number(n)
	}
	return ask
}

func instanceOf(m sim.Member) xmlInstance {
	out := xmlInstance{
		ID: m.ID, Type: m.InstanceType, State: m.EC2State, StateCode: stateCode(m.EC2State),
		Launched: m.Launched.UTC().Format("2006-01-02T15:04:05.000Z"), Zone: m.Zone, PrivateIP: m.PrivateIP,
	}
	for _, key := range slices.Sorted(maps.Keys(tagsOf(m))) {
		out.Tags = append(out.Tags, xmlTag{Key: key, Value: tagsOf(m)[key]})
	}
	return out
}

// tagsOf adds the tag that Auto Scaling puts on its instances.
func tagsOf(m sim.Member) map[string]string {
	tags := maps.Clone(m.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags["aws:autoscaling:groupName"] = m.Group
	return tags
}

// stateCode is the number of an instance state. Source: SDK doc comment of
// types.InstanceState.Code.
func stateCode(state string) int {
	switch state {
	case "running":
		return 16
	case "shutting-down":
		return 32
	case "terminated":
		return 48
	case "stopping":
		return 64
	case "stopped":
		return 80
	}
	return 0 // pending
}

// numbered returns the values of prefix.1, prefix.2 and so on.
func numbered(form url.Values, prefix string) []string {
	var values []string
	for i := 1; form.Has(fmt.Sprintf("%s.%d", prefix, i)); i++ {
		values = append(values, form.Get(fmt.Sprintf("%s.%d", prefix, i)))
	}
	return values
}

type ec2Filter struct {
	name   string
	values []string
}

func ec2Filters(form url.Values) ([]ec2Filter, error) {
	var filters []ec2Filter
	for i := 1; form.Has(fmt.Sprintf("Filter.%d.Name", i)); i++ {
		f := ec2Filter{name: form.Get(fmt.Sprintf("Filter.%d.Name", i)), values: numbered(form, fmt.Sprintf("Filter.%d.Value", i))}
		known := []string{"instance-id", "instance-state-name", "availability-zone", "tag-key"}
		if !slices.Contains(known, f.name) && !strings.HasPrefix(f.name, "tag:") {
			return nil, &wire.Error{Code: "InvalidParameterValue", Message: fmt.Sprintf("The filter '%s' is invalid", f.name)}
		}
		filters = append(filters, f)
	}
	return filters, nil
}

func passes(m sim.Member, filters []ec2Filter) bool {
	for _, f := range filters {
		if !slices.ContainsFunc(f.values, func(want string) bool { return matches(m, f.name, want) }) {
			return false
		}
	}
	return true
}

func matches(m sim.Member, name, want string) bool {
	switch name {
	case "instance-id":
		return wildcard(want, m.ID)
	case "instance-state-name":
		return wildcard(want, m.EC2State)
	case "availability-zone":
		return wildcard(want, m.Zone)
	case "tag-key":
		for key := range tagsOf(m) {
			if wildcard(want, key) {
				return true
			}
		}
		return false
	}
	value, ok := tagsOf(m)[strings.TrimPrefix(name, "tag:")]
	return ok && wildcard(want, value)
}

// wildcard matches a filter value: * stands for any text, ? for one character, and
// a backslash takes the meaning away. Source: EC2 user guide, "Filter resources".
func wildcard(pattern, text string) bool {
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '*' {
			for skip := 0; skip <= len(text); skip++ {
				if wildcard(pattern[i+1:], text[skip:]) {
					return true
				}
			}
			return false
		}
		if text == "" {
			return false
		}
		if c == '\\' && i+1 < len(pattern) {
			i++
			c = pattern[i]
		} else if c == '?' {
			c = text[0]
		}
		if c != text[0] {
			return false
		}
		text = text[1:]
	}
	return text == ""
}
