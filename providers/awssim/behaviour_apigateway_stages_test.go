package awssim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	apigw "github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
)

// onStage runs what comes after a stage "st" was made in an HTTP API with one route, changed by edit.
func onStage(edit func(*apigw.CreateStageInput), then func(k clients, id *string) error) func(clients) (any, any, error) {
	return onApi(func(k clients, id *string) error {
		_, err := k.addRoute(id, "GET /a", nil)
		if err == nil {
			err = k.stage(id, "st", edit)
		}
		if err == nil && then != nil {
			err = then(k, id)
		}
		return err
	})
}

// stageAfter makes that stage, changes it, and reads it.
func stageAfter(k clients, edit func(*apigw.CreateStageInput), then func(k clients, id *string) error) (*apigw.GetStageOutput, error) {
	var api *string
	if _, _, err := onStage(edit, func(k clients, id *string) error { api = id; return then(k, id) })(k); err != nil {
		return nil, err
	}
	return k.apis.GetStage(k.ctx, &apigw.GetStageInput{ApiId: api, StageName: st})
}

var (
	st        = aws.String("st")
	accessLog = &types.AccessLogSettings{DestinationArn: aws.String("arn:aws:logs:eu-west-1:123456789012:log-group:l:*"), Format: aws.String("$context.requestId")}
)

