package awssim

import (
	"net/http"
	"slices"
)

// Each aspect of a table has calls of its own, and most of them take their time.

func (s *Server) describeTimeToLive(c *call) (any, *failure) {
	t, f := s.table(c, true)
	if f != nil {
		return nil, f
	}
	x := map[string]any{"TimeToLiveStatus": turning(t.TTL.On, t.TTL.Till, c.now, switching, switched)}
	if t.TTL.On || c.now.Before(t.TTL.Till) {
		x["AttributeName"] = t.TTL.Attribute
	}
	return map[string]any{"TimeToLiveDescription": x}, nil
}

func (s *Server) updateTimeToLive(c *call) (any, *failure) {
	in, f := shaped[struct {
		TimeToLiveSpecification *struct {
			AttributeName string
			Enabled       *bool
		}
	}](c)
	if f != nil {
		return nil, f
	}
	t, f := s.idleTable(c)
	if f != nil {
		return nil, f
	}
	spec := in.TimeToLiveSpecification
	switch {
	case spec == nil || spec.Enabled == nil || spec.AttributeName == "" || len(spec.AttributeName) > 255:
		return nil, badTable("1 validation error detected: Value at 'timeToLiveSpecification' failed to satisfy constraint: AttributeName and Enabled must be given")
	case c.now.Before(t.TTL.Till):
		return nil, badTable("Time to live has been modified multiple times within a fixed interval")
	case *spec.Enabled && t.TTL.On && spec.AttributeName != t.TTL.Attribute:
		return nil, badTable("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTL.Attribute)
	case *spec.Enabled && t.TTL.On:
		return nil, badTable("TimeToLive is already enabled")
	case !*spec.Enabled && !t.TTL.On:
		return nil, badTable("TimeToLive is already disabled")
	case !*spec.Enabled && spec.AttributeName != t.TTL.Attribute:
		return nil, badTable("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTL.Attribute)
	}
	t.TTL = TableTTL{Attribute: spec.AttributeName, On: *spec.Enabled, Till: c.now.Add(s.scaled(aspectTurns))}
	return map[string]any{"TimeToLiveSpecification": spec}, nil
}

func (s *Server) describeBackups(c *call) (any, *failure) {
	t, f := s.table(c, true)
	if f != nil {
		return nil, backupsCode(f)
	}
	return showBackups(t), nil
}

// backupsCode: the operations on backups have a code of their own for a table that is not there.
func backupsCode(f *failure) *failure {
	if f.Code == "ResourceNotFoundException" {
		f.Code = "TableNotFoundException"
	}
	return f
}

func showBackups(t *Table) map[string]any {
	x := map[string]any{"PointInTimeRecoveryStatus": switched[t.PITRDays > 0]}
	if t.PITRDays > 0 {
		x["RecoveryPeriodInDays"] = t.PITRDays
		x["EarliestRestorableDateTime"], x["LatestRestorableDateTime"] = epoch(t.CreatedAt), epoch(t.CreatedAt)
	}
	return map[string]any{"ContinuousBackupsDescription": map[string]any{"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": x}}
}

func (s *Server) updateBackups(c *call) (any, *failure) {
	in, f := shaped[struct {
		PointInTimeRecoverySpecification *struct {
			PointInTimeRecoveryEnabled *bool
			RecoveryPeriodInDays       *int
		}
	}](c)
	if f != nil {
		return nil, f
	}
	t, f := s.table(c, false)
	if f != nil {
		return nil, backupsCode(f)
	}
	spec := in.PointInTimeRecoverySpecification
	switch {
	case spec == nil || spec.PointInTimeRecoveryEnabled == nil:
		return nil, badTable("1 validation error detected: Value null at 'pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled' failed to satisfy constraint: Member must not be null")
	case spec.RecoveryPeriodInDays != nil && (*spec.RecoveryPeriodInDays < 1 || *spec.RecoveryPeriodInDays > 35):
		return nil, badTable("1 validation error detected: Value at 'recoveryPeriodInDays' failed to satisfy constraint: Member must be between 1 and 35")
	case spec.RecoveryPeriodInDays != nil && !*spec.PointInTimeRecoveryEnabled:
		return nil, badTable("RecoveryPeriodInDays cannot be given when point in time recovery is disabled")
	case t.status(c.now) == "CREATING" || t.status(c.now) == "DELETING":
		return nil, fail("ContinuousBackupsUnavailableException", http.StatusBadRequest, "Backups are being enabled for the table: %s. Please retry later", t.Name)
	}
	t.PITRDays = 0
	if *spec.PointInTimeRecoveryEnabled {
		t.PITRDays = 35
	}
	if spec.RecoveryPeriodInDays != nil {
		t.PITRDays = *spec.RecoveryPeriodInDays
	}
	return showBackups(t), nil
}

// insights finds the table or index that a call on contributor insights is about.
func (s *Server) insights(c *call, read bool) (*Table, *TableInsights, *failure) {
	t, f := s.table(c, read)
	if f != nil {
		return nil, nil, f
	}
	name := c.str("IndexName")
	if name == "" {
		return t, &t.Insights, nil
	}
	g := t.global(name)
	if g == nil || !g.DeletedTill.IsZero() {
		return nil, nil, fail("ResourceNotFoundException", http.StatusBadRequest, "Requested resource not found: Index: %s not found", name)
	}
	return t, &g.Insights, nil
}

func (c *call) showInsights(t *Table, i *TableInsights) map[string]any {
	x := map[string]any{"TableName": t.Name, "ContributorInsightsStatus": turning(i.Mode != "", i.Till, c.now, switching, switched)}
	if c.str("IndexName") != "" {
		x["IndexName"] = c.str("IndexName")
	}
	if i.Mode != "" {
		x["ContributorInsightsMode"] = i.Mode
		x["ContributorInsightsRuleList"] = []string{"DynamoDBContributorInsights-PKT-" + t.Name}
	}
	return x
}

func (s *Server) describeInsights(c *call) (any, *failure) {
	t, i, f := s.insights(c, true)
	if f != nil {
		return nil, f
	}
	return c.showInsights(t, i), nil
}

func (s *Server) updateInsights(c *call) (any, *failure) {
	a := c.args()
	action := a.need("ContributorInsightsAction", shape{})
	mode := a.enum("ContributorInsightsMode", "ACCESSED_AND_THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS")
	if a.has("ContributorInsightsAction") && action != "ENABLE" && action != "DISABLE" {
		a.breaks("contributorInsightsAction", action, "Member must satisfy enum value set: [ENABLE, DISABLE]")
	}
	if f := a.failure(); f != nil {
		return nil, f
	}
	t, i, f := s.insights(c, false)
	switch {
	case f != nil:
		return nil, f
	case t.status(c.now) == "CREATING" || t.status(c.now) == "DELETING":
		return nil, t.busy(c.now)
	case c.now.Before(i.Till):
		return nil, inUse("Contributor insights of %s are being changed", t.Name)
	}
	i.Mode, i.Till = "", c.now.Add(s.scaled(aspectTurns))
	if action == "ENABLE" {
		i.Mode = mode
	}
	return c.showInsights(t, i), nil
}

func noPolicy(arn string) *failure {
	return fail("PolicyNotFoundException", http.StatusBadRequest, "Resource-based policy not found for the provided ResourceArn: %s", arn)
}

func (s *Server) getTablePolicy(c *call) (any, *failure) {
	t, arn, f := s.arnTable(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	if t.Policies[arn] == "" {
		return nil, noPolicy(arn)
	}
	return map[string]any{"Policy": t.Policies[arn], "RevisionId": "1709841168699"}, nil
}

func (s *Server) putTablePolicy(c *call) (any, *failure) {
	a := c.args()
	text := a.need("Policy", shape{})
	t, arn, f := s.arnTable(c, a, false)
	if f != nil {
		return nil, f
	}
	if f := t.busy(c.now); f != nil {
		return nil, f
	}
	if f := t.takePolicy(arn, text); f != nil {
		return nil, f
	}
	return map[string]any{"RevisionId": "1709841168699"}, nil
}

// deleteTablePolicy succeeds where there is no policy, and then says no revision.
func (s *Server) deleteTablePolicy(c *call) (any, *failure) {
	t, arn, f := s.arnTable(c, c.args(), false)
	if f != nil {
		return nil, f
	}
	if f := t.busy(c.now); f != nil {
		return nil, f
	}
	if t.Policies[arn] == "" {
		return map[string]any{}, nil
	}
	delete(t.Policies, arn)
	return map[string]any{"RevisionId": "1709841168699"}, nil
}

func (k *TableStreaming) show(c *call) map[string]any {
	x := map[string]any{"StreamArn": k.StreamARN, "DestinationStatus": turning(k.On, k.Till, c.now, switching, streaming)}
	if k.Updating && c.now.Before(k.Till) {
		x["DestinationStatus"] = "UPDATING"
	}
	if k.Precision != "" {
		x["ApproximateCreationDateTimePrecision"] = k.Precision
	}
	return x
}

func (s *Server) describeStreaming(c *call) (any, *failure) {
	t, f := s.table(c, true)
	if f != nil {
		return nil, f
	}
	out := []any{}
	for _, k := range t.Streaming {
		out = append(out, k.show(c))
	}
	return map[string]any{"TableName": t.Name, "KinesisDataStreamDestinations": out}, nil
}

type streamingIn struct {
	StreamArn                           string
	EnableKinesisStreamingConfiguration *struct{ ApproximateCreationDateTimePrecision string }
	UpdateKinesisStreamingConfiguration *struct{ ApproximateCreationDateTimePrecision string }
}

var precisions = []string{"MILLISECOND", "MICROSECOND"}

// destination reads a call on a Kinesis destination; the one it names is nil where there is none.
func (s *Server) destination(c *call) (*Table, *TableStreaming, streamingIn, *failure) {
	in, f := shaped[streamingIn](c)
	if f != nil {
		return nil, nil, in, f
	}
	a := c.args()
	a.need("StreamArn", shape{min: 37, max: 1024})
	if f := a.failure(); f != nil {
		return nil, nil, in, f
	}
	t, f := s.idleTable(c)
	if f != nil {
		return nil, nil, in, f
	}
	k := find(t.Streaming, func(k *TableStreaming) bool { return k.StreamARN == in.StreamArn })
	if k != nil && c.now.Before(k.Till) {
		return nil, nil, in, inUse("Table is not in a valid state to change its Kinesis streaming destination: %s", t.Name)
	}
	return t, k, in, nil
}

func (s *Server) enableStreaming(c *call) (any, *failure) {
	t, k, in, f := s.destination(c)
	switch {
	case f != nil:
		return nil, f
	case k != nil:
		return nil, badTable("Table already has this Kinesis streaming destination enabled: %s", in.StreamArn)
	case len(t.Streaming) == 2:
		return nil, tooMany("A table can have at most 2 Kinesis streaming destinations.")
	}
	k = &TableStreaming{StreamARN: in.StreamArn, On: true, Till: c.now.Add(s.scaled(aspectTurns))}
	if cfg := in.EnableKinesisStreamingConfiguration; cfg != nil {
		if !slices.Contains(precisions, cfg.ApproximateCreationDateTimePrecision) {
			return nil, badTable("ApproximateCreationDateTimePrecision must be one of %v", precisions)
		}
		k.Precision = cfg.ApproximateCreationDateTimePrecision
	}
	t.Streaming = append(t.Streaming, k)
	return map[string]any{"TableName": t.Name, "StreamArn": k.StreamARN, "DestinationStatus": "ENABLING"}, nil
}

func (s *Server) disableStreaming(c *call) (any, *failure) {
	t, k, in, f := s.destination(c)
	switch {
	case f != nil:
		return nil, f
	case k == nil:
		return nil, badTable("Table does not have this Kinesis streaming destination enabled: %s", in.StreamArn)
	}
	k.On, k.Updating, k.Till = false, false, c.now.Add(s.scaled(aspectTurns))
	return map[string]any{"TableName": t.Name, "StreamArn": k.StreamARN, "DestinationStatus": "DISABLING"}, nil
}

func (s *Server) updateStreaming(c *call) (any, *failure) {
	t, k, in, f := s.destination(c)
	cfg := in.UpdateKinesisStreamingConfiguration
	switch {
	case f != nil:
		return nil, f
	case k == nil:
		return nil, badTable("Table does not have this Kinesis streaming destination enabled: %s", in.StreamArn)
	case cfg == nil || !slices.Contains(precisions, cfg.ApproximateCreationDateTimePrecision):
		return nil, badTable("ApproximateCreationDateTimePrecision must be one of %v", precisions)
	case cfg.ApproximateCreationDateTimePrecision == k.Precision:
		return nil, badTable("The precision is %s already", k.Precision)
	}
	k.Precision, k.Updating, k.Till = cfg.ApproximateCreationDateTimePrecision, true, c.now.Add(s.scaled(aspectTurns))
	return map[string]any{"TableName": t.Name, "StreamArn": k.StreamARN, "DestinationStatus": "UPDATING"}, nil
}
