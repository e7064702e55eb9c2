package apigatewayv2

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// integration implements resource.Provider and resource.Finder.
type integration struct{ base }

// Read implements resource.Provider.
func (p *integration) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	in := &apigatewayv2.GetIntegrationInput{ApiId: aws.String(key["ApiId"]), IntegrationId: aws.String(key["IntegrationId"])}
	out, reply, err := call(ctx, p.base, p.client.GetIntegration, in)
	if err != nil {
		return nil, err
	}
	if aws.ToString(out.IntegrationId) != key["IntegrationId"] {
		return nil, session.Invalid("GetIntegration", "the answer is not the integration that was asked for")
	}
	return observeIntegration(key["ApiId"], types.Integration{
		ConnectionId: out.ConnectionId, ConnectionType: out.ConnectionType, ContentHandlingStrategy: out.ContentHandlingStrategy,
		CredentialsArn: out.CredentialsArn, Description: out.Description, IntegrationId: out.IntegrationId, IntegrationMethod: out.IntegrationMethod,
		IntegrationSubtype: out.IntegrationSubtype, IntegrationType: out.IntegrationType, IntegrationUri: out.IntegrationUri,
		PassthroughBehavior: out.PassthroughBehavior, PayloadFormatVersion: out.PayloadFormatVersion, RequestParameters: out.RequestParameters,
		RequestTemplates: out.RequestTemplates, ResponseParameters: out.ResponseParameters,
		TemplateSelectionExpression: out.TemplateSelectionExpression, TimeoutInMillis: out.TimeoutInMillis, TlsConfig: out.TlsConfig,
	}, reply.ServedAt, "GetIntegration"), nil
}

// observeIntegration turns an integration as read into config shape.
func observeIntegration(apiID string, i types.Integration, served time.Time, source string) *resource.Observation {
	o := observeChild(apiID, "IntegrationId", i.IntegrationId, served, source)
	observeTexts(o.Params, map[string]*string{
		"ConnectionId": i.ConnectionId, "ConnectionType": enum(i.ConnectionType), "ContentHandlingStrategy": enum(i.ContentHandlingStrategy),
		"CredentialsArn": i.CredentialsArn, "Description": i.Description, "IntegrationMethod": i.IntegrationMethod,
		"IntegrationSubtype": i.IntegrationSubtype, "IntegrationType": enum(i.IntegrationType), "IntegrationUri": i.IntegrationUri,
		"PassthroughBehavior": enum(i.PassthroughBehavior), "PayloadFormatVersion": i.PayloadFormatVersion,
		"TemplateSelectionExpression": i.TemplateSelectionExpression,
	})
	observeMaps(o.Params, map[string]map[string]string{"RequestParameters": i.RequestParameters, "RequestTemplates": i.RequestTemplates})
	if i.TimeoutInMillis != nil {
		o.Params["TimeoutInMillis"] = value.Of(int(*i.TimeoutInMillis))
	}
	if i.TlsConfig != nil {
		tls := value.Map{}
		observeTexts(tls, map[string]*string{"ServerNameToVerify": i.TlsConfig.ServerNameToVerify})
		o.Params["TlsConfig"] = value.OfMap(tls)
	}
	if i.ResponseParameters != nil {
		o.Params["ResponseParameters"] = observeResponses(i.ResponseParameters)
	}
	return o
}

// observeResponses turns {status: {destination: source}} into CloudFormation's lists.
func observeResponses(in map[string]map[string]string) value.Value {
	out := value.Map{}
	for status, params := range in {
		var list []value.Value
		for _, destination := range slices.Sorted(maps.Keys(params)) {
			list = append(list, value.OfMap(value.Map{"Destination": value.Of(destination), "Source": value.Of(params[destination])}))
		}
		out[status] = value.OfMap(value.Map{"ResponseParameters": value.ListOf(list...)})
	}
	return value.OfMap(out)
}

// Find implements resource.Finder: every integration of the API, over all pages. Which of them is equal to what was sent
// is for the engine to say. An API that is not there has none.
func (p *integration) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	apiID := q.Key["ApiId"]
	if apiID == "" {
		return nil, nil
	}
	var found []resource.Candidate
	get := func(token *string) ([]types.Integration, *string, session.Reply, error) {
		out, reply, err := call(ctx, p.base, p.client.GetIntegrations, &apigatewayv2.GetIntegrationsInput{ApiId: &apiID, NextToken: token})
		if err != nil {
			return nil, nil, reply, err
		}
		return out.Items, out.NextToken, reply, nil
	}
	err := pages("GetIntegrations", get, func(i types.Integration) *string { return i.IntegrationId }, func(i types.Integration, served time.Time) {
		found = append(found, resource.Candidate{Observation: *observeIntegration(apiID, i, served, "GetIntegrations")})
	})
	if err := session.SkipGone(err); err != nil {
		return nil, err
	}
	return found, nil
}
