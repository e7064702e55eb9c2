package awssim

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

func inline(role *string, name, document string) *iam.PutRolePolicyInput {
	return &iam.PutRolePolicyInput{RoleName: role, PolicyName: &name, PolicyDocument: &document}
}

// managed makes a customer policy and returns its ARN.
func (k clients) managed() (*string, error) {
	out, err := k.iam.CreatePolicy(k.ctx, &iam.CreatePolicyInput{PolicyName: aws.String(k.name("p")), PolicyDocument: aws.String(allowJSON)})
	if err != nil {
		return nil, err
	}
	return out.Policy.Arn, nil
}

func attach(k clients, role, arn *string) error {
	_, err := k.iam.AttachRolePolicy(k.ctx, &iam.AttachRolePolicyInput{RoleName: role, PolicyArn: arn})
	return err
}

func policyBehaviours() []behaviour {
	none := aws.String("none")
	noPolicy := aws.String("arn:aws:iam::" + account + ":policy/none")
	return []behaviour{
		{claim: "inline policies are put, overwritten, listed page by page, read decoded and deleted", do: inlineLife},
		{claim: "an inline policy that is not there", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.GetRolePolicy(k.ctx, &iam.GetRolePolicyInput{RoleName: role, PolicyName: none})
			return err
		})},
		{claim: "deleting an inline policy that is not there", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.DeleteRolePolicy(k.ctx, &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: none})
			return err
		})},
		{claim: "inline policies of a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.ListRolePolicies(k.ctx, &iam.ListRolePoliciesInput{RoleName: none})
			return nil, nil, err
		}},
		{claim: "inline policies of more than 10,240 characters in all exceed the quota", refuse: overQuota, do: onRole(func(k clients, role *string) error {
			for i := range 2 {
				if _, err := k.iam.PutRolePolicy(k.ctx, inline(role, fmt.Sprint("p", i), longPolicy(6000))); err != nil {
					return err
				}
			}
			return nil
		})},
		{claim: "an inline policy without a resource is malformed", refuse: badDocument, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.PutRolePolicy(k.ctx, inline(role, "p", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*"}]}`))
			return err
		})},
		{claim: "an inline policy with a principal is malformed", refuse: badDocument, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.PutRolePolicy(k.ctx, inline(role, "p",
				`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*","Principal":"*"}]}`))
			return err
		})},
		{claim: "a policy name with a slash is invalid", refuse: invalidValue, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.PutRolePolicy(k.ctx, inline(role, "a/b", allowJSON))
			return err
		})},
		{claim: "policies are attached once however often, listed page by page, and detached", do: attachLife},
		{claim: "an AWS managed policy that does not exist cannot be attached", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			return attach(k, role, aws.String("arn:aws:iam::aws:policy/NoSuchThing"))
		})},
		{claim: "a customer policy that does not exist cannot be attached", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			return attach(k, role, noPolicy)
		})},
		{claim: "what is no policy's ARN cannot be attached", refuse: invalidInput, do: onRole(func(k clients, role *string) error {
			return attach(k, role, aws.String("arn:aws:s3:::some-bucket-name"))
		})},
		{claim: "an eleventh attached policy exceeds the quota", refuse: overQuota, do: onRole(func(k clients, role *string) error {
			for range 11 {
				arn, err := k.managed()
				if err == nil {
					err = attach(k, role, arn)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})},
		{claim: "detaching what is not attached", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.DetachRolePolicy(k.ctx, &iam.DetachRolePolicyInput{RoleName: role, PolicyArn: aws.String(basicARN)})
			return err
		})},
		{claim: "attached policies of a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.ListAttachedRolePolicies(k.ctx, &iam.ListAttachedRolePoliciesInput{RoleName: none})
			return nil, nil, err
		}},
		{claim: "a customer policy counts what it is attached to", do: policyLife},
		{claim: "an AWS managed policy can be read", do: func(k clients) (any, any, error) {
			out, err := k.iam.GetPolicy(k.ctx, &iam.GetPolicyInput{PolicyArn: aws.String(basicARN)})
			if err != nil {
				return nil, nil, err
			}
			return []any{*out.Policy.PolicyName, *out.Policy.Path}, []any{"AWSLambdaBasicExecutionRole", "/service-role/"}, nil
		}},
		{claim: "a policy that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.GetPolicy(k.ctx, &iam.GetPolicyInput{PolicyArn: noPolicy})
			return nil, nil, err
		}},
		{claim: "deleting a policy that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.DeletePolicy(k.ctx, &iam.DeletePolicyInput{PolicyArn: noPolicy})
			return nil, nil, err
		}},
		{claim: "an attached policy is not deleted", refuse: deleteFirst, do: onRole(func(k clients, role *string) error {
			arn, err := k.managed()
			if err == nil {
				err = attach(k, role, arn)
			}
			if err == nil {
				_, err = k.iam.DeletePolicy(k.ctx, &iam.DeletePolicyInput{PolicyArn: arn})
			}
			return err
		})},
		{claim: "a second policy of the same name exists", refuse: exists, do: func(k clients) (any, any, error) {
			in := &iam.CreatePolicyInput{PolicyName: aws.String(k.name("p")), PolicyDocument: aws.String(allowJSON)}
			_, err := k.iam.CreatePolicy(k.ctx, in)
			if err == nil {
				_, err = k.iam.CreatePolicy(k.ctx, in)
			}
			return nil, nil, err
		}},
		{claim: "a managed policy of the older version is malformed", refuse: badDocument, do: func(k clients) (any, any, error) {
			_, err := k.iam.CreatePolicy(k.ctx, &iam.CreatePolicyInput{PolicyName: aws.String(k.name("p")),
				PolicyDocument: aws.String(strings.Replace(allowJSON, "2012", "2008", 1))})
			return nil, nil, err
		}},
		{claim: "a managed policy over 6,144 characters exceeds the quota", refuse: overQuota, do: func(k clients) (any, any, error) {
			_, err := k.iam.CreatePolicy(k.ctx, &iam.CreatePolicyInput{PolicyName: aws.String(k.name("p")), PolicyDocument: aws.String(longPolicy(6200))})
			return nil, nil, err
		}},
	}
}

