package value

// Printed is v as Python's str prints it, for messages: what cannot be printed (an undefined variable, a vault
// without its password) gives the name of its type.
func Printed(v Value) string {
	s, err := ToStr(v)
	if err != nil {
		return v.Type()
	}
	return s
}

// PrintedRepr is Printed with Python's repr.
func PrintedRepr(v Value) string {
	s, err := Repr(v)
	if err != nil {
		return v.Type()
	}
	return s
}

// Falsy reports whether v is false to Python; what has no truth is not.
func Falsy(v Value) bool {
	truth, err := Truth(v)
	return err == nil && !truth
}

// Same reports whether two values are equal; those that cannot be compared are not.
func Same(a, b Value) bool {
	equal, err := Equal(a, b)
	return err == nil && equal
}

// OrNone is v, or None in place of nil.
func OrNone(v Value) Value {
	if v == nil {
		return None{}
	}
	return v
}

// Items returns the elements of a list or tuple; false for everything else.
func Items(v Value) ([]Value, bool) {
	switch v := v.(type) {
	case *List:
		return v.Items, true
	case *Tuple:
		return v.Items, true
	}
	return nil, false
}
