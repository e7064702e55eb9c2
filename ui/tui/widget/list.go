package widget

// Cursor is a place in a list that may be longer than the screen. The zero Cursor is at the start.
type Cursor struct {
	At  int // the row chosen
	top int // the first row in view
}

// Move goes n rows down (up when negative) in a list of count rows and stops at its ends.
func (c *Cursor) Move(n, count int) { c.Set(c.At+n, count) }

// Set goes to a row, or to the nearest there is.
func (c *Cursor) Set(at, count int) { c.At = min(max(at, 0), max(count-1, 0)) }

// Window returns the rows in view of a list of count rows on height lines: from and up to, not including, to. It
// scrolls as little as it must. Rows out of view are never drawn, so a list costs the same whatever its length.
func (c *Cursor) Window(count, height int) (from, to int) {
	if height <= 0 || count <= 0 {
		return 0, 0
	}
	c.Set(c.At, count)
	c.top = min(c.top, c.At)
	c.top = max(c.top, c.At-height+1, 0)
	c.top = min(c.top, max(count-height, 0))
	return c.top, min(c.top+height, count)
}

// Scroll is a place in a text that is read by pages. The zero Scroll is at the start.
type Scroll struct {
	top   int
	found int // the line that was found last, from 1; 0 for none since it was moved
}

// Move goes n lines down (up when negative).
func (s *Scroll) Move(n int) { s.top, s.found = max(s.top+n, 0), 0 }

// Window returns the lines in view, and how many are above and below.
func (s *Scroll) Window(b Block, height int) (view Block, above, below int) {
	s.top = min(s.top, max(len(b)-height, 0))
	end := min(s.top+max(height, 0), len(b))
	return b[s.top:end], s.top, len(b) - end
}
