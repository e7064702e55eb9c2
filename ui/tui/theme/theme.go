// Package theme gives the parts of a screen their looks.
//
// Its one rule: a colour never says anything alone. Every state a colour marks is also a word on the screen, so the
// theme without colour loses nothing. Text colours keep WCAG AA contrast (4.5 to 1) on the backgrounds they are for.
package theme

import (
	"fmt"
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Role is what a piece of text is, not what it looks like.
type Role uint8

const (
	Plain  Role = iota
	Dim         // what can be skipped: ages, folded counts, sources
	Strong      // what the line is about
	Title       // the header
	Rule        // lines between the parts
	Bad         // blocked, destroyed, against
	Warn        // needs a second look: replace, adopt, missing
	Change      // update
	Good        // create, done, for
	Info        // reclaim, verdicts
	Key         // the key in "A approve"
	// Selected is the line under the cursor. It has one look, whatever its parts are, so that nothing on it can lose
	// its contrast.
	Selected
	roles
)

// Name is one of the names that --theme takes.
type Name string

const (
	Auto  Name = "auto" // asks the terminal for its background; legible on any until it answers
	Dark  Name = "dark"
	Light Name = "light"
	None  Name = "none" // no colour: bold, faint and reverse only
)

// Theme is a set of styles. The zero Theme styles nothing.
type Theme struct{ styles [roles]ansi.Style }

// Parse returns the theme of a name; auto starts as one whose colours can be read on black and on white.
func Parse(name string) (Theme, error) {
	switch Name(name) {
	case Auto, "":
		return coloured(either), nil
	case Dark:
		return coloured(dark), nil
	case Light:
		return coloured(light), nil
	case None:
		return colourless(), nil
	}
	return Theme{}, fmt.Errorf("theme %q: want auto, dark, light or none", name)
}

// For returns the theme for a background that turned out to be dark or light.
func For(isDark bool) Theme {
	if isDark {
		return coloured(dark)
	}
	return coloured(light)
}

// Style returns text in the looks of a role.
func (t Theme) Style(r Role, text string) string {
	if len(t.styles[r]) == 0 || text == "" {
		return text
	}
	return t.styles[r].Styled(text)
}

// palette is the colours of a theme. A nil colour is the terminal's own.
type palette struct {
	text, dim, rule, bad, warn, change, good, info color.Color
	selectedText, selectedBack                     color.Color
}

func rgb(hex uint32) color.Color {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

var (
	dark = palette{
		dim: rgb(0x9aa4b2), rule: rgb(0x8a93a0), bad: rgb(0xff8080), warn: rgb(0xffb454),
		change: rgb(0xe6cc66), good: rgb(0x86d992), info: rgb(0x7fc4ff),
		selectedText: rgb(0xffffff), selectedBack: rgb(0x1f4a7a),
	}
	light = palette{
		dim: rgb(0x59636e), rule: rgb(0x636c76), bad: rgb(0xb3141d), warn: rgb(0x8a4b00),
		change: rgb(0x6f5600), good: rgb(0x0f6b2e), info: rgb(0x0a58a6),
		selectedText: rgb(0xffffff), selectedBack: rgb(0x0a58a6),
	}
	// either has one luminance, 0.18, which is 4.5 to 1 on black and on white.
	either = palette{
		dim: rgb(0x757575), rule: rgb(0x757575), bad: rgb(0xe0322d), warn: rgb(0xb45f06),
		change: rgb(0x8b7200), good: rgb(0x28862e), info: rgb(0x1077cb),
		selectedText: rgb(0xffffff), selectedBack: rgb(0x0a58a6),
	}
)

func coloured(p palette) Theme {
	fg := func(c color.Color) ansi.Style {
		if c == nil {
			return nil
		}
		return ansi.NewStyle().ForegroundColor(c)
	}
	var t Theme
	t.styles[Plain] = fg(p.text)
	t.styles[Dim] = fg(p.dim)
	t.styles[Strong] = fg(p.text).Bold()
	t.styles[Title] = fg(p.text).Bold()
	t.styles[Rule] = fg(p.rule)
	t.styles[Bad] = fg(p.bad).Bold()
	t.styles[Warn] = fg(p.warn)
	t.styles[Change] = fg(p.change)
	t.styles[Good] = fg(p.good)
	t.styles[Info] = fg(p.info)
	t.styles[Key] = fg(p.info).Bold()
	t.styles[Selected] = ansi.NewStyle().Bold().ForegroundColor(p.selectedText).BackgroundColor(p.selectedBack)
	return t
}

func colourless() Theme {
	var t Theme
	for _, r := range []Role{Strong, Title, Bad, Key} {
		t.styles[r] = ansi.NewStyle().Bold()
	}
	t.styles[Selected] = ansi.NewStyle().Reverse(true)
	return t
}
