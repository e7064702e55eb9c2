package awssim

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// cliStep is one call of the aws CLI: its words, and what its output must have (on stderr where refuse is set).
type cliStep struct {
	words  string // split at spaces; {trust} and the like stand for documents
	has    string
	refuse bool
}

var cliWords = map[string]string{
	"{trust}": trustJSON, "{allow}": allowJSON, "{protect}": protectsData,
	"{table}": "arn:aws:dynamodb:" + region + ":" + account + ":table/cli-t", "{kinesis}": *kinesisARN, "{read}": letsRead,
	"{group}": *groupARN("/cli/g"), "{policy}": "arn:aws:iam::" + account + ":policy/p", "{key}": *keyARN,
	"{rule}":     *ruleARN("cli-tick"),
	"{function}": "arn:aws:lambda:" + region + ":" + account + ":function:f", "{signing}": *signingARN,
	"{settings}": `{"$default":{"ThrottlingBurstLimit":1}}`, "{required}": `{"route.request.querystring.q":{"Required":true}}`,
	"{accesslog}": "DestinationArn=arn:aws:logs:eu-west-1:123456789012:log-group:a,Format=$context.requestId",
}

// cliIDs are words that the cloud gave.
var cliIDs = map[string]func(State) string{
	"{api}":         func(s State) string { return cliAPI(s, region).ID },
	"{integration}": func(s State) string { return cliAPI(s, region).Integrations[0].ID },
	"{authorizer}":  func(s State) string { return cliAPI(s, region).Authorizers[0].ID },
	"{route}":       func(s State) string { return cliAPI(s, region).Routes[0].ID },
	"{deployment}":  func(s State) string { return cliAPI(s, region).Deployments[0].ID },
	"{socket}":      func(s State) string { return cliAPI(s, "us-east-1").ID },
	"{socketroute}": func(s State) string { return cliAPI(s, "us-east-1").Routes[0].ID },
}

// cliAPI is the first API that was made in a region.
func cliAPI(s State, region string) *Api {
	return find(s.Apis, func(p *Api) bool { return p.Region == region })
}

