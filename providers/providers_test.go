package providers_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/providers"
	"reclaim/providers/providertest"
)

// properties are what CloudFormation's resource specification lists for a type. A template may use any of them: each
// is a param, an output, or refused by name.
var properties = map[string]string{
	"AWS::Events::Rule": "Arn Description EventBusName EventPattern Name RoleArn ScheduleExpression State Tags Targets",
	"AWS::IAM::Role": "Arn AssumeRolePolicyDocument Description ManagedPolicyArns MaxSessionDuration Path PermissionsBoundary " +
		"Policies RoleId RoleName Tags",
	"Reclaim::IAM::RolePolicyAttachment": "PolicyArn RoleName",
	"AWS::Lambda::Function": "Architectures Arn CapacityProviderConfig Code CodeSigningConfigArn DeadLetterConfig Description DurableConfig " +
		"Environment EphemeralStorage FileSystemConfigs FunctionName FunctionScalingConfig Handler ImageConfig KmsKeyArn Layers LoggingConfig " +
		"MemorySize PackageType PublishToLatestPublished RecursiveLoop ReservedConcurrentExecutions Role Runtime RuntimeManagementConfig " +
		"SnapStart SnapStartResponse Tags TenancyConfig Timeout TracingConfig VpcConfig",
	"AWS::Lambda::Permission": "Action EventSourceToken FunctionName FunctionUrlAuthType Id InvokedViaFunctionUrl Principal PrincipalOrgID " +
		"SourceAccount SourceArn",
	"AWS::Logs::LogGroup": "Arn BearerTokenAuthenticationEnabled DataProtectionPolicy DeletionProtectionEnabled FieldIndexPolicies " +
		"KmsKeyId LogGroupClass LogGroupName ResourcePolicyDocument RetentionInDays Tags",
	"AWS::ApiGatewayV2::Api": "ApiEndpoint ApiId ApiKeySelectionExpression BasePath Body BodyS3Location CorsConfiguration CredentialsArn " +
		"Description DisableExecuteApiEndpoint DisableSchemaValidation FailOnWarnings IpAddressType Name ProtocolType RouteKey " +
		"RouteSelectionExpression Tags Target Version",
	"AWS::ApiGatewayV2::Authorizer": "ApiId AuthorizerCredentialsArn AuthorizerId AuthorizerPayloadFormatVersion AuthorizerResultTtlInSeconds " +
		"AuthorizerType AuthorizerUri EnableSimpleResponses IdentitySource IdentityValidationExpression JwtConfiguration Name",
	"AWS::ApiGatewayV2::Integration": "ApiId ConnectionId ConnectionType ContentHandlingStrategy CredentialsArn Description IntegrationId " +
		"IntegrationMethod IntegrationSubtype IntegrationType IntegrationUri PassthroughBehavior PayloadFormatVersion RequestParameters " +
		"RequestTemplates ResponseParameters TemplateSelectionExpression TimeoutInMillis TlsConfig",
	"AWS::ApiGatewayV2::Route": "ApiId ApiKeyRequired AuthorizationScopes AuthorizationType AuthorizerId ModelSelectionExpression OperationName " +
		"RequestModels RequestParameters RouteId RouteKey RouteResponseSelectionExpression Target",
	"AWS::ApiGatewayV2::Stage": "AccessLogSettings AccessPolicyId ApiId AutoDeploy ClientCertificateId DefaultRouteSettings DeploymentId " +
		"Description RouteSettings StageName StageVariables Tags",
	"AWS::DynamoDB::Table": "Arn AttributeDefinitions BillingMode ContributorInsightsSpecification DeletionProtectionEnabled " +
		"GlobalSecondaryIndexes ImportSourceSpecification KeySchema KinesisStreamSpecification LocalSecondaryIndexes OnDemandThroughput " +
		"PointInTimeRecoverySpecification ProvisionedThroughput ResourcePolicy SSESpecification StreamArn StreamSpecification " +
		"TableClass TableName Tags TimeToLiveSpecification WarmThroughput",
}

func TestEveryPropertyOfATypeIsHandledOrRefusedWithAReason(t *testing.T) {
	for _, s := range providers.Schemas() {
		if s.Local {
			continue // no CloudFormation type
		}
		listed := strings.Fields(properties[s.Type])
		if len(listed) == 0 {
			t.Errorf("%s: its properties are not listed here", s.Type)
		}
		for _, name := range listed {
			why, refused := s.Unsupported[name]
			ways := 0
			for _, yes := range []bool{s.Param(name) != nil, s.HasOutput(name), refused} {
				if yes {
					ways++
				}
			}
			if ways != 1 {
				t.Errorf("%s.%s is a param, an output or refused in %d ways, want 1", s.Type, name, ways)
			}
			if refused && why == "" {
				t.Errorf("%s.%s is refused without a reason", s.Type, name)
			}
		}
		for _, f := range s.Params {
			if !slices.Contains(listed, f.Name) && s.Derived[f.Name] == nil {
				t.Errorf("%s.%s is no property of the type", s.Type, f.Name)
			}
		}
	}
}