func stageBehaviours() []behaviour {
	slow := func(in *apigw.CreateStageInput) {
		in.RouteSettings = map[string]types.RouteSettings{"GET /a": {ThrottlingBurstLimit: aws.Int32(7)}}
	}
	return []behaviour{
		{claim: "a stage without options throttles nothing and serves no deployment", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, nil, func(clients, *string) error { return nil })
			if err != nil {
				return nil, nil, err
			}
			d := s.DefaultRouteSettings
			return []any{aws.ToBool(d.DetailedMetricsEnabled), d.ThrottlingBurstLimit == nil, d.ThrottlingRateLimit == nil, len(s.RouteSettings), s.DeploymentId == nil,
				aws.ToBool(s.AutoDeploy), s.AccessLogSettings == nil, s.CreatedDate.IsZero(), len(s.Tags)}, []any{false, true, true, 0, true, false, true, false, 0}, nil
		}},
		{claim: "a second stage of one name conflicts", refuse: apiConflict, do: onStage(nil, func(k clients, id *string) error { return k.stage(id, "st", nil) })},
		{claim: "an update merges settings, and a throttle that was set stays", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, func(in *apigw.CreateStageInput) {
				in.DefaultRouteSettings = &types.RouteSettings{ThrottlingBurstLimit: aws.Int32(5)}
			}, func(k clients, id *string) error {
				_, err := k.apis.UpdateStage(k.ctx, &apigw.UpdateStageInput{ApiId: id, StageName: st, DefaultRouteSettings: &types.RouteSettings{ThrottlingRateLimit: aws.Float64(2.5)}})
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			return []any{*s.DefaultRouteSettings.ThrottlingBurstLimit, *s.DefaultRouteSettings.ThrottlingRateLimit}, []any{int32(5), 2.5}, nil
		}},
		{claim: "a route's settings are taken away by their own call", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, slow, func(k clients, id *string) error {
				_, err := k.apis.DeleteRouteSettings(k.ctx, &apigw.DeleteRouteSettingsInput{ApiId: id, StageName: st, RouteKey: aws.String("GET /a")})
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			return len(s.RouteSettings), 0, nil
		}},
		{claim: "an access log is taken away by its own call", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, func(in *apigw.CreateStageInput) { in.AccessLogSettings = accessLog }, func(k clients, id *string) error {
				_, err := k.apis.DeleteAccessLogSettings(k.ctx, &apigw.DeleteAccessLogSettingsInput{ApiId: id, StageName: st})
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			return s.AccessLogSettings == nil, true, nil
		}},
		{claim: "an access log's destination comes back without :*", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, func(in *apigw.CreateStageInput) { in.AccessLogSettings = accessLog }, func(clients, *string) error { return nil })
			if err != nil {
				return nil, nil, err
			}
			return *s.AccessLogSettings.DestinationArn, "arn:aws:logs:eu-west-1:123456789012:log-group:l", nil
		}},
		{claim: "a stage variable that is set to nothing goes", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, func(in *apigw.CreateStageInput) { in.StageVariables = map[string]string{"a": "1", "b": "2"} }, func(k clients, id *string) error {
				_, err := k.apis.UpdateStage(k.ctx, &apigw.UpdateStageInput{ApiId: id, StageName: st, StageVariables: map[string]string{"a": ""}})
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			return s.StageVariables, map[string]string{"b": "2"}, nil
		}},
		{claim: "a stage's tags are set and taken away by its ARN", do: func(k clients) (any, any, error) {
			s, err := stageAfter(k, func(in *apigw.CreateStageInput) { in.Tags = map[string]string{"a": "1", "b": "2"} }, func(k clients, id *string) error {
				arn := aws.String(*apiARN(id) + "/stages/st")
				_, err := k.apis.TagResource(k.ctx, &apigw.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"c": "3"}})
				if err == nil {
					_, err = k.apis.UntagResource(k.ctx, &apigw.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"a"}})
				}
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			return s.Tags, map[string]string{"b": "2", "c": "3"}, nil
		}},
		{claim: "a stage that deploys by itself has a deployment after each change", do: func(k clients) (any, any, error) {
			var first *string
			s, err := stageAfter(k, func(in *apigw.CreateStageInput) { in.AutoDeploy = aws.Bool(true) }, func(k clients, id *string) error {
				before, err := k.apis.GetStage(k.ctx, &apigw.GetStageInput{ApiId: id, StageName: st})
				if err == nil {
					first = before.DeploymentId
					_, err = k.addRoute(id, "GET /b", nil)
				}
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			return aws.ToString(first) != "" && aws.ToString(s.DeploymentId) != "" && *first != *s.DeploymentId, true, nil
		}},
		{claim: "a stage that deploys by itself is given no deployment", refuse: badApi, do: onStage(func(in *apigw.CreateStageInput) { in.AutoDeploy = aws.Bool(true) }, func(k clients, id *string) error {
			d, err := k.apis.CreateDeployment(k.ctx, &apigw.CreateDeploymentInput{ApiId: id})
			if err == nil {
				_, err = k.apis.UpdateStage(k.ctx, &apigw.UpdateStageInput{ApiId: id, StageName: st, DeploymentId: d.DeploymentId})
			}
			return err
		})},
		{claim: "settings of a route that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error { return k.stage(id, "st", slow) })},
		{claim: "taking away settings that are not there", refuse: noApi, do: onStage(nil, func(k clients, id *string) error {
			_, err := k.apis.DeleteRouteSettings(k.ctx, &apigw.DeleteRouteSettingsInput{ApiId: id, StageName: st, RouteKey: aws.String("GET /a")})
			return err
		})},
		{claim: "taking the access log from a stage that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.DeleteAccessLogSettings(k.ctx, &apigw.DeleteAccessLogSettingsInput{ApiId: id, StageName: st})
			return err
		})},
		{claim: "an HTTP API has no execution log", refuse: badApi, do: onStage(func(in *apigw.CreateStageInput) {
			in.DefaultRouteSettings = &types.RouteSettings{LoggingLevel: types.LoggingLevelInfo}
		}, nil)},
		{claim: "an access log's format has the request's ID", refuse: badApi, do: onStage(func(in *apigw.CreateStageInput) {
			in.AccessLogSettings = &types.AccessLogSettings{DestinationArn: accessLog.DestinationArn, Format: aws.String("$context.status")}
		}, nil)},
		{claim: "a stage's name has letters, digits, - and _ only", refuse: badApi, do: onApi(func(k clients, id *string) error { return k.stage(id, "a.b", nil) })},
		{claim: "a second delete of a stage finds nothing", refuse: noApi, do: onStage(nil, func(k clients, id *string) error {
			_, err := k.apis.DeleteStage(k.ctx, &apigw.DeleteStageInput{ApiId: id, StageName: st})
			if err == nil {
				_, err = k.apis.DeleteStage(k.ctx, &apigw.DeleteStageInput{ApiId: id, StageName: st})
			}
			return err
		})},
		{claim: "a stage that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.GetStage(k.ctx, &apigw.GetStageInput{ApiId: id, StageName: st})
			return err
		})},
		{claim: "the stages of an API are listed", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err == nil {
				err = k.stage(api.ApiId, "$default", nil)
			}
			if err != nil {
				return nil, nil, err
			}
			list, err := k.apis.GetStages(k.ctx, &apigw.GetStagesInput{ApiId: api.ApiId})
			if err != nil || len(list.Items) != 1 {
				return nil, "one stage", err
			}
			return *list.Items[0].StageName, "$default", nil
		}},
		{claim: "the stages of no API", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetStages(k.ctx, &apigw.GetStagesInput{ApiId: noApiID})
			return err
		})},
	}
}

