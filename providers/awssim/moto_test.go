package awssim

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Reasons that several claims share.
const (
	motoModel      = "IAM's service model bounds it; moto checks no bounds of roles"
	motoQuota      = "a published quota that moto does not count"
	motoTrust      = "CreateRole takes any text as a trust policy in moto; IAM's reference lists MalformedPolicyDocument for it"
	motoPrincipal  = "IAM resolves principals when a trust policy is saved and shows them on read, as its user guide on principals tells; moto keeps the text"
	motoReserved   = "aws: tag keys are reserved in every service; moto takes them"
	motoBoundary   = "IAM looks the boundary up; moto only checks the ARN's form, and takes away what is not there without a word"
	motoLogsbounds = "the service model bounds it; moto checks no bounds of log groups"
	motoRetention  = "PutRetentionPolicy's reference lists the allowed days; moto takes any"
	motoUnserved   = "moto does not implement the operation and answers 500 with an HTML page"
	motoLogtags    = "moto keeps tags by ARN, whether a log group has it or not, and counts none"
	motoApibounds  = "the API's reference bounds it; moto checks only the protocol's name"
	motoApimissing = "AWS answers NotFoundException, as the model lists; moto succeeds on nothing"
	motoApipages   = "GetApis has maxResults and nextToken; moto ignores both"
	motoChildren   = "AWS answers ConflictException, as practitioners report; moto deletes what a route uses"
	motoTwins      = "AWS keeps route keys, stage names and authorizers' names unique in an API; moto does not"
	motoCrash      = "AWS answers NotFoundException, as the model lists; moto crashes with a 500"
	motoNoChildren = "moto does not implement UpdateStage, DeleteRouteSettings, DeleteAccessLogSettings, GetAuthorizers and the deployments"
	motoApidual    = "moto does not know ipAddressType"
	motoRuletags   = "PutRule's reference: tags given for an existing rule are ignored; moto overwrites them"
	motoRulebounds = "EventBridge's model bounds it; moto checks no bounds of rules, targets and lists"
	motoSchedule   = "the user guide on schedules gives the forms; moto only looks at how the text begins"
	motoEventrole  = "EventBridge checks that it can assume a role when it is named, as practitioners report; moto keeps the text"
	motoTargets    = "PutTargets' reference asks for it; moto checks only that the ARN begins like one"
	motoPatterns   = "a pattern without a field would match everything; the side that is harder on the client"
	motoPrefix     = "NamePrefix is text; moto takes it for a regular expression"
	motoBusrules   = "DeleteEventBus' reference: a bus with rules cannot be deleted; moto lets its rules go too"
	motoEntries    = "PutTargets can fail for some entries in an answer of success; moto's never does"
)

