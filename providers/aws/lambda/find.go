package lambda

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// Find implements resource.Finder. With a name it looks at that name only: the key of a function is pinned, so nothing of
// ours has another. Without one it looks at the tags of every function.
func (p *function) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	name := q.Key["FunctionName"]
	if name == "" {
		name = q.Like.Text("FunctionName")
	}
	if name != "" {
		c, err := p.candidate(ctx, q, name, true)
		if err != nil {
			return nil, session.SkipGone(err)
		}
		return []resource.Candidate{c}, nil
	}
	if q.Nonce == "" && q.Resource == "" {
		return nil, nil
	}
	var found []resource.Candidate
	err := session.Pages("ListFunctions", func(token *string) (*string, error) {
		out, _, err := call(ctx, p.service, p.api.ListFunctions, &lambda.ListFunctionsInput{Marker: token})
		if err != nil {
			return nil, err
		}
		if out.Functions == nil {
			return nil, session.Invalid("ListFunctions", "the answer holds no list")
		}
		for _, f := range out.Functions {
			more, err := p.tagged(ctx, q, f)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
		return out.NextMarker, nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// tagged returns a listed function if its tags match.
func (p *function) tagged(ctx context.Context, q resource.Query, f types.FunctionConfiguration) ([]resource.Candidate, error) {
	if aws.ToString(f.FunctionArn) == "" || aws.ToString(f.FunctionName) == "" {
		return nil, session.Invalid("ListFunctions", "a function has no name or ARN")
	}
	tags, err := p.listTags(ctx, *f.FunctionArn)
	if err != nil {
		return nil, session.SkipGone(err) // since it was listed
	}
	if byNonce, byTags := session.Match(q, tags); !byNonce && !byTags {
		return nil, nil
	}
	c, err := p.candidate(ctx, q, *f.FunctionName, false)
	if err != nil {
		return nil, session.SkipGone(err)
	}
	return []resource.Candidate{c}, nil
}

func (p *function) candidate(ctx context.Context, q resource.Query, name string, byName bool) (resource.Candidate, error) {
	o, err := p.Read(ctx, resource.Key{"FunctionName": name})
	if err != nil {
		return resource.Candidate{}, err
	}
	c := resource.Candidate{Observation: *o, ByName: byName}
	c.ByNonce, c.ByTags = session.Match(q, o.Owner)
	return c, nil
}
