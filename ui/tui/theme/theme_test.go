package theme

import (
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// xterm are the 16 colours as xterm has them; ansi's own are those of the first PCs. What is relied on must be told
// apart with both.
var xterm = [16]uint32{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}

func looks(c color.Color) []color.Color {
	if b, ok := c.(ansi.BasicColor); ok {
		return []color.Color{c, rgb(xterm[b])}
	}
	return []color.Color{c}
}

func TestEveryTextColourKeepsAAContrast(t *testing.T) {
	backs := map[string][]color.Color{
		"dark":   {rgb(0x000000), rgb(0x1e1e1e), rgb(0x282c34)},
		"light":  {rgb(0xffffff), rgb(0xfdf6e3)},
		"either": {rgb(0x000000), rgb(0xffffff)},
	}
	for name, p := range map[string]palette{"dark": dark, "light": light, "either": either} {
		for d, c := range p {
			against := backs[name]
			if depth(d) == depth16 {
				against = against[:1] // a terminal of 16 colours has black or white
			}
			for key, v := range c.keys() {
				if *v == nil || key == "selected-background" {
					continue
				}
				behind := against
				if key == "selected-text" {
					behind = looks(c.selectedBack)
				}
				for _, text := range looks(*v) {
					for _, back := range behind {
						if got := Contrast(text, back); got < LeastContrast {
							t.Errorf("%s %s at depth %d on %v: contrast %.2f, want %.1f", name, key, d, back, got, LeastContrast)
						}
					}
				}
			}
		}
	}
}

var (
	of256Text = regexp.MustCompile(`[34]8[;:]5`)
	ofAllText = regexp.MustCompile(`[34]8[;:]2`)
)

// A terminal gets the colours that it has, and no style is left to be guessed from others.
func TestThemesUseTheColoursThatThereAre(t *testing.T) {
	for _, name := range []string{"auto", "dark", "light", "none"} {
		th, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for p, bad := range map[colorprofile.Profile]*regexp.Regexp{colorprofile.ANSI256: ofAllText, colorprofile.ANSI: regexp.MustCompile(`[34]8[;:]`)} {
			for r := range roles {
				if out := th.At(p).Style(r, "word"); bad.MatchString(out) {
					t.Errorf("%s, role %d, %s: %q", name, r, p, out)
				}
			}
			if th.At(p).Style(Selected, "word") == th.At(p).Style(Plain, "word") {
				t.Errorf("%s, %s: the selected line looks like every other", name, p)
			}
		}
		if out := th.At(colorprofile.ANSI256).Style(Info, "word"); name != "none" && !of256Text.MatchString(out) {
			t.Errorf("%s has no colours on a terminal of 256: %q", name, out)
		}
	}
}

func TestThemeNoneHasNoColour(t *testing.T) {
	none, err := Parse("none")
	if err != nil {
		t.Fatal(err)
	}
	for r := range roles {
		out := none.Style(r, "word")
		if strings.Contains(out, "38;") || strings.Contains(out, "48;") || !strings.Contains(out, "word") {
			t.Errorf("role %d: %q", r, out)
		}
	}
	if none.Style(Selected, "word") == none.Style(Plain, "word") {
		t.Error("the selected line looks like every other")
	}
}

func TestParseNamesWhatItTakes(t *testing.T) {
	for _, load := range []func(string) (Theme, error){Parse, Load} {
		if _, err := load("solarized"); err == nil || !strings.Contains(err.Error(), "auto, dark, light, none or the name of a file") {
			t.Errorf("got %v", err)
		}
	}
}

func TestThemeFileSetsColours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "paper")
	text := "# for a paper white terminal\nbase: light\n\nbad : #880000\ninfo: #004488\nselected-background: #004400\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	th, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := Parse("light")
	for r, want := range map[Role]string{Bad: "38;2;136;0;0", Info: "38;2;0;68;136", Key: "38;2;0;68;136", Selected: "48;2;0;68;0"} {
		if got := th.Style(r, "x"); !strings.Contains(got, want) {
			t.Errorf("role %d: %q, want %s in it", r, got, want)
		}
	}
	if th.Style(Good, "x") != plain.Style(Good, "x") {
		t.Error("what the file does not set comes from its base")
	}
	if out := th.At(colorprofile.ANSI256).Style(Bad, "x"); !of256Text.MatchString(out) || out == plain.At(colorprofile.ANSI256).Style(Bad, "x") {
		t.Errorf("of 256 colours the nearest is taken: %q", out)
	}
}

// The documented example is a theme, and every key is documented.
func TestThemesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/themes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```\n")
	example, _, ok := strings.Cut(example, "```")
	if _, err := Read("example", strings.NewReader(example)); err != nil || !ok {
		t.Errorf("example: %v", err)
	}
	for key := range (&colours{}).keys() {
		if !strings.Contains(string(page), "`"+key+"`") {
			t.Errorf("%s is not documented", key)
		}
	}
}

func TestBadThemeFileNamesTheLine(t *testing.T) {
	for why, c := range map[string]struct{ text, want string }{
		"a key that there is not":           {"base: dark\nhighlight: #ffffff\n", `f:2: no key "highlight": want base, background, bad, change`},
		"no colon":                          {"\nbad #ffffff", `f:2: "bad #ffffff": want a key, a colon and a value`},
		"a colour by name":                  {"bad: red", `f:1: bad: colour "red": want #rrggbb`},
		"a short colour":                    {"bad: #fff", `want #rrggbb`},
		"a base that there is not":          {"base: dim", `f:1: base "dim": want dark or light`},
		"a key set twice":                   {"bad: #ff9999\nbad: #ffaaaa", "f:2: bad was set on line 1 already"},
		"what cannot be read":               {"base: dark\ndim: #333333", "f:2: dim on background has contrast 1.7"},
		"nor on the background there is":    {"# mine\nbackground: #808080", "f:2: "},
		"nor selected":                      {"selected-text: #000000", "f:1: selected-text on selected-background"},
		"an escape sequence is shown":       {"\x1b[31m: x", `f:1: no key "\x1b[31m"`},
		"light colours for a dark terminal": {"base: light\nbackground: #000000", "f:2: "},
	} {
		if _, err := Read("f", strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", why, err, c.want)
		}
	}
}
