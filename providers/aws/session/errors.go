package session

import (
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"reclaim/engine/resource"
)

// common maps error codes that mean the same in every service. Throttled, denied and expired requests were not
// carried out, whatever HTTP status they came with.
var common = map[string]resource.Kind{
	"Throttling":                resource.Throttled,
	"ThrottlingException":       resource.Throttled,
	"ThrottledException":        resource.Throttled,
	"TooManyRequestsException":  resource.Throttled,
	"RequestThrottled":          resource.Throttled,
	"RequestThrottledException": resource.Throttled,
	"RequestLimitExceeded":      resource.Throttled,
	"SlowDown":                  resource.Throttled,

	"AccessDenied":                        resource.AccessDenied,
	"AccessDeniedException":               resource.AccessDenied,
	"UnauthorizedOperation":               resource.AccessDenied,
	"AuthorizationError":                  resource.AccessDenied,
	"ForbiddenException":                  resource.AccessDenied,
	"OptInRequired":                       resource.AccessDenied,
	"InvalidClientTokenId":                resource.AccessDenied,
	"UnrecognizedClientException":         resource.AccessDenied,
	"SignatureDoesNotMatch":               resource.AccessDenied,
	"InvalidSignatureException":           resource.AccessDenied,
	"IncompleteSignature":                 resource.AccessDenied,
	"IncompleteSignatureException":        resource.AccessDenied,
	"MissingAuthenticationToken":          resource.AccessDenied,
	"MissingAuthenticationTokenException": resource.AccessDenied,
	"RequestTimeTooSkewed":                resource.AccessDenied,
	"InvalidAccessKeyId":                  resource.AccessDenied,
	"NotAuthorized":                       resource.AccessDenied,
	"AuthFailure":                         resource.AccessDenied,

	"ExpiredToken":          resource.Expired,
	"ExpiredTokenException": resource.Expired,
	"RequestExpired":        resource.Expired,
}

// nameless are the codes the SDK makes up when an error answer carried none: a proxy's, say.
var nameless = map[string]bool{"": true, "UnknownError": true}

// Invalid is the error of an answer that arrived and makes no sense.
func Invalid(operation, why string) error {
	return &resource.Error{Kind: resource.ReadInvalid, Op: operation, Executed: resource.No, Err: errors.New(why)}
}

// Unacknowledged is the error of a changing call whose success did not say what it made.
func Unacknowledged(operation string, r Reply, why string) error {
	return &resource.Error{Kind: resource.Uncertain, Op: operation, RequestID: r.RequestID, Executed: resource.Perhaps, Err: errors.New(why)}
}

// classify types an error of one call, from what w saw on the wire and by the service's code.
func (s *Service) classify(err error, w *watch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &resource.Error{RequestID: w.last.RequestID, ServedAt: w.last.ServedAt, Err: err}
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		e.Op, e.Err = op.OperationName, op.Err
	}
	read := reads(e.Op)
	if _, ok := errors.AsType[*credentialsError](err); ok && !w.left {
		e.Kind, e.Executed = resource.Expired, resource.No
		e.Err = fmt.Errorf("%w; next: %s", e.Err, s.renew())
		return e
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok && w.answered {
		e.Kind, e.Executed = s.kindOf(api.ErrorCode(), w.last.Status)
		if !nameless[api.ErrorCode()] {
			e.Code = api.ErrorCode()
		}
		if e.Kind == resource.Expired {
			e.Err = fmt.Errorf("%w; next: %s", e.Err, s.renew())
		}
	} else {
		e.Kind, e.Executed = s.withoutCode(w, read)
	}
	if w.left {
		e.Executed = resource.Perhaps // an earlier attempt got no answer, whatever this one says
	}
	if read {
		e.Executed = resource.No // a read changes nothing
	}
	return e
}

// kindOf classifies an error answer.
func (s *Service) kindOf(code string, status int) (resource.Kind, resource.Tri) {
	if kind, ok := s.codes[code]; ok {
		if kind == resource.Uncertain {
			return kind, resource.Perhaps
		}
		return kind, resource.No
	}
	if kind, ok := common[code]; ok {
		return kind, resource.No
	}
	if status >= 400 && status < 500 && status != 408 && !nameless[code] {
		return resource.Rejected, resource.No
	}
	return resource.Uncertain, resource.Perhaps
}

// withoutCode classifies a failure that is no error answer of the service.
func (s *Service) withoutCode(w *watch, read bool) (resource.Kind, resource.Tri) {
	switch {
	case !w.answered && !w.left && w.last.Status == 0: // nothing left this machine: validation, signing, DNS, connection refused
		if read {
			return resource.Uncertain, resource.No
		}
		return resource.Rejected, resource.No
	case w.answered && read && w.last.Status < 300: // arrived, and could not be understood
		return resource.ReadInvalid, resource.No
	default:
		return resource.Uncertain, resource.Perhaps
	}
}

// Gone reports whether err says that what a call was about is not there: for a call that removes, it is done.
func Gone(err error) bool { return resource.Is(err, resource.NotFound) }

// SkipGone is err, or nil when it says that what was to be removed is not there.
func SkipGone(err error) error {
	if Gone(err) {
		return nil
	}
	return err
}
