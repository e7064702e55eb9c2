package lambda_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/iam"
	"reclaim/providers/aws/lambda"
	"reclaim/providers/providertest"
	"reclaim/providers/std/fs"
)

const (
	trust      = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	assumable  = 100 * time.Millisecond // more than the simulated cloud, at a hundredth of real time, takes to know a role
	sourceCode = "def handler(event, context):\n    return {'entry': event['id']}\n"
	queue      = "arn:aws:sqs:eu-west-1:111122223333:ledger-"
)

// object is a value of nested plain ones.
func object(m map[string]any) value.Value { return value.Of(m) }

func tag(name, text string) value.Value {
	return value.Of(map[string]string{"Key": name, "Value": text})
}

// role makes a role that Lambda can assume, and returns its ARN.
func role(t *testing.T, b *providertest.Backend, name string) value.Value {
	t.Helper()
	p := iam.Providers(b.Session)[0]
	made, err := p.Create(t.Context(), resource.Create{Key: resource.Key{"RoleName": name},
		Params: value.Map{"RoleName": value.Of(name), "AssumeRolePolicyDocument": value.Of(trust)}})
	if err != nil {
		t.Fatalf("create role: %v", err)
	}
	time.Sleep(assumable)
	return made.Output["Arn"]
}

// inlineCase sets what a function of inline source can have.
func inlineCase(b *providertest.Backend, first, second value.Value) providertest.Case {
	return providertest.Case{
		Name:     b.Name + " inline",
		Provider: lambda.Providers(b.Session)[0],
		Sample: func(n int) value.Map {
			return value.Map{
				"FunctionName":      value.Of(fmt.Sprintf("ledger-%03d", n)),
				"Code":              object(map[string]any{"ZipFile": sourceCode}),
				"Role":              first,
				"PackageType":       value.Of("Zip"),
				"Runtime":           value.Of("python3.12"),
				"Handler":           value.Of("index.handler"),
				"Description":       value.Of("Books entries"),
				"Timeout":           value.Of(17),
				"MemorySize":        value.Of(640),
				"EphemeralStorage":  object(map[string]any{"Size": 768}),
				"Architectures":     value.Of([]string{"arm64"}),
				"Environment":       object(map[string]any{"Variables": map[string]any{"LEDGER": "main", "DEPTH": "3"}}),
				"KmsKeyArn":         value.Of("arn:aws:kms:eu-west-1:111122223333:key/11111111-0000-4000-8000-000000000001"),
				"VpcConfig":         object(map[string]any{"SubnetIds": []string{"subnet-0a1", "subnet-0b2"}, "SecurityGroupIds": []string{"sg-0c3"}, "Ipv6AllowedForDualStack": true}),
				"FileSystemConfigs": value.ListOf(object(map[string]any{"Arn": "arn:aws:elasticfilesystem:eu-west-1:111122223333:access-point/fsap-01", "LocalMountPath": "/mnt/books"})),
				"Layers": value.Of([]string{"arn:aws:lambda:eu-west-1:111122223333:layer:json:4",
					"arn:aws:lambda:eu-west-1:111122223333:layer:dates:2"}),
				"LoggingConfig":                object(map[string]any{"LogFormat": "JSON", "ApplicationLogLevel": "DEBUG", "SystemLogLevel": "WARN", "LogGroup": "/ledger/app"}),
				"TracingConfig":                object(map[string]any{"Mode": "Active"}),
				"SnapStart":                    object(map[string]any{"ApplyOn": "PublishedVersions"}),
				"DeadLetterConfig":             object(map[string]any{"TargetArn": queue + "dead"}),
				"DurableConfig":                object(map[string]any{"ExecutionTimeout": 7200, "RetentionPeriodInDays": 9}),
				"ReservedConcurrentExecutions": value.Of(2),
				"RecursiveLoop":                value.Of("Allow"),
				"RuntimeManagementConfig": object(map[string]any{"UpdateRuntimeOn": "Manual",
					"RuntimeVersionArn": "arn:aws:lambda:eu-west-1::runtime:0123456789abcdef"}),
				"CodeSigningConfigArn": value.Of("arn:aws:lambda:eu-west-1:111122223333:code-signing-config:csc-0123456789abcdef0"),
				"Tags":                 value.ListOf(tag("team", "ledger"), tag("cost", "42")),
			}
		},
		Changed: value.Map{
			"Code":                         object(map[string]any{"ZipFile": sourceCode + "# audited\n"}),
			"Role":                         second,
			"Runtime":                      value.Of("python3.13"),
			"Handler":                      value.Of("index.audit"),
			"Description":                  value.Of("Books and audits entries"),
			"Timeout":                      value.Of(18),
			"MemorySize":                   value.Of(896),
			"EphemeralStorage":             object(map[string]any{"Size": 1024}),
			"Architectures":                value.Of([]string{"x86_64"}),
			"Environment":                  object(map[string]any{"Variables": map[string]any{"LEDGER": "audit"}}),
			"KmsKeyArn":                    value.Of("arn:aws:kms:eu-west-1:111122223333:key/11111111-0000-4000-8000-000000000002"),
			"VpcConfig":                    object(map[string]any{"SubnetIds": []string{"subnet-0b2"}, "SecurityGroupIds": []string{"sg-0c3", "sg-0d4"}, "Ipv6AllowedForDualStack": false}),
			"FileSystemConfigs":            value.ListOf(object(map[string]any{"Arn": "arn:aws:elasticfilesystem:eu-west-1:111122223333:access-point/fsap-02", "LocalMountPath": "/mnt/books"})),
			"Layers":                       value.Of([]string{"arn:aws:lambda:eu-west-1:111122223333:layer:dates:2"}),
			"LoggingConfig":                object(map[string]any{"LogFormat": "JSON", "ApplicationLogLevel": "ERROR", "SystemLogLevel": "WARN", "LogGroup": "/ledger/app"}),
			"TracingConfig":                object(map[string]any{"Mode": "PassThrough"}),
			"SnapStart":                    object(map[string]any{"ApplyOn": "None"}),
			"DeadLetterConfig":             object(map[string]any{"TargetArn": queue + "lost"}),
			"DurableConfig":                object(map[string]any{"ExecutionTimeout": 3600, "RetentionPeriodInDays": 9}),
			"ReservedConcurrentExecutions": value.Of(3),
			"RecursiveLoop":                value.Of("Terminate"),
			"RuntimeManagementConfig":      object(map[string]any{"UpdateRuntimeOn": "FunctionUpdate"}),
			"CodeSigningConfigArn":         value.Of("arn:aws:lambda:eu-west-1:111122223333:code-signing-config:csc-0123456789abcdef1"),
			"Tags":                         value.ListOf(tag("team", "audit"), tag("stage", "test")),
		},
		Stranger: value.Map{"Tags": value.ListOf(tag("scanner", "seen"))},
		Needs: map[string]string{
			"Runtime": "an archive has a runtime", "Handler": "an archive has a handler", "VpcConfig": "its file systems are in it",
			"DurableConfig": "a function stays durable",
		},
		Unsent: map[string]string{"Code": "it goes out as the bytes of an archive, whose hash comes back"},
		Absent: resource.Key{"FunctionName": "ledger"},
		Busy:   "ResourceConflictException", CreateOp: "CreateFunction", DeleteOp: "DeleteFunction", ReadOp: "GetFunction", ListOp: "ListFunctions", Page: 50,
		Parts: map[string]string{"GetFunctionRecursionConfig": "RecursiveLoop", "GetRuntimeManagementConfig": "RuntimeManagementConfig",
			"GetFunctionCodeSigningConfig": "CodeSigningConfigArn"},
		Log: b.Log(), Break: b.Break(),
	}
}