// longPolicy is a valid policy of at least n characters.
func longPolicy(n int) string {
	return strings.Replace(allowJSON, `"Resource":"*"`, `"Resource":"arn:aws:s3:::`+strings.Repeat("x", n)+`"`, 1)
}

func inlineLife(k clients) (any, any, error) {
	role, err := k.role(nil)
	for _, put := range []struct{ name, document string }{{"a", allowJSON}, {"b", allowJSON}, {"c", allowJSON}, {"b", longPolicy(3)}} {
		if err == nil {
			_, err = k.iam.PutRolePolicy(k.ctx, inline(&role, put.name, put.document))
		}
	}
	if err == nil {
		_, err = k.iam.DeleteRolePolicy(k.ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: aws.String("a")})
	}
	if err != nil {
		return nil, nil, err
	}
	var names []string
	pages := 0
	p := iam.NewListRolePoliciesPaginator(k.iam, &iam.ListRolePoliciesInput{RoleName: &role, MaxItems: aws.Int32(1)})
	for p.HasMorePages() {
		out, err := p.NextPage(k.ctx)
		if err != nil {
			return nil, nil, err
		}
		names, pages = append(names, out.PolicyNames...), pages+1
	}
	out, err := k.iam.GetRolePolicy(k.ctx, &iam.GetRolePolicyInput{RoleName: &role, PolicyName: aws.String("b")})
	if err != nil {
		return nil, nil, err
	}
	document, err := url.PathUnescape(*out.PolicyDocument)
	return []any{names, pages, document, *out.RoleName, *out.PolicyName}, []any{[]string{"b", "c"}, 2, longPolicy(3), role, "b"}, err
}

