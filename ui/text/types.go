package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reclaim/engine/resource"
	"reclaim/ui/text/clean"
)

// Types lists the supported types.
func (pg Page) Types(list []*resource.Schema) string {
	w := pg.open()
	rows := [][]string{{"TYPE", "IDENTITY", "PROPERTIES", "TAGS", "WINDOW", "DATA"}}
	for _, s := range list {
		rows = append(rows, []string{s.Type, string(s.Identity), fmt.Sprint(len(s.Params)), orDash(string(s.Tags)),
			s.Window.String(), orDash(s.Data)})
	}
	w.table(0, rows)
	w.line()
	w.line("reclaim types TYPE shows the properties of one.")
	return w.String()
}

// Type shows everything the engine knows of one type.
func (pg Page) Type(s *resource.Schema) string {
	w := pg.open()
	w.line(w.paint(bold, s.Type))
	w.para(0, plain, s.Doc)
	row := func(label, text string) { w.labelled(2, 12, label, text, plain) }
	row("identity", string(s.Identity)+": "+secondCreate(s.Identity))
	row("key", strings.Join(s.Key, " + ")+", unique per "+string(s.Space))
	row("Ref", orDash(s.Ref))
	if s.Name != nil {
		row("name", fmt.Sprintf("%s is generated when it is not set, at most %d bytes", s.Name.Param, s.Name.Max))
	}
	row("tags", orNone(string(s.Tags)))
	row("window", s.Window.String()+": absence counts only after it")
	if s.DataBearing {
		row("data", s.Data+": deleted only with --allow-data-loss")
	}
	row("deadlines", fmt.Sprintf("call %s, settle %s, delete %s", s.Deadlines.Call, s.Deadlines.Settle, s.Deadlines.Delete))
	w.line()
	w.line("properties")
	for i := range s.Params {
		w.typeField(2, &s.Params[i], true)
	}
	w.line()
	w.line("outputs (GetAtt)")
	for _, o := range s.Outputs {
		w.labelled(2, 26, o.Name, o.Doc, plain)
	}
	if len(s.Outputs) == 0 {
		w.line("  none")
	}
	if len(s.Unsupported) > 0 {
		w.line()
		w.line("refused")
		for _, name := range slices.Sorted(maps.Keys(s.Unsupported)) {
			w.labelled(2, 26, name, s.Unsupported[name], plain)
		}
	}
	return w.String()
}

func (w *page) typeField(indent int, f *resource.Field, top bool) {
	w.line(strings.Repeat(" ", indent), fit(clean.Clean(f.Name), 28-indent), strings.Join(fieldWords(f, top), ", "))
	if f.Doc != "" {
		w.para(indent+4, faint, f.Doc)
	}
	for i := range f.Fields {
		w.typeField(indent+2, &f.Fields[i], false)
	}
	if f.Elem != nil {
		for i := range f.Elem.Fields {
			w.typeField(indent+2, &f.Elem.Fields[i], false)
		}
	}
}

// fieldWords describes a field: its type, what may be done with it, and its limits.
func fieldWords(f *resource.Field, top bool) []string {
	words := []string{typeWord(f)}
	if top {
		words = append(words, string(f.Mode))
	}
	for _, flag := range []struct {
		on   bool
		word string
	}{
		{f.Required, "required"}, {f.Sensitive, "sensitive"}, {f.WriteOnly, "write-only"}, {f.Set, "order does not count"},
		{f.Shared, "shared with others"}, {f.LocalPath, "local path"}, {f.ItemKey != "", "items by " + f.ItemKey},
		{f.Equal != resource.Exact, "compared as " + string(f.Equal)},
	} {
		if flag.on {
			words = append(words, flag.word)
		}
	}
	if f.Default.IsSet() {
		words = append(words, "default "+f.Default.String())
	}
	return append(words, limits(f)...)
}

func typeWord(f *resource.Field) string {
	if f.Elem != nil {
		return string(f.Type) + " of " + typeWord(f.Elem)
	}
	return string(f.Type)
}

func limits(f *resource.Field) []string {
	var words []string
	if len(f.Enum) > 0 {
		words = append(words, "one of "+strings.Join(f.Enum, " "))
	}
	if len(f.Ints) > 0 {
		words = append(words, "one of "+strings.Trim(fmt.Sprint(f.Ints), "[]"))
	}
	what := ""
	if f.Type != resource.TInt {
		what = "length "
	}
	switch {
	case f.Min != nil && f.Max != nil:
		words = append(words, fmt.Sprintf("%s%d to %d", what, *f.Min, *f.Max))
	case f.Min != nil:
		words = append(words, fmt.Sprintf("%sat least %d", what, *f.Min))
	case f.Max != nil:
		words = append(words, fmt.Sprintf("%sat most %d", what, *f.Max))
	}
	if f.Pattern != "" {
		words = append(words, "matches "+f.Pattern)
	}
	return words
}
