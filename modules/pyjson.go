package modules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"unicode/utf8"

	"hark/modules/py/pyrepr"
)

// PyJSON is a plain value as Python's json.dumps prints it, with the keys sorted.
func PyJSON(v any) string {
	var b bytes.Buffer
	if err := (jsonWriter{out: &b, comma: ", ", colon: ": ", ascii: true}).value(v); err != nil {
		return "null"
	}
	return b.String()
}

// jsonWriter writes JSON with Python's numbers and separators.
type jsonWriter struct {
	out          *bytes.Buffer
	comma, colon string
	ascii        bool
}

func (w jsonWriter) value(v any) error {
	switch v := v.(type) {
	case nil:
		w.out.WriteString("null")
	case bool:
		w.out.WriteString(strconv.FormatBool(v))
	case int:
		w.out.WriteString(strconv.Itoa(v))
	case int64:
		w.out.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		w.out.WriteString(v.String())
	case float64:
		w.float(v)
	case string:
		return w.text(v)
	case []any:
		return writeList(w, v)
	case []string:
		return writeList(w, v)
	case []map[string]any:
		return writeList(w, v)
	case map[string]any:
		return writeMap(w, v)
	case Object:
		return writeObject(w, v)
	case map[string]string:
		return writeMap(w, v)
	default:
		raw, err := json.Marshal(v)
		w.out.Write(raw)
		return err
	}
	return nil
}

// float writes a number. What JSON cannot hold is null, but where the text is for Python, which has words for it.
func (w jsonWriter) float(f float64) {
	text := pyrepr.Float(f)
	if word, ok := map[string]string{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[text]; ok {
		if text = "null"; w.ascii {
			text = word
		}
	}
	w.out.WriteString(text)
}

func writeList[T any](w jsonWriter, list []T) error {
	w.out.WriteByte('[')
	for i, x := range list {
		if i > 0 {
			w.out.WriteString(w.comma)
		}
		if err := w.value(x); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

func writeMap[T any](w jsonWriter, m map[string]T) error {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	w.out.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			w.out.WriteString(w.comma)
		}
		if err := w.text(k); err != nil {
			return err
		}
		w.out.WriteString(w.colon)
		if err := w.value(m[k]); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w jsonWriter) text(s string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !w.ascii {
		w.out.Write(raw)
		return nil
	}
	for _, r := range string(raw) {
		switch {
		case r < utf8.RuneSelf:
			w.out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(w.out, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(w.out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return nil
}