// motoDisagrees lists the claims that moto 5.2.1 does not keep, each with why AWS is on the simulated cloud's side. A claim that moto
// keeps after all fails the test, so that the list cannot go stale. docs/aws-fidelity.md tells the same at length.
var motoDisagrees = map[string]string{
	"a name with a character outside the pattern is invalid":                                                   motoModel,
	"a name of 65 characters is invalid":                                                                       motoModel,
	"a path without slashes is invalid":                                                                        motoModel,
	"a session under an hour is invalid":                                                                       motoModel,
	"a session over twelve hours is invalid":                                                                   motoModel,
	"a description over 1000 characters is invalid":                                                            motoModel,
	"a policy name with a slash is invalid":                                                                    motoModel,
	"more than 50 tags in all exceed the quota":                                                                motoQuota,
	"inline policies of more than 10,240 characters in all exceed the quota":                                   motoQuota,
	"an eleventh attached policy exceeds the quota":                                                            motoQuota,
	"a managed policy over 6,144 characters exceeds the quota":                                                 motoQuota,
	"a trust policy over 2,048 characters exceeds the quota":                                                   motoQuota,
	"a trust policy that is no JSON is malformed":                                                              motoTrust,
	"a trust policy that is a list is malformed":                                                               motoTrust,
	"a trust policy without a statement is malformed":                                                          motoTrust,
	"a trust policy of an unknown version is malformed":                                                        motoTrust,
	"a trust policy without a principal is malformed":                                                          motoTrust,
	"a trust policy with a resource is malformed":                                                              motoTrust,
	"a trust policy without an action is malformed":                                                            motoTrust,
	"a trust policy with another effect is malformed":                                                          motoTrust,
	"a trust policy with a member that does not exist is malformed":                                            motoTrust,
	"a trust policy for another service's action is malformed":                                                 motoTrust,
	"a trust policy that names the same statement twice is malformed":                                          motoTrust,
	"a trust policy that trusts a role that is not there is malformed":                                         motoTrust,
	"a trust policy that trusts what is no service is malformed":                                               motoTrust,
	"a trusted account comes back as its root's ARN, and nothing else of the policy changes":                   motoPrincipal,
	"a trusted role comes back by ARN while it lives, then by its unique ID, also when a new one has its name": motoPrincipal,
	"a caller cannot create a role with an aws: tag":                                                           motoReserved,
	"an aws: tag cannot be put on a role":                                                                      motoReserved,
	"a caller cannot create a log group with an aws: tag":                                                      motoReserved,
	"an aws: tag cannot be put on a log group":                                                                 motoReserved,
	"a caller cannot create an API with an aws: tag":                                                           motoReserved,
	"an aws: tag cannot be put on an API":                                                                      motoReserved,
	"a boundary that does not exist is refused on create":                                                      motoBoundary,
	"a boundary that does not exist is refused on a put":                                                       motoBoundary,
	"taking away a boundary that is not there is refused":                                                      motoBoundary,
	"a log group name with a colon is invalid":                                                                 motoLogsbounds,
	"a log group name cannot start with aws/":                                                                  motoLogsbounds,
	"a log group class that does not exist is invalid":                                                         motoLogsbounds,
	"a key that is no KMS ARN is invalid":                                                                      motoLogsbounds,
	"prefix and pattern exclude each other":                                                                    motoLogsbounds,
	"an ARN with :* cannot be tagged":                                                                          motoLogsbounds,
	"a retention outside the fixed set is invalid":                                                             motoRetention,
	"a retention of 0 is invalid: it is taken away by its own call":                                            motoRetention,
	"a KMS key is associated and taken away":                                                                   motoUnserved,
	"a data protection policy is put, read, deleted, and stays known as deleted":                               motoUnserved,
	"a data protection policy of one statement is invalid":                                                     motoUnserved,
	"a log group under deletion protection is not deleted":                                                     motoUnserved,
	"encrypting a log group that is not there":                                                                 motoUnserved,
	"no longer encrypting a log group that is not there":                                                       motoUnserved,
	"no longer protecting the data of a log group that is not there":                                           motoUnserved,
	"protecting from deletion a log group that is not there":                                                   motoUnserved,
	"protecting the data of a log group that is not there":                                                     motoUnserved,
	"reading the data protection of a log group that is not there":                                             motoUnserved,
	"more than 50 tags on a log group are too many":                                                            motoLogtags,
	"reading the tags of a log group that is not there":                                                        motoLogtags,
	"tagging a log group that is not there":                                                                    motoLogtags,
	"untagging a log group that is not there":                                                                  motoLogtags,
	"a WebSocket API without a selection expression is refused":                                                motoApibounds,
	"a WebSocket API has no CORS":                                                                              motoApibounds,
	"an HTTP API selects by method and path only":                                                              motoApibounds,
	"a name of 129 characters is refused":                                                                      motoApibounds,
	"a CORS age over a day is refused":                                                                         motoApibounds,
	"CORS with credentials for every origin is refused":                                                        motoApibounds,
	"a CORS origin without a scheme is refused":                                                                motoApibounds,
	"an update with a bad value changes nothing":                                                               motoApibounds,
	"what is no API Gateway ARN cannot be tagged":                                                              motoApibounds,
	"a second delete of an API finds nothing":                                                                  motoApimissing,
	"reading the tags of an API that is not there":                                                             motoApimissing,
	"untagging an API that is not there":                                                                       motoApimissing,
	"APIs are listed page by page, twins too":                                                                  motoApipages,
	"a token that no page gave is refused":                                                                     motoApipages,
	"an API comes back with all that it was created with":                                                      motoApidual,
	"an API without options has the service's defaults and no more":                                            motoApidual,
	"CreateRole's answer leaves out description and session, which only a read gives":                          "AWS's recorded answers (CLI reference, CloudTrail) have neither; moto gives both",
	"a role of the same name in other case and path exists":                                                    "IAM's reference says that role names are not told apart by case; moto compares the bytes",
	"a caller cannot create a role under the service-linked path":                                              "only services create roles there; moto lets anyone",
	"UpdateRole without a session sets it back to an hour and keeps the description":                           "the reference resets only the session; moto clears the description too",
	"a role that is in no profile cannot be removed from one":                                                  "the model lists NoSuchEntity; moto crashes with a 500",
	"profiles of a role that is not there":                                                                     "the model lists NoSuchEntity; moto answers an empty list",
	"a marker that no page gave is invalid":                                                                    "moto crashes with a 500",
	"role tags are set, replaced whatever their case, removed, and listed page by page":                        "IAM's tag keys are not told apart by case; TagRole of moto adds a second key",
	"inline policies are put, overwritten, listed page by page, read decoded and deleted":                      "ListRolePolicies has MaxItems; moto ignores it",
	"an inline policy with a principal is malformed":                                                           "identity policies have no principal; moto does not look",
	"policies are attached once however often, listed page by page, and detached":                              "MaxItems is the most in one page; moto ends with an empty third page",
	"what is no policy's ARN cannot be attached":                                                               "the model lists InvalidInput for an ARN of no policy; moto says NoSuchEntity",
	"an attached policy is not deleted":                                                                        "the model lists DeleteConflict; moto deletes it",
	"a trust policy may be a single statement of the older version, with a condition":                          "the policy grammar allows version 2008-10-17; moto's UpdateAssumeRolePolicy does not",
	"a trust policy without a version is of the older one":                                                     "the policy grammar makes Version optional; moto's UpdateAssumeRolePolicy does not",
	"a log group comes back with its ARNs, class, key and tags":                                                "moto drops logGroupClass",
	"events in a stream show in its times, and not in storedBytes before a day":                                "storedBytes trails ingestion at AWS; moto counts at once",
	"an API's ID is ten lower-case letters and digits":                                                         "moto's have eight letters",
	"CORS header names come back in lower case, methods as sent":                                               "API Gateway keeps header names in lower case; moto keeps them as sent",
	"a WebSocket API has a wss endpoint and its own selection expression":                                      "moto gives every API an https endpoint",
	"a put ignores tags on a rule that is there":                                                               motoRuletags,
	"a rule name with a slash is invalid":                                                                      motoRulebounds,
	"a rule name of 65 characters is invalid":                                                                  motoRulebounds,
	"a rule state that does not exist is invalid":                                                              motoRulebounds,
	"a rule description over 512 characters is invalid":                                                        motoRulebounds,
	"a page of more than 100 buses is invalid":                                                                 motoRulebounds,
	"a page of more than 100 rules is invalid":                                                                 motoRulebounds,
	"a target ID with a space is invalid":                                                                      motoRulebounds,
	"events older than a day are not tried again":                                                              motoRulebounds,
	"a rate of one with a plural is invalid":                                                                   motoSchedule,
	"a rate of several without a plural is invalid":                                                            motoSchedule,
	"a rate of nothing is invalid":                                                                             motoSchedule,
	"a cron of five fields is invalid":                                                                         motoSchedule,
	"a cron that opens both days is invalid":                                                                   motoSchedule,
	"a pattern without a field is refused":                                                                     motoPatterns,
	"a caller cannot put a rule with an aws: tag":                                                              motoReserved,
	"an aws: tag cannot be put on a rule":                                                                      motoReserved,
	"a rule's role must be one that EventBridge can assume":                                                    motoEventrole,
	"a rule's role must be there":                                                                              motoEventrole,
	"a target's role must be there":                                                                            motoEventrole,
	"rules are listed by the start of their names":                                                             motoPrefix,
	"a bus with rules is not deleted":                                                                          motoBusrules,
	"a target of a service that has none is invalid":                                                           motoTargets,
	"a target has one input at most":                                                                           motoTargets,
	"a target's input is JSON":                                                                                 motoTargets,
	"a cluster needs its parameters":                                                                           motoTargets,
	"a stream needs a role":                                                                                    motoTargets,
	"a sixth target exceeds the quota":                                                                         motoQuota,
	"a bus that is not there fails for itself, in an answer of success":                                        motoEntries,
	"an integration of an HTTP API is filled in with its timeout, method and connection":                       "AWS answers connectionType INTERNET, as the CLI reference shows; moto leaves it out",
	"an integration of a WebSocket API is filled in with a shorter timeout and a pass-through":                 "AWS answers payloadFormatVersion 1.0, as the CLI reference shows; moto leaves it out",
	"children are listed page by page":                                                                         motoApipages,
	"a request parameter that is set to nothing goes, and the others stay":                                     "an update merges the map; moto replaces it, without what is empty",
	"an integration in use is not deleted":                                                                     motoChildren,
	"a second delete of an integration finds nothing":                                                          motoApimissing,
	"updating an integration that is not there":                                                                motoCrash,
	"an HTTP API's integration needs a payload format":                                                         motoApibounds,
	"an HTTP API has no mock integration":                                                                      motoApibounds,
	"an HTTP API has no request templates":                                                                     motoApibounds,
	"an integration's timeout is at least 50 ms":                                                               motoApibounds,
	"a private integration needs a link":                                                                       motoApibounds,
	"a WebSocket API's integration may not take 30 seconds":                                                    motoApibounds,
	"a second route with one key conflicts":                                                                    motoTwins,
	"a route's key changes in place, not to another route's":                                                   motoTwins,
	"an authorizer comes with the type of authorization, or not at all":                                        motoApibounds,
	"a route that anyone may call has no authorizer any more":                                                  "AWS drops the authorizer with the type that needs none; moto keeps it",
	"a route to an integration that is not there is refused":                                                   motoApibounds,
	"a route with an authorizer that is not there is refused":                                                  motoApibounds,
	"an HTTP route's key is a method and a path":                                                               motoApibounds,
	"a greedy variable ends a path":                                                                            motoApibounds,
	"an HTTP route needs no API key":                                                                           motoApibounds,
	"a request parameter that is not there":                                                                    motoCrash,
	"a second delete of a route finds nothing":                                                                 motoApimissing,
	"a function's answers are kept for 300 s where an identity source is given, and its URI comes back":        "AWS fills the time in; moto does not",
	"a second authorizer of one name is a bad request":                                                         motoTwins,
	"an authorizer in use is not deleted":                                                                      motoChildren,
	"an authorizer is updated, listed and deleted":                                                             motoNoChildren,
	"an eleventh authorizer exceeds the quota":                                                                 "a published quota that moto does not count",
	"an authorizer by tokens without an issuer is refused":                                                     motoApibounds,
	"a WebSocket API takes no tokens":                                                                          motoApibounds,
	"the authorizers of no API":                                                                                motoNoChildren,
	"updating an authorizer that is not there":                                                                 motoCrash,
	"a second stage of one name conflicts":                                                                     motoTwins,
	"an update merges settings, and a throttle that was set stays":                                             motoNoChildren,
	"a route's settings are taken away by their own call":                                                      motoNoChildren,
	"an access log is taken away by its own call":                                                              motoNoChildren,
	"an access log's destination comes back without :*":                                                        "practitioners see the ARN without it; moto keeps the text",
	"a stage variable that is set to nothing goes":                                                             motoNoChildren,
	"a stage's tags are set and taken away by its ARN":                                                         "TagResource takes a stage's ARN; moto knows only APIs'",
	"a stage that deploys by itself has a deployment after each change":                                        motoNoChildren,
	"a stage that deploys by itself is given no deployment":                                                    motoNoChildren,
	"settings of a route that is not there":                                                                    motoApibounds,
	"taking away settings that are not there":                                                                  motoNoChildren,
	"taking the access log from a stage that is not there":                                                     motoNoChildren,
	"an HTTP API has no execution log":                                                                         motoApibounds,
	"an access log's format has the request's ID":                                                              motoApibounds,
	"a stage's name has letters, digits, - and _ only":                                                         motoApibounds,
	"a second delete of a stage finds nothing":                                                                 motoApimissing,
	"a deployment is made, described, listed, and deleted when no stage serves it":                             motoNoChildren,
	"an API without routes is not deployed":                                                                    motoApibounds,
	"a deployment that a stage serves is not deleted":                                                          motoNoChildren,
	"a deployment that is not there":                                                                           motoNoChildren,
	"describing a deployment that is not there":                                                                motoNoChildren,
	"the deployments of no API":                                                                                motoNoChildren,
}

