package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// S4, S26
func TestTagChangeTouchesOnlyWhatConfigNamesOrNamed(t *testing.T) {
	type tags = map[string]string
	for why, c := range map[string]struct {
		desired, recorded, observed tags
		set                         tags
		remove                      []string
	}{
		"what is as it should be stays":                       {tags{"a": "1"}, tags{"a": "1"}, tags{"a": "1"}, tags{}, nil},
		"another value and a new one are set":                 {tags{"a": "2", "b": "1"}, tags{"a": "1"}, tags{"a": "1"}, tags{"a": "2", "b": "1"}, nil},
		"what was recorded and is not wanted is removed":      {tags{}, tags{"a": "1"}, tags{"a": "1", "theirs": "x"}, tags{}, []string{"a"}},
		"what is gone already is not removed":                 {tags{}, tags{"a": "1"}, tags{}, tags{}, nil},
		"what cannot be read is set and removed all the same": {tags{"a": "1"}, tags{"b": "1"}, nil, tags{"a": "1"}, []string{"b"}},
		"marks are neither set nor removed":                   {tags{"aws:x": "1", "reclaim:nonce": "n"}, tags{"reclaim:nonce": "n", "reclaim:store": "s"}, nil, tags{}, nil},
	} {
		t.Run(why, func(t *testing.T) {
			set, remove := wire.TagChange(c.desired, c.recorded, c.observed)
			if d := cmp.Diff(c.set, set); d != "" {
				t.Errorf("set (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.remove, remove); d != "" {
				t.Errorf("remove (-want +got):\n%s", d)
			}
		})
	}
}

func TestTagsOfEitherStyleAreRead(t *testing.T) {
	want := map[string]string{"a": "1", "b": ""}
	list := value.ListOf(value.Of(map[string]string{"Key": "a", "Value": "1"}), value.Of(map[string]string{"Key": "b", "Value": ""}),
		value.OfMap(value.Map{"Key": value.HashOf("00"), "Value": value.Of("x")}))
	for why, v := range map[string]value.Value{"a list, a hashed name left out": list, "a map": value.Of(want)} {
		if d := cmp.Diff(want, wire.Tags(v)); d != "" {
			t.Errorf("%s (-want +got):\n%s", why, d)
		}
	}
	if got := wire.Join(nil, nil); got != nil {
		t.Errorf("no tags are %v, want nil: services refuse an empty list", got)
	}
}

// What config did not say is not sent, above all no zeros.
func TestWhatIsAbsentStaysAbsent(t *testing.T) {
	for why, v := range map[string]value.Value{"absent": {}, "null": value.Of(nil)} {
		if wire.Text(v) != nil || wire.Int32(v) != nil || wire.Bool(v) != nil || wire.Strings(v) != nil {
			t.Errorf("%s becomes a value", why)
		}
	}
	if got := wire.Int32(value.Of("14")); got == nil || *got != 14 {
		t.Errorf("a number written as a string is %v, want 14", got)
	}
	if got := wire.Bool(value.Of("false")); got == nil || *got {
		t.Errorf("false written as a string is %v, want false", got)
	}
	if got := wire.Int32(value.Num("4294967297")); got != nil {
		t.Errorf("a number out of range is %d, want none", *got)
	}
	if got := wire.Strings(value.ListOf()); got == nil {
		t.Error("[] becomes none")
	}
}

func TestADocumentIsSentAsItWasWritten(t *testing.T) {
	text := `{"a" : "<b>"}`
	parsed, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for why, c := range map[string]struct {
		v    value.Value
		want string
	}{
		"a string as it is":                {value.Of(text), text},
		"an object without HTML's escapes": {parsed, `{"a":"<b>"}`},
		"a sensitive part in the clear":    {value.OfMap(value.Map{"k": value.Of("s").AsSensitive()}), `{"k":"s"}`},
	} {
		if got, err := wire.Document(c.v); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", why, got, err, c.want)
		}
	}
	if !wire.SameDocument(value.Of(text), parsed) || wire.SameDocument(value.Of(text), value.Of(`{"a":"c"}`)) {
		t.Error("documents are not compared by what they say")
	}
}

// S32
func TestConcealTakesSensitiveTextsOutOfAnError(t *testing.T) {
	secret := value.OfMap(value.Map{"deep": value.ListOf(value.Of("swordfish").AsSensitive())})
	err := wire.Conceal(&resource.Error{Kind: resource.Rejected, Code: "Bad", Executed: resource.No, Err: errors.New("no swordfish here")}, value.Map{"P": secret})
	if strings.Contains(err.Error(), "swordfish") || !resource.DefinitelyNotExecuted(err) || !strings.Contains(err.Error(), "Bad") {
		t.Errorf("error is %v, want its code and no secret", err)
	}
	plain := &resource.Error{Kind: resource.Rejected, Err: errors.New("no")}
	if got := wire.Conceal(plain, value.Map{"P": secret}); got != error(plain) {
		t.Errorf("an error without a secret became %v", got)
	}
	if wire.Conceal(nil, nil) != nil {
		t.Error("no error became one")
	}
}
