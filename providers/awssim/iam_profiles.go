package awssim

import (
	"net/http"
	"strings"
)

var profileNameShape = newShape(1, 128, `[\w+=,.@-]+`)

func profileOperations() []operation {
	profile := []string{"InstanceProfileName"}
	return []operation{
		{"CreateInstanceProfile", profile, (*Server).createInstanceProfile},
		{"AddRoleToInstanceProfile", profile, (*Server).addRoleToInstanceProfile},
		{"RemoveRoleFromInstanceProfile", profile, (*Server).removeRoleFromInstanceProfile},
		{"DeleteInstanceProfile", profile, (*Server).deleteInstanceProfile},
		{"ListInstanceProfilesForRole", []string{"RoleName"}, (*Server).listInstanceProfilesForRole},
	}
}

type profileXML struct {
	Path, InstanceProfileName, InstanceProfileId, Arn, CreateDate string
	Roles                                                         members[roleXML]
}

func (s *Server) showProfile(p *InstanceProfile) profileXML {
	x := profileXML{Path: p.Path, InstanceProfileName: p.Name, InstanceProfileId: p.ID, Arn: p.ARN, CreateDate: xmlTime(p.CreatedAt)}
	if r := s.findRole(p.Account, p.Role); r != nil {
		x.Roles.Member = []roleXML{s.brief(r)}
	}
	return x
}

func (s *Server) createInstanceProfile(c *call) (any, *failure) {
	a := c.args()
	p := &InstanceProfile{Birth: c.born(), Account: c.account, Path: "/", Name: a.need("InstanceProfileName", profileNameShape)}
	if path := a.opt("Path", pathShape); path != nil {
		p.Path = *path
	}
	if f := a.failure(); f != nil {
		return nil, f
	}
	if find(s.state.Profiles, func(o *InstanceProfile) bool { return o.Account == c.account && strings.EqualFold(o.Name, p.Name) }) != nil {
		return nil, fail("EntityAlreadyExists", http.StatusConflict, "Instance Profile %s already exists.", p.Name)
	}
	p.ID = "AIPA" + randomID(roleIDAlphabet, uniqueIDRandoms)
	p.ARN = "arn:aws:iam::" + c.account + ":instance-profile" + p.Path + p.Name
	s.state.Profiles = append(s.state.Profiles, p)
	return struct{ InstanceProfile profileXML }{s.showProfile(p)}, nil
}

func (s *Server) namedProfile(c *call, a *args) (*InstanceProfile, *failure) {
	name := a.need("InstanceProfileName", profileNameShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	p := find(s.state.Profiles, func(p *InstanceProfile) bool { return p.Account == c.account && p.Name == name })
	if p == nil {
		return nil, notFound("NoSuchEntity", "Instance Profile %s cannot be found.", name)
	}
	return p, nil
}

func (s *Server) addRoleToInstanceProfile(c *call) (any, *failure) {
	a := c.args()
	p, f := s.namedProfile(c, a)
	if f != nil {
		return nil, f
	}
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if p.Role != "" {
		return nil, quota("InstanceSessionsPerInstanceProfile", 1)
	}
	p.Role = r.Name
	return nil, nil
}

func (s *Server) removeRoleFromInstanceProfile(c *call) (any, *failure) {
	a := c.args()
	name := a.need("RoleName", roleNameShape)
	p, f := s.namedProfile(c, a)
	if f != nil {
		return nil, f
	}
	if p.Role != name {
		return nil, notFound("NoSuchEntity", "The role with name %s cannot be found.", name)
	}
	p.Role = ""
	return nil, nil
}

func (s *Server) deleteInstanceProfile(c *call) (any, *failure) {
	p, f := s.namedProfile(c, c.args())
	if f != nil {
		return nil, f
	}
	if p.Role != "" {
		return nil, fail("DeleteConflict", http.StatusConflict, "Cannot delete entity, must remove roles from instance profile first.")
	}
	s.state.Profiles = filter(s.state.Profiles, func(o *InstanceProfile) bool { return o != p })
	return nil, nil
}

func (s *Server) listInstanceProfilesForRole(c *call) (any, *failure) {
	a := c.args()
	marker, limit := a.pageArgs()
	r, f := s.readRole(c, a)
	if f != nil {
		return nil, f
	}
	profiles := filter(s.state.Profiles, func(p *InstanceProfile) bool {
		return p.Account == c.account && p.Role == r.Name && c.sees(p.Birth)
	})
	profiles, end, f := pageIAM(profiles, func(p *InstanceProfile) string { return p.Name }, marker, limit)
	if f != nil {
		return nil, f
	}
	out := struct {
		InstanceProfiles members[profileXML]
		paging
	}{paging: end}
	for _, p := range profiles {
		out.InstanceProfiles.Member = append(out.InstanceProfiles.Member, s.showProfile(p))
	}
	return out, nil
}
