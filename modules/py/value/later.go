package value

// Later is an entry of a dict that is made when somebody reads it, once: a template that nobody uses is not rendered,
// and the entries of a dict may use each other. It is what was made for everybody but those who ask Dict.Kept. Values
// that leave an evaluation hold none.
type Later struct {
	make func() Value
	v    Value
	busy bool
}

// NewLater returns an entry that make makes. loop is what it is for make itself.
func NewLater(make func() Value, loop Value) *Later { return &Later{make: make, v: loop} }

// Type returns that of the entry.
func (l *Later) Type() string { return l.Value().Type() }

// Value returns the entry.
func (l *Later) Value() Value {
	if l.make == nil || l.busy {
		return l.v
	}
	l.busy = true
	l.v = l.make()
	l.make = nil
	return l.v
}