// cliScripts run beside each other; the CLI takes about a second a call.
var cliScripts = map[string][]cliStep{
	"functions": functionScript,
	"roles": {
		{words: "sts get-caller-identity", has: `"Account": "123456789012"`},
		{words: "iam create-role --role-name r --path /cli/ --assume-role-policy-document {trust} --tags Key=a,Value=1 Key=b,Value=2", has: `"RoleId": "AROA`},
		{words: "iam create-role --role-name R --assume-role-policy-document {trust}", has: "(EntityAlreadyExists)", refuse: true},
		{words: "iam update-role --role-name r --max-session-duration 7200"},
		{words: "iam update-role-description --role-name r --description new", has: `"Description": "new"`},
		{words: "iam update-assume-role-policy --role-name r --policy-document {trust}"},
		{words: "iam tag-role --role-name r --tags Key=c,Value=3"},
		{words: "iam untag-role --role-name r --tag-keys a"},
		{words: "iam list-role-tags --role-name r --page-size 1", has: `"Key": "c"`},
		{words: "iam put-role-permissions-boundary --role-name r --permissions-boundary " + readARN},
		{words: "iam get-role --role-name r", has: `"Service": "lambda.amazonaws.com"`},
		{words: "iam delete-role-permissions-boundary --role-name r"},
		{words: "iam list-roles --path-prefix /cli/", has: `"RoleName": "r"`},
		{words: "iam delete-role --role-name r"},
	},
	"policies": {
		{words: "iam create-role --role-name q --assume-role-policy-document {trust}"},
		{words: "iam put-role-policy --role-name q --policy-name i --policy-document {allow}"},
		{words: "iam get-role-policy --role-name q --policy-name i", has: `"Action": "s3:GetObject"`},
		{words: "iam list-role-policies --role-name q", has: `"i"`},
		{words: "iam delete-role-policy --role-name q --policy-name i"},
		{words: "iam create-policy --policy-name p --policy-document {allow}", has: `"PolicyId": "ANPA`},
		{words: "iam attach-role-policy --role-name q --policy-arn {policy}"},
		{words: "iam attach-role-policy --role-name q --policy-arn " + basicARN},
		{words: "iam list-attached-role-policies --role-name q --page-size 1", has: "AWSLambdaBasicExecutionRole"},
		{words: "iam get-policy --policy-arn {policy}", has: `"AttachmentCount": 1`},
		{words: "iam delete-role --role-name q", has: "(DeleteConflict)", refuse: true},
		{words: "iam detach-role-policy --role-name q --policy-arn {policy}"},
		{words: "iam delete-policy --policy-arn {policy}"},
		{words: "iam create-instance-profile --instance-profile-name ip", has: `"InstanceProfileId": "AIPA`},
		{words: "iam add-role-to-instance-profile --instance-profile-name ip --role-name q"},
		{words: "iam list-instance-profiles-for-role --role-name q", has: `"InstanceProfileName": "ip"`},
		{words: "iam remove-role-from-instance-profile --instance-profile-name ip --role-name q"},
		{words: "iam delete-instance-profile --instance-profile-name ip"},
	},
	"logs": {
		{words: "logs create-log-group --log-group-name /cli/g --tags a=1,b=2"},
		{words: "logs create-log-group --log-group-name /cli/g", has: "(ResourceAlreadyExistsException)", refuse: true},
		{words: "logs put-retention-policy --log-group-name /cli/g --retention-in-days 7"},
		{words: "logs describe-log-groups --log-group-name-prefix /cli/ --page-size 1", has: `"retentionInDays": 7`},
		{words: "logs put-retention-policy --log-group-name /cli/g --retention-in-days 8", has: "(InvalidParameterException)", refuse: true},
		{words: "logs delete-retention-policy --log-group-name /cli/g"},
		{words: "logs tag-resource --resource-arn {group} --tags c=3"},
		{words: "logs untag-resource --resource-arn {group} --tag-keys a"},
		{words: "logs list-tags-for-resource --resource-arn {group}", has: `"c": "3"`},
		{words: "logs associate-kms-key --log-group-name /cli/g --kms-key-id {key}"},
		{words: "logs disassociate-kms-key --log-group-name /cli/g"},
		{words: "logs put-data-protection-policy --log-group-identifier /cli/g --policy-document {protect}", has: "lastUpdatedTime"},
		{words: "logs get-data-protection-policy --log-group-identifier {group}", has: "EmailAddress"},
		{words: "logs delete-data-protection-policy --log-group-identifier /cli/g"},
		{words: "logs create-log-stream --log-group-name /cli/g --log-stream-name s"},
		{words: "logs put-log-events --log-group-name /cli/g --log-stream-name s --log-events timestamp=1,message=old", has: "tooOldLogEventEndIndex"},
		{words: "logs describe-log-streams --log-group-name /cli/g", has: `"logStreamName": "s"`},
		{words: "logs put-log-group-deletion-protection --log-group-identifier /cli/g --no-deletion-protection-enabled"},
		{words: "logs delete-log-group --log-group-name /cli/g"},
	},
	"events": {
		{words: "events create-event-bus --name cli-bus --tags Key=a,Value=1", has: "event-bus/cli-bus"},
		{words: "events describe-event-bus --name cli-bus", has: `"Name": "cli-bus"`},
		{words: "events list-event-buses --limit 1", has: `"Name": "cli-bus"`},
		{words: "events put-rule --name cli-tick --schedule-expression rate(1hour)", has: "(ValidationException)", refuse: true},
		{words: `events put-rule --name cli-tick --event-pattern {"source":["ledger"]} --tags Key=a,Value=1 Key=b,Value=2`, has: "rule/cli-tick"},
		{words: "events describe-rule --name cli-tick", has: `"State": "ENABLED"`},
		{words: "events list-rules --name-prefix cli-", has: `"Name": "cli-tick"`},
		{words: "events disable-rule --name cli-tick"},
		{words: "events enable-rule --name cli-tick"},
		{words: "events put-targets --rule cli-tick --targets Id=t,Arn=arn:aws:lambda:eu-west-1:" + account + ":function:f", has: `"FailedEntryCount": 0`},
		{words: "events list-targets-by-rule --rule cli-tick", has: `"Id": "t"`},
		{words: "events list-rule-names-by-target --target-arn arn:aws:lambda:eu-west-1:" + account + ":function:f", has: `"cli-tick"`},
		{words: "events delete-rule --name cli-tick", has: "(ValidationException)", refuse: true},
		{words: "events remove-targets --rule cli-tick --ids t", has: `"FailedEntryCount": 0`},
		{words: "events tag-resource --resource-arn {rule} --tags Key=c,Value=3"},
		{words: "events untag-resource --resource-arn {rule} --tag-keys a"},
		{words: "events list-tags-for-resource --resource-arn {rule}", has: `"Key": "c"`},
		{words: "events delete-rule --name cli-tick"},
		{words: "events describe-rule --name cli-tick", has: "(ResourceNotFoundException)", refuse: true},
		{words: "events delete-event-bus --name cli-bus"},
	},
	"apis": {
		{words: "apigatewayv2 create-api --name first --protocol-type HTTP --tags k=v --cors-configuration AllowHeaders=X-A,AllowOrigins=*", has: `"x-a"`},
		{words: "apigatewayv2 create-api --name first --protocol-type HTTP", has: "execute-api.eu-west-1"},
		{words: "apigatewayv2 get-apis --page-size 1", has: `"Name": "first"`},
		{words: "apigatewayv2 get-api --api-id {api}", has: `"ProtocolType": "HTTP"`},
		{words: "apigatewayv2 get-api --api-id none000000", has: "(NotFoundException)", refuse: true},
		{words: "apigatewayv2 update-api --api-id {api} --description new", has: `"Description": "new"`},
		{words: "apigatewayv2 delete-cors-configuration --api-id {api}"},
		{words: "apigatewayv2 tag-resource --resource-arn arn:aws:apigateway:eu-west-1::/apis/{api} --tags c=3"},
		{words: "apigatewayv2 untag-resource --resource-arn arn:aws:apigateway:eu-west-1::/apis/{api} --tag-keys k"},
		{words: "apigatewayv2 get-tags --resource-arn arn:aws:apigateway:eu-west-1::/apis/{api}", has: `"c": "3"`},
		{words: "apigatewayv2 create-integration --api-id {api} --integration-type HTTP_PROXY --integration-method GET --integration-uri https://a.example/ --payload-format-version 1.0", has: `"TimeoutInMillis": 30000`},
		{words: "apigatewayv2 get-integrations --api-id {api}", has: "https://a.example/"},
		{words: "apigatewayv2 get-integration --api-id {api} --integration-id {integration}", has: `"ConnectionType": "INTERNET"`},
		{words: "apigatewayv2 update-integration --api-id {api} --integration-id {integration} --description new", has: `"Description": "new"`},
		{words: "apigatewayv2 create-authorizer --api-id {api} --name z --authorizer-type JWT --identity-source $request.header.A --jwt-configuration Audience=a,Issuer=https://i.example", has: `"AuthorizerId"`},
		{words: "apigatewayv2 get-authorizers --api-id {api}", has: `"Name": "z"`},
		{words: "apigatewayv2 update-authorizer --api-id {api} --authorizer-id {authorizer} --name y", has: `"Name": "y"`},
		{words: "apigatewayv2 get-authorizer --api-id {api} --authorizer-id {authorizer}", has: "https://i.example"},
		{words: "apigatewayv2 create-route --api-id {api} --route-key $default --target integrations/{integration}", has: `"AuthorizationType": "NONE"`},
		{words: "apigatewayv2 get-routes --api-id {api}", has: `"RouteKey": "$default"`},
		{words: "apigatewayv2 update-route --api-id {api} --route-id {route} --operation-name All", has: `"OperationName": "All"`},
		{words: "apigatewayv2 get-route --api-id {api} --route-id {route}", has: `"Target": "integrations/`},
		{words: "apigatewayv2 delete-integration --api-id {api} --integration-id {integration}", has: "(ConflictException)", refuse: true},
		{words: "apigatewayv2 create-deployment --api-id {api}", has: `"DeploymentStatus": "DEPLOYED"`},
		{words: "apigatewayv2 update-deployment --api-id {api} --deployment-id {deployment} --description d", has: `"Description": "d"`},
		{words: "apigatewayv2 get-deployment --api-id {api} --deployment-id {deployment}", has: `"AutoDeployed": false`},
		{words: "apigatewayv2 get-deployments --api-id {api}", has: `"DeploymentId"`},
		{words: "apigatewayv2 create-stage --api-id {api} --stage-name s --route-settings {settings} --access-log-settings {accesslog}", has: `"ThrottlingBurstLimit": 1`},
		{words: "apigatewayv2 update-stage --api-id {api} --stage-name s --auto-deploy", has: "Successfully deployed"},
		{words: "apigatewayv2 get-stage --api-id {api} --stage-name s", has: `"DestinationArn": "arn:aws:logs:eu-west-1:123456789012:log-group:a"`},
		{words: "apigatewayv2 get-stages --api-id {api}", has: `"AutoDeploy": true`},
		{words: "apigatewayv2 delete-route-settings --api-id {api} --stage-name s --route-key $default"},
		{words: "apigatewayv2 delete-access-log-settings --api-id {api} --stage-name s"},
		{words: "apigatewayv2 delete-deployment --api-id {api} --deployment-id {deployment}"},
		{words: "apigatewayv2 delete-route --api-id {api} --route-id {route}"},
		{words: "apigatewayv2 delete-integration --api-id {api} --integration-id {integration}"},
		{words: "apigatewayv2 delete-authorizer --api-id {api} --authorizer-id {authorizer}"},
		{words: "apigatewayv2 delete-stage --api-id {api} --stage-name s"},
		{words: "apigatewayv2 delete-api --api-id {api}"},
	},
	"websocket": {
		{words: "apigatewayv2 create-api --region us-east-1 --name w --protocol-type WEBSOCKET --route-selection-expression $request.body.a", has: "wss://"},
		{words: "apigatewayv2 create-route --region us-east-1 --api-id {socket} --route-key k --request-parameters {required}", has: `"Required": true`},
		{words: "apigatewayv2 delete-route-request-parameter --region us-east-1 --api-id {socket} --route-id {socketroute} --request-parameter-key route.request.querystring.q"},
	},
}

