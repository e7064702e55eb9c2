package awssim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// managedPolicies are the AWS managed policies that exist here, by what follows "policy" in their ARN.
var managedPolicies = []string{
	"/AdministratorAccess", "/PowerUserAccess", "/ReadOnlyAccess", "/SecurityAudit", "/job-function/ViewOnlyAccess",
	"/IAMReadOnlyAccess", "/IAMFullAccess", "/CloudWatchLogsFullAccess", "/CloudWatchLogsReadOnlyAccess",
	"/AmazonS3ReadOnlyAccess", "/AmazonS3FullAccess", "/AmazonDynamoDBReadOnlyAccess", "/AmazonDynamoDBFullAccess",
	"/AmazonSQSFullAccess", "/AmazonSNSFullAccess", "/AmazonEC2ReadOnlyAccess", "/AWSXRayDaemonWriteAccess",
	"/AWSLambda_FullAccess", "/AWSLambda_ReadOnlyAccess", "/AmazonSSMManagedInstanceCore",
	"/service-role/AWSLambdaBasicExecutionRole", "/service-role/AWSLambdaVPCAccessExecutionRole",
	"/service-role/AWSLambdaSQSQueueExecutionRole", "/service-role/AWSLambdaDynamoDBExecutionRole",
	"/service-role/AWSLambdaKinesisExecutionRole", "/service-role/AWSLambdaRole",
	"/service-role/AmazonAPIGatewayPushToCloudWatchLogs",
}

var policyARN = regexp.MustCompile(`^arn:aws:iam::(aws|\d{12}):policy((?:/[\x21-\x2E\x30-\x7E]+)*/[\w+=,.@-]{1,128})$`)

func policyOperations() []operation {
	role, policy := []string{"RoleName"}, []string{"PolicyArn", "PolicyName"}
	return []operation{
		{"PutRolePolicy", role, (*Server).putRolePolicy},
		{"GetRolePolicy", role, (*Server).getRolePolicy},
		{"DeleteRolePolicy", role, (*Server).deleteRolePolicy},
		{"ListRolePolicies", role, (*Server).listRolePolicies},
		{"AttachRolePolicy", role, (*Server).attachRolePolicy},
		{"DetachRolePolicy", role, (*Server).detachRolePolicy},
		{"ListAttachedRolePolicies", role, (*Server).listAttachedRolePolicies},
		{"CreatePolicy", policy, (*Server).createPolicy},
		{"GetPolicy", policy, (*Server).getPolicy},
		{"DeletePolicy", policy, (*Server).deletePolicy},
	}
}

