package theme

import (
	"bufio"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"reclaim/ui/text/clean"
)

// LeastContrast is what a text and what is behind it keep apart: WCAG 2's level AA.
const LeastContrast = 4.5

// longestFile bounds a theme file, in bytes.
const longestFile = 64 << 10

// keys are what a theme file may set, apart from base and background.
func (c *colours) keys() map[string]*color.Color {
	return map[string]*color.Color{"text": &c.text, "dim": &c.dim, "rule": &c.rule, "bad": &c.bad, "warn": &c.warn, "change": &c.change,
		"good": &c.good, "info": &c.info, "selected-text": &c.selectedText, "selected-background": &c.selectedBack}
}

// Read reads a theme file: one "key: value" on a line, lines that begin with # are remarks. base is dark or light and
// gives what is not set; background is what the terminal has, black or white unless set; the others are colours,
// written #rrggbb, and must be told apart from it. An error names the file and the line.
func Read(name string, from io.Reader) (Theme, error) {
	lines := bufio.NewScanner(io.LimitReader(from, longestFile))
	base, back, set := dark, rgb(0x000000), map[string]color.Color{}
	at := map[string]int{}
	fail := func(line int, format string, args ...any) (Theme, error) {
		return Theme{}, fmt.Errorf("theme %s:%d: %s", clean.Clean(name), line, clean.Clean(fmt.Sprintf(format, args...)))
	}
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, v, ok := strings.Cut(text, ":")
		key, v = strings.TrimSpace(key), strings.TrimSpace(v)
		if !ok {
			return fail(n, "%q: want a key, a colon and a value", text)
		}
		if at[key] > 0 {
			return fail(n, "%s was set on line %d already", key, at[key])
		}
		at[key] = n
		_, known := base[depthAll].keys()[key]
		switch {
		case key == "base" && v == string(Light):
			base = light
			if at["background"] == 0 {
				back = rgb(0xffffff)
			}
		case key == "base" && v == string(Dark):
		case key == "base":
			return fail(n, "base %q: want dark or light", v)
		case key != "background" && !known:
			return fail(n, "no key %q: want base, background, %s", key, strings.Join(slices.Sorted(maps.Keys(base[depthAll].keys())), ", "))
		default:
			c, err := hex(v)
			if err != nil {
				return fail(n, "%s: %v", key, err)
			}
			if key == "background" {
				back = c
				continue
			}
			set[key] = c
		}
	}
	if err := lines.Err(); err != nil {
		return Theme{}, fmt.Errorf("read theme %s: %w", clean.Clean(name), err)
	}
	p := base
	p[depthAll] = with(base[depthAll], set)
	for _, key := range slices.Sorted(maps.Keys(p[depthAll].keys())) {
		behind, where := back, "background"
		switch key {
		case "selected-background":
			continue
		case "selected-text":
			behind, where = p[depthAll].selectedBack, "selected-background"
		}
		c := *p[depthAll].keys()[key]
		line := max(at[key], at[where], at["base"]) // the colour, or what it stands on
		if at[key] > 0 {
			line = at[key]
		}
		if got := Contrast(c, behind); c != nil && got < LeastContrast {
			return fail(max(line, 1), "%s on %s has contrast %.1f; it cannot be read below %.1f", key, where, got, LeastContrast)
		}
	}
	p[depth256] = in256(base[depth256], p[depthAll], set, back)
	return coloured(p), nil
}

// hex reads #rrggbb.
func hex(s string) (color.Color, error) {
	digits, ok := strings.CutPrefix(s, "#")
	n, err := strconv.ParseUint(digits, 16, 32)
	if !ok || len(digits) != 6 || err != nil {
		return nil, fmt.Errorf("colour %q: want #rrggbb", s)
	}
	return rgb(uint32(n)), nil
}

func with(c colours, set map[string]color.Color) colours {
	for key, v := range set {
		*c.keys()[key] = v
	}
	return c
}

// in256 puts the nearest of 256 colours for those that were set, where they can still be read; else the base's.
func in256(base, all colours, set map[string]color.Color, back color.Color) colours {
	near := func(c color.Color) color.Color { return colorprofile.ANSI256.Convert(c) }
	for key, v := range set {
		if !strings.HasPrefix(key, "selected") && Contrast(near(v), back) >= LeastContrast {
			*base.keys()[key] = near(v)
		}
	}
	if text, behind := near(all.selectedText), near(all.selectedBack); Contrast(text, behind) >= LeastContrast {
		base.selectedText, base.selectedBack = text, behind
	}
	return base
}

// Contrast is WCAG 2's contrast of two colours, from 1 to 21. What is not set counts as told apart.
func Contrast(a, b color.Color) float64 {
	if a == nil || b == nil {
		return 21
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

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