func init() { maps.Copy(cliScripts, cliTables) }

// cliTables drives DynamoDB.
var cliTables = map[string][]cliStep{"tables": {
	{words: "dynamodb create-table --table-name cli-t --key-schema AttributeName=pk,KeyType=HASH --attribute-definitions AttributeName=pk,AttributeType=S --billing-mode PAY_PER_REQUEST --tags Key=a,Value=1", has: `"TableStatus": "CREATING"`},
	{words: "dynamodb wait table-exists --table-name cli-t"},
	{words: "dynamodb create-table --table-name cli-t --key-schema AttributeName=pk,KeyType=HASH --attribute-definitions AttributeName=pk,AttributeType=S --billing-mode PAY_PER_REQUEST", has: "(ResourceInUseException)", refuse: true},
	{words: "dynamodb list-tables --page-size 1", has: `"cli-t"`},
	{words: "dynamodb tag-resource --resource-arn {table} --tags Key=b,Value=2"},
	{words: "dynamodb untag-resource --resource-arn {table} --tag-keys a"},
	{words: "dynamodb list-tags-of-resource --resource-arn {table}", has: `"Value": "2"`},
	{words: "dynamodb update-time-to-live --table-name cli-t --time-to-live-specification Enabled=true,AttributeName=until", has: `"AttributeName": "until"`},
	{words: "dynamodb describe-time-to-live --table-name cli-t", has: "ENABL"},
	{words: "dynamodb update-continuous-backups --table-name cli-t --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true", has: `"ENABLED"`},
	{words: "dynamodb describe-continuous-backups --table-name cli-t", has: "EarliestRestorableDateTime"},
	{words: "dynamodb update-contributor-insights --table-name cli-t --contributor-insights-action ENABLE", has: "ENABLING"},
	{words: "dynamodb describe-contributor-insights --table-name cli-t", has: "ENABL"},
	{words: "dynamodb put-resource-policy --resource-arn {table} --policy {read}", has: "RevisionId"},
	{words: "dynamodb get-resource-policy --resource-arn {table}", has: "444455556666"},
	{words: "dynamodb delete-resource-policy --resource-arn {table}"},
	{words: "dynamodb enable-kinesis-streaming-destination --table-name cli-t --stream-arn {kinesis}", has: "ENABLING"},
	{words: "dynamodb describe-kinesis-streaming-destination --table-name cli-t", has: "stream/changes"},
	{words: "dynamodb update-kinesis-streaming-destination --table-name cli-t --stream-arn {kinesis} --update-kinesis-streaming-configuration ApproximateCreationDateTimePrecision=MICROSECOND", has: "UPDATING"},
	{words: "dynamodb disable-kinesis-streaming-destination --table-name cli-t --stream-arn {kinesis}", has: "DISABLING"},
	{words: "dynamodb put-item --table-name cli-t --item pk={S=a},n={N=1}"},
	{words: "dynamodb get-item --table-name cli-t --key pk={S=a}", has: `"N": "1"`},
	{words: "dynamodb scan --table-name cli-t", has: `"Count": 1`},
	{words: "dynamodb delete-item --table-name cli-t --key pk={S=a}"},
	{words: "dynamodb update-table --table-name cli-t --deletion-protection-enabled", has: `"TableStatus": "UPDATING"`},
	{words: "dynamodb delete-table --table-name cli-t", has: "(ValidationException)", refuse: true},
	{words: "dynamodb update-table --table-name cli-t --no-deletion-protection-enabled"},
	{words: "dynamodb describe-table --table-name cli-t", has: `"DeletionProtectionEnabled": false`},
	{words: "dynamodb delete-table --table-name cli-t", has: "DELETING"},
	{words: "dynamodb wait table-not-exists --table-name cli-t"},
}}

