package session

import "testing"

func TestOnlyEndpointsThatAreNotAWSsOwnAreNamed(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                     "",
		"https://logs.eu-west-1.amazonaws.com": "",
		"https://vpce-1a2b.iam.eu-west-1.vpce.amazonaws.com": "",
		"https://sts.cn-north-1.amazonaws.com.cn":            "",
		"https://logs.eu-west-1.api.aws":                     "",
		"http://127.0.0.1:5000":                              "127.0.0.1:5000",
		"http://LocalHost:4566/":                             "localhost:4566",
		"https://amazonaws.com.example":                      "amazonaws.com.example",
		"https://notamazonaws.com":                           "notamazonaws.com",
		"not a url":                                          "not a url",
	} {
		if got := customHost(&endpoint); got != want {
			t.Errorf("endpoint %q is %q, want %q", endpoint, got, want)
		}
	}
	if got := customHost(nil); got != "" {
		t.Errorf("no endpoint is %q, want AWS's own", got)
	}
}
