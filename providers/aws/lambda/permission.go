package lambda

import (
	"context"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// PermissionType is the CloudFormation name of the type.
const PermissionType = "AWS::Lambda::Permission"

// sidPrefix begins the statement IDs that we make; our nonce follows.
const sidPrefix = "reclaim-"

// permission implements resource.Provider, resource.Finder and resource.Expander.
type permission struct {
	service
	schema *resource.Schema
}

// permissionSchema describes one statement of a function's policy. Its statement ID holds the nonce, which is proof.
func permissionSchema() *resource.Schema {
	text := func(name, doc, pattern string) resource.Field {
		return resource.Field{Name: name, Doc: doc, Type: resource.TString, Mode: resource.Immutable, Pattern: pattern}
	}
	required := func(f resource.Field) resource.Field {
		f.Required = true
		return f
	}
	urlAuth := text("FunctionUrlAuthType", "How callers of the function's URL are known; for lambda:InvokeFunctionUrl only.", "")
	urlAuth.Enum = []string{"AWS_IAM", "NONE"}
	return &resource.Schema{
		Type:     PermissionType,
		Doc:      "Permission for a service or account to call a Lambda function: one statement of the function's policy. Nothing of it can be changed in place.",
		Identity: resource.Named,
		Space:    resource.PerRegion,
		Key:      []string{"FunctionName", "Id"},
		Ref:      "Id",
		Params: []resource.Field{
			required(text("FunctionName", "Name, partial ARN or ARN of the function, or of a version or alias; told by its name.", functionForm)),
			required(text("Action", "What is allowed, such as lambda:InvokeFunction.", `lambda:[*]|lambda:[a-zA-Z]+|[*]`)),
			required(text("Principal", "Who may: a service, an account or its root's ARN (which are one), a role's or user's ARN, or *.", `[^\s]+`)),
			text("SourceArn", "ARN of what the service calls for; * and ? stand for anything.", `arn:.+`),
			text("SourceAccount", "Account of what the service calls for.", `\d{12}`),
			text("EventSourceToken", "Token that the caller must send (Alexa).", `[a-zA-Z0-9._\-]{0,256}`),
			urlAuth,
			text("PrincipalOrgID", "Organization that callers must belong to; with the principal * only.", `o-[a-z0-9]{10,32}`),
			{Name: "InvokedViaFunctionUrl", Doc: "Whether only calls through the function's URL are allowed.", Type: resource.TBool, Mode: resource.Immutable},
		},
		Outputs:   []resource.Output{{Name: "Id", Doc: "The statement ID."}},
		Tags:      resource.NonceOnly,
		Window:    10 * time.Second,
		Deadlines: resource.Deadlines{Call: 30 * time.Second, Settle: 30 * time.Second, Delete: time.Minute},
	}
}

// Schema implements resource.Provider.
func (p *permission) Schema() *resource.Schema { return p.schema }

// functionForm is how config may name a function. Its groups, in functionParts: region, account (twice), name with a
// version or alias.
const functionForm = `(?:arn:aws[a-zA-Z-]*:lambda:[a-z0-9-]+:\d{12}:function:|\d{12}:function:|function:)?[a-zA-Z0-9_-]{1,64}(?::(?:\$LATEST|[a-zA-Z0-9_-]+))?`

var functionParts = regexp.MustCompile(`^(?:arn:aws[a-zA-Z-]*:lambda:([a-z0-9-]+):(\d{12}):function:|(\d{12}):function:|function:)?([a-zA-Z0-9_-]{1,64}(?::(?:\$LATEST|[a-zA-Z0-9_-]+))?)$`)

var accountRoot = regexp.MustCompile(`^arn:aws[a-zA-Z-]*:iam::(\d{12}):root$`)

// Expand implements resource.Expander: it names the function by its name (with its version or alias), and an account by
// its number, whichever way config does, so that params, key and read agree. A function of another region or account
// is refused: its name alone would mean one of ours.
func (p *permission) Expand(_ context.Context, params value.Map) (value.Map, error) {
	if v := params["FunctionName"]; v.Kind() == value.String {
		m := functionParts.FindStringSubmatch(v.Reveal())
		if m == nil {
			return nil, refused("read FunctionName", "FunctionName is neither a function's name nor its ARN")
		}
		if region := p.session.Region(); m[1] != "" && m[1] != region {
			return nil, refused("read FunctionName", "the function is in "+m[1]+", and this stack in "+region+"; put the permission into a stack of that region")
		}
		if scope, ok := p.session.Verified(); ok && m[2]+m[3] != "" && m[2]+m[3] != scope.Account {
			return nil, refused("read FunctionName", "the function belongs to account "+m[2]+m[3]+", and this stack to "+scope.Account+"; put the permission into a stack of that account")
		}
		params = params.With("FunctionName", like(v, m[4]))
	}
	if v := params["Principal"]; v.Kind() == value.String {
		params = params.With("Principal", like(v, bareAccount(v.Reveal())))
	}
	return params, nil
}

// like is a text that is as sensitive as v.
func like(v value.Value, text string) value.Value {
	if v.Sensitive() {
		return value.Of(text).AsSensitive()
	}
	return value.Of(text)
}

// bareAccount returns the number of an account that is named by its root's ARN; other principals as they are.
func bareAccount(principal string) string {
	if m := accountRoot.FindStringSubmatch(principal); m != nil {
		return m[1]
	}
	return principal
}

// Create implements resource.Provider: one AddPermission, under a statement ID that holds the nonce.
func (p *permission) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("AddPermission", c.Params); err != nil {
		return resource.Created{}, err
	}
	nonce := c.Tags[resource.TagNonce]
	if nonce == "" {
		return resource.Created{}, refused("AddPermission", "there is no nonce for the statement ID, which nobody could tell from a stranger's")
	}
	m := c.Params
	key := resource.Key{"FunctionName": wire.Name(m["FunctionName"]), "Id": sidPrefix + nonce}
	name, qualifier := split(key["FunctionName"])
	in := &lambda.AddPermissionInput{
		FunctionName:          name,
		Qualifier:             qualifier,
		StatementId:           aws.String(key["Id"]),
		Action:                wire.Text(m["Action"]),
		Principal:             wire.Text(m["Principal"]),
		SourceArn:             nonEmpty(m["SourceArn"]),
		SourceAccount:         nonEmpty(m["SourceAccount"]),
		EventSourceToken:      nonEmpty(m["EventSourceToken"]),
		FunctionUrlAuthType:   types.FunctionUrlAuthType(wire.Name(m["FunctionUrlAuthType"])),
		PrincipalOrgID:        nonEmpty(m["PrincipalOrgID"]),
		InvokedViaFunctionUrl: wire.Bool(m["InvokedViaFunctionUrl"]),
	}
	out, reply, err := call(ctx, p.service, p.api.AddPermission, in, once)
	if err != nil {
		err = conflicting(dependency(err), func() error { _, err := p.Read(ctx, key); return err })
		return resource.Created{}, wire.Conceal(err, c.Params)
	}
	if s, err := parseStatement(aws.ToString(out.Statement)); err != nil || s.Sid != key["Id"] {
		return resource.Created{}, session.Unacknowledged("AddPermission", reply, "it succeeded, but the statement that it answers is not the one that was sent")
	}
	return resource.Created{Key: key, Identity: identity(key["Id"]), Output: value.Map{"Id": value.Of(key["Id"])}, ServedAt: reply.ServedAt}, nil
}

// Sync implements resource.Provider: nothing of a permission can be changed, and an adopted one can carry no mark.
func (p *permission) Sync(resource.Change) ([]resource.Call, error) { return nil, nil }

// Unmake implements resource.Provider: nothing has to go first.
func (p *permission) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete implements resource.Provider.
func (p *permission) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := confirm("RemovePermission", d, o); err != nil {
		return err
	}
	name, qualifier := split(d.Key["FunctionName"])
	_, _, err = call(ctx, p.service, p.api.RemovePermission, &lambda.RemovePermissionInput{FunctionName: name, Qualifier: qualifier, StatementId: aws.String(d.Key["Id"])}, once)
	return err
}
