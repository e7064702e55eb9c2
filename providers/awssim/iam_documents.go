package awssim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	servicePrincipal = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.amazonaws\.com(\.cn)?$`)
	accountPrincipal = regexp.MustCompile(`^arn:aws:(iam::(\d{12}):(root|(user|role)/\S+)|sts::(\d{12}):(assumed-role|federated-user)/\S+)$`)
	uniquePrincipal  = regexp.MustCompile(`^A(ROA|IDA)[A-Z0-9]{12,}$`)
	sidShape         = regexp.MustCompile(`^[A-Za-z0-9]*$`)
)

func malformed(format string, args ...any) *failure {
	return fail("MalformedPolicyDocument", http.StatusBadRequest, format, args...)
}

// statement is one statement of a policy, its members undecoded.
type statement map[string]json.RawMessage

var (
	documentMembers  = []string{"Version", "Id", "Statement"}
	statementMembers = []string{"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Principal", "NotPrincipal", "Condition"}
)

// parsePolicy checks what every kind of policy must keep. A policy without a Version is of version 2008-10-17.
func parsePolicy(document string) (version string, statements []statement, f *failure) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &doc); err != nil || doc == nil {
		return "", nil, malformed("This policy contains invalid Json")
	}
	if k := strayMember(doc, documentMembers); k != "" {
		return "", nil, malformed("Syntax errors in policy. Unknown member %s.", k)
	}
	version = "2008-10-17"
	if raw, ok := doc["Version"]; ok {
		if json.Unmarshal(raw, &version) != nil || version != "2008-10-17" && version != "2012-10-17" {
			return "", nil, malformed("Syntax errors in policy. Version must be 2008-10-17 or 2012-10-17.")
		}
	}
	if json.Unmarshal(doc["Statement"], &statements) != nil {
		var one statement
		if json.Unmarshal(doc["Statement"], &one) != nil {
			return "", nil, malformed("Syntax errors in policy. Missing required field Statement.")
		}
		statements = []statement{one}
	}
	if len(statements) == 0 {
		return "", nil, malformed("Missing required field Statement")
	}
	return version, statements, checkStatements(statements)
}

func strayMember[V any](m map[string]V, known []string) string {
	for _, k := range sortedKeys(m) {
		if !slices.Contains(known, k) {
			return k
		}
	}
	return ""
}

func checkStatements(statements []statement) *failure {
	sids := map[string]bool{}
	for _, st := range statements {
		if k := strayMember(st, statementMembers); k != "" {
			return malformed("Syntax errors in policy. Unknown member %s.", k)
		}
		var effect, sid string
		if json.Unmarshal(st["Effect"], &effect) != nil || effect != "Allow" && effect != "Deny" {
			return malformed("Missing required field Effect")
		}
		if st["Sid"] != nil && (json.Unmarshal(st["Sid"], &sid) != nil || !sidShape.MatchString(sid)) {
			return malformed("Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*")
		}
		if sid != "" && sids[sid] {
			return malformed("Statement IDs (SID) in a single policy must be unique.")
		}
		sids[sid] = true
		if f := checkActions(st); f != nil {
			return f
		}
		if st["Condition"] != nil {
			var condition map[string]map[string]any
			if json.Unmarshal(st["Condition"], &condition) != nil {
				return malformed("Syntax errors in policy. Condition is not an object of objects.")
			}
		}
	}
	return nil
}

func checkActions(st statement) *failure {
	if st["Action"] != nil && st["NotAction"] != nil {
		return malformed("Syntax errors in policy. Action and NotAction exclude each other.")
	}
	member := "Action"
	if st["Action"] == nil {
		member = "NotAction"
	}
	actions, ok := oneOrMore(st[member])
	if !ok || len(actions) == 0 {
		return malformed("Policy statement must contain actions.")
	}
	for _, action := range actions {
		if action != "*" && strings.Count(action, ":") != 1 {
			return malformed("Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.")
		}
	}
	return nil
}

// oneOrMore decodes a string or a list of strings.
func oneOrMore(raw json.RawMessage) ([]string, bool) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	var list []string
	return list, json.Unmarshal(raw, &list) == nil
}

// checkIdentityPolicy checks an inline policy, or a managed one, which must be of the newer version.
func checkIdentityPolicy(document string, managed bool) *failure {
	version, statements, f := parsePolicy(document)
	if f != nil {
		return f
	}
	if managed && version != "2012-10-17" {
		return malformed("Policy document must be version 2012-10-17 or greater.")
	}
	for _, st := range statements {
		if st["Principal"] != nil || st["NotPrincipal"] != nil {
			return malformed("Policy document should not specify a principal.")
		}
		member := "Resource"
		if st["Resource"] == nil {
			member = "NotResource"
		}
		resources, ok := oneOrMore(st[member])
		if !ok || len(resources) == 0 {
			return malformed("Policy statement must contain resources.")
		}
		for _, r := range resources {
			if r != "*" && strings.Count(r, ":") < 5 {
				return malformed(`Resource %s must be in ARN format or "*".`, r)
			}
		}
	}
	return nil
}

// acceptTrust checks a trust policy and returns it as IAM keeps it: an account as the ARN of its root, a role of this account
// as its unique ID. So a role that is made again under the same name is not trusted.
func (s *Server) acceptTrust(account, document string) (string, *failure) {
	_, statements, f := parsePolicy(document)
	if f != nil {
		return "", f
	}
	if policySize(document) > maxTrustSize {
		return "", quota("ACLSizePerRole", maxTrustSize)
	}
	for _, st := range statements {
		if f := s.checkTrustStatement(account, st); f != nil {
			return "", f
		}
	}
	return rewritePrincipals(document, func(p string) string {
		if accountShape.MatchString(p) {
			return "arn:aws:iam::" + p + ":root"
		}
		if r := find(s.state.Roles, func(r *Role) bool { return r.ARN == p && r.Account == account }); r != nil {
			return r.ID
		}
		return p
	}), nil
}

func (s *Server) checkTrustStatement(account string, st statement) *failure {
	if st["Resource"] != nil || st["NotResource"] != nil {
		return malformed("Has prohibited field Resource")
	}
	for _, member := range []string{"Action", "NotAction"} {
		actions, _ := oneOrMore(st[member])
		for _, a := range actions {
			if a != "*" && !strings.HasPrefix(strings.ToLower(a), "sts:") {
				return malformed("AssumeRole policy may only specify STS AssumeRole actions.")
			}
		}
	}
	raw := st["Principal"]
	if raw == nil {
		raw = st["NotPrincipal"]
	}
	if raw == nil {
		return malformed("Missing required field Principal")
	}
	var everyone string
	if json.Unmarshal(raw, &everyone) == nil && everyone == "*" {
		return nil
	}
	var kinds map[string]json.RawMessage
	if json.Unmarshal(raw, &kinds) != nil || len(kinds) == 0 {
		return malformed("Missing required field Principal cannot be empty!")
	}
	for _, kind := range sortedKeys(kinds) {
		principals, ok := oneOrMore(kinds[kind])
		if !ok || len(principals) == 0 {
			return malformed("Missing required field Principal cannot be empty!")
		}
		for _, p := range principals {
			if !s.principalExists(account, kind, p) {
				return malformed("Invalid principal in policy: %q:%q", strings.ToUpper(kind), p)
			}
		}
	}
	return nil
}

// principalExists knows roles of this account for sure; users and other accounts it has to believe in.
func (s *Server) principalExists(account, kind, p string) bool {
	switch kind {
	case "Service":
		return servicePrincipal.MatchString(p)
	case "Federated", "CanonicalUser":
		return p != ""
	case "AWS":
		if p == "*" || accountShape.MatchString(p) {
			return true
		}
		if uniquePrincipal.MatchString(p) {
			return find(s.state.Roles, func(r *Role) bool { return r.ID == p }) != nil
		}
		if !accountPrincipal.MatchString(p) {
			return false
		}
		if strings.HasPrefix(p, "arn:aws:iam::"+account+":role/") {
			return find(s.state.Roles, func(r *Role) bool { return r.ARN == p }) != nil
		}
		return true
	}
	return false
}

// trustAsRead shows a trusted role by its ARN while it lives, and by its bare unique ID once it is gone.
func (s *Server) trustAsRead(r *Role) string {
	return rewritePrincipals(r.Trust, func(p string) string {
		if trusted := find(s.state.Roles, func(o *Role) bool { return o.ID == p }); trusted != nil {
			return trusted.ARN
		}
		return p
	})
}

// rewritePrincipals replaces the AWS principals of a valid policy and leaves every other byte as it was sent.
func rewritePrincipals(document string, replace func(string) string) string {
	var out strings.Builder
	copied := 0
	walkStrings(document, func(path string, start, end int, value string) {
		if path != "Statement.Principal.AWS" && path != "Statement.NotPrincipal.AWS" {
			return
		}
		if by := replace(value); by != value {
			out.WriteString(document[copied:start])
			out.Write(mustJSON(by))
			copied = end
		}
	})
	out.WriteString(document[copied:])
	return out.String()
}

// walkStrings calls visit for each string value of a JSON text, with the member names that lead to it and the bytes that it
// takes up. Lists add nothing to the path.
func walkStrings(text string, visit func(path string, start, end int, value string)) {
	d := json.NewDecoder(strings.NewReader(text))
	var read func(path string)
	read = func(path string) {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			panic(fmt.Sprintf("awssim: walk policy: %v", err)) // it was valid JSON when it was accepted
		}
		switch t := token.(type) {
		case string:
			start := int(before) + strings.IndexByte(text[before:], '"')
			visit(path, start, int(d.InputOffset()), t)
		case json.Delim:
			for d.More() {
				below := path
				if t == '{' {
					name, _ := d.Token()
					below = strings.TrimPrefix(fmt.Sprintf("%s.%v", path, name), ".")
				}
				read(below)
			}
			d.Token() //nolint:errcheck // the closing delimiter that More saw
		}
	}
	read("")
}
