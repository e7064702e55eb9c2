package apigatewayv2

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Create implements resource.Provider: one CreateStage that carries everything.
func (p *stage) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	m := c.Params
	if err := errors.Join(wire.Whole("CreateStage", m), oneDeployer("CreateStage", m)); err != nil {
		return resource.Created{}, err
	}
	out, reply, err := call(ctx, p.base, p.client.CreateStage, &apigatewayv2.CreateStageInput{
		ApiId:                aws.String(c.Key["ApiId"]),
		StageName:            aws.String(c.Key["StageName"]),
		Description:          wire.Text(m["Description"]),
		AutoDeploy:           wire.Bool(m["AutoDeploy"]),
		DeploymentId:         wire.Text(m["DeploymentId"]),
		ClientCertificateId:  wire.Text(m["ClientCertificateId"]),
		AccessLogSettings:    accessLog(m["AccessLogSettings"]),
		DefaultRouteSettings: settings(m["DefaultRouteSettings"]),
		RouteSettings:        routeSettings(m["RouteSettings"]),
		StageVariables:       texts(m["StageVariables"]),
		Tags:                 wire.Join(wire.Tags(m["Tags"]), c.Tags),
	}, once)
	if err != nil {
		err = refused(err, reply, func() (bool, error) {
			_, err := p.Read(ctx, c.Key)
			if absent(err) {
				return false, nil
			}
			return err == nil, err
		}, conflict)
		return resource.Created{}, wire.Conceal(err, m)
	}
	if aws.ToString(out.StageName) != c.Key["StageName"] {
		return resource.Created{}, session.Unacknowledged("CreateStage", reply, "it succeeded, but did not say what it made")
	}
	made := resource.Created{Key: c.Key, ServedAt: reply.ServedAt}
	if out.CreatedDate != nil {
		made.Identity.CreatedAt = out.CreatedDate.UTC()
	}
	return made, nil
}

// oneDeployer refuses a deployment beside AutoDeploy, which chooses it: the service refuses the two, and would not say why.
func oneDeployer(operation string, m value.Map) error {
	if !m["AutoDeploy"].IsTrue() || !wire.Set(m["DeploymentId"]) {
		return nil
	}
	return &resource.Error{Kind: resource.Rejected, Op: operation, Executed: resource.No,
		Err: errors.New("DeploymentId and AutoDeploy exclude each other: AutoDeploy chooses the deployment; leave one of them out")}
}

func accessLog(v value.Value) *types.AccessLogSettings {
	if wire.Empty(v) {
		return nil
	}
	return &types.AccessLogSettings{DestinationArn: wire.Text(v.Get("DestinationArn")), Format: wire.Text(v.Get("Format"))}
}

// settings returns nil for none. A throttle that is not set is not there: 0 would let nothing through.
func settings(v value.Value) *types.RouteSettings {
	if wire.Empty(v) {
		return nil
	}
	return &types.RouteSettings{
		DataTraceEnabled:       wire.Bool(v.Get("DataTraceEnabled")),
		DetailedMetricsEnabled: wire.Bool(v.Get("DetailedMetricsEnabled")),
		LoggingLevel:           types.LoggingLevel(wire.Name(v.Get("LoggingLevel"))),
		ThrottlingBurstLimit:   wire.Int32(v.Get("ThrottlingBurstLimit")),
		ThrottlingRateLimit:    number(v.Get("ThrottlingRateLimit")),
	}
}

func routeSettings(v value.Value) map[string]types.RouteSettings {
	if wire.Empty(v) {
		return nil
	}
	out := map[string]types.RouteSettings{}
	for key, e := range v.Fields() {
		if s := settings(e); s != nil {
			out[key] = *s
		}
	}
	return out
}

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes anything
// else. What the service takes away only by a call of its own goes before the one update, which merges.
func (p *stage) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync stage", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	if slices.Contains(c.Write, "DeploymentId") || slices.Contains(c.Write, "AutoDeploy") {
		if err := oneDeployer("UpdateStage", c.Desired); err != nil {
			return nil, err
		}
	}
	calls := p.ownTags(c, stagePath(c.Key))
	if slices.Contains(c.Write, "AccessLogSettings") && wire.Empty(c.Desired["AccessLogSettings"]) {
		in := &apigatewayv2.DeleteAccessLogSettingsInput{ApiId: aws.String(c.Key["ApiId"]), StageName: aws.String(c.Key["StageName"])}
		calls = append(calls, resource.Call{Name: "DeleteAccessLogSettings", Detail: "access log: none", Params: []string{"AccessLogSettings"},
			Run: run(p.base, p.client.DeleteAccessLogSettings, in, nil)})
	}
	if slices.Contains(c.Write, "RouteSettings") {
		calls = append(calls, p.dropRouteSettings(c)...)
	}
	if in, params := updateStage(c); len(params) > 0 {
		calls = append(calls, resource.Call{Name: "UpdateStage", Detail: strings.Join(params, ", "), Params: params, Run: func(ctx context.Context) error {
			out, _, err := call(ctx, p.base, p.client.UpdateStage, in)
			if err != nil {
				return wire.Conceal(err, c.Desired)
			}
			return keptThrottle(c, out.DefaultRouteSettings)
		}})
	}
	return append(calls, p.syncTags(c, stagePath(c.Key))...), nil
}