func TestSchemasAreSortedAndSayWhatTheEngineNeeds(t *testing.T) {
	var types []string
	for _, s := range providers.Schemas() {
		types = append(types, s.Type)
		if got, ok := providers.Schema(s.Type); !ok || got != s {
			t.Errorf("%s is not found by its type", s.Type)
		}
		if s.Doc == "" || s.Identity == "" || s.Space == "" || len(s.Key) == 0 || s.Deadlines.Call == 0 || s.Deadlines.Delete == 0 {
			t.Errorf("%s: doc, identity, space, key or deadlines are missing", s.Type)
		}
		for _, k := range slices.Concat(s.Key, []string{s.Ref}) {
			if k != "Machine" && s.Param(k) == nil && !s.HasOutput(k) {
				t.Errorf("%s: %s is neither param nor output", s.Type, k)
			}
		}
		if (s.Tags == resource.TagList || s.Tags == resource.TagMap) != (s.Param(s.TagParam) != nil) {
			t.Errorf("%s: tag style %q and param %q do not fit", s.Type, s.Tags, s.TagParam)
		}
		if s.Name != nil && (s.Param(s.Name.Param) == nil || s.Name.Max == 0) {
			t.Errorf("%s: name rule %+v names no param, or no limit", s.Type, *s.Name)
		}
		if s.DataBearing != (s.Data != "") {
			t.Errorf("%s: data-bearing %v, data %q", s.Type, s.DataBearing, s.Data)
		}
		for _, f := range s.Params {
			checkField(t, s.Type+"."+f.Name, f, true)
		}
		for _, o := range s.Outputs {
			if o.Doc == "" {
				t.Errorf("%s.%s has no doc", s.Type, o.Name)
			}
		}
	}
	want := []string{"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::Authorizer", "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Route",
		"AWS::ApiGatewayV2::Stage", "AWS::DynamoDB::Table", "AWS::Events::Rule", "AWS::IAM::Role", "AWS::Lambda::Function",
		"AWS::Lambda::Permission", "AWS::Logs::LogGroup", "Reclaim::IAM::RolePolicyAttachment", "Std::FS::File", "Std::FS::Zip"}
	if d := cmp.Diff(want, types); d != "" {
		t.Errorf("types (-want +got):\n%s", d)
	}
}

func checkField(t *testing.T, at string, f resource.Field, top bool) {
	t.Helper()
	if f.Type == "" || f.Doc == "" || strings.Count(f.Doc, "\n") > 0 {
		t.Errorf("%s: type %q, doc %q: want both, the doc on one line", at, f.Type, f.Doc)
	}
	if top != (f.Mode != "") {
		t.Errorf("%s: mode %q: top-level params have one, nested fields none", at, f.Mode)
	}
	for _, n := range f.Fields {
		checkField(t, at+"."+n.Name, n, false)
	}
	if f.Elem == nil {
		return
	}
	for _, n := range f.Elem.Fields {
		checkField(t, at+"[]."+n.Name, n, false)
	}
	if f.ItemKey != "" && f.Elem.Lookup(f.ItemKey) == nil {
		t.Errorf("%s: items are told apart by %s, which they do not have", at, f.ItemKey)
	}
}

func TestAnUnknownTypeHasNeitherSchemaNorProvider(t *testing.T) {
	if _, ok := providers.Schema("AWS::Nothing::Here"); ok {
		t.Error("it has a schema")
	}
	c, err := providers.Open(t.Context(), providers.Config{Machine: "m1"}, []string{"AWS::Nothing::Here"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if _, ok := c.Provider("AWS::Nothing::Here"); ok {
		t.Error("it has a provider")
	}
}

// A stack of local types needs no cloud: nothing of AWS is configured here, and nothing of it is read.
func TestLocalTypesNeedNoCloud(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_PROFILE", "no-such-profile")
	c, err := providers.Open(t.Context(), providers.Config{Machine: "m1"}, []string{"Std::FS::File", "Std::FS::Zip"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	scope, err := c.Verify(t.Context())
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	if d := cmp.Diff(resource.Scope{Partition: resource.LocalPartition, Account: "m1"}, scope); d != "" {
		t.Errorf("scope (-want +got):\n%s", d)
	}
	if c.Machine() != "m1" {
		t.Errorf("machine %q, want m1", c.Machine())
	}
	if _, ok := c.Provider("Std::FS::File"); !ok {
		t.Error("Std::FS::File has no provider")
	}
	if _, ok := c.Provider("AWS::IAM::Role"); ok {
		t.Error("AWS::IAM::Role has a provider, with no cloud opened")
	}
	if _, err := providers.Open(t.Context(), providers.Config{Machine: "m1"}, []string{"Std::FS::File", "AWS::IAM::Role"}); err == nil {
		t.Error("with one AWS type it was opened, though the profile does not exist")
	}
}

func TestEveryTypeHasAProviderOfItsOwnSchema(t *testing.T) {
	providertest.Sim(t) // sets the environment
	var types []string
	for _, s := range providers.Schemas() {
		types = append(types, s.Type)
	}
	c, err := providers.Open(t.Context(), providers.Config{Machine: "m1"}, types)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	for _, typ := range types {
		p, ok := c.Provider(typ)
		if !ok || p.Schema().Type != typ {
			t.Errorf("%s has no provider, or one of another type", typ)
			continue
		}
		again, _ := c.Provider(typ)
		if p != again {
			t.Errorf("%s has another provider each time", typ)
		}
		if _, ok := p.(resource.Finder); !ok && p.Schema().Taggable() && !p.Schema().Local {
			t.Errorf("%s cannot be looked up by its tags", typ)
		}
	}
	scope, err := c.Verify(t.Context())
	if err != nil || scope.Account != "111122223333" || scope.Region != "eu-west-1" || scope.Endpoint == "" {
		t.Errorf("scope %v, %v; want the simulated account, region and endpoint", scope, err)
	}
}
