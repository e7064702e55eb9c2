package apigatewayv2

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"

	"reclaim/engine/resource"
	"reclaim/providers/aws/wire"
)

// arn returns the ARN that the tagging operations take: path is "/apis/{id}" or that of a stage. It holds no account.
func (b base) arn(ctx context.Context, path string) (string, error) {
	scope, err := b.session.Verify(ctx)
	if err != nil {
		return "", err
	}
	return "arn:" + scope.Partition + ":apigateway:" + scope.Region + "::" + path, nil
}

// ownTags returns the call that marks an adopted object as ours. It comes first, before anything else is changed.
func (b base) ownTags(c resource.Change, path string) []resource.Call {
	if len(c.Own) == 0 {
		return nil
	}
	return []resource.Call{b.tag(c, path, "ownership tags", c.Own, nil)}
}

// syncTags returns the calls that bring the config's own tags about.
func (b base) syncTags(c resource.Change, path string) []resource.Call {
	if !slices.Contains(c.Write, "Tags") {
		return nil
	}
	set, remove := wire.TagChange(wire.Tags(c.Desired["Tags"]), wire.Tags(c.Recorded["Tags"]), wire.Observed(c.Observed, "Tags"))
	var calls []resource.Call
	if len(set) > 0 {
		calls = append(calls, b.tag(c, path, "tags", set, []string{"Tags"}))
	}
	if len(remove) > 0 {
		calls = append(calls, resource.Call{Name: "UntagResource", Detail: "tags " + strings.Join(remove, ", "), Params: []string{"Tags"}, Run: func(ctx context.Context) error {
			arn, err := b.arn(ctx, path)
			if err != nil {
				return err
			}
			_, _, err = call(ctx, b, b.client.UntagResource, &apigatewayv2.UntagResourceInput{ResourceArn: &arn, TagKeys: remove})
			return err
		}})
	}
	return calls
}

func (b base) tag(c resource.Change, path, detail string, tags map[string]string, params []string) resource.Call {
	return resource.Call{Name: "TagResource", Detail: detail, Params: params, Run: func(ctx context.Context) error {
		arn, err := b.arn(ctx, path)
		if err != nil {
			return err
		}
		_, _, err = call(ctx, b, b.client.TagResource, &apigatewayv2.TagResourceInput{ResourceArn: &arn, Tags: tags})
		return wire.Conceal(err, c.Desired)
	}}
}