func TestTheAWSCommandLineDrivesEveryOperation(t *testing.T) {
	bin, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("skipped: needs aws")
	}
	s, url := newCloud(t, Config{Scale: claimScale})
	cliWords["{zip}"] = archiveFile(t)
	t.Run("scripts", func(t *testing.T) {
		for name, steps := range cliScripts {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, step := range steps {
					runCLI(t, s, bin, url, step)
				}
			})
		}
	})
	executed := map[string]bool{}
	for _, r := range s.Log() {
		if r.Executed && strings.Contains(r.UserAgent, "aws-cli") {
			executed[r.Service+"."+r.Operation] = true
		}
	}
	for service, table := range operations {
		for name := range table {
			if !executed[service+"."+name] {
				t.Errorf("no step carries out %s.%s", service, name)
			}
		}
	}
	if st := s.State(); len(st.Roles) != 1 || len(st.LogGroups) != 0 || len(st.Rules)+len(st.EventBuses)+len(st.Tables) != 0 || len(st.Apis) != 2 {
		t.Errorf("left over: %+v", st)
	}
}

func runCLI(t *testing.T, s *Server, bin, url string, step cliStep) {
	t.Helper()
	args := []string{"--endpoint-url", url, "--region", region, "--output", "json"}
	for _, w := range strings.Fields(step.words) {
		for from, to := range cliWords {
			w = strings.ReplaceAll(w, from, to)
		}
		for from, to := range cliIDs {
			if strings.Contains(w, from) {
				w = strings.ReplaceAll(w, from, to(s.State()))
			}
		}
		args = append(args, w)
	}
	cmd := exec.Command(bin, args...)
	ours := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	cmd.Env = append(ours, "AWS_ACCESS_KEY_ID="+plainKey, "AWS_SECRET_ACCESS_KEY=secret", "AWS_PAGER=",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_MAX_ATTEMPTS=1")
	out, err := cmd.CombinedOutput()
	if (err != nil) != step.refuse || !strings.Contains(string(out), step.has) {
		t.Fatalf("aws %s\n%v\n%s\nwant %q", step.words, err, out, step.has)
	}
}
