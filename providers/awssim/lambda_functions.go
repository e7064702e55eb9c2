package awssim

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// How long Lambda works on after its answer, and how long a new role cannot be assumed yet; scaled by Config.Scale.
const (
	functionPending = 2 * time.Second // from create to Active
	functionUpdate  = time.Second     // from an update to Successful
	roleAssumable   = 5 * time.Second // from the creation of a role until Lambda can assume it
)

const (
	maxFunctionPage  = 50 // whatever MaxItems says
	maxFunctionTags  = 50
	maxConcurrency   = 1000 // of an account, over all functions
	leastUnreserved  = 100  // of these, for functions that reserve none
	functionDateForm = "2006-01-02T15:04:05.000+0000"
)

// functionReference is how a request names a function: name, account and name, or ARN, each with a version or an alias.
var functionReference = regexp.MustCompile(
	`^(?:arn:aws[a-zA-Z-]*:lambda:([a-z0-9-]+):(\d{12}):function:|(\d{12}):function:)?([a-zA-Z0-9_-]{1,64})(?::(\$LATEST|[a-zA-Z0-9_-]+))?$`)

// Function is a Lambda function. Only the hash of its code is kept.
type Function struct {
	Birth
	FunctionConfig
	Account    string            `json:"account"`
	Region     string            `json:"region"`
	Name       string            `json:"name"`
	ActiveAt   time.Time         `json:"activeAt"`  // until then it is Pending
	UpdatedAt  time.Time         `json:"updatedAt"` // until then an update is in progress
	ModifiedAt time.Time         `json:"modifiedAt"`
	Revision   string            `json:"revision"` // new with each change
	CodeSha256 string            `json:"codeSha256"`
	CodeSize   int64             `json:"codeSize"`
	ImageURI   string            `json:"imageUri,omitempty"`
	SourceKey  string            `json:"sourceKmsKeyArn,omitempty"`
	Tags       map[string]string `json:"tags"`
	Reserved   *int              `json:"reservedConcurrency,omitempty"`
	Recursion  string            `json:"recursiveLoop"`
	RuntimeOn  string            `json:"updateRuntimeOn"`
	RuntimeARN string            `json:"runtimeVersionArn,omitempty"`
	SigningARN string            `json:"codeSigningConfigArn,omitempty"`
	Policy     []*Permission     `json:"policy"`
	Invoked    int               `json:"invoked"` // how often it ran
}

func functionOperations() []operation {
	name, resource := []string{"FunctionName"}, []string{"Resource"}
	return []operation{
		{"CreateFunction", name, (*Server).createFunction},
		{"GetFunction", name, (*Server).getFunction},
		{"GetFunctionConfiguration", name, (*Server).getFunctionConfiguration},
		{"ListFunctions", nil, (*Server).listFunctions},
		{"UpdateFunctionCode", name, (*Server).updateFunctionCode},
		{"UpdateFunctionConfiguration", name, (*Server).updateFunctionConfiguration},
		{"DeleteFunction", name, (*Server).deleteFunction},
		{"Invoke", name, (*Server).invoke},
		{"ListTags", resource, (*Server).listFunctionTags},
		{"TagResource", resource, (*Server).tagFunction},
		{"UntagResource", resource, (*Server).untagFunction},
	}
}

func (f *Function) arn() string {
	return "arn:aws:lambda:" + f.Region + ":" + f.Account + ":function:" + f.Name
}

// status is where a function's work stands at a time.
func (f *Function) status(now time.Time) (state, update string) {
	switch {
	case now.Before(f.ActiveAt):
		return "Pending", ""
	case now.Before(f.UpdatedAt):
		return "Active", "InProgress"
	}
	return "Active", "Successful"
}

func badFunction(format string, args ...any) *failure {
	return fail("InvalidParameterValueException", http.StatusBadRequest, format, args...)
}

func conflict(format string, args ...any) *failure {
	return fail("ResourceConflictException", http.StatusConflict, format, args...)
}

func (s *Server) findFunction(account, region, name string) *Function {
	return find(s.state.Functions, func(f *Function) bool { return f.Account == account && f.Region == region && f.Name == name })
}

// reference reads how a call names a function: the name, and the version or alias, if any. A function of another
// account or region is not there.
func (c *call) reference(a *args, member string) (name, qualifier string, f *failure) {
	text := a.need(member, shape{min: 1, max: 170})
	if f := a.failure(); f != nil {
		return "", "", f
	}
	m := functionReference.FindStringSubmatch(text)
	if m == nil {
		a.breaks(member, text, "Member must satisfy regular expression pattern: "+functionReference.String())
		return "", "", a.failure()
	}
	account := m[2] + m[3]
	if m[1] != "" && m[1] != c.region || account != "" && account != c.account {
		return "", "", notFound("ResourceNotFoundException", "Function not found: %s", text)
	}
	return m[4], m[5], nil
}

