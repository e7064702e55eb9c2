package awssim

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func stsBehaviours() []behaviour {
	return []behaviour{{
		claim: "the caller's account comes back",
		do: func(k clients) (any, any, error) {
			out, err := k.sts.GetCallerIdentity(k.ctx, &sts.GetCallerIdentityInput{})
			if err != nil {
				return nil, nil, err
			}
			return aws.ToString(out.Account), account, nil
		},
	}}
}

// role makes a role, changed by edit, and returns its name.
func (k clients) role(edit func(*iam.CreateRoleInput)) (string, error) {
	in := &iam.CreateRoleInput{RoleName: aws.String(k.name("r")), AssumeRolePolicyDocument: aws.String(trustJSON)}
	if edit != nil {
		edit(in)
	}
	_, err := k.iam.CreateRole(k.ctx, in)
	return *in.RoleName, err
}

// onRole runs what comes after a plain role was made.
func onRole(then func(k clients, role *string) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		role, err := k.role(nil)
		if err == nil {
			err = then(k, &role)
		}
		return nil, nil, err
	}
}

// creates runs one CreateRole.
func creates(edit func(*iam.CreateRoleInput)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		_, err := k.role(edit)
		return nil, nil, err
	}
}

func tags(pairs ...string) []types.Tag {
	var out []types.Tag
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return out
}

func manyTags(n int) []types.Tag {
	var out []types.Tag
	for i := range n {
		out = append(out, tags(fmt.Sprintf("k%02d", i), "v")...)
	}
	return out
}

var (
	noEntity     = refusal{"NoSuchEntity", 404}
	exists       = refusal{"EntityAlreadyExists", 409}
	invalidValue = refusal{"ValidationError", 400}
	invalidInput = refusal{"InvalidInput", 400}
	badDocument  = refusal{"MalformedPolicyDocument", 400}
	overQuota    = refusal{"LimitExceeded", 409}
	deleteFirst  = refusal{"DeleteConflict", 409}
)

