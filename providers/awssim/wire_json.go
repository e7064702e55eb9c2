package awssim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// jsonWire is awsJson 1.1: the operation in a header, behind the service's prefix, JSON in and out.
type jsonWire struct{ service, prefix string }

const eventsTarget = "AWSEvents."

func (j jsonWire) decode(r *http.Request, body []byte) (operation, map[string]any, *failure) {
	name, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), j.prefix)
	op, known := operations[j.service][name]
	if !ok || !known || r.Method != http.MethodPost {
		return operation{}, nil, &failure{Code: "UnknownOperationException", Status: http.StatusBadRequest}
	}
	params, err := decodeObject(body)
	if err != nil {
		return op, nil, fail("SerializationException", http.StatusBadRequest, "The request body is not a JSON object.")
	}
	return op, params, nil
}

func (jsonWire) encode(_ operation, out any, requestID string) answer {
	a := answer{status: http.StatusOK, header: jsonHeader("application/x-amz-json-1.1", requestID)}
	if out != nil {
		a.body = mustJSON(out)
	}
	return a
}

func (jsonWire) encodeFailure(f *failure, requestID string) answer {
	body := map[string]string{"__type": f.Code, "message": f.Message}
	maps.Copy(body, f.Fields)
	return answer{status: f.Status, header: jsonHeader("application/x-amz-json-1.1", requestID), body: mustJSON(body)}
}

// restWire is restJson1: the operation in method and path, params in path, query and body.
type restWire struct{}

// restRoutes are API Gateway's, by method and shape of the path; * is one segment.
var restRoutes = map[string]struct {
	name   string
	param  string // the member that the * stands for
	status int    // of a success
}{
	"POST /v2/apis":          {"CreateApi", "", http.StatusCreated},
	"GET /v2/apis":           {"GetApis", "", http.StatusOK},
	"GET /v2/apis/*":         {"GetApi", "apiId", http.StatusOK},
	"PATCH /v2/apis/*":       {"UpdateApi", "apiId", http.StatusOK},
	"DELETE /v2/apis/*":      {"DeleteApi", "apiId", http.StatusNoContent},
	"DELETE /v2/apis/*/cors": {"DeleteCorsConfiguration", "apiId", http.StatusNoContent},
	"POST /v2/tags/*":        {"TagResource", "resourceArn", http.StatusCreated},
	"GET /v2/tags/*":         {"GetTags", "resourceArn", http.StatusOK},
	"DELETE /v2/tags/*":      {"UntagResource", "resourceArn", http.StatusNoContent},
}

func (restWire) decode(r *http.Request, body []byte) (operation, map[string]any, *failure) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	var value string
	if len(parts) > 2 {
		value, parts[2] = pathSegment(parts[2]), "*"
	}
	route, ok := restRoutes[r.Method+" /"+strings.Join(parts, "/")]
	if !ok {
		return operation{}, nil, fail("UnknownOperationException", http.StatusNotFound, "No operation has this method and path.")
	}
	op := operations["apigateway"][route.name]
	params, err := decodeObject(body)
	if err != nil {
		return op, nil, fail("BadRequestException", http.StatusBadRequest, "Invalid request body")
	}
	if route.param != "" {
		params[route.param] = value
	}
	for k, v := range r.URL.Query() {
		if k == "tagKeys" {
			params[k] = anyList(v)
		} else {
			params[k] = v[0]
		}
	}
	return op, params, nil
}

func (restWire) encode(o operation, out any, requestID string) answer {
	a := answer{status: http.StatusOK, header: jsonHeader("application/json", requestID)}
	for _, route := range restRoutes {
		if route.name == o.name {
			a.status = route.status
		}
	}
	if out != nil {
		a.body = mustJSON(out)
	}
	return a
}

func (restWire) encodeFailure(f *failure, requestID string) answer {
	body := map[string]string{"message": f.Message}
	maps.Copy(body, f.Fields)
	a := answer{status: f.Status, header: jsonHeader("application/json", requestID), body: mustJSON(body)}
	a.header["X-Amzn-Errortype"] = f.Code
	return a
}

func jsonHeader(contentType, requestID string) map[string]string {
	return map[string]string{"Content-Type": contentType, "X-Amzn-Requestid": requestID}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("awssim: encode JSON: %v", err)) // the results are plain data; this cannot happen
	}
	return b
}

func anyList(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}
