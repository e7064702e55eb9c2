package apigatewayv2

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// stage implements resource.Provider and resource.Finder.
type stage struct{ base }

// Read implements resource.Provider.
func (p *stage) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	in := &apigatewayv2.GetStageInput{ApiId: aws.String(key["ApiId"]), StageName: aws.String(key["StageName"])}
	out, reply, err := call(ctx, p.base, p.client.GetStage, in)
	if err != nil {
		return nil, err
	}
	if aws.ToString(out.StageName) != key["StageName"] {
		return nil, session.Invalid("GetStage", "the answer is not the stage that was asked for")
	}
	return observeStage(key["ApiId"], types.Stage{
		AccessLogSettings: out.AccessLogSettings, AutoDeploy: out.AutoDeploy, ClientCertificateId: out.ClientCertificateId, CreatedDate: out.CreatedDate,
		DefaultRouteSettings: out.DefaultRouteSettings, DeploymentId: out.DeploymentId, Description: out.Description, RouteSettings: out.RouteSettings,
		StageName: out.StageName, StageVariables: out.StageVariables, Tags: out.Tags,
	}, reply.ServedAt, "GetStage"), nil
}

// observeStage turns a stage as read into config shape. Its tags come in the same answer: none there means none.
func observeStage(apiID string, s types.Stage, served time.Time, source string) *resource.Observation {
	own, marks := resource.SplitTags(s.Tags)
	o := observation(resource.Key{"ApiId": apiID, "StageName": aws.ToString(s.StageName)}, served, source)
	o.Owner, o.Sources["tags"] = marks, source
	o.Params["ApiId"], o.Params["Tags"] = value.Of(apiID), value.Of(own)
	if s.CreatedDate != nil {
		o.CreatedAt = s.CreatedDate.UTC()
		o.Identity = resource.Identity{CreatedAt: o.CreatedAt}
	}
	observeTexts(o.Params, map[string]*string{"StageName": s.StageName, "Description": s.Description, "ClientCertificateId": s.ClientCertificateId,
		"DeploymentId": s.DeploymentId})
	observeBools(o.Params, map[string]*bool{"AutoDeploy": s.AutoDeploy})
	observeMaps(o.Params, map[string]map[string]string{"StageVariables": s.StageVariables})
	if aws.ToBool(s.AutoDeploy) {
		delete(o.Params, "DeploymentId")
		o.Gaps["DeploymentId"] = resource.Gap{Kind: resource.GapNotReturned, Reason: "AutoDeploy chooses the deployment"}
	}
	if l := s.AccessLogSettings; l != nil {
		settings := value.Map{}
		observeTexts(settings, map[string]*string{"DestinationArn": l.DestinationArn, "Format": l.Format})
		o.Params["AccessLogSettings"] = value.OfMap(settings)
	}
	if s.DefaultRouteSettings != nil {
		o.Params["DefaultRouteSettings"] = observeSettings(*s.DefaultRouteSettings)
	}
	if s.RouteSettings != nil {
		routes := value.Map{}
		for key, settings := range s.RouteSettings {
			routes[key] = observeSettings(settings)
		}
		o.Params["RouteSettings"] = value.OfMap(routes)
	}
	return o
}

func observeSettings(s types.RouteSettings) value.Value {
	m := value.Map{}
	observeBools(m, map[string]*bool{"DataTraceEnabled": s.DataTraceEnabled, "DetailedMetricsEnabled": s.DetailedMetricsEnabled})
	observeTexts(m, map[string]*string{"LoggingLevel": enum(s.LoggingLevel)})
	if s.ThrottlingBurstLimit != nil {
		m["ThrottlingBurstLimit"] = value.Of(int(*s.ThrottlingBurstLimit))
	}
	if s.ThrottlingRateLimit != nil {
		m["ThrottlingRateLimit"] = value.Num(strconv.FormatFloat(*s.ThrottlingRateLimit, 'f', -1, 64))
	}
	return value.OfMap(m)
}

// Find implements resource.Finder, over all pages: by our tags, in the API of the query, or in every API where it names
// none. An API that is not there has no stages.
func (p *stage) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	apis := []string{q.Key["ApiId"]}
	if apis[0] == "" {
		var err error
		if apis, err = p.apis(ctx); err != nil {
			return nil, err
		}
	}
	var found []resource.Candidate
	for _, apiID := range apis {
		err := p.stages(ctx, apiID, func(s types.Stage, served time.Time) {
			c := resource.Candidate{Observation: *observeStage(apiID, s, served, "GetStages")}
			c.ByNonce, c.ByTags = session.Match(q, c.Owner)
			if c.ByNonce || c.ByTags {
				found = append(found, c)
			}
		})
		if err := session.SkipGone(err); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (p *stage) stages(ctx context.Context, apiID string, each func(types.Stage, time.Time)) error {
	get := func(token *string) ([]types.Stage, *string, session.Reply, error) {
		out, reply, err := call(ctx, p.base, p.client.GetStages, &apigatewayv2.GetStagesInput{ApiId: &apiID, NextToken: token})
		if err != nil {
			return nil, nil, reply, err
		}
		return out.Items, out.NextToken, reply, nil
	}
	return pages("GetStages", get, func(s types.Stage) *string { return s.StageName }, each)
}
