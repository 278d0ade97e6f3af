package notify

import "github.com/holdfast-aws/holdfast/shared/report"

// auditGuides are of the daily audit, which is about the whole account: no command holds or tunes a group.
func auditGuides(n Names) []Guide {
	return []Guide{{
		Key: report.KeyAudit, Title: "the audit's findings changed", Urgency: "notice", OfAccount: true,
		Means: "The daily audit found settings that would make a group terminate itself in a dependency's bad minute, or that make an outage likelier or longer, which the audit before did not have; or some of those are gone. The first audit tells all it finds.",
		Did:   "It read the account and changed nothing. Each finding is an event on Holdfast's bus.",
		Next:  "It audits again in a day, and tells of it only if the findings have changed. A finding about something that could not be read is kept, not called gone.",
		Look: []string{
			"new critical findings first: each is a group that one slow dependency can terminate as a whole",
			"what was not read: permissions that the audit lacks, or throttling",
			"a finding that is meant can be accepted for a time, with a reason, in the parameter /holdfast/audit/accepted",
		},
		Commands: []Command{
			{ToLook, n.holdfast("audit --html audit.html")},
			{ToLook, n.holdfast("audit --fail-on high")},
			{ToLook, n.aws("ssm get-parameter --name /holdfast/audit/accepted --query Parameter.Value --output text")},
		},
	}}
}
