package awssim

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// Shapes of IAM's model.
var (
	roleNameShape    = newShape(1, 64, `[\w+=,.@-]+`)
	policyNameShape  = newShape(1, 128, `[\w+=,.@-]+`)
	pathShape        = newShape(1, 512, `(/)|(/[\x21-\x7E]+/)`)
	pathPrefixShape  = newShape(1, 512, `/[\x21-\x7F]*`)
	policyPathShape  = newShape(1, 512, `((/[A-Za-z0-9.,+@=_-]+)*)/`)
	documentShape    = newShape(1, 131072, `[\x{09}\x{0A}\x{0D}\x{20}-\x{FF}]+`)
	descriptionShape = newShape(0, 1000, `[\x{09}\x{0A}\x{0D}\x{20}-\x{7E}\x{A1}-\x{FF}]*`)
	arnShape         = shape{min: 20, max: 2048}
	markerShape      = shape{min: 1, max: 320}
	tagKeyShape      = newShape(1, 128, `[\p{L}\p{Z}\p{N}_.:/=+\-@]+`)
	tagValueShape    = newShape(0, 256, `[\p{L}\p{Z}\p{N}_.:/=+\-@]*`)
)

// IAM's default quotas.
const (
	maxRoles         = 1000
	maxRoleTags      = 50
	maxAttached      = 10
	maxTrustSize     = 2048  // characters without white space
	maxInlineSize    = 10240 // over all inline policies of a role, likewise
	maxManagedSize   = 6144
	maxPolicies      = 1500
	defaultSession   = 3600 // seconds
	maxSession       = 43200
	serviceRolePath  = "/aws-service-role/"
	roleIDAlphabet   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	uniqueIDRandoms  = 17
	defaultPageItems = 100
	maxPageItems     = 1000
)

func roleOperations() []operation {
	role := []string{"RoleName"}
	return []operation{
		{"CreateRole", role, (*Server).createRole},
		{"GetRole", role, (*Server).getRole},
		{"UpdateRole", role, (*Server).updateRole},
		{"UpdateRoleDescription", role, (*Server).updateRoleDescription},
		{"UpdateAssumeRolePolicy", role, (*Server).updateAssumeRolePolicy},
		{"DeleteRole", role, (*Server).deleteRole},
		{"ListRoles", []string{"PathPrefix"}, (*Server).listRoles},
		{"TagRole", role, (*Server).tagRole},
		{"UntagRole", role, (*Server).untagRole},
		{"ListRoleTags", role, (*Server).listRoleTags},
		{"PutRolePermissionsBoundary", role, (*Server).putRoleBoundary},
		{"DeleteRolePermissionsBoundary", role, (*Server).deleteRoleBoundary},
	}
}

type roleXML struct {
	Path                     string
	RoleName                 string
	RoleId                   string
	Arn                      string
	CreateDate               string
	AssumeRolePolicyDocument string
	Description              *string
	MaxSessionDuration       int `xml:",omitempty"`
	PermissionsBoundary      *boundaryXML
	Tags                     *members[tagXML]
	RoleLastUsed             *struct{}
}

type boundaryXML struct{ PermissionsBoundaryType, PermissionsBoundaryArn string }

type roleResult struct{ Role roleXML }

// listed is a role as ListRoles shows it: without boundary, tags and last use.
func (s *Server) listed(r *Role) roleXML {
	x := s.brief(r)
	x.Description, x.MaxSessionDuration = r.Description, r.MaxSession
	return x
}

// brief is a role as CreateRole shows it.
func (s *Server) brief(r *Role) roleXML {
	return roleXML{Path: r.Path, RoleName: r.Name, RoleId: r.ID, Arn: r.ARN, CreateDate: xmlTime(r.CreatedAt),
		AssumeRolePolicyDocument: percentEncode(s.trustAsRead(r))}
}

// whole is a role as GetRole shows it.
func (s *Server) whole(r *Role) roleXML {
	x := s.listed(r)
	x.RoleLastUsed = &struct{}{}
	if r.Boundary != "" {
		x.PermissionsBoundary = &boundaryXML{"PermissionsBoundaryPolicy", r.Boundary}
	}
	if len(r.Tags) > 0 {
		x.Tags = tagsXML(r.Tags)
	}
	return x
}

