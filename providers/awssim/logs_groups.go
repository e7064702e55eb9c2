package awssim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Shapes of CloudWatch Logs' model.
var (
	groupNameShape       = newShape(1, 512, `[\.\-_/#A-Za-z0-9]+`)
	groupPatternShape    = newShape(0, 512, `[\.\-_/#A-Za-z0-9]*`)
	groupIdentifierShape = newShape(1, 2048, `[\w#+=/:,.@-]*`)
	tagARNShape          = newShape(1, 1011, `[\w+=/:,.@-]*`)
	kmsResourceShape     = newShape(1, 2048, `[\w+=/:,.@\-\*]*`)
	kmsKeyShape          = shape{max: 256}
	tokenShape           = shape{min: 1}
	kmsKeyARN            = regexp.MustCompile(`^arn:aws:kms:[a-z0-9-]+:\d{12}:(key|alias)/\S+$`)
)

// retentionDays are the only retentions there are.
var retentionDays = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

var groupClasses = []string{"STANDARD", "INFREQUENT_ACCESS", "DELIVERY", "ESSENTIALS"}

const (
	maxGroupTags     = 50
	maxDescribe      = 50
	deliveryDays     = 2              // a DELIVERY group's own, fixed retention
	storedBytesDelay = 24 * time.Hour // storedBytes trails what was ingested by about a day, so 0 never means empty
)

func logGroupOperations() []operation {
	name, arn, identifier := []string{"logGroupName"}, []string{"resourceArn"}, []string{"logGroupIdentifier"}
	kms := []string{"logGroupName", "resourceIdentifier"}
	return []operation{
		{"CreateLogGroup", name, (*Server).createLogGroup},
		{"DescribeLogGroups", []string{"logGroupNamePrefix", "logGroupNamePattern"}, (*Server).describeLogGroups},
		{"DeleteLogGroup", name, (*Server).deleteLogGroup},
		{"PutRetentionPolicy", name, (*Server).putRetentionPolicy},
		{"DeleteRetentionPolicy", name, (*Server).deleteRetentionPolicy},
		{"TagResource", arn, (*Server).tagLogGroup},
		{"UntagResource", arn, (*Server).untagLogGroup},
		{"ListTagsForResource", arn, (*Server).listLogGroupTags},
		{"AssociateKmsKey", kms, (*Server).associateKmsKey},
		{"DisassociateKmsKey", kms, (*Server).disassociateKmsKey},
		{"PutDataProtectionPolicy", identifier, (*Server).putDataProtection},
		{"GetDataProtectionPolicy", identifier, (*Server).getDataProtection},
		{"DeleteDataProtectionPolicy", identifier, (*Server).deleteDataProtection},
		{"PutLogGroupDeletionProtection", identifier, (*Server).putDeletionProtection},
	}
}

func (s *Server) findGroup(c *call, name string) *LogGroup {
	return find(s.state.LogGroups, func(g *LogGroup) bool { return g.Account == c.account && g.Region == c.region && g.Name == name })
}

func noGroup() *failure {
	return fail("ResourceNotFoundException", http.StatusBadRequest, "The specified log group does not exist.")
}

func badParameter(format string, args ...any) *failure {
	return fail("InvalidParameterException", http.StatusBadRequest, format, args...)
}

// group finds the log group that name names, once the other params were found good.
func (s *Server) group(c *call, a *args, name string, read bool) (*LogGroup, *failure) {
	if f := a.failure(); f != nil {
		return nil, f
	}
	g := s.findGroup(c, name)
	if g == nil || read && !c.sees(g.Birth) {
		return nil, noGroup()
	}
	return g, nil
}

// arn is a group's ARN without the :* that DescribeLogGroups adds in "arn".
func (g *LogGroup) arn() string {
	return "arn:aws:logs:" + g.Region + ":" + g.Account + ":log-group:" + g.Name
}

// nameFromARN returns the name of a log group of this account and region, "" for any other ARN.
func (c *call) nameFromARN(arn string) string {
	name, _ := strings.CutPrefix(arn, "arn:aws:logs:"+c.region+":"+c.account+":log-group:")
	if name == arn {
		return ""
	}
	return name
}

// identified reads a logGroupIdentifier: a name or an ARN, without :*.
func (a *args) identified() string {
	id := a.need("logGroupIdentifier", groupIdentifierShape)
	if strings.HasPrefix(id, "arn:") {
		return a.c.nameFromARN(id)
	}
	return id
}

