package screen

// What a screen may offer beyond Screen. The router gives each of them its keys; a screen without one has none of it.
type (
	// Finder is a Screen whose list or page can be searched with / and n, N.
	Finder interface {
		Screen
		// Find goes to the next place that holds text (dir 1), or the one before (-1), and on from the other end. It
		// returns which of how many it is; 0 of 0 when there is none.
		Find(f Frame, text string, dir int) (n, of int)
	}
	// Copier is a Screen that has more to copy than its command.
	Copier interface {
		Screen
		Copies() []Copy
	}
	// Keeper is a Screen that is, when it is opened again, as it was when it was left: filter, place, what is unfolded.
	// Never what was approved or chosen: that belongs to one visit.
	Keeper interface {
		Screen
		Keep() any
		Restore(kept any)
	}
)

// Copy is something to copy: what it is ("physical ID"), and its text.
type Copy struct{ What, Text string }
