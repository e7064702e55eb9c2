package awssim

import "net/http"

// operations is every operation that is served, by service and name. Tests enumerate it.
var operations map[string]map[string]operation

func init() { // a variable with this initialiser would refer to itself, through the faults that look operations up
	operations = map[string]map[string]operation{
		"sts":      table([]operation{{"GetCallerIdentity", nil, (*Server).getCallerIdentity}}),
		"iam":      table(roleOperations(), policyOperations(), profileOperations()),
		"dynamodb": table(tableOperations(), tableAspectOperations(), itemOperations()),
		"events":   table(ruleOperations(), eventBusOperations()),
		"lambda":   table(functionOperations(), settingOperations(), permissionOperations()),
		"logs":     table(logGroupOperations(), logDataOperations()),
		"apigateway": table(apiOperations(), integrationOperations(), routeOperations(), authorizerOperations(), stageOperations(),
			deploymentOperations()),
	}
}

func table(parts ...[]operation) map[string]operation {
	out := map[string]operation{}
	for _, part := range parts {
		for _, o := range part {
			out[o.name] = o
		}
	}
	return out
}

func (s *Server) getCallerIdentity(c *call) (any, *failure) {
	return struct{ Arn, UserId, Account string }{callerARN(c.account), "AIDASIMULATEDCALLER00", c.account}, nil
}

// born is the birth of an object that a call makes now.
func (c *call) born() Birth {
	return Birth{CreatedAt: c.now, VisibleAt: c.now.Add(c.lag), MadeBy: c.n}
}

// sees reports whether a read sees an object yet.
func (c *call) sees(b Birth) bool {
	return !c.now.Before(b.VisibleAt) && !(c.lag > 0 && c.now.Before(b.CreatedAt.Add(c.lag)))
}

func notFound(code, format string, args ...any) *failure {
	return fail(code, http.StatusNotFound, format, args...)
}