func tagsXML(tags map[string]string) *members[tagXML] {
	out := &members[tagXML]{}
	for _, k := range sortedKeys(tags) {
		out.Member = append(out.Member, tagXML{k, tags[k]})
	}
	return out
}

func (s *Server) createRole(c *call) (any, *failure) {
	a := c.args()
	r := &Role{Birth: c.born(), Account: c.account, Path: "/", Inline: map[string]string{}, Attached: []string{}}
	r.Name = a.need("RoleName", roleNameShape)
	if p := a.opt("Path", pathShape); p != nil {
		r.Path = *p
	}
	trust := a.need("AssumeRolePolicyDocument", documentShape)
	r.Description = a.opt("Description", descriptionShape)
	r.MaxSession = a.integer("MaxSessionDuration", defaultSession, defaultSession, maxSession)
	boundary := a.opt("PermissionsBoundary", arnShape)
	tags := a.tagList("Tags")
	if f := a.failure(); f != nil {
		return nil, f
	}
	if strings.HasPrefix(r.Path, serviceRolePath) && !c.stranger {
		return nil, fail("InvalidInput", http.StatusBadRequest, "The path %s is reserved for service-linked roles.", serviceRolePath)
	}
	if s.roleTaken(c.account, r.Name) {
		return nil, fail("EntityAlreadyExists", http.StatusConflict, "Role with name %s already exists.", r.Name)
	}
	var f *failure
	if r.Tags, f = c.mergeTags(nil, tags, maxRoleTags); f != nil {
		return nil, f
	}
	if r.Trust, f = s.acceptTrust(c.account, trust); f != nil {
		return nil, f
	}
	if boundary != nil {
		if f := s.acceptBoundary(c.account, *boundary); f != nil {
			return nil, f
		}
		r.Boundary = *boundary
	}
	if len(filter(s.state.Roles, func(o *Role) bool { return o.Account == c.account })) >= maxRoles {
		return nil, quota("RolesPerAccount", maxRoles)
	}
	r.ID = "AROA" + randomID(roleIDAlphabet, uniqueIDRandoms)
	r.ARN = "arn:aws:iam::" + c.account + ":role" + r.Path + r.Name
	s.state.Roles = append(s.state.Roles, r)
	x := s.brief(r)
	if len(r.Tags) > 0 {
		x.Tags = tagsXML(r.Tags)
	}
	if r.Boundary != "" {
		x.PermissionsBoundary = &boundaryXML{"PermissionsBoundaryPolicy", r.Boundary}
	}
	return roleResult{x}, nil
}

func quota(name string, limit int) *failure {
	return fail("LimitExceeded", http.StatusConflict, "Cannot exceed quota for %s: %d", name, limit)
}

// roleTaken: role names are unique in an account whatever their case and path.
func (s *Server) roleTaken(account, name string) bool {
	return find(s.state.Roles, func(r *Role) bool { return r.Account == account && strings.EqualFold(r.Name, name) }) != nil
}

