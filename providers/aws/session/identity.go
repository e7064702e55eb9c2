package session

import (
	"errors"

	"reclaim/engine/resource"
)

// Confirm reports whether an object just read is the one that a delete expects (SAFETY S20): by unique ID or creation
// time, else by our nonce. With nothing to tell it by, it is not.
func Confirm(operation string, d resource.Delete, o *resource.Observation) error {
	if same, known := d.Expect.Same(o.Identity); known {
		if same {
			return nil
		}
		return mismatch(operation, "another object is at this key now; nothing was deleted")
	}
	if d.Nonce == "" {
		return mismatch(operation, "nothing is recorded that tells this object from another; nothing was deleted")
	}
	if o.Owner == nil {
		return &resource.Error{Kind: resource.AccessDenied, Op: operation, Executed: resource.No,
			Err: errors.New("the ownership tags could not be read; nothing was deleted")}
	}
	if o.Owner[resource.TagNonce] != d.Nonce {
		return mismatch(operation, "the object does not carry our nonce; nothing was deleted")
	}
	return nil
}

func mismatch(operation, why string) error {
	return &resource.Error{Kind: resource.IdentityMismatch, Op: operation, Executed: resource.No, Err: errors.New(why)}
}

// Match reports how an object's tags answer a query: by its nonce, or by our stack and resource tags.
func Match(q resource.Query, tags map[string]string) (byNonce, byTags bool) {
	byNonce = q.Nonce != "" && tags[resource.TagNonce] == q.Nonce
	byTags = q.Stack != "" && q.Resource != "" && tags[resource.TagStack] == q.Stack && tags[resource.TagResource] == q.Resource
	return byNonce, byTags
}