// function finds the function that a call names. There are no versions and no aliases here.
func (s *Server) function(c *call, a *args, read bool) (*Function, *failure) {
	name, qualifier, f := c.reference(a, "FunctionName")
	if f != nil {
		return nil, f
	}
	if q := c.str("Qualifier"); q != "" {
		qualifier = q
	}
	fn := s.findFunction(c.account, c.region, name)
	if fn == nil || read && !c.sees(fn.Birth) || qualifier != "" && qualifier != "$LATEST" {
		arn := (&Function{Account: c.account, Region: c.region, Name: name}).arn()
		if qualifier != "" {
			arn += ":" + qualifier
		}
		return nil, notFound("ResourceNotFoundException", "Function not found: %s", arn)
	}
	return fn, nil
}

// changeFunction finds the function that a change names. While Lambda still works on it, it takes no other.
func (s *Server) changeFunction(c *call, a *args) (*Function, *failure) {
	fn, f := s.function(c, a, false)
	if f != nil {
		return nil, f
	}
	switch state, update := fn.status(c.now); {
	case state != "Active":
		return nil, conflict("The operation cannot be performed at this time. The function is currently in the following state: %s", state)
	case update == "InProgress":
		return nil, conflict("The operation cannot be performed at this time. An update is in progress for resource: %s", fn.arn())
	}
	return fn, checkRevision(c, fn)
}

func checkRevision(c *call, fn *Function) *failure {
	if r := c.str("RevisionId"); r != "" && r != fn.Revision {
		return fail("PreconditionFailedException", http.StatusPreconditionFailed,
			"The RevisionId provided does not match the latest RevisionId for the Lambda function.")
	}
	return nil
}

// touched notes a change that Lambda goes on working on.
func (s *Server) touched(c *call, fn *Function) {
	fn.Revision, fn.ModifiedAt, fn.UpdatedAt = requestID(), c.now, c.now.Add(s.scaled(functionUpdate))
}

func (s *Server) createFunction(c *call) (any, *failure) {
	a := c.args()
	name, qualifier, f := c.reference(a, "FunctionName")
	if f != nil {
		return nil, f
	}
	in, f := a.functionInput()
	if f != nil {
		return nil, f
	}
	fn := &Function{Birth: c.born(), Account: c.account, Region: c.region, Name: name, ModifiedAt: c.now, Revision: requestID(),
		ActiveAt: c.now.Add(s.scaled(functionPending)), Tags: in.Tags, Recursion: "Terminate", RuntimeOn: "Auto", SigningARN: in.CodeSigningConfigArn,
		Policy: []*Permission{}, FunctionConfig: newFunctionConfig(name)}
	fn.UpdatedAt = fn.ActiveAt
	if in.PackageType != "" {
		fn.PackageType = in.PackageType
	}
	if fn.Tags == nil {
		fn.Tags = map[string]string{}
	}
	switch {
	case qualifier != "":
		return nil, badFunction("A function is created without a version: %s", qualifier)
	case in.Role == nil:
		a.missing("Role")
	case in.Code == nil:
		a.missing("Code")
	}
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := fn.set(in); f != nil {
		return nil, f
	}
	if f := fn.setCode(*in.Code); f != nil {
		return nil, f
	}
	if f := c.checkFunctionTags(in.Tags, in.Tags); f != nil {
		return nil, f
	}
	if s.findFunction(c.account, c.region, name) != nil {
		return nil, conflict("Function already exist: %s", name)
	}
	if f := s.assumes(c, fn.Role); f != nil {
		return nil, f
	}
	s.state.Functions = append(s.state.Functions, fn)
	return fn.show(c.now), nil
}

// assumes refuses a role that Lambda cannot assume: one that is not there, that trusts somebody else, or that is so new
// that not all of AWS knows it. All three have one answer.
func (s *Server) assumes(c *call, arn string) *failure {
	cannot := badFunction("The role defined for the function cannot be assumed by Lambda.")
	if !strings.HasPrefix(arn, "arn:aws:iam::"+c.account+":") {
		return fail("AccessDeniedException", http.StatusForbidden, "Cross-account pass role is not allowed.")
	}
	r := find(s.state.Roles, func(r *Role) bool { return r.ARN == arn })
	if r == nil || c.now.Before(r.VisibleAt) || c.now.Before(r.CreatedAt.Add(s.scaled(roleAssumable))) || !trustsService(r.Trust, "lambda.amazonaws.com") {
		return cannot
	}
	return nil
}

func (s *Server) getFunction(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	out := map[string]any{"Configuration": fn.show(c.now), "Code": fn.showCode()}
	if len(fn.Tags) > 0 {
		out["Tags"] = fn.Tags
	}
	if fn.Reserved != nil {
		out["Concurrency"] = map[string]any{"ReservedConcurrentExecutions": *fn.Reserved}
	}
	return out, nil
}

func (s *Server) getFunctionConfiguration(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	return fn.show(c.now), nil
}

// notListed are the members that ListFunctions leaves out of a configuration.
var notListed = []string{"State", "StateReason", "StateReasonCode", "LastUpdateStatus", "RuntimeVersionConfig"}

