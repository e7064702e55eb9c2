package session_test

import (
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// S20
func TestConfirmTellsTheObjectByIdentityAndElseByNonce(t *testing.T) {
	then := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	ours := resource.Tags{resource.TagNonce: "n1"}
	for why, c := range map[string]struct {
		d    resource.Delete
		o    resource.Observation
		want resource.Kind
	}{
		"the same unique ID is it": {
			resource.Delete{Expect: resource.Identity{UniqueID: "R1"}}, resource.Observation{Identity: resource.Identity{UniqueID: "R1"}}, ""},
		"the same unique ID is it, though the tags are gone": {
			resource.Delete{Expect: resource.Identity{UniqueID: "R1"}, Nonce: "n1"}, resource.Observation{Identity: resource.Identity{UniqueID: "R1"}}, ""},
		"another unique ID is another, though it carries our nonce": {
			resource.Delete{Expect: resource.Identity{UniqueID: "R1"}, Nonce: "n1"}, resource.Observation{Identity: resource.Identity{UniqueID: "R2"}, Owner: ours}, resource.IdentityMismatch},
		"another creation time is another": {
			resource.Delete{Expect: resource.Identity{CreatedAt: then}}, resource.Observation{Identity: resource.Identity{CreatedAt: then.Add(time.Millisecond)}}, resource.IdentityMismatch},
		"our nonce is it, where no identity is recorded": {
			resource.Delete{Nonce: "n1"}, resource.Observation{Identity: resource.Identity{UniqueID: "R1"}, Owner: ours}, ""},
		"another nonce is another": {
			resource.Delete{Nonce: "n2"}, resource.Observation{Owner: ours}, resource.IdentityMismatch},
		"no nonce is another": {
			resource.Delete{Nonce: "n1"}, resource.Observation{Owner: resource.Tags{}}, resource.IdentityMismatch},
		"tags that cannot be read prove nothing": {
			resource.Delete{Nonce: "n1"}, resource.Observation{}, resource.AccessDenied},
		"nothing recorded proves nothing": {
			resource.Delete{}, resource.Observation{Identity: resource.Identity{UniqueID: "R1"}, Owner: resource.Tags{}}, resource.IdentityMismatch},
	} {
		t.Run(why, func(t *testing.T) {
			err := session.Confirm("DeleteThing", c.d, &c.o)
			if resource.KindOf(err) != c.want {
				t.Errorf("confirm: %v, want %q", err, c.want)
			}
			if err != nil && !resource.DefinitelyNotExecuted(err) {
				t.Errorf("confirm: %v, want surely not executed", err)
			}
		})
	}
}