func (s *Server) putRolePolicy(c *call) (any, *failure) {
	a := c.args()
	name := a.need("PolicyName", policyNameShape)
	document := a.need("PolicyDocument", documentShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if f := checkIdentityPolicy(document, false); f != nil {
		return nil, f
	}
	size := policySize(document)
	for other, d := range r.Inline {
		if other != name {
			size += policySize(d)
		}
	}
	if size > maxInlineSize {
		return nil, fail("LimitExceeded", http.StatusConflict, "Maximum policy size of %d bytes exceeded for role %s", maxInlineSize, r.Name)
	}
	r.Inline[name] = document
	return nil, nil
}

// policySize counts characters without white space, as IAM's quotas do.
func policySize(document string) int {
	n := 0
	for _, r := range document {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

func (s *Server) getRolePolicy(c *call) (any, *failure) {
	a := c.args()
	name := a.need("PolicyName", policyNameShape)
	r, f := s.readRole(c, a)
	if f != nil {
		return nil, f
	}
	document, ok := r.Inline[name]
	if !ok {
		return nil, noInlinePolicy(name)
	}
	return struct{ RoleName, PolicyName, PolicyDocument string }{r.Name, name, percentEncode(document)}, nil
}

func noInlinePolicy(name string) *failure {
	return notFound("NoSuchEntity", "The role policy with name %s cannot be found.", name)
}

func (s *Server) deleteRolePolicy(c *call) (any, *failure) {
	a := c.args()
	name := a.need("PolicyName", policyNameShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if _, ok := r.Inline[name]; !ok {
		return nil, noInlinePolicy(name)
	}
	delete(r.Inline, name)
	return nil, nil
}

func (s *Server) listRolePolicies(c *call) (any, *failure) {
	a := c.args()
	marker, limit := a.pageArgs()
	r, f := s.readRole(c, a)
	if f != nil {
		return nil, f
	}
	names, end, f := pageIAM(sortedKeys(r.Inline), itself, marker, limit)
	if f != nil {
		return nil, f
	}
	return struct {
		PolicyNames members[string]
		paging
	}{members[string]{names}, end}, nil
}

// acceptPolicyARN refuses an ARN that is no policy's, and one whose policy does not exist.
func (s *Server) acceptPolicyARN(account, arn, missing string) *failure {
	m := policyARN.FindStringSubmatch(arn)
	switch {
	case m == nil:
		return fail("InvalidInput", http.StatusBadRequest, "ARN %s is not valid.", arn)
	case m[1] == "aws" && slices.Contains(managedPolicies, m[2]):
		return nil
	case m[1] == account && s.findPolicy(arn) != nil:
		return nil
	}
	return notFound("NoSuchEntity", missing, arn)
}

func (s *Server) acceptBoundary(account, arn string) *failure {
	return s.acceptPolicyARN(account, arn, "Scope ARN: %s does not exist or is not attachable.")
}

func (s *Server) findPolicy(arn string) *Policy {
	return find(s.state.Policies, func(p *Policy) bool { return p.ARN == arn })
}

func (s *Server) attachRolePolicy(c *call) (any, *failure) {
	a := c.args()
	arn := a.need("PolicyArn", arnShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if f := s.acceptPolicyARN(c.account, arn, "Policy %s does not exist or is not attachable."); f != nil {
		return nil, f
	}
	if slices.Contains(r.Attached, arn) {
		return nil, nil
	}
	if len(r.Attached) >= maxAttached {
		return nil, quota("PoliciesPerRole", maxAttached)
	}
	r.Attached = append(r.Attached, arn)
	return nil, nil
}

func (s *Server) detachRolePolicy(c *call) (any, *failure) {
	a := c.args()
	arn := a.need("PolicyArn", arnShape)
	r, f := s.changeRole(c, a)
	if f != nil {
		return nil, f
	}
	if !policyARN.MatchString(arn) {
		return nil, fail("InvalidInput", http.StatusBadRequest, "ARN %s is not valid.", arn)
	}
	at := slices.Index(r.Attached, arn)
	if at < 0 {
		return nil, notFound("NoSuchEntity", "Policy %s was not found.", arn)
	}
	r.Attached = slices.Delete(r.Attached, at, at+1)
	return nil, nil
}

type attachedXML struct{ PolicyName, PolicyArn string }

func (s *Server) listAttachedRolePolicies(c *call) (any, *failure) {
	a := c.args()
	prefix := a.opt("PathPrefix", policyPathShape)
	marker, limit := a.pageArgs()
	r, f := s.readRole(c, a)
	if f != nil {
		return nil, f
	}
	arns := filter(r.Attached, func(arn string) bool {
		return prefix == nil || strings.HasPrefix(policyARN.FindStringSubmatch(arn)[2], *prefix)
	})
	arns, end, f := pageIAM(arns, itself, marker, limit)
	if f != nil {
		return nil, f
	}
	out := struct {
		AttachedPolicies members[attachedXML]
		paging
	}{paging: end}
	for _, arn := range arns {
		out.AttachedPolicies.Member = append(out.AttachedPolicies.Member, attachedXML{arn[strings.LastIndex(arn, "/")+1:], arn})
	}
	return out, nil
}

type policyXML struct {
	PolicyName                    string
	PolicyId                      string
	Arn                           string
	Path                          string
	DefaultVersionId              string
	AttachmentCount               int
	PermissionsBoundaryUsageCount int
	IsAttachable                  bool
	Description                   string `xml:",omitempty"`
	CreateDate                    string
	UpdateDate                    string
	Tags                          *members[tagXML]
}

type policyResult struct{ Policy policyXML }

// showPolicy is a policy without its description, which only GetPolicy gives.
func (s *Server) showPolicy(p *Policy) policyXML {
	x := policyXML{PolicyName: p.Name, PolicyId: p.ID, Arn: p.ARN, Path: p.Path, DefaultVersionId: "v1", IsAttachable: true,
		CreateDate: xmlTime(p.CreatedAt), UpdateDate: xmlTime(p.CreatedAt)}
	x.AttachmentCount, x.PermissionsBoundaryUsageCount = s.policyUses(p.ARN, p.Account)
	if len(p.Tags) > 0 {
		x.Tags = tagsXML(p.Tags)
	}
	return x
}

func (s *Server) policyUses(arn, account string) (attached, boundary int) {
	for _, r := range s.state.Roles {
		if r.Account != account {
			continue
		}
		if slices.Contains(r.Attached, arn) {
			attached++
		}
		if r.Boundary == arn {
			boundary++
		}
	}
	return attached, boundary
}

func (s *Server) createPolicy(c *call) (any, *failure) {
	a := c.args()
	p := &Policy{Birth: c.born(), Account: c.account, Path: "/"}
	p.Name = a.need("PolicyName", policyNameShape)
	if path := a.opt("Path", policyPathShape); path != nil {
		p.Path = *path
	}
	p.Document = a.need("PolicyDocument", documentShape)
	if d := a.opt("Description", shape{max: 1000}); d != nil {
		p.Description = *d
	}
	tags := a.tagList("Tags")
	if f := a.failure(); f != nil {
		return nil, f
	}
	var f *failure
	if p.Tags, f = c.mergeTags(nil, tags, maxRoleTags); f != nil {
		return nil, f
	}
	mine := filter(s.state.Policies, func(o *Policy) bool { return o.Account == c.account })
	if find(mine, func(o *Policy) bool { return strings.EqualFold(o.Name, p.Name) }) != nil {
		return nil, fail("EntityAlreadyExists", http.StatusConflict, "A policy called %s already exists. Duplicate names are not allowed.", p.Name)
	}
	if f := checkIdentityPolicy(p.Document, true); f != nil {
		return nil, f
	}
	if policySize(p.Document) > maxManagedSize {
		return nil, quota("PolicySize", maxManagedSize)
	}
	if len(mine) >= maxPolicies {
		return nil, quota("PoliciesPerAccount", maxPolicies)
	}
	p.ID = "ANPA" + randomID(roleIDAlphabet, uniqueIDRandoms)
	p.ARN = "arn:aws:iam::" + c.account + ":policy" + p.Path + p.Name
	s.state.Policies = append(s.state.Policies, p)
	return policyResult{s.showPolicy(p)}, nil
}

func (s *Server) getPolicy(c *call) (any, *failure) {
	a := c.args()
	arn := a.need("PolicyArn", arnShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.acceptPolicyARN(c.account, arn, "Policy %s was not found."); f != nil {
		return nil, f
	}
	p := s.findPolicy(arn)
	if p == nil {
		p = builtIn(c.account, arn)
	}
	if !c.sees(p.Birth) {
		return nil, notFound("NoSuchEntity", "Policy %s was not found.", arn)
	}
	x := s.showPolicy(p)
	x.Description = p.Description
	return policyResult{x}, nil
}

// builtIn describes an AWS managed policy; its uses are counted in the caller's account.
func builtIn(account, arn string) *Policy {
	path := policyARN.FindStringSubmatch(arn)[2]
	slash := strings.LastIndex(path, "/")
	return &Policy{Account: account, Name: path[slash+1:], Path: path[:slash+1], ARN: arn,
		ID:    fmt.Sprintf("ANPA%017X", slices.Index(managedPolicies, path)+1),
		Birth: Birth{CreatedAt: time.Date(2015, 2, 6, 18, 39, 46, 0, time.UTC)}}
}

func (s *Server) deletePolicy(c *call) (any, *failure) {
	a := c.args()
	arn := a.need("PolicyArn", arnShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.acceptPolicyARN(c.account, arn, "Policy %s was not found."); f != nil {
		return nil, f
	}
	p := s.findPolicy(arn)
	if p == nil {
		return nil, &failure{Code: "AccessDenied", Status: http.StatusForbidden, Message: "An AWS managed policy cannot be deleted."}
	}
	if attached, boundary := s.policyUses(arn, c.account); attached+boundary > 0 {
		return nil, fail("DeleteConflict", http.StatusConflict, "Cannot delete a policy attached to entities.")
	}
	s.state.Policies = filter(s.state.Policies, func(o *Policy) bool { return o != p })
	return nil, nil
}
