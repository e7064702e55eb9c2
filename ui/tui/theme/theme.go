// Package theme gives the parts of a screen their looks.
//
// Its one rule: a colour never says anything alone. Every state a colour marks is also a word on the screen, so the
// theme without colour loses nothing. Text colours keep WCAG AA contrast (4.5 to 1) on the backgrounds they are for, with
// all the colours of a terminal and with 256 or 16 of them.
package theme

import (
	"errors"
	"fmt"
	"image/color"
	"io/fs"
	"os"

	"github.com/charmbracelet/colorprofile"
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

// Theme is a set of styles, for each number of colours that a terminal may have. The zero Theme styles nothing.
type Theme struct {
	styles [depths][roles]ansi.Style
	depth  depth
}

// depth is how many colours a terminal has.
type depth uint8

const (
	depthAll depth = iota
	depth256
	depth16
	depths
)

// errNames is the message about a theme that there is not.
const errNames = "theme %q: want auto, dark, light, none or the name of a file"

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
	return Theme{}, fmt.Errorf(errNames, name)
}

// Load returns the theme of a name, or the one in a file.
func Load(name string) (Theme, error) {
	th, unknown := Parse(name)
	if unknown == nil {
		return th, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Theme{}, unknown
	}
	if err != nil {
		return Theme{}, fmt.Errorf("open theme: %w", err)
	}
	defer f.Close()
	return Read(name, f)
}

// For returns the theme for a background that turned out to be dark or light.
func For(isDark bool) Theme {
	if isDark {
		return coloured(dark)
	}
	return coloured(light)
}

// At returns the theme for a terminal with so many colours.
func (t Theme) At(p colorprofile.Profile) Theme {
	switch p {
	case colorprofile.ANSI256:
		t.depth = depth256
	case colorprofile.ANSI:
		t.depth = depth16
	default:
		t.depth = depthAll
	}
	return t
}

// Style returns text in the looks of a role.
func (t Theme) Style(r Role, text string) string {
	style := t.styles[t.depth][r]
	if len(style) == 0 || text == "" {
		return text
	}
	return style.Styled(text)
}

// colours are those of a theme on one kind of terminal. A nil colour is the terminal's own; without a colour for its back
// the selected line is reversed.
type colours struct {
	text, dim, rule, bad, warn, change, good, info color.Color
	selectedText, selectedBack                     color.Color
}

// palette is the colours of a theme on each kind of terminal.
type palette [depths]colours

func rgb(hex uint32) color.Color {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

func of256(i uint8) color.Color { return ansi.IndexedColor(i) }

func of16(i uint8) color.Color { return ansi.BasicColor(i) }

// The 16 colours look different on every terminal: on a dark background only the bright ones and light grey can be
// relied on, on a light one only red, magenta and blue. The last palette is for any background; of the 16 none is.
var (
	dark = palette{
		{dim: rgb(0x9aa4b2), rule: rgb(0x8a93a0), bad: rgb(0xff8080), warn: rgb(0xffb454),
			change: rgb(0xe6cc66), good: rgb(0x86d992), info: rgb(0x7fc4ff),
			selectedText: rgb(0xffffff), selectedBack: rgb(0x1f4a7a)},
		{dim: of256(248), rule: of256(246), bad: of256(210), warn: of256(215), change: of256(185), good: of256(114), info: of256(117),
			selectedText: of256(231), selectedBack: of256(24)},
		{dim: of16(7), rule: of16(7), bad: of16(9), warn: of16(11), change: of16(11), good: of16(10), info: of16(14),
			selectedText: of16(15), selectedBack: of16(4)},
	}
	light = palette{
		{dim: rgb(0x59636e), rule: rgb(0x636c76), bad: rgb(0xb3141d), warn: rgb(0x8a4b00),
			change: rgb(0x6f5600), good: rgb(0x0f6b2e), info: rgb(0x0a58a6),
			selectedText: rgb(0xffffff), selectedBack: rgb(0x0a58a6)},
		{dim: of256(241), rule: of256(241), bad: of256(124), warn: of256(94), change: of256(58), good: of256(22), info: of256(25),
			selectedText: of256(231), selectedBack: of256(25)},
		{bad: of16(1), warn: of16(5), change: of16(5), good: of16(4), info: of16(4), selectedText: of16(15), selectedBack: of16(4)},
	}
	either = palette{
		{dim: rgb(0x757575), rule: rgb(0x757575), bad: rgb(0xe0322d), warn: rgb(0xb45f06),
			change: rgb(0x8b7200), good: rgb(0x28862e), info: rgb(0x1077cb),
			selectedText: rgb(0xffffff), selectedBack: rgb(0x0a58a6)},
		{dim: of256(243), rule: of256(243), bad: of256(131), warn: of256(163), change: of256(98), good: of256(29), info: of256(63),
			selectedText: of256(231), selectedBack: of256(25)},
		{},
	}
)

func coloured(p palette) Theme {
	var t Theme
	for d, c := range p {
		t.styles[d] = c.styles()
	}
	return t
}

func (c colours) styles() [roles]ansi.Style {
	fg := func(c color.Color) ansi.Style {
		if c == nil {
			return nil
		}
		return ansi.NewStyle().ForegroundColor(c)
	}
	var s [roles]ansi.Style
	s[Plain] = fg(c.text)
	s[Dim] = fg(c.dim)
	s[Strong] = fg(c.text).Bold()
	s[Title] = fg(c.text).Bold()
	s[Rule] = fg(c.rule)
	s[Bad] = fg(c.bad).Bold()
	s[Warn] = fg(c.warn)
	s[Change] = fg(c.change)
	s[Good] = fg(c.good)
	s[Info] = fg(c.info)
	s[Key] = fg(c.info).Bold()
	if s[Selected] = ansi.NewStyle().Reverse(true); c.selectedBack != nil {
		s[Selected] = ansi.NewStyle().Bold().ForegroundColor(c.selectedText).BackgroundColor(c.selectedBack)
	}
	return s
}

func colourless() Theme {
	var s [roles]ansi.Style
	for _, r := range []Role{Strong, Title, Bad, Key} {
		s[r] = ansi.NewStyle().Bold()
	}
	s[Selected] = ansi.NewStyle().Reverse(true)
	return Theme{styles: [depths][roles]ansi.Style{s, s, s}}
}
