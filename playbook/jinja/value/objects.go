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

// Error is a Python exception: an operation that Python refuses, in its words.
type Error struct {
	// Type is the class: TypeError, ValueError, ZeroDivisionError, ...; AnsibleFilterError and its like for
	// what Ansible's own plug-ins raise.
	Type string
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// UndefinedError is the strict use of an undefined value.
type UndefinedError struct {
	Msg string
	// Undefined is what was used; nil if the error was raised without one.
	Undefined *Undefined
}

func (e *UndefinedError) Error() string { return e.Msg }