// startMoto starts moto_server on a free port and returns its URL once it answers.
func startMoto(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("skipped: needs moto_server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	cmd := exec.Command(bin, "-H", "127.0.0.1", "-p", port)
	cmd.Env = append(os.Environ(), "MOTO_IAM_LOAD_MANAGED_POLICIES=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a launcher may start the server as its child
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		cmd.Wait()                                      //nolint:errcheck // killed
	})
	url := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(url + "/moto-api/data.json")
		if err == nil {
			io.Copy(io.Discard, resp.Body) //nolint:errcheck // only whether it answers
			resp.Body.Close()
			return url
		}
		if time.Now().After(deadline) {
			t.Fatalf("moto_server does not answer: %v", err)
		}
	}
}

func TestMotoAgreesButWhereWeSayWhyNot(t *testing.T) {
	url := startMoto(t)
	known := map[string]bool{}
	for _, b := range behaviours() {
		known[b.claim] = true
		t.Run(b.claim, func(t *testing.T) {
			diff := motoCheck(t, b, newClients(t, url, plainKey, region))
			for range 2 {
				if !strings.Contains(diff, "read tcp ") { // moto closes a connection now and then, in the middle of an answer
					break
				}
				diff = motoCheck(t, b, newClients(t, url, plainKey, region))
			}
			reason, disagrees := motoDisagrees[b.claim]
			switch {
			case diff != "" && !disagrees:
				t.Error(diff)
			case diff == "" && disagrees:
				t.Errorf("moto agrees by now, but is said not to: %s", reason)
			}
		})
	}
	for claim := range motoDisagrees {
		if !known[claim] {
			t.Errorf("no such claim: %s", claim)
		}
	}
}

// motoCheck also counts an answer of moto's that lacks what a claim reads as a disagreement.
func motoCheck(t *testing.T, b behaviour, k clients) (diff string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			diff = strings.TrimSpace(fmt.Sprint("a member is missing: ", r))
		}
	}()
	return b.check(k)
}
