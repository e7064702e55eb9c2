package awssim

import (
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// dynamoWire is awsJson 1.0 as DynamoDB speaks it: the operation in a header, error codes with the model's name space, and
// a checksum of each body.
type dynamoWire struct{}

const (
	dynamoTarget    = "DynamoDB_20120810."
	dynamoNamespace = "com.amazonaws.dynamodb.v20120810#"
	coralNamespace  = "com.amazon.coral.service#" // of the refusals that are not DynamoDB's own
)

func (dynamoWire) decode(r *http.Request, body []byte) (operation, map[string]any, *failure) {
	name, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), dynamoTarget)
	op, known := operations["dynamodb"][name]
	if !ok || !known || r.Method != http.MethodPost {
		return operation{}, nil, &failure{Code: "UnknownOperationException", Status: http.StatusBadRequest}
	}
	params, err := decodeObject(body)
	if err != nil {
		return op, nil, fail("SerializationException", http.StatusBadRequest, "The request body is not a JSON object.")
	}
	return op, params, nil
}

func (dynamoWire) encode(_ operation, out any, requestID string) answer {
	body := []byte("{}")
	if out != nil {
		body = mustJSON(out)
	}
	return dynamoAnswer(http.StatusOK, body, requestID)
}

func (dynamoWire) encodeFailure(f *failure, requestID string) answer {
	space := dynamoNamespace
	for _, common := range commonFailures["dynamodb"] {
		if common.Code == f.Code && f.Status < 500 {
			space = coralNamespace
		}
	}
	if strings.HasPrefix(f.Code, "Validation") || strings.HasPrefix(f.Code, "Serialization") || strings.HasPrefix(f.Code, "UnknownOperation") {
		space = coralNamespace
	}
	body := map[string]string{"__type": space + f.Code, "message": f.Message}
	maps.Copy(body, f.Fields)
	return dynamoAnswer(f.Status, mustJSON(body), requestID)
}

func dynamoAnswer(status int, body []byte, requestID string) answer {
	a := answer{status: status, header: jsonHeader("application/x-amz-json-1.0", requestID), body: body}
	a.header["X-Amz-Crc32"] = strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)
	return a
}

// badTable is DynamoDB's code for whatever is wrong with a request.
func badTable(format string, args ...any) *failure {
	return fail("ValidationException", http.StatusBadRequest, format, args...)
}

// badParams is badTable in the words that DynamoDB puts before what it has to say of params together.
func badParams(format string, args ...any) *failure {
	return badTable("One or more parameter values were invalid: %s", fmt.Sprintf(format, args...))
}
