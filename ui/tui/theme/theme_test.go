package theme

import (
	"image/color"
	"math"
	"strings"
	"testing"
)

// luminance is WCAG 2's relative luminance.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	part := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestEveryTextColourKeepsAAContrast(t *testing.T) {
	backs := map[string][]color.Color{
		"dark":   {rgb(0x000000), rgb(0x1e1e1e), rgb(0x282c34)},
		"light":  {rgb(0xffffff), rgb(0xfdf6e3)},
		"either": {rgb(0x000000), rgb(0xffffff)},
	}
	for name, p := range map[string]palette{"dark": dark, "light": light, "either": either} {
		texts := map[string]color.Color{
			"dim": p.dim, "rule": p.rule, "bad": p.bad, "warn": p.warn, "change": p.change, "good": p.good, "info": p.info,
		}
		for role, c := range texts {
			for _, back := range backs[name] {
				if got := contrast(c, back); got < 4.5 {
					t.Errorf("%s %s on %v: contrast %.2f, want 4.5", name, role, back, got)
				}
			}
		}
		if got := contrast(p.selectedText, p.selectedBack); got < 4.5 {
			t.Errorf("%s selected: contrast %.2f, want 4.5", name, got)
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
	if _, err := Parse("solarized"); err == nil || !strings.Contains(err.Error(), "auto, dark, light or none") {
		t.Errorf("got %v", err)
	}
}
