package app

import (
	"testing"

	"reclaim/engine/plan"
)

// The plan of a rollback is one of its own verb, and the command that would do the same is too.
func TestARollbackIsReviewedAsOne(t *testing.T) {
	b := newBackend()
	b.plan = ordersPlan()
	b.plan.Verb, b.plan.Of, b.plan.Template = plan.VerbRollback, "e-9c41", plan.TemplateRef{}
	b.plan.Items = []plan.Item{{ID: "OldQueue", Type: "AWS::SQS::Queue", Gen: 1, Action: plan.Delete, Removal: true, Physical: "orders-old",
		Detail: "gone already; only the record goes", Needs: []plan.Grant{plan.GrantChange}}}
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.sees("rollback 7f3a91c2")
	o.press("A")
	if got, want := o.r.top().Command(), "reclaim rollback e-9c41 --yes --scope 123456789012/eu-west-1"; got != want {
		t.Errorf("same as: %s, want %s", got, want)
	}
	o.press("D")
	o.sees("Roll back orders-prod@123456789012/eu-west-1?")
}
