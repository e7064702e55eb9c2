package awssim

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Shapes and defaults of Lambda's model.
var (
	functionRole     = newShape(0, 0, `arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+`)
	handlerShape     = newShape(0, 128, `[^\s]+`)
	lambdaKeyShape   = newShape(0, 10000, `(arn:(aws[a-zA-Z-]*)?:[a-z0-9-.]+:.*)|()`)
	deadLetterShape  = newShape(0, 0, `(arn:(aws[a-zA-Z-]*)?:[a-z0-9-.]+:.*)|()`)
	layerShape       = newShape(1, 140, `arn:aws[a-zA-Z-]*:lambda:[a-z0-9-]+:\d{12}:layer:[a-zA-Z0-9-_]+:[0-9]+`)
	mountShape       = newShape(0, 160, `/mnt/[a-zA-Z0-9-_.]+`)
	lambdaGroupShape = newShape(1, 512, `[\.\-_/#A-Za-z0-9]+`)
	signingShape     = newShape(0, 200, `arn:(aws[a-zA-Z-]*)?:lambda:[a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\d{1}:\d{12}:code-signing-config:csc-[a-z0-9]{17}`)
	subnetShape      = newShape(0, 1024, `subnet-[0-9a-z]*`)
	groupShape       = newShape(0, 1024, `sg-[0-9a-zA-Z]*`)
	variableName     = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]+$`)
	imageReference   = regexp.MustCompile(`^\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com/[a-z0-9._/-]+(:[\w.-]+|@sha256:[0-9a-f]{64})$`)
)

// lambdaRuntimes are those that functions can be created with or moved to; older ones are refused.
var lambdaRuntimes = []string{"nodejs20.x", "nodejs22.x", "nodejs24.x", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14",
	"java8.al2", "java11", "java17", "java21", "java25", "dotnet8", "dotnet10", "ruby3.2", "ruby3.3", "ruby3.4", "provided.al2", "provided.al2023"}

// snapStarts are the beginnings of the runtimes that have SnapStart.
var snapStarts = []string{"java1", "java2", "python3.12", "python3.13", "python3.14", "dotnet"}

// reservedVariables cannot be set by functions.
var reservedVariables = []string{"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_NAME",
	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME",
	"AWS_LAMBDA_LOG_STREAM_NAME", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_LAMBDA_RUNTIME_API",
	"LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR"}

const maxVariables = 4 << 10 // bytes of all names and values

// FunctionConfig is what UpdateFunctionConfiguration can change, and what only a create sets.
type FunctionConfig struct {
	Description       string            `json:"description"`
	Role              string            `json:"role"`
	Handler           string            `json:"handler,omitempty"`
	Runtime           string            `json:"runtime,omitempty"`
	Timeout           int               `json:"timeout"`    // seconds
	MemorySize        int               `json:"memorySize"` // MiB
	PackageType       string            `json:"packageType"`
	Architectures     []string          `json:"architectures"`
	Environment       *Environment      `json:"environment,omitempty"`
	VpcConfig         *VpcConfig        `json:"vpcConfig,omitempty"`
	Layers            []string          `json:"layers,omitempty"`
	LoggingConfig     LoggingConfig     `json:"loggingConfig"`
	TracingConfig     Tracing           `json:"tracingConfig"`
	EphemeralStorage  Storage           `json:"ephemeralStorage"`
	DeadLetterConfig  *DeadLetter       `json:"deadLetterConfig,omitempty"`
	FileSystemConfigs []FileSystem      `json:"fileSystemConfigs,omitempty"`
	ImageConfig       *ImageConfig      `json:"imageConfig,omitempty"`
	KMSKeyArn         string            `json:"kmsKeyArn,omitempty"`
	SnapStart         SnapStart         `json:"snapStart"`
	DurableConfig     *DurableConfig    `json:"durableConfig,omitempty"`
	TenancyConfig     *TenancyIsolation `json:"tenancyConfig,omitempty"`
}

// The parts of a function's configuration, spelled as the API does.
type (
	Environment struct{ Variables map[string]string }
	VpcConfig   struct {
		SubnetIds, SecurityGroupIds []string
		Ipv6AllowedForDualStack     bool
	}
	LoggingConfig struct {
		LogFormat           string
		ApplicationLogLevel string `json:",omitempty"`
		SystemLogLevel      string `json:",omitempty"`
		LogGroup            string
	}
	Tracing     struct{ Mode string }
	Storage     struct{ Size int } // MiB
	DeadLetter  struct{ TargetArn string }
	FileSystem  struct{ Arn, LocalMountPath string }
	ImageConfig struct {
		EntryPoint       []string `json:",omitempty"`
		Command          []string `json:",omitempty"`
		WorkingDirectory string   `json:",omitempty"`
	}
	SnapStart     struct{ ApplyOn string }
	DurableConfig struct {
		ExecutionTimeout      *int `json:",omitempty"` // seconds
		RetentionPeriodInDays *int `json:",omitempty"`
	}
	TenancyIsolation struct{ TenantIsolationMode string }
)

// CodeInput is where the code of a function comes from.
type CodeInput struct {
	ZipFile                                                         []byte
	ImageUri, S3Bucket, S3Key, S3ObjectVersion, S3ObjectStorageMode string
	SourceKMSKeyArn                                                 string
}

// functionInput is what the requests that make or change a function hold; what was not sent is nil.
type functionInput struct {
	CodeInput
	Code                                             *CodeInput
	Description, Role, Handler, Runtime, KMSKeyArn   *string
	Timeout, MemorySize                              *int
	PackageType, CodeSigningConfigArn                string
	Architectures, Layers                            []string
	Environment                                      *Environment
	VpcConfig                                        *VpcConfig
	LoggingConfig                                    *LoggingConfig
	TracingConfig                                    *Tracing
	EphemeralStorage                                 *Storage
	DeadLetterConfig                                 *DeadLetter
	FileSystemConfigs                                []FileSystem
	ImageConfig                                      *ImageConfig
	SnapStart                                        *SnapStart
	DurableConfig                                    *DurableConfig
	TenancyConfig                                    *TenancyIsolation
	Tags                                             map[string]string
	CapacityProviderConfig, RuntimeConfig, PublishTo any
	Publish                                          bool
}

func newFunctionConfig(name string) FunctionConfig {
	return FunctionConfig{Timeout: 3, MemorySize: 128, PackageType: "Zip", Architectures: []string{"x86_64"}, TracingConfig: Tracing{"PassThrough"},
		EphemeralStorage: Storage{512}, SnapStart: SnapStart{"None"}, LoggingConfig: LoggingConfig{LogFormat: "Text", LogGroup: "/aws/lambda/" + name}}
}

// functionInput reads a request and checks each member's bounds.
func (a *args) functionInput() (*functionInput, *failure) {
	in := &functionInput{}
	if err := json.Unmarshal(mustJSON(a.c.params), in); err != nil {
		return nil, fail("SerializationException", http.StatusBadRequest, "The request has a member of another type than the model says.")
	}
	if in.CapacityProviderConfig != nil || in.RuntimeConfig != nil || in.PublishTo != nil || in.Publish {
		return nil, badFunction("The simulated cloud has no versions, capacity providers and custom runtimes.")
	}
	a.text("description", in.Description, shape{max: 256})
	a.text("role", in.Role, functionRole)
	a.text("handler", in.Handler, handlerShape)
	a.text("kMSKeyArn", in.KMSKeyArn, lambdaKeyShape)
	a.bounds("timeout", in.Timeout, 1, 900)
	a.bounds("memorySize", in.MemorySize, 128, 10240)
	a.oneOf("packageType", in.PackageType, "Zip", "Image")
	if in.CodeSigningConfigArn != "" {
		a.check("codeSigningConfigArn", in.CodeSigningConfigArn, signingShape)
	}
	for _, arn := range in.Layers {
		a.check("layers", arn, layerShape)
	}
	if e := in.EphemeralStorage; e != nil {
		a.bounds("ephemeralStorage.size", &e.Size, 512, 10240)
	}
	if t := in.TracingConfig; t != nil {
		a.oneOf("tracingConfig.mode", t.Mode, "Active", "PassThrough")
	}
	if d := in.DeadLetterConfig; d != nil {
		a.check("deadLetterConfig.targetArn", d.TargetArn, deadLetterShape)
	}
	for _, f := range in.FileSystemConfigs {
		a.check("fileSystemConfigs.localMountPath", f.LocalMountPath, mountShape)
	}
	a.vpc(in.VpcConfig)
	a.logging(in.LoggingConfig)
	a.rarer(in)
	for k, v := range in.Tags {
		a.check("tags", k, tagKeyShape)
		a.check("tags", v, tagValueShape)
	}
	return in, a.failure()
}

func (a *args) vpc(v *VpcConfig) {
	if v == nil {
		return
	}
	for _, id := range v.SubnetIds {
		a.check("vpcConfig.subnetIds", id, subnetShape)
	}
	for _, id := range v.SecurityGroupIds {
		a.check("vpcConfig.securityGroupIds", id, groupShape)
	}
	if len(v.SubnetIds) > 16 || len(v.SecurityGroupIds) > 5 {
		a.breaks("vpcConfig", "lists", "Member must have length less than or equal to 16 subnets and 5 security groups")
	}
}

func (a *args) logging(l *LoggingConfig) {
	if l == nil {
		return
	}
	a.oneOf("loggingConfig.logFormat", l.LogFormat, "JSON", "Text")
	a.oneOf("loggingConfig.applicationLogLevel", l.ApplicationLogLevel, "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
	a.oneOf("loggingConfig.systemLogLevel", l.SystemLogLevel, "DEBUG", "INFO", "WARN")
	if l.LogGroup != "" {
		a.check("loggingConfig.logGroup", l.LogGroup, lambdaGroupShape)
	}
}

func (a *args) rarer(in *functionInput) {
	if s := in.SnapStart; s != nil {
		a.oneOf("snapStart.applyOn", s.ApplyOn, "PublishedVersions", "None")
	}
	if d := in.DurableConfig; d != nil {
		a.bounds("durableConfig.executionTimeout", d.ExecutionTimeout, 1, 31622400)
		a.bounds("durableConfig.retentionPeriodInDays", d.RetentionPeriodInDays, 1, 90)
	}
	if t := in.TenancyConfig; t != nil {
		a.oneOf("tenancyConfig.tenantIsolationMode", t.TenantIsolationMode, "PER_TENANT")
		if t.TenantIsolationMode == "" {
			a.missing("tenancyConfig.tenantIsolationMode")
		}
	}
}

// text checks an optional string.
func (a *args) text(name string, v *string, sh shape) {
	if v != nil {
		a.check(name, *v, sh)
	}
}

// bounds checks an optional number.
func (a *args) bounds(name string, n *int, min, max int) {
	if n != nil && (*n < min || *n > max) {
		a.breaks(name, *n, fmt.Sprintf("Member must be between %d and %d", min, max))
	}
}

// oneOf checks a string out of a fixed set; "" was not sent.
func (a *args) oneOf(name, v string, values ...string) {
	if v != "" && !slices.Contains(values, v) {
		a.breaks(name, v, "Member must satisfy enum value set: ["+strings.Join(values, ", ")+"]")
	}
}

// set puts what was sent in the place of what was there, and checks that the whole fits together.
func (f *Function) set(in *functionInput) *failure {
	put(&f.Description, in.Description)
	put(&f.Role, in.Role)
	put(&f.Handler, in.Handler)
	put(&f.Runtime, in.Runtime)
	put(&f.KMSKeyArn, in.KMSKeyArn)
	put(&f.Timeout, in.Timeout)
	put(&f.MemorySize, in.MemorySize)
	put(&f.EphemeralStorage, in.EphemeralStorage)
	if in.TracingConfig != nil && in.TracingConfig.Mode != "" {
		f.TracingConfig = *in.TracingConfig
	}
	if in.SnapStart != nil && in.SnapStart.ApplyOn != "" {
		f.SnapStart = *in.SnapStart
	}
	if in.Environment != nil {
		f.Environment = in.Environment
	}
	if in.VpcConfig != nil {
		f.VpcConfig = in.VpcConfig
	}
	if in.Layers != nil {
		f.Layers = in.Layers
	}
	if in.FileSystemConfigs != nil {
		f.FileSystemConfigs = in.FileSystemConfigs
	}
	if in.ImageConfig != nil {
		f.ImageConfig = in.ImageConfig
	}
	if d := in.DeadLetterConfig; d != nil {
		f.DeadLetterConfig = d
		if d.TargetArn == "" {
			f.DeadLetterConfig = nil
		}
	}
	if in.TenancyConfig != nil {
		f.TenancyConfig = in.TenancyConfig
	}
	return firstFailure(f.setDurable(in), f.setLogging(in.LoggingConfig), f.setArchitectures(in.Architectures), f.checkPackage(), f.checkParts())
}

func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func firstFailure(all ...*failure) *failure {
	for _, f := range all {
		if f != nil {
			return f
		}
	}
	return nil
}

// setDurable changes the settings of a durable function; being one is decided when it is created.
func (f *Function) setDurable(in *functionInput) *failure {
	if in.DurableConfig == nil {
		return nil
	}
	if in.Code == nil && f.DurableConfig == nil {
		return badFunction("Durable execution can only be enabled when a function is created.")
	}
	f.DurableConfig = in.DurableConfig
	return nil
}

func (f *Function) setLogging(in *LoggingConfig) *failure {
	if in == nil {
		return nil
	}
	l := f.LoggingConfig
	for to, from := range map[*string]string{&l.LogFormat: in.LogFormat, &l.ApplicationLogLevel: in.ApplicationLogLevel, &l.SystemLogLevel: in.SystemLogLevel, &l.LogGroup: in.LogGroup} {
		if from != "" {
			*to = from
		}
	}
	if l.LogFormat == "Text" {
		if in.ApplicationLogLevel != "" || in.SystemLogLevel != "" {
			return badFunction("Log levels can only be set when the log format is JSON.")
		}
		l.ApplicationLogLevel, l.SystemLogLevel = "", ""
	} else {
		for _, level := range []*string{&l.ApplicationLogLevel, &l.SystemLogLevel} {
			if *level == "" {
				*level = "INFO"
			}
		}
	}
	f.LoggingConfig = l
	return nil
}

func (f *Function) setArchitectures(in []string) *failure {
	if in == nil {
		return nil
	}
	if len(in) != 1 || in[0] != "x86_64" && in[0] != "arm64" {
		return fail("ValidationException", http.StatusBadRequest, "1 validation error detected: Value '%v' at 'architectures' failed to satisfy constraint: "+
			"Member must have length 1 and satisfy enum value set: [x86_64, arm64]", in)
	}
	f.Architectures = in
	return nil
}

// checkPackage holds what archives need and images must not have.
func (f *Function) checkPackage() *failure {
	if f.PackageType == "Image" {
		if f.Handler != "" || f.Runtime != "" || len(f.Layers) > 0 {
			return badFunction("Please don't provide Handler or Runtime or Layer when the intended function PackageType is Image.")
		}
		return nil
	}
	switch {
	case f.Handler == "" || f.Runtime == "":
		return badFunction("Runtime and Handler are mandatory parameters for functions created with deployment packages.")
	case !slices.Contains(lambdaRuntimes, f.Runtime):
		return badFunction("Value %s at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: %v or be a valid ARN", f.Runtime, lambdaRuntimes)
	case f.ImageConfig != nil:
		return badFunction("Please don't provide ImageConfig when the intended function PackageType is Zip.")
	case f.SnapStart.ApplyOn != "None" && !slices.ContainsFunc(snapStarts, func(p string) bool { return strings.HasPrefix(f.Runtime, p) }):
		return badFunction("%s is not supported for SnapStart enabled functions.", f.Runtime)
	}
	return nil
}

func (f *Function) checkParts() *failure {
	if v := f.VpcConfig; v != nil && (len(v.SubnetIds) == 0) != (len(v.SecurityGroupIds) == 0) {
		return badFunction("SubnetIds and SecurityIds must coexist or be both empty list.")
	}
	if len(f.Layers) > 5 {
		return badFunction("Cannot reference more than 5 layers.")
	}
	if len(f.FileSystemConfigs) > 0 && (f.VpcConfig == nil || len(f.VpcConfig.SubnetIds) == 0) {
		return badFunction("Function must be configured to execute in a VPC to reference access points.")
	}
	if f.Environment == nil {
		return nil
	}
	size := 0
	for _, k := range sortedKeys(f.Environment.Variables) {
		size += len(k) + len(f.Environment.Variables[k])
		switch {
		case !variableName.MatchString(k):
			return fail("ValidationException", http.StatusBadRequest, "1 validation error detected: Value at 'environment.variables' failed to satisfy constraint: "+
				"Map keys must satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+")
		case slices.Contains(reservedVariables, k):
			return badFunction("Lambda was unable to configure your environment variables because the environment variables you have provided contains reserved "+
				"keys that are currently not supported for modification. Reserved keys used in this request: %s", k)
		}
	}
	if size > maxVariables {
		return badFunction("Lambda was unable to configure your environment variables because the environment variables you have provided exceeded the 4KB limit.")
	}
	return nil
}

// setCode takes an archive, or believes in a well-formed image. It has no bucket to look into, so code in S3 is refused.
func (f *Function) setCode(in CodeInput) *failure {
	image := in.ImageUri != ""
	switch {
	case in.S3Bucket != "" || in.S3Key != "":
		return badFunction("Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: the simulated cloud has no code in S3; send the archive itself.")
	case image == (in.ZipFile != nil):
		return badFunction("Please provide exactly one of ZipFile, S3Bucket with S3Key, and ImageUri.")
	case image != (f.PackageType == "Image"):
		return badFunction("The code does not fit the PackageType %s.", f.PackageType)
	}
	f.SourceKey = in.SourceKMSKeyArn
	if !image {
		if _, err := zip.NewReader(bytes.NewReader(in.ZipFile), int64(len(in.ZipFile))); err != nil {
			return badFunction("Could not unzip uploaded file. Please check your file, then try to upload again.")
		}
		sum := sha256.Sum256(in.ZipFile)
		f.CodeSha256, f.CodeSize = base64.StdEncoding.EncodeToString(sum[:]), int64(len(in.ZipFile))
		return nil
	}
	if !imageReference.MatchString(in.ImageUri) {
		return badFunction("Source image %s is not valid. Provide a valid source image.", in.ImageUri)
	}
	f.ImageURI = in.ImageUri
	_, digest, ok := strings.Cut(in.ImageUri, "@sha256:")
	if !ok {
		sum := sha256.Sum256([]byte(in.ImageUri))
		digest = hex.EncodeToString(sum[:])
	}
	f.CodeSha256, f.CodeSize = digest, 0
	return nil
}

func (f *Function) showCode() map[string]any {
	out := map[string]any{"RepositoryType": "S3", "Location": "https://awslambda-" + f.Region + "-tasks.s3." + f.Region + ".amazonaws.com/snapshots/" + f.Account + "/" + f.Name}
	if f.PackageType == "Image" {
		repository, _, _ := strings.Cut(f.ImageURI, "@")
		if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
			repository = repository[:i]
		}
		out = map[string]any{"RepositoryType": "ECR", "ImageUri": f.ImageURI, "ResolvedImageUri": repository + "@sha256:" + f.CodeSha256}
	}
	if f.SourceKey != "" {
		out["SourceKMSKeyArn"] = f.SourceKey
	}
	return out
}

// show is a function's configuration as reads and changes answer it.
func (f *Function) show(now time.Time) map[string]any {
	state, update := f.status(now)
	out := map[string]any{
		"FunctionName": f.Name, "FunctionArn": f.arn(), "Role": f.Role, "CodeSize": f.CodeSize, "CodeSha256": f.CodeSha256,
		"Description": f.Description, "Timeout": f.Timeout, "MemorySize": f.MemorySize, "Version": "$LATEST",
		"LastModified": f.ModifiedAt.UTC().Format(functionDateForm), "RevisionId": f.Revision, "PackageType": f.PackageType,
		"Architectures": f.Architectures, "TracingConfig": f.TracingConfig, "EphemeralStorage": f.EphemeralStorage,
		"LoggingConfig": f.LoggingConfig, "SnapStart": map[string]string{"ApplyOn": f.SnapStart.ApplyOn, "OptimizationStatus": "Off"}, "State": state,
	}
	if state == "Pending" {
		out["StateReason"], out["StateReasonCode"] = "The function is being created.", "Creating"
	}
	optional := map[string]any{"LastUpdateStatus": update, "Handler": f.Handler, "Runtime": f.Runtime, "KMSKeyArn": f.KMSKeyArn}
	for k, v := range optional {
		if v != "" {
			out[k] = v
		}
	}
	if f.Environment != nil {
		out["Environment"] = f.Environment
	}
	if v := f.VpcConfig; v != nil {
		out["VpcConfig"] = map[string]any{"SubnetIds": orNone(v.SubnetIds), "SecurityGroupIds": orNone(v.SecurityGroupIds), "VpcId": v.vpcID(),
			"Ipv6AllowedForDualStack": v.Ipv6AllowedForDualStack}
	}
	if len(f.Layers) > 0 {
		layers := []map[string]any{}
		for _, arn := range f.Layers {
			layers = append(layers, map[string]any{"Arn": arn, "CodeSize": 1024})
		}
		out["Layers"] = layers
	}
	f.showRarer(out)
	return out
}

func (f *Function) showRarer(out map[string]any) {
	if f.DeadLetterConfig != nil {
		out["DeadLetterConfig"] = f.DeadLetterConfig
	}
	if f.FileSystemConfigs != nil {
		out["FileSystemConfigs"] = f.FileSystemConfigs
	}
	if f.ImageConfig != nil {
		out["ImageConfigResponse"] = map[string]any{"ImageConfig": f.ImageConfig}
	}
	if f.DurableConfig != nil {
		out["DurableConfig"] = f.DurableConfig
	}
	if f.TenancyConfig != nil {
		out["TenancyConfig"] = f.TenancyConfig
	}
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// vpcID is the VPC that the first subnet would lie in; "" when the function was taken out of it.
func (v *VpcConfig) vpcID() string {
	if len(v.SubnetIds) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(v.SubnetIds[0]))
	return "vpc-" + hex.EncodeToString(sum[:8])
}
