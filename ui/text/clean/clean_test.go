package clean_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/ui/text/clean"
)

func TestClean(t *testing.T) {
	for why, c := range map[string]struct{ in, want string }{
		"plain text is left alone":                         {"orders-prod-OrdersRole-7f3a9c21", "orders-prod-OrdersRole-7f3a9c21"},
		"letters of other scripts are left alone":          {"größe 注文 заказы 🚀", "größe 注文 заказы 🚀"},
		"an escape sequence is shown, not emitted":         {"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		"an OSC 52 clipboard write is shown":               {"\x1b]52;c;cm0=\a", `\x1b]52;c;cm0=\x07`},
		"line ends stay on one line":                       {"a\r\nb\tc", `a\r\nb\tc`},
		"a C1 control is an escape too":                    {"a\u009b31m", "a<U+009B>31m"},
		"a raw C1 byte is no UTF-8 and is shown as a byte": {"a\x9b31m", `a\x9b31m`},
		"a bidi override cannot turn a name around":        {"role\u202egpj", "role<U+202E>gpj"},
		"a bidi isolate is shown":                          {"\u2066x\u2069", "<U+2066>x<U+2069>"},
		"two names that differ by nothing visible differ":  {"ad\u200bmin", "ad<U+200B>min"},
		"a line separator makes no line":                   {"a\u2028b", "a<U+2028>b"},
		"a blank letter is shown":                          {"\u3164", "<U+3164>"},
		"a tag character is shown":                         {"a\U000e0041", "a<U+E0041>"},
		"an accent on its letter is left alone":            {"e\u0301", "e\u0301"},
		"a mark with nothing to stand on is shown":         {"\u0301x", "<U+0301>x"},
		"a tower of marks is cut":                          {"e\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301<U+0301>"},
		"nothing stays nothing":                            {"", ""},
	} {
		if got := clean.Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", why, c.in, got, c.want)
		}
	}
}

func TestLinesSplitsBeforeItCleans(t *testing.T) {
	want := []string{"first", `sec\x1bond`, ""}
	if d := cmp.Diff(want, clean.Lines("first\r\nsec\x1bond\n")); d != "" {
		t.Error(d)
	}
}

func TestCleanOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		out := clean.Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("control passed at %d: %q", i, out)
		}
		if again := clean.Clean(out); again != out {
			t.Fatalf("cleaning twice changed it: %q, %q", out, again)
		}
		if in != "" && out == "" {
			t.Fatal("text was dropped")
		}
	})
}
