package awssim

import (
	"maps"
	"net/http"
	"strings"
)

// lambdaWire is restJson1 as Lambda speaks it: paths begin with the date of their part of the API.
type lambdaWire struct{}

// lambdaRoute is an operation's method and path, with the status of its success. A segment in braces is that member.
type lambdaRoute struct {
	method, path, name string
	status             int
}

var lambdaRoutes = []lambdaRoute{
	{"POST", "2015-03-31/functions", "CreateFunction", http.StatusCreated},
	{"GET", "2015-03-31/functions", "ListFunctions", http.StatusOK},
	{"GET", "2015-03-31/functions/{FunctionName}", "GetFunction", http.StatusOK},
	{"DELETE", "2015-03-31/functions/{FunctionName}", "DeleteFunction", http.StatusNoContent},
	{"GET", "2015-03-31/functions/{FunctionName}/configuration", "GetFunctionConfiguration", http.StatusOK},
	{"PUT", "2015-03-31/functions/{FunctionName}/configuration", "UpdateFunctionConfiguration", http.StatusOK},
	{"PUT", "2015-03-31/functions/{FunctionName}/code", "UpdateFunctionCode", http.StatusOK},
	{"POST", "2015-03-31/functions/{FunctionName}/invocations", "Invoke", http.StatusOK},
	{"POST", "2015-03-31/functions/{FunctionName}/policy", "AddPermission", http.StatusCreated},
	{"GET", "2015-03-31/functions/{FunctionName}/policy", "GetPolicy", http.StatusOK},
	{"DELETE", "2015-03-31/functions/{FunctionName}/policy/{StatementId}", "RemovePermission", http.StatusNoContent},
	{"PUT", "2017-10-31/functions/{FunctionName}/concurrency", "PutFunctionConcurrency", http.StatusOK},
	{"DELETE", "2017-10-31/functions/{FunctionName}/concurrency", "DeleteFunctionConcurrency", http.StatusNoContent},
	{"GET", "2019-09-30/functions/{FunctionName}/concurrency", "GetFunctionConcurrency", http.StatusOK},
	{"GET", "2020-06-30/functions/{FunctionName}/code-signing-config", "GetFunctionCodeSigningConfig", http.StatusOK},
	{"PUT", "2020-06-30/functions/{FunctionName}/code-signing-config", "PutFunctionCodeSigningConfig", http.StatusOK},
	{"DELETE", "2020-06-30/functions/{FunctionName}/code-signing-config", "DeleteFunctionCodeSigningConfig", http.StatusNoContent},
	{"GET", "2021-07-20/functions/{FunctionName}/runtime-management-config", "GetRuntimeManagementConfig", http.StatusOK},
	{"PUT", "2021-07-20/functions/{FunctionName}/runtime-management-config", "PutRuntimeManagementConfig", http.StatusOK},
	{"GET", "2024-08-31/functions/{FunctionName}/recursion-config", "GetFunctionRecursionConfig", http.StatusOK},
	{"PUT", "2024-08-31/functions/{FunctionName}/recursion-config", "PutFunctionRecursionConfig", http.StatusOK},
	{"GET", "2017-03-31/tags/{Resource}", "ListTags", http.StatusOK},
	{"POST", "2017-03-31/tags/{Resource}", "TagResource", http.StatusNoContent},
	{"DELETE", "2017-03-31/tags/{Resource}", "UntagResource", http.StatusNoContent},
}

// match returns the members that a path's segments give; false for another path.
func (r lambdaRoute) match(segments []string) (map[string]string, bool) {
	want := strings.Split(r.path, "/")
	if len(want) != len(segments) {
		return nil, false
	}
	members := map[string]string{}
	for i, w := range want {
		switch {
		case strings.HasPrefix(w, "{"):
			members[strings.Trim(w, "{}")] = pathSegment(segments[i])
		case w != segments[i]:
			return nil, false
		}
	}
	return members, true
}

func (lambdaWire) decode(r *http.Request, body []byte) (operation, map[string]any, *failure) {
	segments := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	for _, route := range lambdaRoutes {
		members, ok := route.match(segments)
		if !ok || route.method != r.Method {
			continue
		}
		op := operations["lambda"][route.name]
		params, f := lambdaParams(r, op, body)
		for k, v := range members {
			params[k] = v
		}
		return op, params, f
	}
	return operation{}, nil, fail("UnknownOperationException", http.StatusNotFound, "No operation has this method and path.")
}

// lambdaParams reads what stands in body, query and headers. The body of an invocation is the event, and nobody's members.
func lambdaParams(r *http.Request, op operation, body []byte) (map[string]any, *failure) {
	params := map[string]any{}
	if op.name == "Invoke" {
		params["Payload"] = string(body)
		if t := r.Header.Get("X-Amz-Invocation-Type"); t != "" {
			params["InvocationType"] = t
		}
	} else {
		sent, err := decodeObject(body)
		if err != nil {
			return params, fail("InvalidRequestContentException", http.StatusBadRequest, "Could not parse request body into json")
		}
		params = sent
	}
	for k, v := range r.URL.Query() {
		if k == "tagKeys" {
			params["TagKeys"] = anyList(v)
		} else {
			params[k] = v[0]
		}
	}
	return params, nil
}

func (lambdaWire) encode(o operation, out any, requestID string) answer {
	a := answer{status: http.StatusOK, header: jsonHeader("application/json", requestID)}
	for _, route := range lambdaRoutes {
		if route.name == o.name {
			a.status = route.status
		}
	}
	switch out := out.(type) {
	case nil:
	case invocation:
		a.status, a.body = out.status, []byte(out.payload)
		a.header["X-Amz-Executed-Version"] = "$LATEST"
	default:
		a.body = mustJSON(out)
	}
	return a
}

// encodeFailure spells the message both ways: the model writes it with a capital for some of its errors.
func (lambdaWire) encodeFailure(f *failure, requestID string) answer {
	body := map[string]string{"Type": "User", "message": f.Message, "Message": f.Message}
	if f.Status >= http.StatusInternalServerError {
		body["Type"] = "Service"
	}
	maps.Copy(body, f.Fields)
	a := answer{status: f.Status, header: jsonHeader("application/json", requestID), body: mustJSON(body)}
	a.header["X-Amzn-Errortype"] = f.Code
	return a
}
