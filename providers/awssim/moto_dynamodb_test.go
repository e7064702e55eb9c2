package awssim

import "maps"

// Reasons that several claims about tables share.
const (
	motoTableTime   = "DynamoDB works on after its answer, as the model's statuses and ResourceInUseException tell; moto is done at once"
	motoTableID     = "the model has TableId in every description; moto returns none"
	motoTableBounds = "the service model or CreateTable's reference bounds it; moto does not check it"
	motoTableUpdate = "UpdateTable's reference tells it; moto takes any update"
	motoTableDrops  = "moto drops it"
	motoTableAbsent = "the operation's model lists ResourceNotFoundException; moto succeeds, or has another code"
)

func init() { maps.Copy(motoDisagrees, motoTables) }

// motoTables are the claims about DynamoDB that moto 5.2.1 does not keep.
var motoTables = map[string]string{
	"a table is CREATING first, says its ARN and its ID, and is ACTIVE a moment later": motoTableID,
	"a table made again is another: its ID differs":                                    motoTableID,
	"a deleted table is DELETING for a while, to its name and to a second delete":      motoTableTime,
	"the name of a table that is being deleted is in use":                              motoTableTime,
	"a table that is being made is not deleted":                                        motoTableTime,
	"a table that is being made is not updated":                                        motoTableTime,
	"time to live is ENABLING first and cannot be changed until it is ENABLED":         motoTableTime,
	"the count of items trails, so 0 means nothing":                                    "DescribeTable's reference: ItemCount is brought up to date about every six hours; moto counts at once",
	"a table that was never on demand has no billing mode summary":                     "as practitioners report; moto always returns one",
	"attribute definitions and projected attributes come back in the service's order":  "as practitioners report of perpetual differences; moto keeps the order",
	"a page of 101 tables is too long":                                                 motoTableBounds,
	"a table name of two characters is invalid":                                        motoTableBounds,
	"a table name with a slash is invalid":                                             motoTableBounds,
	"a key that begins with a sort key is refused":                                     motoTableBounds,
	"a provisioned table has no on-demand bounds":                                      motoTableBounds,
	"an index of a provisioned table needs units too":                                  motoTableBounds,
	"INCLUDE needs attributes to include":                                              motoTableBounds,
	"a local index without a table's sort key is refused":                              motoTableBounds,
	"a table class that does not exist is refused":                                     motoTableBounds,
	"36 days are too many to recover":                                                  motoTableBounds,
	"a policy that names nobody is refused":                                            motoTableDrops,
	"a policy that comes with the create is there":                                     motoTableDrops,
	"a caller cannot create a table with an aws: tag":                                  motoReserved,
	"an aws: tag cannot be put on a table":                                             motoReserved,
	"an index is made and removed, and its attribute goes with it":                     "CreateTable's reference: every definition is in use; moto keeps those of removed indexes",
	"two indexes in one update exceed the limit":                                       motoTableUpdate,
	"an index that is there already is refused":                                        "moto answers 500",
	"removing an index that is not there":                                              "moto answers 500",
	"an update that changes nothing is refused":                                        motoTableUpdate,
	"units that are the old ones are refused":                                          motoTableUpdate,
	"provisioned capacity without units is refused":                                    motoTableUpdate,
	"a table does not cool down":                                                       motoTableUpdate,
	"a second stream is refused while there is one":                                    "UpdateTable's reference says ValidationException; moto says ResourceInUseException",
	"no stream is turned off where there is none":                                      motoTableUpdate,
	"each stream has an ARN of its own, which is still told when it is off":            "moto turns no stream on a second time",
	"two kinds of change in one update are refused":                                    motoTableUpdate,
	"time to live that is off cannot be turned off":                                    "as practitioners report; moto succeeds",
	"contributor insights are turned on, in a mode":                                    motoUnserved,
	"a Kinesis stream is written to, in another precision, and no more":                motoUnserved,
	"deleting a policy that is not there succeeds":                                     "DeleteResourcePolicy's reference calls it idempotent; moto says ResourceNotFoundException",
	"tagging a table that is not there":                                                motoTableAbsent,
	"untagging a table that is not there":                                              motoTableAbsent,
	"reading time to live of a table that is not there":                                motoTableAbsent,
	"reading the contributor insights of a table that is not there":                    motoUnserved,
	"turning on the contributor insights of a table that is not there":                 motoUnserved,
	"reading the Kinesis streams of a table that is not there":                         motoUnserved,
	"turning on a Kinesis stream of a table that is not there":                         motoUnserved,
	"turning off a Kinesis stream of a table that is not there":                        motoUnserved,
	"changing a Kinesis stream of a table that is not there":                           motoUnserved,
}
