package runner

import (
	"math/big"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// intOf converts a value as Python's int does.
func intOf(v value.Value) (int64, error) {
	if f, ok := v.(value.Float); ok {
		return int64(f), nil
	}
	if n, ok := value.AsInt(v); ok {
		return n, nil
	}
	text, ok := value.Text(v)
	if !ok {
		return 0, value.TypeErrorf("int() argument must be a string, a bytes-like object or a real number, not '%s'",
			v.Type())
	}
	clean := strings.TrimSpace(text)
	if n, err := strconv.ParseInt(strings.ReplaceAll(clean, "_", ""), 10, 64); err == nil {
		return n, nil
	}
	if _, big := new(big.Int).SetString(clean, 10); big {
		return 0, value.Errorf("OverflowError", "Python int too large to convert to C int")
	}
	return 0, value.ValueErrorf("invalid literal for int() with base 10: %s", value.ReprText(text))
}

// floatOf converts a value as Python's float does.
func floatOf(v value.Value) (float64, error) {
	if f, ok := value.AsFloat(v); ok {
		return f, nil
	}
	text, _ := value.ToStr(v)
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, value.ValueErrorf("could not convert string to float: %s", value.ReprText(text))
	}
	return f, nil
}
