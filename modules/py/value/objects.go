package value

// Mapping is a dict whose entries are found when they are asked for, as hostvars and the variables of one
// of its hosts are. Whoever makes it binds the context it works in; it is used by one evaluation at a time.
type Mapping interface {
	Value
	// Lookup gives the entry of a key; false means that there is none. An *Undefined is an entry too.
	Lookup(key Value) (Value, bool, error)
	// Keys are the keys in order.
	Keys() ([]Value, error)
}

// Reticent is a mapping that does not print all of its keys, as Ansible's HostVars leaves out the localhost that it
// made up.
type Reticent interface {
	Mapping
	// PrintedKeys are those that it prints, in order.
	PrintedKeys() ([]Value, error)
}

// Branching is a mapping of mappings that are far away: an entry of one of them can be had without the rest.
type Branching interface {
	Mapping
	// Branch gives the entry key of the mapping name; false means that it must be looked for as in any mapping.
	Branch(name, key string) (Value, bool, error)
}

// Object is a value with attributes beside Python's own types: what templates reach with a dot.
type Object interface {
	Value
	// Attr gives an attribute; false means that there is none.
	Attr(name string) (Value, bool)
}

// Printer is an object that knows its str and repr.
type Printer interface {
	Value
	Str() string
	Repr() string
}

// Moment is a date, a time of day or both. Where there are no such values, as in JSON, it is text.
type Moment interface {
	Printer
	// ISO is it as ISO 8601 writes it.
	ISO() string
}

// Operand is an object with operators of its own.
type Operand interface {
	Value
	// Binary computes left op right, where one of them is the receiver; false means that it cannot.
	// op is + - * / // % **.
	Binary(op string, left, right Value) (Value, bool, error)
	// Compare orders the receiver and other: -1, 0, 1; false means that they have no order.
	Compare(other Value) (int, bool)
	// Key is HashKey of the receiver.
	Key() string
	// True is its truth.
	True() bool
}

// Func is a function that needs nothing but its arguments.
type Func struct {
	Name string
	// Self is what a method is bound to; nil for a function.
	Self Value
	Fn   func(args *Args) (Value, error)
}

// Type returns that of Python's own functions.
func (*Func) Type() string { return "builtin_function_or_method" }

// Namespace is what namespace() makes: the one thing whose attributes a template can set.
type Namespace struct{ Attrs Dict }

// Type names Jinja's class.
func (*Namespace) Type() string { return "Namespace" }

// QualifiedType names Jinja's class with its module.
func (*Namespace) QualifiedType() string { return "jinja2.utils.Namespace" }

// Attr returns an attribute that was set.
func (n *Namespace) Attr(name string) (Value, bool) { return n.Attrs.Get(name) }

// View is dict.keys(), dict.values() or dict.items().
type View struct {
	Dict *Dict
	// Kind is dict_keys, dict_values or dict_items.
	Kind string
}

// Type returns the kind.
func (v *View) Type() string { return v.Kind }

// Items returns what the view shows now.
func (v *View) Items() []Value {
	out := make([]Value, 0, v.Dict.Len())
	v.Dict.Each(func(k, item Value) bool {
		switch v.Kind {
		case "dict_values":
			k = item
		case "dict_items":
			k = NewTuple(k, item)
		}
		out = append(out, k)
		return true
	})
	return out
}

// Range is Python's range. Step is never 0.
type Range struct{ Start, Stop, Step int64 }

// Type is range.
func (Range) Type() string { return "range" }

// Len returns the number of elements.
func (r Range) Len() int64 {
	if r.Step > 0 && r.Start < r.Stop {
		return int64((uint64(r.Stop-r.Start)-1)/uint64(r.Step)) + 1
	}
	if r.Step < 0 && r.Start > r.Stop {
		return int64((uint64(r.Start-r.Stop)-1)/uint64(-r.Step)) + 1
	}
	return 0
}

// At is element i, 0 <= i < Len.
func (r Range) At(i int64) Value { return Int(r.Start + i*r.Step) }
