package awssim

import (
	"os"
	"path/filepath"
	"testing"
)

// archiveFile writes code for the CLI to send, and returns how it is told where that is.
func archiveFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "code.zip")
	if err := os.WriteFile(path, archiveOne, 0o644); err != nil {
		t.Fatal(err)
	}
	return "fileb://" + path
}

var functionScript = []cliStep{
	{words: "iam create-role --role-name runs --assume-role-policy-document {trust}"},
	{words: "lambda list-functions --page-size 1", has: `"Functions": []`}, // by now the role can be assumed
	{words: "lambda create-function --function-name f --runtime nodejs22.x --handler index.handler --role arn:aws:iam::" + account + ":role/runs --zip-file {zip} --tags a=1,b=2",
		has: `"State": "Pending"`},
	{words: "lambda wait function-active-v2 --function-name f"},
	{words: "lambda get-function --function-name f", has: `"b": "2"`},
	{words: "lambda get-function-configuration --function-name f", has: `"LastUpdateStatus": "Successful"`},
	{words: "lambda get-function --function-name g", has: "(ResourceNotFoundException)", refuse: true},
	{words: "lambda update-function-configuration --function-name f --timeout 9 --environment Variables={STAGE=test}", has: `"STAGE": "test"`},
	{words: "lambda wait function-updated-v2 --function-name f"},
	{words: "lambda update-function-code --function-name f --zip-file {zip}", has: `"LastUpdateStatus": "InProgress"`},
	{words: "lambda wait function-updated-v2 --function-name f"},
	{words: "lambda tag-resource --resource {function} --tags c=3"},
	{words: "lambda untag-resource --resource {function} --tag-keys a"},
	{words: "lambda list-tags --resource {function}", has: `"c": "3"`},
	{words: "lambda put-function-concurrency --function-name f --reserved-concurrent-executions 5"},
	{words: "lambda get-function-concurrency --function-name f", has: `"ReservedConcurrentExecutions": 5`},
	{words: "lambda delete-function-concurrency --function-name f"},
	{words: "lambda put-function-recursion-config --function-name f --recursive-loop Allow", has: `"RecursiveLoop": "Allow"`},
	{words: "lambda get-function-recursion-config --function-name f", has: `"RecursiveLoop": "Allow"`},
	{words: "lambda put-runtime-management-config --function-name f --update-runtime-on FunctionUpdate", has: `"UpdateRuntimeOn": "FunctionUpdate"`},
	{words: "lambda get-runtime-management-config --function-name f", has: `"UpdateRuntimeOn": "FunctionUpdate"`},
	{words: "lambda put-function-code-signing-config --function-name f --code-signing-config-arn {signing}"},
	{words: "lambda get-function-code-signing-config --function-name f", has: "csc-0123456789abcdef0"},
	{words: "lambda delete-function-code-signing-config --function-name f"},
	{words: "lambda add-permission --function-name f --statement-id s --action lambda:InvokeFunction --principal events.amazonaws.com", has: `events.amazonaws.com`},
	{words: "lambda add-permission --function-name {function} --statement-id s --action lambda:InvokeFunction --principal events.amazonaws.com",
		has: "(ResourceConflictException)", refuse: true},
	{words: "lambda get-policy --function-name f", has: `RevisionId`},
	{words: "lambda remove-permission --function-name f --statement-id s"},
	{words: "lambda invoke --function-name f " + os.DevNull, has: `"StatusCode": 200`},
	{words: "lambda delete-function --function-name f"},
	{words: "iam delete-role --role-name runs"},
}