func (s *Server) listFunctions(c *call) (any, *failure) {
	a := c.args()
	limit := min(a.integer("MaxItems", maxFunctionPage, 1, 10000), maxFunctionPage)
	if f := a.failure(); f != nil {
		return nil, f
	}
	functions := filter(s.state.Functions, func(f *Function) bool { return f.Account == c.account && f.Region == c.region && c.sees(f.Birth) })
	functions, next, ok := page(functions, func(f *Function) string { return f.Name }, c.str("Marker"), limit)
	if !ok {
		return nil, badFunction("Invalid Marker.")
	}
	list := []map[string]any{}
	for _, fn := range functions {
		x := fn.show(c.now)
		for _, member := range notListed {
			delete(x, member)
		}
		list = append(list, x)
	}
	out := map[string]any{"Functions": list}
	if next != "" {
		out["NextMarker"] = next
	}
	return out, nil
}

func (s *Server) updateFunctionConfiguration(c *call) (any, *failure) {
	a := c.args()
	fn, f := s.changeFunction(c, a)
	if f != nil {
		return nil, f
	}
	in, f := a.functionInput()
	if f != nil {
		return nil, f
	}
	changed := *fn
	if f := changed.set(in); f != nil {
		return nil, f
	}
	if in.Role != nil {
		if f := s.assumes(c, changed.Role); f != nil {
			return nil, f
		}
	}
	*fn = changed
	s.touched(c, fn)
	return fn.show(c.now), nil
}

func (s *Server) updateFunctionCode(c *call) (any, *failure) {
	a := c.args()
	fn, f := s.changeFunction(c, a)
	if f != nil {
		return nil, f
	}
	in, f := a.functionInput()
	if f != nil {
		return nil, f
	}
	changed := *fn
	if f := changed.setCode(in.CodeInput); f != nil {
		return nil, f
	}
	if f := changed.setArchitectures(in.Architectures); f != nil {
		return nil, f
	}
	*fn = changed
	s.touched(c, fn)
	return fn.show(c.now), nil
}

func (s *Server) deleteFunction(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), false)
	if f != nil {
		return nil, f
	}
	if state, _ := fn.status(c.now); state != "Active" {
		return nil, conflict("The operation cannot be performed at this time. The function is currently in the following state: %s", state)
	}
	s.state.Functions = filter(s.state.Functions, func(o *Function) bool { return o != fn })
	return nil, nil
}

// taggedFunction finds the function whose ARN a tagging operation names.
func (s *Server) taggedFunction(c *call, a *args, read bool) (*Function, *failure) {
	arn := a.need("Resource", shape{min: 1, max: 256})
	if f := a.failure(); f != nil {
		return nil, f
	}
	if !strings.HasPrefix(arn, "arn:aws:lambda:") {
		a.breaks("Resource", arn, "Member must satisfy regular expression pattern: arn:(aws[a-zA-Z-]*):lambda:.*")
		return nil, a.failure()
	}
	fn := find(s.state.Functions, func(f *Function) bool { return f.arn() == arn && f.Account == c.account && f.Region == c.region })
	if fn == nil || read && !c.sees(fn.Birth) {
		return nil, notFound("ResourceNotFoundException", "Function not found: %s", arn)
	}
	return fn, nil
}

func (s *Server) listFunctionTags(c *call) (any, *failure) {
	fn, f := s.taggedFunction(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	return map[string]any{"Tags": fn.Tags}, nil
}

func (s *Server) tagFunction(c *call) (any, *failure) {
	a := c.args()
	if !a.has("Tags") {
		a.missing("Tags")
	}
	tags := a.tagMap("Tags", tagKeyShape, tagValueShape)
	fn, f := s.taggedFunction(c, a, false)
	if f != nil {
		return nil, f
	}
	merged := map[string]string{}
	for _, from := range []map[string]string{fn.Tags, tags} {
		for k, v := range from {
			merged[k] = v
		}
	}
	if f := c.checkFunctionTags(tags, merged); f != nil {
		return nil, f
	}
	fn.Tags = merged
	return nil, nil
}

func (s *Server) untagFunction(c *call) (any, *failure) {
	a := c.args()
	if !a.has("TagKeys") {
		a.missing("TagKeys")
	}
	keys := a.list("TagKeys", tagKeyShape)
	fn, f := s.taggedFunction(c, a, false)
	if f != nil {
		return nil, f
	}
	for _, k := range keys {
		if reserved(k) && !c.stranger {
			return nil, badFunction("Tag keys that start with aws: are reserved.")
		}
	}
	for _, k := range keys {
		delete(fn.Tags, k)
	}
	return nil, nil
}

func (c *call) checkFunctionTags(add, all map[string]string) *failure {
	for _, k := range sortedKeys(add) {
		if reserved(k) && !c.stranger {
			return badFunction("Tag keys that start with aws: are reserved.")
		}
	}
	if countTags(all) > maxFunctionTags {
		return badFunction("The number of tags exceeds the limit of %d", maxFunctionTags)
	}
	return nil
}
