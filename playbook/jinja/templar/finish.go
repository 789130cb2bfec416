package templar

import (
	"strings"

	"hark/modules/py/value"
)

// finished returns a result as it leaves the Templar: rendered throughout, of the types that variables have, without
// what is omitted, and no template any more. It is v itself where nothing has to be done.
func (t *Templar) finished(v value.Value) (value.Value, error) {
	return (&finisher{Templar: t}).finish(v, 0)
}

// finisher finishes results.
type finisher struct {
	*Templar
	// mark, if set, gives what stands for a value that is undefined.
	mark func(error) string
}

func (t *finisher) finish(v value.Value, depth int) (value.Value, error) {
	if depth > maxNesting {
		return nil, taggedLoop()
	}
	switch v := v.(type) {
	case *value.Undefined:
		if t.mark != nil {
			return value.Str(t.mark(taggedError(v.Use(), true))), nil
		}
		if v.Lenient {
			return nil, unsupported("Undefined", " ")
		}
		return nil, v.Use()
	case value.Source:
		if t.trusts(v) {
			return value.Str(v.Text()), nil
		}
	case value.NativeStr:
		return value.Str(v), nil
	case value.Markup:
		return value.Str(v), nil
	case *value.List:
		return t.finishList(v, v.Items, depth)
	case *value.Tuple:
		return t.finishList(nil, v.Items, depth)
	case *value.View:
		return t.finishList(nil, v.Items(), depth)
	case *value.Dict:
		return t.finishDict(v, depth)
	case *value.Later:
		return t.finish(v.Value(), depth)
	case *value.Vault:
		if err := value.Sealed(v); err != nil {
			return nil, sealed(v, err)
		}
	case *value.Lines:
		if v.Text() != nil && t.settled(v, depth) {
			return v, nil
		}
		return t.finish(v.List(), depth)
	case value.Mapping:
		d, err := value.PrintedDict(v)
		if err != nil {
			return nil, err
		}
		return t.finishDict(d, depth)
	default:
		if !storable(v) {
			return nil, unsupported(v.Type(), value.Printed(v))
		}
	}
	return v, nil
}

// unsupported is the error of a value of a type that variables cannot have.
func unsupported(kind, shown string) error {
	if kind == "builtin_function_or_method" {
		kind = "method"
	}
	return &Error{Class: "AnsibleVariableTypeError",
		Msg: "Type " + value.ReprText(kind) + " is unsupported for variable storage.", Src: shown, Part: true}
}

// sealed is the error of a vault string that cannot be opened.
func sealed(v *value.Vault, err error) error {
	return &Error{Class: "UndecryptableVaultError",
		Msg: "Attempt to use undecryptable variable: " + strings.TrimSuffix(err.Error(), ".") + ".", Src: v.Cipher,
		Part: true}
}

// storable reports whether a scalar may be in a variable.
func storable(v value.Value) bool {
	switch v.(type) {
	case value.None, value.Bool, value.Int, *value.BigInt, value.Float, value.Bytes, *value.Vault:
		return true
	}
	switch v.Type() {
	case "datetime", "date", "time":
		return true
	}
	return value.IsText(v)
}

// finishList finishes items; same is the list that they are of, if it may be kept.
func (t *finisher) finishList(same *value.List, items []value.Value, depth int) (value.Value, error) {
	var out []value.Value
	if same == nil {
		out = make([]value.Value, 0, len(items))
	}
	for i, item := range items {
		v, err := t.finish(item, depth+1)
		if err != nil {
			return nil, err
		}
		omitted := IsOmit(v)
		if out == nil && (omitted || !unchanged(v, item)) {
			out = append(make([]value.Value, 0, len(items)), items[:i]...)
		}
		if out != nil && !omitted {
			out = append(out, v)
		}
	}
	if out == nil && same != nil {
		return same, nil
	}
	return &value.List{Items: out}, nil
}

func (t *finisher) finishDict(d *value.Dict, depth int) (value.Value, error) {
	var out *value.Dict
	for i := range d.Len() {
		k, item := d.Kept(i)
		v, err := t.finish(item, depth+1)
		if err != nil {
			return nil, err
		}
		key, err := t.finish(k, depth+1)
		if err != nil {
			return nil, err
		}
		omitted := IsOmit(v)
		if out == nil && (omitted || !unchanged(v, item) || !unchanged(key, k)) {
			out = value.NewDict()
			for j := range i {
				before, kept := d.Kept(j)
				out.SetKey(before, kept)
			}
		}
		if out != nil && !omitted {
			out.SetKey(key, v)
		}
	}
	if out == nil {
		return d, nil
	}
	return out, nil
}

// unchanged reports whether finishing gave the value itself.
func unchanged(after, before value.Value) bool {
	switch before := before.(type) {
	case value.Bytes: // cannot be compared, and is never changed
		return true
	case *value.List, *value.Tuple, *value.Dict, *value.View, *value.Later, *value.Lines, *value.Undefined:
		return after == before
	}
	if value.IsText(before) {
		return after == before
	}
	return true
}