func (s *Server) createLogGroup(c *call) (any, *failure) {
	a := c.args()
	g := &LogGroup{Birth: c.born(), Account: c.account, Region: c.region, Streams: []*LogStream{}}
	g.CreatedAt = g.CreatedAt.Truncate(time.Millisecond)
	g.Name = a.need("logGroupName", groupNameShape)
	if key := a.opt("kmsKeyId", kmsKeyShape); key != nil {
		g.KmsKeyID = *key
	}
	g.Class = a.enum("logGroupClass", "STANDARD", groupClasses...)
	g.DeletionProtection = isTrue(a.boolean("deletionProtectionEnabled"))
	g.Tags = a.tagMap("tags", tagKeyShape, tagValueShape)
	if a.has("tags") && len(g.Tags) == 0 {
		a.breaks("tags", "{}", "Member must have length greater than or equal to 1")
	}
	if f := a.failure(); f != nil {
		return nil, f
	}
	if strings.HasPrefix(g.Name, "aws/") {
		return nil, badParameter("Log groups starting with AWS/ are reserved for AWS.")
	}
	if g.KmsKeyID != "" && !kmsKeyARN.MatchString(g.KmsKeyID) {
		return nil, badParameter("The specified KMS key is not valid: %s", g.KmsKeyID)
	}
	if f := c.checkGroupTags(g.Tags, g.arn(), len(g.Tags)); f != nil {
		return nil, f
	}
	if s.findGroup(c, g.Name) != nil {
		return nil, fail("ResourceAlreadyExistsException", http.StatusBadRequest, "The specified log group already exists")
	}
	if g.Tags == nil {
		g.Tags = map[string]string{}
	}
	if g.Class == "DELIVERY" {
		g.RetentionInDays = deliveryDays
	}
	s.state.LogGroups = append(s.state.LogGroups, g)
	return nil, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// checkGroupTags refuses reserved keys from callers, and more tags in all than a group may have.
func (c *call) checkGroupTags(add map[string]string, arn string, total int) *failure {
	for _, k := range sortedKeys(add) {
		if reserved(k) && !c.stranger {
			return badParameter("Tag keys that start with aws: are reserved: %s", k)
		}
	}
	if total > maxGroupTags {
		f := fail("TooManyTagsException", http.StatusBadRequest, "A resource can have at most %d tags.", maxGroupTags)
		f.Fields = map[string]string{"resourceName": arn}
		return f
	}
	return nil
}

type groupJSON struct {
	LogGroupName              string `json:"logGroupName"`
	CreationTime              int64  `json:"creationTime"`
	RetentionInDays           int    `json:"retentionInDays,omitempty"`
	MetricFilterCount         int    `json:"metricFilterCount"`
	Arn                       string `json:"arn"`
	StoredBytes               int64  `json:"storedBytes"`
	KmsKeyID                  string `json:"kmsKeyId,omitempty"`
	DataProtectionStatus      string `json:"dataProtectionStatus,omitempty"`
	LogGroupClass             string `json:"logGroupClass"`
	LogGroupArn               string `json:"logGroupArn"`
	DeletionProtectionEnabled bool   `json:"deletionProtectionEnabled"`
}

func (c *call) showGroup(g *LogGroup) groupJSON {
	x := groupJSON{LogGroupName: g.Name, CreationTime: g.CreatedAt.UnixMilli(), RetentionInDays: g.RetentionInDays, Arn: g.arn() + ":*",
		KmsKeyID: g.KmsKeyID, DataProtectionStatus: g.DataProtectionStatus, LogGroupClass: g.Class, LogGroupArn: g.arn(),
		DeletionProtectionEnabled: g.DeletionProtection}
	for _, st := range g.Streams {
		if c.now.Sub(st.IngestedAt) >= storedBytesDelay {
			x.StoredBytes += st.Bytes
		}
	}
	return x
}

func (s *Server) describeLogGroups(c *call) (any, *failure) {
	a := c.args()
	prefix := a.opt("logGroupNamePrefix", groupNameShape)
	pattern := a.opt("logGroupNamePattern", groupPatternShape)
	class := a.enum("logGroupClass", "", groupClasses...)
	only := a.list("logGroupIdentifiers", groupIdentifierShape)
	token, limit := a.tokenArgs()
	if f := a.failure(); f != nil {
		return nil, f
	}
	if prefix != nil && pattern != nil {
		return nil, badParameter("LogGroup name prefix and LogGroup name pattern are mutually exclusive parameters.")
	}
	for i, id := range only {
		if strings.HasPrefix(id, "arn:") {
			only[i] = c.nameFromARN(id)
		}
	}
	groups := filter(s.state.LogGroups, func(g *LogGroup) bool {
		return g.Account == c.account && g.Region == c.region && c.sees(g.Birth) &&
			(prefix == nil || strings.HasPrefix(g.Name, *prefix)) &&
			(pattern == nil || strings.Contains(strings.ToLower(g.Name), strings.ToLower(*pattern))) &&
			(class == "" || g.Class == class) && (only == nil || slices.Contains(only, g.Name))
	})
	groups, next, ok := page(groups, func(g *LogGroup) string { return g.Name }, token, limit)
	if !ok {
		return nil, badParameter("The specified nextToken is invalid.")
	}
	out := struct {
		LogGroups []groupJSON `json:"logGroups"`
		NextToken string      `json:"nextToken,omitempty"`
	}{[]groupJSON{}, next}
	for _, g := range groups {
		out.LogGroups = append(out.LogGroups, c.showGroup(g))
	}
	return out, nil
}

// tokenArgs reads nextToken and limit.
func (a *args) tokenArgs() (token string, limit int) {
	if t := a.opt("nextToken", tokenShape); t != nil {
		token = *t
	}
	return token, a.integer("limit", maxDescribe, 1, maxDescribe)
}

func (s *Server) deleteLogGroup(c *call) (any, *failure) {
	a := c.args()
	g, f := s.group(c, a, a.need("logGroupName", groupNameShape), false)
	if f != nil {
		return nil, f
	}
	if g.DeletionProtection {
		return nil, fail("ValidationException", http.StatusBadRequest, "Deletion protection is enabled on the log group. Disable it first.")
	}
	s.state.LogGroups = filter(s.state.LogGroups, func(o *LogGroup) bool { return o != g })
	return nil, nil
}

func (s *Server) putRetentionPolicy(c *call) (any, *failure) {
	a := c.args()
	if !a.has("retentionInDays") {
		a.missing("retentionInDays")
	}
	days := a.integer("retentionInDays", 0, 0, 1<<31-1)
	g, f := s.group(c, a, a.need("logGroupName", groupNameShape), false)
	if f != nil {
		return nil, f
	}
	if !slices.Contains(retentionDays, days) {
		return nil, badParameter("Value '%d' at 'retentionInDays' failed to satisfy constraint: Member must satisfy enum value set: %v", days, retentionDays)
	}
	if g.Class == "DELIVERY" {
		return nil, badParameter("The retention of a log group of class DELIVERY cannot be changed.")
	}
	g.RetentionInDays = days
	return nil, nil
}

func (s *Server) deleteRetentionPolicy(c *call) (any, *failure) {
	a := c.args()
	g, f := s.group(c, a, a.need("logGroupName", groupNameShape), false)
	if f != nil {
		return nil, f
	}
	if g.Class == "DELIVERY" {
		return nil, badParameter("The retention of a log group of class DELIVERY cannot be changed.")
	}
	g.RetentionInDays = 0
	return nil, nil
}

// tagged finds the group that a resourceArn names. The ARN has no :* here; the model's pattern does not allow one.
func (s *Server) tagged(c *call, a *args, read bool) (*LogGroup, *failure) {
	arn := a.need("resourceArn", tagARNShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if !strings.HasPrefix(arn, "arn:aws:logs:") {
		return nil, badParameter("The resource ARN %s is not valid.", arn)
	}
	return s.group(c, a, c.nameFromARN(arn), read)
}

func (s *Server) tagLogGroup(c *call) (any, *failure) {
	a := c.args()
	if !a.has("tags") {
		a.missing("tags")
	}
	tags := a.tagMap("tags", tagKeyShape, tagValueShape)
	if a.has("tags") && len(tags) == 0 {
		a.breaks("tags", "{}", "Member must have length greater than or equal to 1")
	}
	g, f := s.tagged(c, a, false)
	if f != nil {
		return nil, f
	}
	merged := maps.Clone(g.Tags)
	maps.Copy(merged, tags)
	if f := c.checkGroupTags(tags, g.arn(), countTags(merged)); f != nil {
		return nil, f
	}
	g.Tags = merged
	return nil, nil
}

func (s *Server) untagLogGroup(c *call) (any, *failure) {
	a := c.args()
	if !a.has("tagKeys") {
		a.missing("tagKeys")
	}
	keys := a.list("tagKeys", tagKeyShape)
	if len(keys) > maxGroupTags {
		a.breaks("tagKeys", fmt.Sprintf("%d keys", len(keys)), fmt.Sprintf("Member must have length less than or equal to %d", maxGroupTags))
	}
	g, f := s.tagged(c, a, false)
	if f != nil {
		return nil, f
	}
	for _, k := range keys {
		if reserved(k) && !c.stranger {
			return nil, badParameter("Tag keys that start with aws: are reserved: %s", k)
		}
	}
	for _, k := range keys {
		delete(g.Tags, k)
	}
	return nil, nil
}

func (s *Server) listLogGroupTags(c *call) (any, *failure) {
	g, f := s.tagged(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	return map[string]any{"tags": g.Tags}, nil
}

// kmsGroup finds the group of AssociateKmsKey and DisassociateKmsKey: exactly one of name and ARN.
func (s *Server) kmsGroup(c *call, a *args) (*LogGroup, *failure) {
	name := a.opt("logGroupName", groupNameShape)
	resource := a.opt("resourceIdentifier", kmsResourceShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	switch {
	case (name == nil) == (resource == nil):
		return nil, badParameter("Exactly one of logGroupName and resourceIdentifier must be given.")
	case name != nil:
		return s.group(c, a, *name, false)
	}
	return s.group(c, a, c.nameFromARN(strings.TrimSuffix(*resource, ":*")), false)
}

func (s *Server) associateKmsKey(c *call) (any, *failure) {
	a := c.args()
	key := a.need("kmsKeyId", kmsKeyShape)
	g, f := s.kmsGroup(c, a)
	if f != nil {
		return nil, f
	}
	if !kmsKeyARN.MatchString(key) {
		return nil, badParameter("The specified KMS key is not valid: %s", key)
	}
	g.KmsKeyID = key
	return nil, nil
}

func (s *Server) disassociateKmsKey(c *call) (any, *failure) {
	g, f := s.kmsGroup(c, c.args())
	if f != nil {
		return nil, f
	}
	g.KmsKeyID = ""
	return nil, nil
}

type dataProtectionJSON struct {
	LogGroupIdentifier string `json:"logGroupIdentifier"`
	PolicyDocument     string `json:"policyDocument,omitempty"`
	LastUpdatedTime    int64  `json:"lastUpdatedTime,omitempty"`
}

func (a *args) showDataProtection(g *LogGroup) dataProtectionJSON {
	x := dataProtectionJSON{LogGroupIdentifier: a.c.params["logGroupIdentifier"].(string), PolicyDocument: g.DataProtection}
	if g.DataProtection != "" {
		x.LastUpdatedTime = g.DataProtectionAt.UnixMilli()
	}
	return x
}

func (s *Server) putDataProtection(c *call) (any, *failure) {
	a := c.args()
	document := a.need("policyDocument", shape{})
	g, f := s.group(c, a, a.identified(), false)
	if f != nil {
		return nil, f
	}
	var policy struct {
		Name, Version string
		Statement     []map[string]any
	}
	if json.Unmarshal([]byte(document), &policy) != nil || policy.Name == "" || policy.Version == "" || len(policy.Statement) != 2 {
		return nil, badParameter("The data protection policy is not valid: it needs Name, Version and two statements.")
	}
	if g.Class != "STANDARD" {
		return nil, badParameter("Data protection is not available for a log group of class %s.", g.Class)
	}
	g.DataProtection, g.DataProtectionStatus, g.DataProtectionAt = document, "ACTIVATED", c.now
	return a.showDataProtection(g), nil
}

// getDataProtection answers without a policy where there is none; that is no error.
func (s *Server) getDataProtection(c *call) (any, *failure) {
	a := c.args()
	g, f := s.group(c, a, a.identified(), true)
	if f != nil {
		return nil, f
	}
	return a.showDataProtection(g), nil
}

func (s *Server) deleteDataProtection(c *call) (any, *failure) {
	a := c.args()
	g, f := s.group(c, a, a.identified(), false)
	if f != nil {
		return nil, f
	}
	if g.DataProtection != "" {
		g.DataProtection, g.DataProtectionStatus, g.DataProtectionAt = "", "DELETED", c.now
	}
	return nil, nil
}

func (s *Server) putDeletionProtection(c *call) (any, *failure) {
	a := c.args()
	if !a.has("deletionProtectionEnabled") {
		a.missing("deletionProtectionEnabled")
	}
	on := a.boolean("deletionProtectionEnabled")
	g, f := s.group(c, a, a.identified(), false)
	if f != nil {
		return nil, f
	}
	g.DeletionProtection = *on
	return nil, nil
}
