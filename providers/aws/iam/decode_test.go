package iam

import (
	"testing"

	"reclaim/engine/value"
)

// A "+" is a plus sign in RFC 3986, and stays one; what is encoded is decoded once.
func TestDecodeDocument(t *testing.T) {
	for why, c := range map[string]struct{ encoded, want string }{
		"all encoded":                   {`%7B%22a%22%3A%20%22b%2Bc%22%7D`, `{"a": "b+c"}`},
		"a plus that was left as it is": {`%7B%22a%22:%22b+c%22%7D`, `{"a": "b+c"}`},
		"a percent sign in the text":    {`%7B%22a%22%3A%22x%252Fy%22%7D`, `{"a": "x%2Fy"}`},
		"not encoded at all":            {`{"a":"b"}`, `{"a":"b"}`},
	} {
		want, err := value.ParseJSON([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeDocument(c.encoded); err != nil || !value.Equal(want, got) {
			t.Errorf("%s: %v, %v; want %v", why, got, err, want)
		}
	}
	for why, encoded := range map[string]string{"a broken escape": `%7B%2`, "no JSON": `hello`, "nothing": ``} {
		if got, err := decodeDocument(encoded); err == nil {
			t.Errorf("%s: decoded as %v, want an error", why, got)
		}
	}
}