func deploymentBehaviours() []behaviour {
	return []behaviour{
		{claim: "a deployment is made, described, listed, and deleted when no stage serves it", do: deploymentLife},
		{claim: "an API without routes is not deployed", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.CreateDeployment(k.ctx, &apigw.CreateDeploymentInput{ApiId: id})
			return err
		})},
		{claim: "a deployment that a stage serves is not deleted", refuse: badApi, do: onStage(nil, func(k clients, id *string) error {
			d, err := k.apis.CreateDeployment(k.ctx, &apigw.CreateDeploymentInput{ApiId: id, StageName: st})
			if err == nil {
				_, err = k.apis.DeleteDeployment(k.ctx, &apigw.DeleteDeploymentInput{ApiId: id, DeploymentId: d.DeploymentId})
			}
			return err
		})},
		{claim: "a deployment that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.GetDeployment(k.ctx, &apigw.GetDeploymentInput{ApiId: id, DeploymentId: noID})
			return err
		})},
		{claim: "describing a deployment that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.UpdateDeployment(k.ctx, &apigw.UpdateDeploymentInput{ApiId: id, DeploymentId: noID})
			return err
		})},
		{claim: "the deployments of no API", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetDeployments(k.ctx, &apigw.GetDeploymentsInput{ApiId: noApiID})
			return err
		})},
	}
}

func deploymentLife(k clients) (any, any, error) {
	api, err := k.api(nil)
	if err != nil {
		return nil, nil, err
	}
	if _, err = k.addRoute(api.ApiId, "GET /a", nil); err != nil {
		return nil, nil, err
	}
	d, err := k.apis.CreateDeployment(k.ctx, &apigw.CreateDeploymentInput{ApiId: api.ApiId})
	if err == nil {
		_, err = k.apis.UpdateDeployment(k.ctx, &apigw.UpdateDeploymentInput{ApiId: api.ApiId, DeploymentId: d.DeploymentId, Description: aws.String("first")})
	}
	if err != nil {
		return nil, nil, err
	}
	get, err := k.apis.GetDeployment(k.ctx, &apigw.GetDeploymentInput{ApiId: api.ApiId, DeploymentId: d.DeploymentId})
	if err == nil {
		_, err = k.apis.DeleteDeployment(k.ctx, &apigw.DeleteDeploymentInput{ApiId: api.ApiId, DeploymentId: d.DeploymentId})
	}
	if err != nil {
		return nil, nil, err
	}
	list, err := k.apis.GetDeployments(k.ctx, &apigw.GetDeploymentsInput{ApiId: api.ApiId})
	if err != nil {
		return nil, nil, err
	}
	return []any{string(get.DeploymentStatus), *get.Description, aws.ToBool(get.AutoDeployed), len(list.Items)}, []any{"DEPLOYED", "first", false, 0}, nil
}
