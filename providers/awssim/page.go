package awssim

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// page returns the items after a token, at most limit of them, in the order of their keys, and the token of the next page
// ("" for none). Tokens say after which key to go on, so objects that come or go between two pages shift nothing.
// ok is false for a token that this service did not give.
func page[T any](items []T, key func(T) string, token string, limit int) (out []T, next string, ok bool) {
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	if token != "" {
		after, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil || !strings.HasPrefix(string(after), "after:") {
			return nil, "", false
		}
		last := strings.TrimPrefix(string(after), "after:")
		items = slices.DeleteFunc(items, func(i T) bool { return key(i) <= last })
	}
	if len(items) <= limit {
		return items, "", true
	}
	items = items[:limit]
	return items, base64.RawURLEncoding.EncodeToString([]byte("after:" + key(items[limit-1]))), true
}

func itself(s string) string { return s }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// filter returns the items that keep accepts.
func filter[T any](items []T, keep func(T) bool) []T {
	out := []T{}
	for _, i := range items {
		if keep(i) {
			out = append(out, i)
		}
	}
	return out
}

func find[T any](items []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(items, is); i >= 0 {
		return items[i]
	}
	return nil
}

// streamKey orders log streams. Descending order turns every byte of the key round.
func streamKey(order string, descending bool) func(*LogStream) string {
	return func(st *LogStream) string {
		key := st.Name + "\x00"
		if order == "LastEventTime" {
			key = fmt.Sprintf("%020d %s", st.LastEvent, key)
		}
		if !descending {
			return key
		}
		b := []byte(key)
		for i := range b {
			b[i] = 255 - b[i]
		}
		return string(b)
	}
}
