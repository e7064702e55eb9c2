package value

import (
	"strconv"
	"strings"
)

// EqualNumber compares two decimal texts as numbers, exactly: "1.0" equals "1", and "1e3" equals "1000". Texts that are
// no decimal numbers are equal when they are the same text.
func EqualNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okA := parseDecimal(a)
	y, okB := parseDecimal(b)
	return okA && okB && x == y
}

// decimal is sign, digits and power of ten of a number. One number has one decimal: digits neither begin nor end with
// 0, and zero is the zero decimal.
type decimal struct {
	sign, digits string // "" or "-"; no digits are zero
	exp          int
}

// maxExponent bounds powers of ten: numbers beyond it are no numbers of any service.
const maxExponent = 1 << 20

func parseDecimal(text string) (decimal, bool) {
	var d decimal
	if rest, minus := strings.CutPrefix(text, "-"); minus {
		d.sign, text = "-", rest
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil || n > maxExponent || n < -maxExponent {
			return decimal{}, false
		}
		d.exp, text = n, text[:i]
	}
	whole, fraction, dotted := strings.Cut(text, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return decimal{}, false
	}
	d.exp -= len(fraction)
	significant := strings.TrimRight(whole+fraction, "0")
	d.exp += len(whole+fraction) - len(significant)
	if d.digits = strings.TrimLeft(significant, "0"); d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

// canonicalNumber is the same for equal numbers.
func canonicalNumber(text string) string {
	d, ok := parseDecimal(text)
	if !ok {
		return text
	}
	return d.sign + d.digits + "e" + strconv.Itoa(d.exp)
}