func roleBehaviours() []behaviour {
	return []behaviour{
		{claim: "a role comes back from GetRole with all that it was created with", do: wholeRole},
		{claim: "a role without options has a session of an hour, no description, boundary or tags", do: bareRole},
		{claim: "CreateRole's answer leaves out description and session, which only a read gives", do: func(k clients) (any, any, error) {
			out, err := k.iam.CreateRole(k.ctx, &iam.CreateRoleInput{RoleName: aws.String(k.name("r")), AssumeRolePolicyDocument: aws.String(trustJSON),
				Description: aws.String("d"), MaxSessionDuration: aws.Int32(7200)})
			if err != nil {
				return nil, nil, err
			}
			return []any{out.Role.Description == nil, out.Role.MaxSessionDuration == nil}, []any{true, true}, nil
		}},
		{claim: "a second role of the same name exists", refuse: exists, do: onRole(func(k clients, role *string) error {
			_, err := k.role(func(in *iam.CreateRoleInput) { in.RoleName = role })
			return err
		})},
		{claim: "a role of the same name in other case and path exists", refuse: exists, do: onRole(func(k clients, role *string) error {
			_, err := k.role(func(in *iam.CreateRoleInput) {
				in.RoleName, in.Path = aws.String(strings.ToUpper(*role)), aws.String("/x/")
			})
			return err
		})},
		{claim: "a role is not found under another case", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: aws.String(strings.ToUpper(*role))})
			return err
		})},
		{claim: "a role made again has another unique ID", do: func(k clients) (any, any, error) {
			var ids []string
			name := aws.String(k.name("r"))
			for range 2 {
				out, err := k.iam.CreateRole(k.ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: aws.String(trustJSON)})
				if err != nil {
					return nil, nil, err
				}
				ids = append(ids, *out.Role.RoleId)
				if _, err := k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: name}); err != nil {
					return nil, nil, err
				}
			}
			return []any{ids[0] == ids[1], ids[0][:4], len(ids[0])}, []any{false, "AROA", 21}, nil
		}},
		{claim: "a name with a character outside the pattern is invalid", refuse: invalidValue,
			do: creates(func(in *iam.CreateRoleInput) { in.RoleName = aws.String("no spaces") })},
		{claim: "a name of 65 characters is invalid", refuse: invalidValue,
			do: creates(func(in *iam.CreateRoleInput) { in.RoleName = aws.String(strings.Repeat("x", 65)) })},
		{claim: "a path without slashes is invalid", refuse: invalidValue,
			do: creates(func(in *iam.CreateRoleInput) { in.Path = aws.String("x") })},
		{claim: "a session under an hour is invalid", refuse: invalidValue,
			do: creates(func(in *iam.CreateRoleInput) { in.MaxSessionDuration = aws.Int32(3599) })},
		{claim: "a session over twelve hours is invalid", refuse: invalidValue,
			do: creates(func(in *iam.CreateRoleInput) { in.MaxSessionDuration = aws.Int32(43201) })},
		{claim: "a description over 1000 characters is invalid", refuse: invalidValue,
			do: creates(func(in *iam.CreateRoleInput) { in.Description = aws.String(strings.Repeat("d", 1001)) })},
		{claim: "51 tags are invalid", refuse: invalidValue, do: creates(func(in *iam.CreateRoleInput) { in.Tags = manyTags(51) })},
		{claim: "tag keys that differ in case only are duplicates", refuse: invalidInput,
			do: creates(func(in *iam.CreateRoleInput) { in.Tags = tags("Env", "a", "env", "b") })},
		{claim: "a caller cannot create a role with an aws: tag", refuse: invalidInput,
			do: creates(func(in *iam.CreateRoleInput) { in.Tags = tags("aws:cloudformation:stack-name", "x") })},
		{claim: "a caller cannot create a role under the service-linked path", refuse: invalidInput,
			do: creates(func(in *iam.CreateRoleInput) { in.Path = aws.String("/aws-service-role/x/") })},
		{claim: "a boundary that does not exist is refused on create", refuse: noEntity,
			do: creates(func(in *iam.CreateRoleInput) {
				in.PermissionsBoundary = aws.String("arn:aws:iam::" + account + ":policy/none")
			})},
		{claim: "a boundary that does not exist is refused on a put", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.PutRolePermissionsBoundary(k.ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: role,
				PermissionsBoundary: aws.String("arn:aws:iam::" + account + ":policy/none")})
			return err
		})},
		{claim: "a boundary can be put, read and taken away", do: boundaryLife},
		{claim: "taking away a boundary that is not there is refused", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.DeleteRolePermissionsBoundary(k.ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: role})
			return err
		})},
		{claim: "UpdateRole without a session sets it back to an hour and keeps the description", do: func(k clients) (any, any, error) {
			role, err := k.role(func(in *iam.CreateRoleInput) {
				in.Description, in.MaxSessionDuration = aws.String("kept"), aws.Int32(7200)
			})
			if err == nil {
				_, err = k.iam.UpdateRole(k.ctx, &iam.UpdateRoleInput{RoleName: &role})
			}
			if err != nil {
				return nil, nil, err
			}
			out, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role})
			if err != nil {
				return nil, nil, err
			}
			return []any{aws.ToString(out.Role.Description), aws.ToInt32(out.Role.MaxSessionDuration)}, []any{"kept", int32(3600)}, nil
		}},
		{claim: "UpdateRole of a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.UpdateRole(k.ctx, &iam.UpdateRoleInput{RoleName: aws.String("none")})
			return nil, nil, err
		}},
		{claim: "a description can be changed by its own call", do: func(k clients) (any, any, error) {
			role, err := k.role(nil)
			if err != nil {
				return nil, nil, err
			}
			out, err := k.iam.UpdateRoleDescription(k.ctx, &iam.UpdateRoleDescriptionInput{RoleName: &role, Description: aws.String("new")})
			if err != nil {
				return nil, nil, err
			}
			return aws.ToString(out.Role.Description), "new", nil
		}},
		{claim: "a description of a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.UpdateRoleDescription(k.ctx, &iam.UpdateRoleDescriptionInput{RoleName: aws.String("none"), Description: aws.String("x")})
			return nil, nil, err
		}},
		{claim: "deleting a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: aws.String("none")})
			return nil, nil, err
		}},
		{claim: "a role with an inline policy is not deleted", refuse: deleteFirst, do: onRole(func(k clients, role *string) error {
			if _, err := k.iam.PutRolePolicy(k.ctx, inline(role, "p", allowJSON)); err != nil {
				return err
			}
			_, err := k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: role})
			return err
		})},
		{claim: "a role with an attached policy is not deleted", refuse: deleteFirst, do: onRole(func(k clients, role *string) error {
			if _, err := k.iam.AttachRolePolicy(k.ctx, &iam.AttachRolePolicyInput{RoleName: role, PolicyArn: aws.String(basicARN)}); err != nil {
				return err
			}
			_, err := k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: role})
			return err
		})},
		{claim: "a role in an instance profile is not deleted", refuse: deleteFirst, do: onRole(func(k clients, role *string) error {
			if err := k.profile(role); err != nil {
				return err
			}
			_, err := k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: role})
			return err
		})},
		{claim: "an instance profile lists under its role, and lets it go", do: profileLife},
		{claim: "an instance profile holds one role", refuse: overQuota, do: onRole(func(k clients, role *string) error {
			if err := k.profile(role); err != nil {
				return err
			}
			_, err := k.iam.AddRoleToInstanceProfile(k.ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: role, RoleName: role})
			return err
		})},
		{claim: "an instance profile with a role is not deleted", refuse: deleteFirst, do: onRole(func(k clients, role *string) error {
			if err := k.profile(role); err != nil {
				return err
			}
			_, err := k.iam.DeleteInstanceProfile(k.ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: role})
			return err
		})},
		{claim: "a second instance profile of the same name exists", refuse: exists, do: onRole(func(k clients, role *string) error {
			if err := k.profile(role); err != nil {
				return err
			}
			return k.profile(role)
		})},
		{claim: "a role that is in no profile cannot be removed from one", refuse: noEntity, do: onRole(func(k clients, role *string) error {
			if _, err := k.iam.CreateInstanceProfile(k.ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: role}); err != nil {
				return err
			}
			_, err := k.iam.RemoveRoleFromInstanceProfile(k.ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: role, RoleName: role})
			return err
		})},
		{claim: "profiles of a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.ListInstanceProfilesForRole(k.ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: aws.String("none")})
			return nil, nil, err
		}},
		{claim: "roles are listed page by page, by path, without tags and boundary", do: listRoles},
		{claim: "a marker that no page gave is invalid", refuse: invalidValue, do: func(k clients) (any, any, error) {
			_, err := k.iam.ListRoles(k.ctx, &iam.ListRolesInput{Marker: aws.String("guessed")})
			return nil, nil, err
		}},
		{claim: "role tags are set, replaced whatever their case, removed, and listed page by page", do: tagLife},
		{claim: "more than 50 tags in all exceed the quota", refuse: overQuota, do: func(k clients) (any, any, error) {
			role, err := k.role(func(in *iam.CreateRoleInput) { in.Tags = manyTags(50) })
			if err == nil {
				_, err = k.iam.TagRole(k.ctx, &iam.TagRoleInput{RoleName: &role, Tags: tags("one-more", "v")})
			}
			return nil, nil, err
		}},
		{claim: "an aws: tag cannot be put on a role", refuse: invalidInput, do: onRole(func(k clients, role *string) error {
			_, err := k.iam.TagRole(k.ctx, &iam.TagRoleInput{RoleName: role, Tags: tags("aws:x", "v")})
			return err
		})},
		{claim: "untagging a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.UntagRole(k.ctx, &iam.UntagRoleInput{RoleName: aws.String("none"), TagKeys: []string{"k"}})
			return nil, nil, err
		}},
		{claim: "tags of a role that is not there", refuse: noEntity, do: func(k clients) (any, any, error) {
			_, err := k.iam.ListRoleTags(k.ctx, &iam.ListRoleTagsInput{RoleName: aws.String("none")})
			return nil, nil, err
		}},
	}
}

