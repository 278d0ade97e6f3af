package daily

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/whatif"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Pager hands a notice over to Holdfast's bus.
type Pager interface {
	Page(ctx context.Context, n runner.Notice) error
}

// Ports are what an audit needs; all are required.
type Ports struct {
	// Read reads the account.
	Read     func(ctx context.Context) (audit.Account, error)
	Settings *Settings
	Memory   *Memory
	Bus      *Bus
	Pager    Pager
}

// Audit runs audits. It keeps nothing between them and is safe for concurrent use, but of two at once only one is remembered.
type Audit struct{ ports Ports }

// New makes an Audit.
func New(p Ports) *Audit { return &Audit{ports: p} }

// Outcome is one audit in numbers.
type Outcome struct {
	Run          string                 `json:"run"`
	Groups       int                    `json:"groups"`
	TargetGroups int                    `json:"target_groups"`
	Open         map[audit.Severity]int `json:"open"`
	New          int                    `json:"new"`
	Gone         int                    `json:"gone"`
	Kept         int                    `json:"kept"`
	Accepted     int                    `json:"accepted"`
	Unread       int                    `json:"unread"`
	// LeftOut counts findings that no event tells of, because there are too many.
	LeftOut int `json:"events_left_out"`
	// Told says that a digest went out; Notes is what was wrong beside the findings.
	Told  bool     `json:"told"`
	Notes []string `json:"notes,omitempty"`
	// Digest is what people were told, "" for nothing.
	Digest string `json:"-"`
	// NotRead are the names of what could not be read.
	NotRead []audit.Unread `json:"-"`
}

// Run makes one audit. Events go out before the digest and the digest before it is remembered, so that whatever fails is told again by
// the next run rather than never. The outcome is as far as the run came.
func (a *Audit) Run(ctx context.Context, run string) (Outcome, error) {
	out := Outcome{Run: run, Open: map[audit.Severity]int{}}
	known, err := a.ports.Memory.Load(ctx)
	if err != nil {
		return out, err
	}
	account, err := a.ports.Read(ctx)
	if err != nil {
		return out, err
	}
	options, unsaid, notes := a.ports.Settings.Read(ctx, account.At)
	r := audit.Judge(account, options)
	if r.WhatIf, err = simulate(ctx, account); err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("what a bad minute would do could not be simulated: %v", err))
	}
	c := Compare(known, account, r, unsaid)
	c.addNotes(known, notes)
	next := c.Next(known, account.At)
	c.addNotes(known, next.notes())
	next.Notes = c.Notes
	out.count(c, r, account)
	if out.LeftOut, err = a.ports.Bus.Put(ctx, details(c, run, account.At)); err != nil {
		return out, err
	}
	if c.Any() {
		n := notice(c, r)
		if err := a.ports.Pager.Page(ctx, n); err != nil {
			return out, err
		}
		out.Told, out.Digest = true, n.Text
	}
	return out, a.ports.Memory.Save(ctx, next)
}

// simulate says what a bad minute would do. It takes at most half of the time until the context's deadline; without its answer, the audit
// goes on.
func simulate(ctx context.Context, account audit.Account) ([]audit.WhatIf, error) {
	if deadline, ok := ctx.Deadline(); ok {
		bounded, cancel := context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/2))
		defer cancel()
		ctx = bounded
	}
	return whatif.Of(ctx, account)
}

// addNotes adds what is wrong beside the findings.
func (c *Changes) addNotes(known Known, notes []string) {
	c.Notes = append(c.Notes, notes...)
	for _, note := range notes {
		if !slices.Contains(known.Notes, note) {
			c.NewNotes = append(c.NewNotes, note)
		}
	}
}

func (o *Outcome) count(c Changes, r audit.Report, a audit.Account) {
	o.Groups, o.TargetGroups, o.New, o.Gone, o.Kept = r.Groups, r.TargetGroups, len(c.New), len(c.Gone), len(c.Kept)
	for _, s := range severities() {
		o.Open[s] = 0
	}
	for _, f := range slices.Concat(c.New, c.Lasting) {
		o.Open[f.Severity]++
	}
	o.Accepted = len(c.Accepted)
	o.NotRead, o.Unread = a.Unread, len(a.Unread)
	o.Notes = append(o.Notes, c.Notes...)
}

// notice is the digest as a notice about the whole account.
func notice(c Changes, r audit.Report) runner.Notice {
	arn, name := report.KeyAudit, "this account"
	if r.Account != "" {
		arn, name = fmt.Sprintf("arn:%s:iam::%s:root", r.Partition, r.Account), "account "+r.Account
	}
	return runner.Notice{
		GroupARN: arn, Group: name, At: r.At,
		Page: guard.Page{Key: report.KeyAudit, Text: Digest(c, r), Since: guard.At(r.At)},
	}
}
