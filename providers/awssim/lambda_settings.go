package awssim

// settingOperations are the settings of a function that have calls of their own.
func settingOperations() []operation {
	name := []string{"FunctionName"}
	return []operation{
		{"GetFunctionConcurrency", name, (*Server).getFunctionConcurrency},
		{"PutFunctionConcurrency", name, (*Server).putFunctionConcurrency},
		{"DeleteFunctionConcurrency", name, (*Server).deleteFunctionConcurrency},
		{"GetFunctionRecursionConfig", name, (*Server).getRecursion},
		{"PutFunctionRecursionConfig", name, (*Server).putRecursion},
		{"GetRuntimeManagementConfig", name, (*Server).getRuntimeManagement},
		{"PutRuntimeManagementConfig", name, (*Server).putRuntimeManagement},
		{"GetFunctionCodeSigningConfig", name, (*Server).getSigning},
		{"PutFunctionCodeSigningConfig", name, (*Server).putSigning},
		{"DeleteFunctionCodeSigningConfig", name, (*Server).deleteSigning},
	}
}

func (s *Server) getFunctionConcurrency(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	out := map[string]any{}
	if fn.Reserved != nil {
		out["ReservedConcurrentExecutions"] = *fn.Reserved
	}
	return out, nil
}

// putFunctionConcurrency leaves at least 100 of the account's executions to the functions that reserve none.
func (s *Server) putFunctionConcurrency(c *call) (any, *failure) {
	a := c.args()
	if !a.has("ReservedConcurrentExecutions") {
		a.missing("ReservedConcurrentExecutions")
	}
	n := a.integer("ReservedConcurrentExecutions", 0, 0, maxConcurrency)
	fn, f := s.changeFunction(c, a)
	if f != nil {
		return nil, f
	}
	left := maxConcurrency - n
	for _, other := range s.state.Functions {
		if other != fn && other.Account == c.account && other.Region == c.region && other.Reserved != nil {
			left -= *other.Reserved
		}
	}
	if n > 0 && left < leastUnreserved {
		return nil, badFunction("Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution below its minimum value of [%d].", leastUnreserved)
	}
	fn.Reserved = &n
	return map[string]any{"ReservedConcurrentExecutions": n}, nil
}

func (s *Server) deleteFunctionConcurrency(c *call) (any, *failure) {
	fn, f := s.changeFunction(c, c.args())
	if f != nil {
		return nil, f
	}
	fn.Reserved = nil
	return nil, nil
}

func (s *Server) getRecursion(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	return map[string]any{"RecursiveLoop": fn.Recursion}, nil
}

func (s *Server) putRecursion(c *call) (any, *failure) {
	a := c.args()
	if !a.has("RecursiveLoop") {
		a.missing("RecursiveLoop")
	}
	mode := a.enum("RecursiveLoop", "", "Allow", "Terminate")
	fn, f := s.changeFunction(c, a)
	if f != nil {
		return nil, f
	}
	fn.Recursion = mode
	return map[string]any{"RecursiveLoop": mode}, nil
}

// showRuntimeManagement is what reads and puts answer.
func showRuntimeManagement(fn *Function) map[string]any {
	out := map[string]any{"UpdateRuntimeOn": fn.RuntimeOn, "FunctionArn": fn.arn()}
	if fn.RuntimeARN != "" {
		out["RuntimeVersionArn"] = fn.RuntimeARN
	}
	return out
}

func noArchive(fn *Function, what string) *failure {
	if fn.PackageType != "Zip" {
		return badFunction("%s is only supported for functions of package type Zip.", what)
	}
	return nil
}

func (s *Server) getRuntimeManagement(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), true)
	if f == nil {
		f = noArchive(fn, "Runtime management")
	}
	if f != nil {
		return nil, f
	}
	return showRuntimeManagement(fn), nil
}

func (s *Server) putRuntimeManagement(c *call) (any, *failure) {
	a := c.args()
	if !a.has("UpdateRuntimeOn") {
		a.missing("UpdateRuntimeOn")
	}
	on := a.enum("UpdateRuntimeOn", "", "Auto", "Manual", "FunctionUpdate")
	version := a.opt("RuntimeVersionArn", newShape(26, 2048, `arn:(aws[a-zA-Z-]*):lambda:[a-z0-9-]+::runtime:.+`))
	fn, f := s.changeFunction(c, a)
	if f == nil {
		f = noArchive(fn, "Runtime management")
	}
	if f != nil {
		return nil, f
	}
	if (on == "Manual") != (version != nil) {
		return nil, badFunction("RuntimeVersionArn must be given for the update mode Manual, and for no other.")
	}
	fn.RuntimeOn, fn.RuntimeARN = on, ""
	put(&fn.RuntimeARN, version)
	return showRuntimeManagement(fn), nil
}

func (s *Server) getSigning(c *call) (any, *failure) {
	fn, f := s.function(c, c.args(), true)
	if f == nil {
		f = noArchive(fn, "Code signing")
	}
	if f != nil {
		return nil, f
	}
	out := map[string]any{"FunctionName": fn.Name}
	if fn.SigningARN != "" {
		out["CodeSigningConfigArn"] = fn.SigningARN
	}
	return out, nil
}

func (s *Server) putSigning(c *call) (any, *failure) {
	a := c.args()
	arn := a.need("CodeSigningConfigArn", signingShape)
	fn, f := s.changeFunction(c, a)
	if f == nil {
		f = noArchive(fn, "Code signing")
	}
	if f != nil {
		return nil, f
	}
	fn.SigningARN = arn
	return map[string]any{"FunctionName": fn.Name, "CodeSigningConfigArn": arn}, nil
}

func (s *Server) deleteSigning(c *call) (any, *failure) {
	fn, f := s.changeFunction(c, c.args())
	if f != nil {
		return nil, f
	}
	fn.SigningARN = ""
	return nil, nil
}