func wholeRole(k clients) (any, any, error) {
	name, err := k.role(func(in *iam.CreateRoleInput) {
		in.Path, in.Description, in.MaxSessionDuration = aws.String("/team/"), aws.String("reads orders"), aws.Int32(7200)
		in.PermissionsBoundary, in.Tags = aws.String(readARN), tags("b", "2", "a", "1")
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return nil, nil, err
	}
	r := out.Role
	trust, err := url.PathUnescape(*r.AssumeRolePolicyDocument)
	got := []any{*r.Path, *r.RoleName, *r.Arn, *r.Description, *r.MaxSessionDuration, *r.PermissionsBoundary.PermissionsBoundaryArn,
		string(r.PermissionsBoundary.PermissionsBoundaryType), trust, strings.Contains(*r.AssumeRolePolicyDocument, "+"), tagMap(r.Tags), r.CreateDate.IsZero()}
	want := []any{"/team/", name, "arn:aws:iam::" + account + ":role/team/" + name, "reads orders", int32(7200), readARN,
		"PermissionsBoundaryPolicy", trustJSON, false, map[string]string{"a": "1", "b": "2"}, false}
	return got, want, err
}

func tagMap(in []types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range in {
		out[*t.Key] = *t.Value
	}
	return out
}

func bareRole(k clients) (any, any, error) {
	name, err := k.role(nil)
	if err != nil {
		return nil, nil, err
	}
	out, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return nil, nil, err
	}
	r := out.Role
	return []any{*r.Path, *r.MaxSessionDuration, r.Description == nil, r.PermissionsBoundary == nil, len(r.Tags)},
		[]any{"/", int32(3600), true, true, 0}, nil
}

