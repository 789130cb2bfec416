package value

// Data is v as what another host has said: all its text is unsafe, and nothing in it is more than text, numbers,
// lists and dicts. Keys are unsafe but for those that nothing can be evaluated of. It is v itself where that is so
// already.
func Data(v Value) Value {
	switch v := v.(type) {
	case UnsafeStr, NativeUnsafeStr:
		return v
	case *Vault:
		text, err := v.Open()
		if err != nil {
			text = v.Cipher
		}
		return UnsafeStr(text)
	case Omit:
		return UnsafeStr(OmitText())
	case Moment:
		return UnsafeStr(v.Str())
	case *Later:
		return Data(v.Value())
	case *List:
		if items, changed := dataItems(v.Items); changed {
			return &List{Items: items}
		}
		return v
	case *Tuple:
		if items, changed := dataItems(v.Items); changed {
			return &Tuple{Items: items}
		}
		return v
	case *Lines:
		if v.text == nil { // decoded, and not beside its text yet, which is data then
			return v
		}
		if IsUnsafe(v.Text()) {
			return v
		}
		return v.kept(Data)
	case *Dict:
		return dataDict(v)
	}
	return Unsafe(v)
}

func dataDict(d *Dict) *Dict {
	var out *Dict
	for i := range d.Len() {
		k, item := d.Kept(i)
		key, v := dataKey(k), Data(item)
		if out == nil && (!sameData(key, k) || !sameData(v, item)) {
			out = d.upTo(i)
		}
		if out != nil {
			out.SetKey(key, v)
		}
	}
	if out == nil {
		return d
	}
	return out
}

// upTo returns a dict of the first n entries.
func (d *Dict) upTo(n int) *Dict {
	out := &Dict{keys: make([]Value, 0, d.Len()), vals: make([]Value, 0, d.Len())}
	for i := range n {
		out.SetKey(d.Kept(i))
	}
	return out
}

func dataKey(k Value) Value {
	if s, ok := Text(k); ok && Inert(s) {
		return k
	}
	return Data(k)
}

func dataItems(items []Value) (out []Value, changed bool) {
	for i, item := range items {
		v := Data(item)
		if out == nil && !sameData(v, item) {
			out = append(make([]Value, 0, len(items)), items[:i]...)
		}
		if out != nil {
			out = append(out, v)
		}
	}
	return out, out != nil
}

// sameData reports whether Data has given a value itself.
func sameData(after, before Value) bool {
	switch before.(type) {
	case UnsafeStr, NativeUnsafeStr, None, Bool, Int, Float:
		return true
	case Bytes: // cannot be compared, and never changes
		return true
	case *List, *Tuple, *Dict, *Lines:
		return after == before
	}
	return !IsText(before) && after == before
}