// bundle packs a source text with Std::FS::Zip, and returns Code as a template would name it.
func bundle(t *testing.T, text string) value.Value {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "app.py")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := fs.Providers("machine-1")[1]
	params, err := p.(resource.Expander).Expand(t.Context(), value.Map{"Path": value.Of(filepath.Join(dir, "app.zip")), "Source": value.Of(source)})
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Create(t.Context(), resource.Create{Key: resource.Key{"Machine": "machine-1", "Path": params.Text("Path")}, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return value.OfMap(value.Map{"LocalPath": made.Output["Path"], "Sha256": made.Output["Sha256"]})
}

// localCase is a function whose code is a Std::FS::Zip, with little else.
func localCase(t *testing.T, b *providertest.Backend, runs value.Value) providertest.Case {
	c := inlineCase(b, runs, runs)
	first, second := bundle(t, "one"), bundle(t, "two")
	c.Name = b.Name + " local"
	sample := c.Sample
	c.Sample = func(n int) value.Map {
		m := value.Map{"Code": first}
		for _, name := range []string{"FunctionName", "Role", "Runtime", "Handler", "Architectures", "VpcConfig", "Tags"} {
			m[name] = sample(n)[name]
		}
		return m
	}
	c.Changed = value.Map{"Code": second, "Architectures": c.Changed["Architectures"], "VpcConfig": c.Changed["VpcConfig"]}
	c.Needs = map[string]string{"Runtime": "an archive has a runtime", "Handler": "an archive has a handler"}
	c.ListOp = "" // held by the other case
	return c
}

// imageCase is a function that is a container image.
func imageCase(b *providertest.Backend, runs value.Value) providertest.Case {
	c := inlineCase(b, runs, runs)
	image := func(tag string) value.Value {
		return object(map[string]any{"ImageUri": "111122223333.dkr.ecr.eu-west-1.amazonaws.com/ledger:" + tag})
	}
	c.Name = b.Name + " image"
	c.Unsent = nil
	c.Sample = func(n int) value.Map {
		return value.Map{
			"FunctionName":  value.Of(fmt.Sprintf("ledger-image-%03d", n)),
			"Code":          image("v1"),
			"PackageType":   value.Of("Image"),
			"Role":          runs,
			"ImageConfig":   object(map[string]any{"Command": []string{"book", "--all"}, "EntryPoint": []string{"/bin/ledger"}, "WorkingDirectory": "/srv"}),
			"TenancyConfig": object(map[string]any{"TenantIsolationMode": "PER_TENANT"}),
			"RecursiveLoop": value.Of("Allow"),
			"Tags":          value.ListOf(tag("team", "ledger")),
		}
	}
	c.Changed = value.Map{"Code": image("v2"), "RecursiveLoop": value.Of("Terminate"),
		"ImageConfig": object(map[string]any{"Command": []string{"audit"}, "EntryPoint": []string{"/bin/ledger"}, "WorkingDirectory": "/tmp"})}
	c.Needs, c.ListOp = nil, ""
	c.Parts = map[string]string{"GetFunctionRecursionConfig": "RecursiveLoop"} // images have no others
	return c
}

func TestFunction(t *testing.T) {
	t.Run("awssim", func(t *testing.T) {
		b := providertest.Sim(t)
		first, second := role(t, b, "ledger-worker"), role(t, b, "ledger-auditor")
		providertest.Run(t, inlineCase(b, first, second), localCase(t, b, first), imageCase(b, first))
	})
	t.Run("moto", func(t *testing.T) {
		b := providertest.Moto(t)
		first, second := role(t, b, "ledger-worker"), role(t, b, "ledger-auditor")
		inline, local, image := inlineCase(b, first, second), localCase(t, b, first), imageCase(b, first)
		inline.Lacks = motoLacks
		local.Lacks, image.Lacks = inline.Lacks, inline.Lacks
		providertest.Run(t, inline, local, image)
	})
}

// motoLacks are params that moto takes and drops, or has no operation for.
var motoLacks = map[string]string{
	"Architectures":           "moto does not change it",
	"CodeSigningConfigArn":    "moto has no PutFunctionCodeSigningConfig",
	"DeadLetterConfig":        "moto does not return it",
	"DurableConfig":           "moto does not return it",
	"EphemeralStorage":        "moto does not change it",
	"FileSystemConfigs":       "moto does not return it",
	"ImageConfig":             "moto does not change it",
	"KmsKeyArn":               "moto does not return it",
	"Layers":                  "moto wants layers that exist, and there are none",
	"LoggingConfig":           "moto does not return it",
	"RecursiveLoop":           "moto has no operation for it",
	"RuntimeManagementConfig": "moto has no operation for it",
	"SnapStart":               "moto does not keep it",
	"TenancyConfig":           "moto does not return it",
	"TracingConfig":           "moto does not change it",
}