func attachLife(k clients) (any, any, error) {
	role, err := k.role(nil)
	for _, arn := range []string{readARN, basicARN, basicARN, "arn:aws:iam::aws:policy/PowerUserAccess"} {
		if err == nil {
			err = attach(k, &role, aws.String(arn))
		}
	}
	if err == nil {
		_, err = k.iam.DetachRolePolicy(k.ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: aws.String("arn:aws:iam::aws:policy/PowerUserAccess")})
	}
	if err != nil {
		return nil, nil, err
	}
	got := map[string]string{}
	pages := 0
	p := iam.NewListAttachedRolePoliciesPaginator(k.iam, &iam.ListAttachedRolePoliciesInput{RoleName: &role, MaxItems: aws.Int32(1)})
	for p.HasMorePages() {
		out, err := p.NextPage(k.ctx)
		if err != nil {
			return nil, nil, err
		}
		pages++
		for _, a := range out.AttachedPolicies {
			got[*a.PolicyArn] = *a.PolicyName
		}
	}
	service, err := k.iam.ListAttachedRolePolicies(k.ctx, &iam.ListAttachedRolePoliciesInput{RoleName: &role, PathPrefix: aws.String("/service-role/")})
	if err != nil {
		return nil, nil, err
	}
	return []any{got, pages, len(service.AttachedPolicies)},
		[]any{map[string]string{basicARN: "AWSLambdaBasicExecutionRole", readARN: "ReadOnlyAccess"}, 2, 1}, nil
}

func policyLife(k clients) (any, any, error) {
	role, err := k.role(nil)
	if err != nil {
		return nil, nil, err
	}
	arn, err := k.managed()
	if err == nil {
		err = attach(k, &role, arn)
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := k.iam.GetPolicy(k.ctx, &iam.GetPolicyInput{PolicyArn: arn})
	if err == nil {
		_, err = k.iam.DetachRolePolicy(k.ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: arn})
	}
	if err == nil {
		_, err = k.iam.DeletePolicy(k.ctx, &iam.DeletePolicyInput{PolicyArn: arn})
	}
	if err != nil {
		return nil, nil, err
	}
	return []any{*out.Policy.AttachmentCount, *out.Policy.DefaultVersionId, *out.Policy.Arn}, []any{int32(1), "v1", *arn}, nil
}

// trusts runs UpdateAssumeRolePolicy, and CreateRole for good measure, with one document.
func trusts(document string) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		role, err := k.role(nil)
		if err != nil {
			return nil, nil, err
		}
		_, update := k.iam.UpdateAssumeRolePolicy(k.ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &role, PolicyDocument: &document})
		if _, err = k.role(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = &document }); err != nil {
			return nil, nil, err
		}
		return refusalOf(update), refusal{}, nil
	}
}