func boundaryLife(k clients) (any, any, error) {
	role, err := k.role(nil)
	if err == nil {
		_, err = k.iam.PutRolePermissionsBoundary(k.ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &role, PermissionsBoundary: aws.String(readARN)})
	}
	if err != nil {
		return nil, nil, err
	}
	with, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role})
	if err == nil {
		_, err = k.iam.DeleteRolePermissionsBoundary(k.ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: &role})
	}
	if err != nil {
		return nil, nil, err
	}
	without, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role})
	if err != nil || with.Role.PermissionsBoundary == nil {
		return nil, "a boundary", err
	}
	return []any{*with.Role.PermissionsBoundary.PermissionsBoundaryArn, without.Role.PermissionsBoundary == nil}, []any{readARN, true}, nil
}

// profile makes an instance profile with the role's name and puts the role in.
func (k clients) profile(role *string) error {
	_, err := k.iam.CreateInstanceProfile(k.ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: role})
	if err == nil {
		_, err = k.iam.AddRoleToInstanceProfile(k.ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: role, RoleName: role})
	}
	return err
}

func profileLife(k clients) (any, any, error) {
	role, err := k.role(nil)
	if err == nil {
		err = k.profile(&role)
	}
	if err != nil {
		return nil, nil, err
	}
	in, err := k.iam.ListInstanceProfilesForRole(k.ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: &role})
	if err == nil {
		_, err = k.iam.RemoveRoleFromInstanceProfile(k.ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &role, RoleName: &role})
	}
	if err == nil {
		_, err = k.iam.DeleteInstanceProfile(k.ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &role})
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := k.iam.ListInstanceProfilesForRole(k.ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: &role})
	if err != nil || len(in.InstanceProfiles) != 1 {
		return nil, "one profile", err
	}
	p := in.InstanceProfiles[0]
	return []any{*p.InstanceProfileName, len(p.Roles), *p.Roles[0].RoleName, len(out.InstanceProfiles)}, []any{role, 1, role, 0}, nil
}

func listRoles(k clients) (any, any, error) {
	path := "/" + k.name("list") + "/"
	var want []string
	for range 5 {
		name, err := k.role(func(in *iam.CreateRoleInput) { in.Path, in.Tags = &path, tags("k", "v") })
		if err != nil {
			return nil, nil, err
		}
		want = append(want, name)
	}
	slices.Sort(want)
	var got []string
	tagged, pages := 0, 0
	p := iam.NewListRolesPaginator(k.iam, &iam.ListRolesInput{PathPrefix: &path, MaxItems: aws.Int32(2)})
	for p.HasMorePages() {
		out, err := p.NextPage(k.ctx)
		if err != nil {
			return nil, nil, err
		}
		pages++
		for _, r := range out.Roles {
			got = append(got, *r.RoleName)
			tagged += len(r.Tags)
		}
	}
	slices.Sort(got) // the order is not promised
	return []any{got, pages, tagged}, []any{want, 3, 0}, nil
}

func tagLife(k clients) (any, any, error) {
	role, err := k.role(func(in *iam.CreateRoleInput) { in.Tags = tags("Env", "old", "gone", "x") })
	if err == nil {
		_, err = k.iam.TagRole(k.ctx, &iam.TagRoleInput{RoleName: &role, Tags: tags("env", "new", "a", "1", "b", "2")})
	}
	if err == nil {
		_, err = k.iam.UntagRole(k.ctx, &iam.UntagRoleInput{RoleName: &role, TagKeys: []string{"gone", "never-there"}})
	}
	if err != nil {
		return nil, nil, err
	}
	var all []types.Tag
	pages := 0
	p := iam.NewListRoleTagsPaginator(k.iam, &iam.ListRoleTagsInput{RoleName: &role, MaxItems: aws.Int32(2)})
	for p.HasMorePages() {
		out, err := p.NextPage(k.ctx)
		if err != nil {
			return nil, nil, err
		}
		all, pages = append(all, out.Tags...), pages+1
	}
	return []any{tagMap(all), len(all), pages}, []any{map[string]string{"a": "1", "b": "2", "env": "new"}, 3, 2}, nil
}