func stagePath(k resource.Key) string { return apiPath(k) + "/stages/" + k["StageName"] }

// dropRouteSettings takes away the settings of routes that we set and config does not any more, and of those from which
// one member goes: the update after it only adds.
func (p *stage) dropRouteSettings(c resource.Change) []resource.Call {
	var calls []resource.Call
	desired, recorded := c.Desired["RouteSettings"], c.Recorded["RouteSettings"]
	for _, key := range recorded.Fields().Keys() {
		if wire.Set(desired.Get(key)) && len(removed(desired.Get(key), recorded.Get(key))) == 0 {
			continue
		}
		in := &apigatewayv2.DeleteRouteSettingsInput{ApiId: aws.String(c.Key["ApiId"]), StageName: aws.String(c.Key["StageName"]), RouteKey: &key}
		done := run(p.base, p.client.DeleteRouteSettings, in, nil)
		calls = append(calls, resource.Call{Name: "DeleteRouteSettings", Detail: "settings of " + key, Params: []string{"RouteSettings"},
			Run: func(ctx context.Context) error { return session.SkipGone(done(ctx)) }})
	}
	return calls
}

// updateStage returns the one UpdateStage that writes what is to be written, and the params that travel in it. What config
// no longer sets goes back to what the service fills in.
func updateStage(c resource.Change) (*apigatewayv2.UpdateStageInput, []string) {
	in := &apigatewayv2.UpdateStageInput{ApiId: aws.String(c.Key["ApiId"]), StageName: aws.String(c.Key["StageName"])}
	setters := []setter{
		{"Description", func(v value.Value) { in.Description = or(v, "") }},
		{"AutoDeploy", func(v value.Value) { in.AutoDeploy = orFalse(v) }},
		{"ClientCertificateId", func(v value.Value) { in.ClientCertificateId = or(v, "") }},
		{"DefaultRouteSettings", func(v value.Value) { in.DefaultRouteSettings = changedSettings(v, c.Recorded["DefaultRouteSettings"]) }},
		{"StageVariables", func(v value.Value) { in.StageVariables = changedTexts(v, c.Recorded["StageVariables"]) }},
	}
	more := []setter{
		{"DeploymentId", func(v value.Value) { in.DeploymentId = wire.Text(v) }},
		{"AccessLogSettings", func(v value.Value) { in.AccessLogSettings = accessLog(v) }},
		{"RouteSettings", func(v value.Value) { in.RouteSettings = routeSettings(v) }},
	}
	more = slices.DeleteFunc(more, func(s setter) bool { return wire.Empty(c.Desired[s.param]) })
	return in, written(c, append(setters, more...))
}

// changedSettings is settings for an update, which merges: switches that go are sent as the service fills them in. A
// throttle has no such value.
func changedSettings(desired, recorded value.Value) *types.RouteSettings {
	out := settings(desired)
	if out == nil {
		out = &types.RouteSettings{}
	}
	for _, name := range removed(desired, recorded) {
		switch name {
		case "DataTraceEnabled":
			out.DataTraceEnabled = aws.Bool(false)
		case "DetailedMetricsEnabled":
			out.DetailedMetricsEnabled = aws.Bool(false)
		case "LoggingLevel":
			out.LoggingLevel = types.LoggingLevelOff
		}
	}
	return out
}

// keptThrottle is the error of an update that was to take a default throttle away, after which it is still there: no
// operation resets it, and silence would leave an API slower than its config says.
func keptThrottle(c resource.Change, now *types.RouteSettings) error {
	if !slices.Contains(c.Write, "DefaultRouteSettings") || now == nil {
		return nil
	}
	have := observeSettings(*now)
	for _, name := range removed(c.Desired["DefaultRouteSettings"], c.Recorded["DefaultRouteSettings"]) {
		if strings.HasPrefix(name, "Throttling") && wire.Set(have.Get(name)) {
			return &resource.Error{Kind: resource.Rejected, Op: "UpdateStage", Executed: resource.Yes,
				Err: errors.New("the service keeps DefaultRouteSettings." + name + " once it is set; set it to the value it should have, or replace the stage")}
		}
	}
	return nil
}

// Delete implements resource.Provider.
func (p *stage) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := session.Confirm("DeleteStage", d, o); err != nil {
		return err
	}
	_, _, err = call(ctx, p.base, p.client.DeleteStage, &apigatewayv2.DeleteStageInput{ApiId: aws.String(d.Key["ApiId"]), StageName: aws.String(d.Key["StageName"])}, once)
	return err
}