// readRole finds the role that a read names, in the very spelling, if the read sees it yet.
func (s *Server) readRole(c *call, a *args) (*Role, *failure) {
	name := a.need("RoleName", roleNameShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	r := s.findRole(c.account, name)
	if r == nil || !c.sees(r.Birth) {
		return nil, notFound("NoSuchEntity", "The role with name %s cannot be found.", name)
	}
	return r, nil
}

// changeRole finds the role that a change names. Changes go to the writing side, so a lag does not hide the role from them.
// A service-linked role is not for callers to change.
func (s *Server) changeRole(c *call, a *args) (*Role, *failure) {
	name := a.need("RoleName", roleNameShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	r := s.findRole(c.account, name)
	if r == nil {
		return nil, notFound("NoSuchEntity", "The role with name %s cannot be found.", name)
	}
	if strings.HasPrefix(r.Path, serviceRolePath) && !c.stranger {
		return nil, fail("UnmodifiableEntity", http.StatusBadRequest,
			"Cannot perform the operation on the protected role '%s' - this role is only modifiable by AWS", r.Name)
	}
	return r, nil
}

func (s *Server) findRole(account, name string) *Role {
	return find(s.state.Roles, func(r *Role) bool { return r.Account == account && r.Name == name })
}

func (s *Server) getRole(c *call) (any, *failure) {
	r, f := s.readRole(c, c.args())
	if f != nil {
		return nil, f
	}
	return roleResult{s.whole(r)}, nil
}

// updateRole sets the session duration back to its default when it is not sent, as IAM's reference says; a description that
// is not sent stays.
func (s *Server) updateRole(c *call) (any, *failure) {
	a := c.args()
	description := a.opt("Description", descriptionShape)
	session := a.integer("MaxSessionDuration", defaultSession, defaultSession, maxSession)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if description != nil {
		r.Description = description
	}
	r.MaxSession = session
	return struct{}{}, nil
}

func (s *Server) updateRoleDescription(c *call) (any, *failure) {
	a := c.args()
	description := a.need("Description", descriptionShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	r.Description = &description
	return roleResult{s.listed(r)}, nil
}

func (s *Server) updateAssumeRolePolicy(c *call) (any, *failure) {
	a := c.args()
	document := a.need("PolicyDocument", documentShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	trust, f := s.acceptTrust(c.account, document)
	if f != nil {
		return nil, f
	}
	r.Trust = trust
	return nil, nil
}

func (s *Server) deleteRole(c *call) (any, *failure) {
	r, f := s.changeRole(c, c.args())
	if f != nil {
		return nil, f
	}
	blocked := ""
	switch {
	case find(s.state.Profiles, func(p *InstanceProfile) bool { return p.Account == c.account && p.Role == r.Name }) != nil:
		blocked = "must remove roles from instance profile first."
	case len(r.Attached) > 0:
		blocked = "must detach all policies first."
	case len(r.Inline) > 0:
		blocked = "must delete policies first."
	}
	if blocked != "" {
		return nil, fail("DeleteConflict", http.StatusConflict, "Cannot delete entity, %s", blocked)
	}
	s.state.Roles = filter(s.state.Roles, func(o *Role) bool { return o != r })
	return nil, nil
}

// pageArgs reads Marker and MaxItems.
func (a *args) pageArgs() (marker string, limit int) {
	if m := a.opt("Marker", markerShape); m != nil {
		marker = *m
	}
	return marker, a.integer("MaxItems", defaultPageItems, 1, maxPageItems)
}

// paging is the end of every list's result.
type paging struct {
	IsTruncated bool
	Marker      string `xml:",omitempty"`
}

func pageIAM[T any](items []T, key func(T) string, marker string, limit int) ([]T, paging, *failure) {
	out, next, ok := page(items, key, marker, limit)
	if !ok {
		return nil, paging{}, fail("ValidationError", http.StatusBadRequest, "Invalid Marker.")
	}
	return out, paging{IsTruncated: next != "", Marker: next}, nil
}

func (s *Server) listRoles(c *call) (any, *failure) {
	a := c.args()
	prefix := a.opt("PathPrefix", pathPrefixShape)
	marker, limit := a.pageArgs()
	if f := a.failure(); f != nil {
		return nil, f
	}
	roles := filter(s.state.Roles, func(r *Role) bool {
		return r.Account == c.account && c.sees(r.Birth) && (prefix == nil || strings.HasPrefix(r.Path, *prefix))
	})
	roles, end, f := pageIAM(roles, func(r *Role) string { return r.Name }, marker, limit)
	if f != nil {
		return nil, f
	}
	out := struct {
		Roles members[roleXML]
		paging
	}{paging: end}
	for _, r := range roles {
		out.Roles.Member = append(out.Roles.Member, s.listed(r))
	}
	return out, nil
}

// tagList reads IAM's list of tags, in the order sent.
func (a *args) tagList(name string) []tagXML {
	if !a.has(name) {
		return nil
	}
	items, ok := a.c.params[name].([]any)
	if !ok && a.c.params[name] != "" {
		a.breaks(name, a.c.params[name], "Member must be a list")
	}
	if len(items) > maxRoleTags {
		a.breaks(name, fmt.Sprintf("%d tags", len(items)), fmt.Sprintf("Member must have length less than or equal to %d", maxRoleTags))
	}
	var out []tagXML
	for i, item := range items {
		m, _ := item.(map[string]any)
		k, hasKey := m["Key"].(string)
		v, hasValue := m["Value"].(string)
		at := fmt.Sprintf("%s.%d.member", name, i+1)
		if !hasKey {
			a.missing(at + ".key")
		} else {
			a.check(at+".key", k, tagKeyShape)
		}
		if !hasValue {
			a.missing(at + ".value")
		} else {
			a.check(at+".value", v, tagValueShape)
		}
		out = append(out, tagXML{k, v})
	}
	return out
}

// mergeTags adds tags to those an object has. IAM's tag keys are told apart without regard to case.
func (c *call) mergeTags(has map[string]string, add []tagXML, limit int) (map[string]string, *failure) {
	out := maps.Clone(has)
	if out == nil {
		out = map[string]string{}
	}
	added := map[string]bool{}
	for _, t := range add {
		lower := strings.ToLower(t.Key)
		if added[lower] {
			return nil, fail("InvalidInput", http.StatusBadRequest, "Duplicate tag keys found. Please note that Tag keys are case insensitive.")
		}
		added[lower] = true
		if reserved(t.Key) && !c.stranger {
			return nil, fail("InvalidInput", http.StatusBadRequest, "Tag keys that start with aws: are reserved.")
		}
		maps.DeleteFunc(out, func(k, _ string) bool { return strings.EqualFold(k, t.Key) })
		out[t.Key] = t.Value
	}
	if countTags(out) > limit {
		return nil, quota("TagsPerRole", limit)
	}
	return out, nil
}

func reserved(tagKey string) bool { return strings.HasPrefix(strings.ToLower(tagKey), "aws:") }

// countTags counts the tags that a quota counts: not the service's own.
func countTags(tags map[string]string) int {
	n := 0
	for k := range tags {
		if !reserved(k) {
			n++
		}
	}
	return n
}

func (s *Server) tagRole(c *call) (any, *failure) {
	a := c.args()
	if !a.has("Tags") {
		a.missing("Tags")
	}
	tags := a.tagList("Tags")
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	merged, f := c.mergeTags(r.Tags, tags, maxRoleTags)
	if f != nil {
		return nil, f
	}
	r.Tags = merged
	return nil, nil
}

func (s *Server) untagRole(c *call) (any, *failure) {
	a := c.args()
	if !a.has("TagKeys") {
		a.missing("TagKeys")
	}
	keys := a.list("TagKeys", tagKeyShape)
	if len(keys) > maxRoleTags {
		a.breaks("TagKeys", fmt.Sprintf("%d keys", len(keys)), fmt.Sprintf("Member must have length less than or equal to %d", maxRoleTags))
	}
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	for _, key := range keys {
		if reserved(key) && !c.stranger {
			return nil, fail("InvalidInput", http.StatusBadRequest, "Tag keys that start with aws: are reserved.")
		}
	}
	for _, key := range keys {
		maps.DeleteFunc(r.Tags, func(k, _ string) bool { return strings.EqualFold(k, key) })
	}
	return nil, nil
}

func (s *Server) listRoleTags(c *call) (any, *failure) {
	a := c.args()
	marker, limit := a.pageArgs()
	r, f := s.readRole(c, a)
	if f != nil {
		return nil, f
	}
	keys, end, f := pageIAM(sortedKeys(r.Tags), itself, marker, limit)
	if f != nil {
		return nil, f
	}
	out := struct {
		Tags members[tagXML]
		paging
	}{paging: end}
	for _, k := range keys {
		out.Tags.Member = append(out.Tags.Member, tagXML{k, r.Tags[k]})
	}
	return out, nil
}

func (s *Server) putRoleBoundary(c *call) (any, *failure) {
	a := c.args()
	boundary := a.need("PermissionsBoundary", arnShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if f := s.acceptBoundary(c.account, boundary); f != nil {
		return nil, f
	}
	r.Boundary = boundary
	return nil, nil
}

// deleteRoleBoundary refuses a role that has none, with the code of something that is not there.
func (s *Server) deleteRoleBoundary(c *call) (any, *failure) {
	r, f := s.changeRole(c, c.args())
	if f != nil {
		return nil, f
	}
	if r.Boundary == "" {
		return nil, notFound("NoSuchEntity", "Role %s has no permissions boundary.", r.Name)
	}
	r.Boundary = ""
	return nil, nil
}
