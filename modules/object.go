package modules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"sync"

	"hark/modules/py/value"
)

// Object is a mapping in which the order of the keys counts: what somebody else wrote and users may loop over. A plain
// map comes sorted.
type Object []Member

// Member is one key of an Object with its value, plain or an Object.
type Member struct {
	Key   string
	Value any
}

// Each gives the keys and values in their order until yield is false.
func (o Object) Each(yield func(key string, v any) bool) {
	for _, m := range o {
		if !yield(m.Key, m.Value) {
			return
		}
	}
}

// Map is the mapping without its order. Of a key that comes twice the last one counts.
func (o Object) Map() map[string]any {
	m := make(map[string]any, len(o))
	for _, member := range o {
		m[member.Key] = member.Value
	}
	return m
}

// MarshalJSON keeps the order.
func (o Object) MarshalJSON() ([]byte, error) { return value.PlainJSON(plainly(o)), nil }

// maxDepth bounds the nesting of JSON, as encoding/json does.
const maxDepth = 10000

// Numbers that nobody writes stand for those that JSON lacks and Python has words for.
const notANumber, infinity = "-0e-99999", "1e99999"

var wordsOrText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|NaN|Infinity`) })

// ParseJSON reads JSON text as Python does, mappings as Objects and numbers as json.Number, or float64 where JSON has none. Anything after
// the value is an error.
func ParseJSON(text []byte) (any, error) {
	v, err := parseJSON(text)
	if err == nil || !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return v, err
	}
	return parseJSON(wordsOrText().ReplaceAllFunc(text, func(found []byte) []byte {
		switch string(found) {
		case "NaN":
			return []byte(notANumber)
		case "Infinity":
			return []byte(infinity)
		}
		return found
	}))
}

func parseJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the end of the JSON value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	switch {
	case ok:
	case token == json.Number(notANumber):
		return math.NaN(), nil
	case token == json.Number(infinity):
		return math.Inf(1), nil
	case token == json.Number("-"+infinity):
		return math.Inf(-1), nil
	default:
		return token, nil
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("the JSON value is nested too deeply")
	}
	if delim == '[' {
		list := []any{}
		for d.More() {
			v, err := readValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	o := Object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o = o.set(key.(string), v)
	}
	_, err = d.Token()
	return o, err
}

// set adds a key; one that is there already keeps its place.
func (o Object) set(key string, v any) Object {
	if len(o) < 32 {
		for i := range o {
			if o[i].Key == key {
				o[i].Value = v
				return o
			}
		}
	}
	return append(o, Member{key, v})
}

// Plain is a value with maps in the place of Objects and Go's numbers in the place of json.Number, at any depth.
func Plain(v any) any {
	switch v := v.(type) {
	case Object:
		m := make(map[string]any, len(v))
		for _, member := range v {
			m[member.Key] = Plain(member.Value)
		}
		return m
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = Plain(x)
		}
		return out
	case json.Number:
		return number(v)
	}
	return v
}

// number is an int64 where it fits, as every plain number without a point; else what Python would make of it.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if i, ok := value.ParseInt(n.String(), 10); ok {
		return i
	}
	f, _ := n.Float64() // what is too large is infinite, in Python too
	return f
}