func documentBehaviours() []behaviour {
	statement := func(members string) string { return `{"Version":"2012-10-17","Statement":[{` + members + `}]}` }
	service := `"Principal":{"Service":"lambda.amazonaws.com"}`
	return []behaviour{
		{claim: "a trust policy that is no JSON is malformed", refuse: badDocument, do: trusts("not json")},
		{claim: "a trust policy that is a list is malformed", refuse: badDocument, do: trusts("[]")},
		{claim: "a trust policy without a statement is malformed", refuse: badDocument, do: trusts(`{"Version":"2012-10-17"}`)},
		{claim: "a trust policy of an unknown version is malformed", refuse: badDocument, do: trusts(strings.Replace(trustJSON, "2012-10-17", "2020-01-01", 1))},
		{claim: "a trust policy without a principal is malformed", refuse: badDocument, do: trusts(statement(`"Effect":"Allow","Action":"sts:AssumeRole"`))},
		{claim: "a trust policy with a resource is malformed", refuse: badDocument,
			do: trusts(statement(`"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*",` + service))},
		{claim: "a trust policy without an action is malformed", refuse: badDocument, do: trusts(statement(`"Effect":"Allow",` + service))},
		{claim: "a trust policy with another effect is malformed", refuse: badDocument,
			do: trusts(statement(`"Effect":"Maybe","Action":"sts:AssumeRole",` + service))},
		{claim: "a trust policy with a member that does not exist is malformed", refuse: badDocument,
			do: trusts(statement(`"Effect":"Allow","Action":"sts:AssumeRole","Principle":"*",` + service))},
		{claim: "a trust policy for another service's action is malformed", refuse: badDocument,
			do: trusts(statement(`"Effect":"Allow","Action":"s3:GetObject",` + service))},
		{claim: "a trust policy that names the same statement twice is malformed", refuse: badDocument,
			do: trusts(`{"Version":"2012-10-17","Statement":[{"Sid":"a","Effect":"Allow","Action":"sts:AssumeRole",` + service +
				`},{"Sid":"a","Effect":"Allow","Action":"sts:AssumeRole",` + service + `}]}`)},
		{claim: "a trust policy that trusts a role that is not there is malformed", refuse: badDocument,
			do: trusts(statement(`"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::` + account + `:role/none"}`))},
		{claim: "a trust policy that trusts what is no service is malformed", refuse: badDocument,
			do: trusts(statement(`"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"lambda"}`))},
		{claim: "a trust policy over 2,048 characters exceeds the quota", refuse: overQuota,
			do: trusts(statement(`"Effect":"Allow","Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:x":"` + strings.Repeat("x", 2048) + `"}},` + service))},
		{claim: "a trust policy may be a single statement of the older version, with a condition", do: trusts(
			`{"Version":"2008-10-17","Statement":{"Sid":"Lambda1","Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],` + service +
				`,"Condition":{"StringEquals":{"aws:SourceAccount":"123456789012"}}}}`)},
		{claim: "a trust policy without a version is of the older one", do: trusts(`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*"}}`)},
		{claim: "a trusted account comes back as its root's ARN, and nothing else of the policy changes", do: trustedAccount},
		{claim: "a trusted role comes back by ARN while it lives, then by its unique ID, also when a new one has its name", do: trustedRole},
	}
}

// trustOf reads the trust policy of a role, decoded.
func (k clients) trustOf(role string) (string, error) {
	out, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role})
	if err != nil {
		return "", err
	}
	return url.PathUnescape(*out.Role.AssumeRolePolicyDocument)
}

func trustedAccount(k clients) (any, any, error) {
	const sent = `{ "Version": "2012-10-17", "Statement": {"Effect":"Allow", "Action":"sts:AssumeRole", ` +
		`"Principal": {"AWS": ["123456789012", "*"]}, "Condition":{"StringEquals":{"aws:PrincipalAccount":"123456789012"}}} }`
	role, err := k.role(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = aws.String(sent) })
	if err != nil {
		return nil, nil, err
	}
	got, err := k.trustOf(role)
	return got, strings.Replace(sent, `["123456789012"`, `["arn:aws:iam::123456789012:root"`, 1), err
}

func trustedRole(k clients) (any, any, error) {
	trusted, err := k.role(nil)
	if err != nil {
		return nil, nil, err
	}
	get, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &trusted})
	if err != nil {
		return nil, nil, err
	}
	document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + *get.Role.Arn + `"}}]}`
	role, err := k.role(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = &document })
	if err != nil {
		return nil, nil, err
	}
	alive, err := k.trustOf(role)
	if err == nil {
		_, err = k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: &trusted})
	}
	if err == nil {
		_, err = k.role(func(in *iam.CreateRoleInput) { in.RoleName = &trusted })
	}
	if err != nil {
		return nil, nil, err
	}
	gone, err := k.trustOf(role)
	return []any{alive, gone}, []any{document, strings.Replace(document, *get.Role.Arn, *get.Role.RoleId, 1)}, err
}
