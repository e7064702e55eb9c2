package awssim

import "maps"

const (
	motoLambdaBounds = "Lambda's model or reference bounds it; moto checks few values of functions"
	motoLambdaParts  = "moto drops LoggingConfig, DeadLetterConfig and other parts of a configuration"
	motoLambdaState  = "Lambda's states page: a function is Pending, and takes one change at a time; moto's is Active at once"
	motoLambdaRole   = "Lambda must be able to assume the role, says CreateFunction's reference; moto only looks whether it is there"
	motoLambdaPaths  = "moto does not serve the operation, and answers an HTML page"
)

// motoLambdaDisagrees are the claims about Lambda that moto 5.2.1 does not keep.
var motoLambdaDisagrees = map[string]string{
	"a function comes back with all that it was created with":                      motoLambdaParts,
	"a function without options has the service's defaults and no more":            motoLambdaParts,
	"a log in JSON has the level INFO where none is set":                           motoLambdaParts,
	"an architecture is changed with the code":                                     "UpdateFunctionCode has Architectures; moto does not read it",
	"a function is pending first, and says why":                                    motoLambdaState,
	"a function that is pending takes no update: a conflict too":                   motoLambdaState,
	"a function takes one update at a time":                                        motoLambdaState,
	"an update of an old revision is refused":                                      "the model has RevisionId; moto reads it for policies only",
	"functions are listed page by page, without their state":                       "ListFunctions' reference has MaxItems and lists what it leaves out; moto answers all of everything",
	"a function is named by name, by account and name, and by ARN":                 "the reference lists partial ARNs; moto crashes with a 500",
	"a function of another region is not found by its ARN":                         "moto looks at the name in an ARN only",
	"a function whose role may not write logs makes no log group":                  "the function writes its logs as its role; moto always makes the group",
	"a role that trusts somebody else cannot be assumed":                           motoLambdaRole,
	"a role that was made a moment ago cannot be assumed yet, and nothing is made": "practitioners' reports: a role takes seconds to be known everywhere; moto knows it at once",
	"a role of another account cannot be passed":                                   "denials have status 403; moto answers its code with 400",
	"a memory of 64 MB is out of bounds":                                           motoLambdaBounds,
	"a timeout of 901 seconds is out of bounds":                                    motoLambdaBounds,
	"a function name with a dot is out of bounds":                                  motoLambdaBounds,
	"a function of an archive needs a handler":                                     motoLambdaBounds,
	"a runtime that there is not is refused":                                       motoLambdaBounds,
	"an image has no handler":                                                      motoLambdaBounds,
	"code that is no archive is refused":                                           motoLambdaBounds,
	"code from two places is refused":                                              motoLambdaBounds,
	"SnapStart of a runtime that has none is refused":                              motoLambdaBounds,
	"subnets without security groups are refused":                                  motoLambdaBounds,
	"a file system outside of a VPC is refused":                                    motoLambdaBounds,
	"a log level of a log in plain text is refused":                                motoLambdaBounds,
	"a variable that Lambda sets itself is refused":                                motoLambdaBounds,
	"a variable's name with a dash is out of bounds":                               motoLambdaBounds,
	"variables over 4 KB are refused":                                              motoLambdaBounds,
	"a function that was not made for it never gets durable":                       motoLambdaBounds,
	"a marker of functions that no page gave is refused":                           motoLambdaBounds,
	"the last 100 executions of an account cannot be reserved":                     "a published quota; moto counts up to the whole of it",
	"a caller cannot create a function with an aws: tag":                           motoReserved,
	"an aws: tag cannot be put on a function":                                      motoReserved,
	"the loops of a function that is not there":                                    motoLambdaPaths,
	"allowing the loops of a function that is not there":                           motoLambdaPaths,
	"the runtime updates of a function that is not there":                          motoLambdaPaths,
	"signing the code of a function that is not there":                             motoLambdaPaths,
	"no longer signing the code of a function that is not there":                   motoLambdaPaths,
	"loops end, unless they are allowed":                                           motoLambdaPaths,
	"a runtime is updated by itself, unless it is held at a version":               motoLambdaPaths,
	"a runtime is held at a version that is named":                                 motoLambdaPaths,
	"code signing is set, read and taken away":                                     motoLambdaPaths,
	"a permission for a service is a statement with its conditions":                "EventSourceToken is a condition at AWS; moto takes it out",
	"an account that may call comes back as its root's ARN":                        "IAM resolves principals when a policy is saved; moto keeps the number",
	"a second permission of the same statement ID conflicts":                       "the model lists ResourceConflictException; moto adds a second one",
	"a permission for nobody that there is is refused":                             "AWS looks the principal up; moto takes any",
	"a function URL's kind of callers goes with its own action only":               motoLambdaBounds,
	"a statement ID with a dot is out of bounds":                                   motoLambdaBounds,
	"$LATEST has no policy of its own":                                             motoLambdaBounds,
}

func init() { maps.Copy(motoDisagrees, motoLambdaDisagrees) }
