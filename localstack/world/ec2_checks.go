package world

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// StatusCheck is an EC2 application status check with what it is associated with. It is only shown: it probes nothing, and no member
// is replaced for it.
type StatusCheck struct {
	ID, Path string
	// Excluded says that it does not count in an instance's status.
	Excluded bool
	// Failures and Seconds are the failure threshold and the interval; 0 means AWS's presets, 2 and 60.
	Failures, Seconds int
	// Tags are the pairs of tag key and value, Instances the ids, that it applies to.
	Tags      [][2]string
	Instances []string
}

// SetStatusChecks replaces all application status checks.
func (s *Server) SetStatusChecks(checks ...StatusCheck) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = slices.Clone(checks)
}

// SuppressStatusChecks replaces the instances whose application status checks are suppressed.
func (s *Server) SuppressStatusChecks(instances ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suppressed = slices.Clone(instances)
}

func (s *Server) statusChecks() []StatusCheck {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.checks)
}

type xmlChecks struct {
	Checks    []xmlCheck `xml:"applicationStatusCheckSet>item"`
	NextToken string     `xml:"nextToken,omitempty"`
}

type xmlCheck struct {
	ID          string `xml:"applicationStatusCheckId"`
	Aggregation string `xml:"aggregation"`
	Path        string `xml:"path"`
	Protocol    string `xml:"protocol"`
	Failures    int    `xml:"failureThreshold"`
	Successes   int    `xml:"successThreshold"`
	Interval    int    `xml:"interval"`
	Timeout     int    `xml:"timeout"`
}

func (e *ec2Service) describeChecks(form url.Values) (*xmlChecks, error) {
	ids := numbered(form, "ApplicationStatusCheckId")
	found := slices.DeleteFunc(e.server.statusChecks(), func(c StatusCheck) bool { return !one(ids, c.ID) })
	part, next, err := page(e.server, found, ec2Page("DescribeApplicationStatusChecks", form))
	if err != nil {
		return nil, err
	}
	out := &xmlChecks{NextToken: aws.ToString(next)}
	for _, c := range part {
		shown := xmlCheck{
			ID: c.ID, Aggregation: "included", Path: c.Path, Protocol: "HTTP",
			Failures: cmp.Or(c.Failures, 2), Successes: 2, Interval: cmp.Or(c.Seconds, 60), Timeout: 6,
		}
		if c.Excluded {
			shown.Aggregation = "excluded"
		}
		out.Checks = append(out.Checks, shown)
	}
	return out, nil
}

type xmlAssociations struct {
	Associations []xmlAssociation `xml:"associationSet>item"`
	NextToken    string           `xml:"nextToken,omitempty"`
}

type xmlAssociation struct {
	ID    string `xml:"applicationStatusCheckId"`
	Type  string `xml:"associationType"`
	Key   string `xml:"key,omitempty"`
	Value string `xml:"value"`
}

func (e *ec2Service) describeAssociations(form url.Values) (*xmlAssociations, error) {
	ids := numbered(form, "ApplicationStatusCheckId")
	var found []xmlAssociation
	for _, c := range e.server.statusChecks() {
		if !one(ids, c.ID) {
			continue
		}
		for _, tag := range c.Tags {
			found = append(found, xmlAssociation{c.ID, "tag", tag[0], tag[1]})
		}
		for _, id := range c.Instances {
			found = append(found, xmlAssociation{c.ID, "instance-id", "", id})
		}
	}
	part, next, err := page(e.server, found, ec2Page("DescribeApplicationStatusCheckAssociations", form))
	if err != nil {
		return nil, err
	}
	return &xmlAssociations{Associations: part, NextToken: aws.ToString(next)}, nil
}

type xmlStatuses struct {
	Instances []xmlStatus `xml:"applicationStatusesResponseType>instanceSet>item"`
	NextToken string      `xml:"nextToken,omitempty"`
}

type xmlStatus struct {
	ID     string `xml:"instanceId"`
	Status string `xml:"applicationStatus>status"`
}

// describeStatus knows the filter by status; an instance that is not suppressed is well, because nothing is probed here.
func (e *ec2Service) describeStatus(form url.Values) (*xmlStatuses, error) {
	ids := numbered(form, "InstanceId")
	var status []string
	for i := 1; form.Has(fmt.Sprintf("Filter.%d.Name", i)); i++ {
		if name := form.Get(fmt.Sprintf("Filter.%d.Name", i)); name != "status" {
			return nil, &wire.Error{Code: "InvalidParameterValue", Message: fmt.Sprintf("The filter '%s' is invalid", name)}
		}
		status = append(status, numbered(form, fmt.Sprintf("Filter.%d.Value", i))...)
	}
	e.server.mu.Lock()
	suppressed := slices.Clone(e.server.suppressed)
	e.server.mu.Unlock()
	var members []sim.Member
	e.server.Do(func(c *sim.Cloud) {
		for _, g := range c.Groups() {
			members = append(members, g.Members...)
		}
	})
	var found []xmlStatus
	for _, m := range members {
		shown := xmlStatus{m.ID, "ok"}
		if slices.Contains(suppressed, m.ID) {
			shown.Status = "suppressed"
		}
		if one(ids, m.ID) && one(status, shown.Status) {
			found = append(found, shown)
		}
	}
	part, next, err := page(e.server, found, ec2Page("DescribeApplicationStatus", form))
	if err != nil {
		return nil, err
	}
	return &xmlStatuses{Instances: part, NextToken: aws.ToString(next)}, nil
}
