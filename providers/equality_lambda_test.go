package providers_test

import (
	"testing"

	"reclaim/engine/diff"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// What config says of functions and permissions, and what Lambda really returns for it.
func TestSchemasKnowWhatIsEqualToLambda(t *testing.T) {
	const fn, allow = "AWS::Lambda::Function", "AWS::Lambda::Permission"
	const asMade = `{"FunctionName":"f","Description":"","MemorySize":128,"Timeout":3,"Architectures":["x86_64"],"PackageType":"Zip","EphemeralStorage":{"Size":512},
		"TracingConfig":{"Mode":"PassThrough"},"SnapStart":{"ApplyOn":"None"},"LoggingConfig":{"LogFormat":"Text","LogGroup":"/aws/lambda/f"},
		"RecursiveLoop":"Terminate","RuntimeManagementConfig":{"UpdateRuntimeOn":"Auto"},"CodeSha256":"AAAA"}`
	gap := func(path value.Path, kind resource.GapKind) map[value.Path]resource.Gap {
		return map[value.Path]resource.Gap{path: {Kind: kind}}
	}
	for why, c := range map[string]struct {
		typ, desired, observed string
		gaps                   map[value.Path]resource.Gap
		path                   value.Path // what differs; "" for nothing
		verdict                diff.Verdict
	}{
		"the service's defaults are no drift":                     {typ: fn, desired: `{"FunctionName":"f"}`, observed: asMade},
		"nor are they when config says them":                      {typ: fn, desired: asMade, observed: asMade},
		"another memory is drift":                                 {typ: fn, desired: `{"MemorySize":256}`, observed: asMade, path: "MemorySize", verdict: diff.Differs},
		"no variables are no environment":                         {typ: fn, desired: `{"Environment":{"Variables":{}}}`, observed: `{}`},
		"an environment of nothing is none":                       {typ: fn, desired: `{"Environment":{}}`, observed: `{}`},
		"a variable that is not there is drift":                   {typ: fn, desired: `{"Environment":{"Variables":{"A":"1"}}}`, observed: `{}`, path: "Environment.Variables.A", verdict: diff.Differs},
		"an environment that could not be decrypted is blocked":   {typ: fn, desired: `{"Environment":{"Variables":{"A":"1"}}}`, observed: `{}`, gaps: gap("Environment", resource.GapDenied), path: "Environment", verdict: diff.Blocked},
		"a VPC of empty lists is none":                            {typ: fn, desired: `{"VpcConfig":{"SubnetIds":[],"SecurityGroupIds":[]}}`, observed: `{}`},
		"subnets are a set":                                       {typ: fn, desired: `{"VpcConfig":{"SubnetIds":["b","a"],"SecurityGroupIds":["c"]}}`, observed: `{"VpcConfig":{"SubnetIds":["a","b"],"SecurityGroupIds":["c"],"Ipv6AllowedForDualStack":false}}`},
		"layers have an order":                                    {typ: fn, desired: `{"Layers":["b","a"]}`, observed: `{"Layers":["a","b"]}`, path: "Layers", verdict: diff.Differs},
		"levels that config leaves out are the service's":         {typ: fn, desired: `{"LoggingConfig":{"LogFormat":"JSON"}}`, observed: `{"LoggingConfig":{"LogFormat":"JSON","ApplicationLogLevel":"INFO","SystemLogLevel":"INFO","LogGroup":"/aws/lambda/f"}}`},
		"a level that config says is not":                         {typ: fn, desired: `{"LoggingConfig":{"LogFormat":"JSON","SystemLogLevel":"WARN"}}`, observed: `{"LoggingConfig":{"LogFormat":"JSON","SystemLogLevel":"INFO"}}`, path: "LoggingConfig.SystemLogLevel", verdict: diff.Differs},
		"another archive is drift":                                {typ: fn, desired: `{"CodeSha256":"BBBB"}`, observed: asMade, path: "CodeSha256", verdict: diff.Differs},
		"the place of an archive is never read, and was not sent": {typ: fn, desired: `{"Code":{"S3Bucket":"b","S3Key":"k"}}`, observed: asMade, gaps: gap("Code", resource.GapNotReturned), path: "Code", verdict: diff.Changed},
		"another image is drift":                                  {typ: fn, desired: `{"Code":{"ImageUri":"r:2"}}`, observed: `{"Code":{"ImageUri":"r:1"}}`, path: "Code.ImageUri", verdict: diff.Differs},
		"an image in a package is replaced, not changed":          {typ: fn, desired: `{"PackageType":"Image"}`, observed: asMade, path: "PackageType", verdict: diff.Differs},
		"no reserved concurrency is not 0":                        {typ: fn, desired: `{"ReservedConcurrentExecutions":0}`, observed: `{}`, path: "ReservedConcurrentExecutions", verdict: diff.Differs},
		"a mount is known by where it is":                         {typ: fn, desired: `{"FileSystemConfigs":[{"Arn":"x","LocalMountPath":"/mnt/b"},{"Arn":"y","LocalMountPath":"/mnt/a"}]}`, observed: `{"FileSystemConfigs":[{"Arn":"y","LocalMountPath":"/mnt/a"},{"Arn":"x","LocalMountPath":"/mnt/b"}]}`},
		"tags that others set are not config's":                   {typ: fn, desired: `{"Tags":[{"Key":"a","Value":"1"}]}`, observed: `{"Tags":[{"Key":"b","Value":"2"},{"Key":"a","Value":"1"}]}`, path: value.Path("Tags").Item("Key", "b"), verdict: diff.Unverified},
		"a permission is what its statement says":                 {typ: allow, desired: `{"FunctionName":"f","Action":"lambda:InvokeFunction","Principal":"999988887777"}`, observed: `{"FunctionName":"f","Action":"lambda:InvokeFunction","Principal":"999988887777"}`},
		"another source is another permission":                    {typ: allow, desired: `{"SourceArn":"arn:aws:s3:::new"}`, observed: `{"SourceArn":"arn:aws:s3:::old"}`, path: "SourceArn", verdict: diff.Differs},
		"a condition that somebody took away is seen":             {typ: allow, desired: `{"SourceAccount":"999988887777"}`, observed: `{}`, path: "SourceAccount", verdict: diff.Differs},
	} {
		t.Run(why, func(t *testing.T) {
			res := compare(t, c.typ, c.desired, c.observed, c.gaps)
			if res.Invalid {
				t.Error("the read is called invalid")
			}
			var moved []diff.Field
			for _, f := range res.Fields {
				if f.Verdict != diff.Match && !f.Folded {
					moved = append(moved, f)
				}
			}
			switch {
			case c.path == "" && len(moved) > 0:
				t.Errorf("%s %s (%s), want nothing", moved[0].Path, moved[0].Verdict, moved[0].Reason)
			case c.path != "" && (len(moved) != 1 || moved[0].Path != c.path || moved[0].Verdict != c.verdict):
				t.Errorf("got %v, want only %s to be %s", moved, c.path, c.verdict)
			}
		})
	}
}
