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

// restRoute is an operation of API Gateway and the status of its success.
type restRoute struct {
	name   string
	status int
}

// restRoutes are API Gateway's, by method and shape of the path; * is one segment, which restMembers names.
var restRoutes = map[string]restRoute{
	"POST /v2/apis":          {"CreateApi", http.StatusCreated},
	"GET /v2/apis":           {"GetApis", http.StatusOK},
	"GET /v2/apis/*":         {"GetApi", http.StatusOK},
	"PATCH /v2/apis/*":       {"UpdateApi", http.StatusOK},
	"DELETE /v2/apis/*":      {"DeleteApi", http.StatusNoContent},
	"DELETE /v2/apis/*/cors": {"DeleteCorsConfiguration", http.StatusNoContent},
	"POST /v2/tags/*":        {"TagResource", http.StatusCreated},
	"GET /v2/tags/*":         {"GetTags", http.StatusOK},
	"DELETE /v2/tags/*":      {"UntagResource", http.StatusNoContent},

	"POST /v2/apis/*/authorizers":     {"CreateAuthorizer", http.StatusCreated},
	"GET /v2/apis/*/authorizers":      {"GetAuthorizers", http.StatusOK},
	"GET /v2/apis/*/authorizers/*":    {"GetAuthorizer", http.StatusOK},
	"PATCH /v2/apis/*/authorizers/*":  {"UpdateAuthorizer", http.StatusOK},
	"DELETE /v2/apis/*/authorizers/*": {"DeleteAuthorizer", http.StatusNoContent},

	"POST /v2/apis/*/deployments":     {"CreateDeployment", http.StatusCreated},
	"GET /v2/apis/*/deployments":      {"GetDeployments", http.StatusOK},
	"GET /v2/apis/*/deployments/*":    {"GetDeployment", http.StatusOK},
	"PATCH /v2/apis/*/deployments/*":  {"UpdateDeployment", http.StatusOK},
	"DELETE /v2/apis/*/deployments/*": {"DeleteDeployment", http.StatusNoContent},

	"POST /v2/apis/*/integrations":     {"CreateIntegration", http.StatusCreated},
	"GET /v2/apis/*/integrations":      {"GetIntegrations", http.StatusOK},
	"GET /v2/apis/*/integrations/*":    {"GetIntegration", http.StatusOK},
	"PATCH /v2/apis/*/integrations/*":  {"UpdateIntegration", http.StatusOK},
	"DELETE /v2/apis/*/integrations/*": {"DeleteIntegration", http.StatusNoContent},

	"POST /v2/apis/*/routes":                         {"CreateRoute", http.StatusCreated},
	"GET /v2/apis/*/routes":                          {"GetRoutes", http.StatusOK},
	"GET /v2/apis/*/routes/*":                        {"GetRoute", http.StatusOK},
	"PATCH /v2/apis/*/routes/*":                      {"UpdateRoute", http.StatusOK},
	"DELETE /v2/apis/*/routes/*":                     {"DeleteRoute", http.StatusNoContent},
	"DELETE /v2/apis/*/routes/*/requestparameters/*": {"DeleteRouteRequestParameter", http.StatusNoContent},

	"POST /v2/apis/*/stages":                       {"CreateStage", http.StatusCreated},
	"GET /v2/apis/*/stages":                        {"GetStages", http.StatusOK},
	"GET /v2/apis/*/stages/*":                      {"GetStage", http.StatusOK},
	"PATCH /v2/apis/*/stages/*":                    {"UpdateStage", http.StatusOK},
	"DELETE /v2/apis/*/stages/*":                   {"DeleteStage", http.StatusNoContent},
	"DELETE /v2/apis/*/stages/*/accesslogsettings": {"DeleteAccessLogSettings", http.StatusNoContent},
	"DELETE /v2/apis/*/stages/*/routesettings/*":   {"DeleteRouteSettings", http.StatusNoContent},
}

// restMembers are the members that a segment of the path stands for, by the segment before it.
var restMembers = map[string]string{
	"apis": "apiId", "authorizers": "authorizerId", "deployments": "deploymentId", "integrations": "integrationId", "requestparameters": "requestParameterKey",
	"routes": "routeId", "routesettings": "routeKey", "stages": "stageName", "tags": "resourceArn",
}

func (restWire) decode(r *http.Request, body []byte) (operation, map[string]any, *failure) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	members := map[string]string{}
	for i := 2; i < len(parts); i += 2 { // /v2/apis/{}/routes/{}
		members[restMembers[parts[i-1]]] = pathSegment(parts[i])
		parts[i] = "*"
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
	for name, value := range members {
		params[name] = value
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
