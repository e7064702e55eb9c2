package awssim

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
)

// queryWire is the AWS Query protocol: a form in, XML out.
type queryWire struct{ service, namespace, version string }

// maxDepth bounds the nesting of a form's member names; the served operations need four.
const maxDepth = 8

func (q queryWire) decode(r *http.Request, body []byte) (operation, map[string]any, *failure) {
	form, err := url.ParseQuery(string(body))
	if r.Method == http.MethodGet {
		form, err = url.ParseQuery(r.URL.RawQuery)
	}
	if err != nil {
		return operation{}, nil, fail("MalformedQueryString", http.StatusBadRequest, "The query string is malformed.")
	}
	action := form.Get("Action")
	op, ok := operations[q.service][action]
	if !ok || form.Get("Version") != q.version {
		return operation{}, nil, fail("InvalidAction", http.StatusBadRequest, "Could not find operation %s for version %s", action, form.Get("Version"))
	}
	return op, unflatten(form), nil
}

// unflatten turns Tags.member.1.Key=… into nested maps and lists.
func unflatten(form url.Values) map[string]any {
	root := map[string]any{}
	for name, values := range form {
		parts := strings.Split(name, ".")
		if name == "Action" || name == "Version" || len(parts) > maxDepth {
			continue
		}
		at := root
		for _, p := range parts[:len(parts)-1] {
			next, ok := at[p].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[p] = next
			}
			at = next
		}
		if _, nested := at[parts[len(parts)-1]].(map[string]any); !nested {
			at[parts[len(parts)-1]] = values[0]
		}
	}
	return collapse(root).(map[string]any)
}

// collapse replaces {member: {1: a, 2: b}} by [a, b], innermost first.
func collapse(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for k, e := range m {
		m[k] = collapse(e)
	}
	items, ok := m["member"].(map[string]any)
	if !ok || len(m) != 1 {
		return m
	}
	indexes := make([]int, 0, len(items))
	for k := range items {
		i, err := strconv.Atoi(k)
		if err != nil {
			return m
		}
		indexes = append(indexes, i)
	}
	sort.Ints(indexes)
	list := make([]any, len(indexes))
	for n, i := range indexes {
		list[n] = items[strconv.Itoa(i)]
	}
	return list
}

func (q queryWire) encode(o operation, out any, requestID string) answer {
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	root := xml.StartElement{Name: xml.Name{Local: o.name + "Response"}, Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: q.namespace}}}
	mustXML(e.EncodeToken(root))
	if out != nil {
		mustXML(e.EncodeElement(out, xml.StartElement{Name: xml.Name{Local: o.name + "Result"}}))
	}
	mustXML(e.EncodeElement(struct{ RequestId string }{requestID}, xml.StartElement{Name: xml.Name{Local: "ResponseMetadata"}}))
	mustXML(e.EncodeToken(root.End()))
	mustXML(e.Close())
	return answer{status: http.StatusOK, header: queryHeader(requestID), body: b.Bytes()}
}

func (q queryWire) encodeFailure(f *failure, requestID string) answer {
	kind := "Sender"
	if f.Status >= 500 {
		kind = "Receiver"
	}
	body, err := xml.Marshal(struct {
		XMLName   xml.Name `xml:"ErrorResponse"`
		Namespace string   `xml:"xmlns,attr"`
		Type      string   `xml:"Error>Type"`
		Code      string   `xml:"Error>Code"`
		Message   string   `xml:"Error>Message"`
		RequestId string
	}{Namespace: q.namespace, Type: kind, Code: f.Code, Message: f.Message, RequestId: requestID})
	mustXML(err)
	return answer{status: f.Status, header: queryHeader(requestID), body: body}
}

func queryHeader(requestID string) map[string]string {
	return map[string]string{"Content-Type": "text/xml", "X-Amzn-Requestid": requestID}
}

func mustXML(err error) {
	if err != nil {
		panic(fmt.Sprintf("awssim: encode XML: %v", err)) // the results are plain structs; this cannot happen
	}
}

// members is a list in Query's XML; an empty one is still an element.
type members[T any] struct {
	Member []T `xml:"member"`
}

type tagXML struct{ Key, Value string }

// xmlTime is how Query writes a time, in whole seconds.
func xmlTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// percentEncode encodes all but RFC 3986's unreserved characters, as IAM does with documents on read.
func percentEncode(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
