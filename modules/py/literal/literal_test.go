package literal_test

import (
	"strings"
	"testing"

	"hark/modules/py/literal"
	"hark/modules/py/value"
)

// The expectations are the repr of what Python 3.11's ast.literal_eval(ast.parse(text, mode="eval")) gives; "" is an
// error there.
func TestLiteralsAreReadAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "-1": "-1", "+1": "1", "1_000": "1000", "01": "", "00": "0", "0x1F": "31", "0b101": "5", "0o17": "15",
		"1e3": "1000.0", "1.": "1.0", "-.5": "-0.5",
		"1e400": "inf", "1__0": "", "_1": "", "1_": "", "- 1": "-1", "--1": "", "-[1]": "",
		"9223372036854775807": "9223372036854775807", "9223372036854775808": "9223372036854775808",
		"-9223372036854775808": "-9223372036854775808",
		"'a'":                  "'a'", `"a'b"`: `"a'b"`, "'a' 'b'": "'ab'", "'a' b'b'": "", `b'\xff'`: `b'\xff'`, "b'é'": "", "u'x'": "'x'",
		`r'\n'`: `'\\n'`, `rb'\n'`: `b'\\n'`,
		`'\x41\u00e9\101\q'`: `'Aé` + `A\\q'`, `'\'`: "", "'''a\nb'''": `'a\nb'`, "'a\nb'": "", `'\U0001F600'`: "'😀'",
		`b'\x4'`: "", "'é'": "'é'",
		"[]": "[]", "[1, 2,]": "[1, 2]", "[,]": "", "[1": "", "(1,)": "(1,)", "(1)": "1", "()": "()", "1, 2": "(1, 2)",
		"{}": "{}", "{'a': 1, 'a': 2}": "{'a': 2}", "{[1]: 2}": "",
		"{'a': (1, [None, True, False])}": "{'a': (1, [None, True, False])}",
		"true":                            "", "None": "None", "nope": "", "f(1)": "", "'a' + 'b'": "", "": "", " 1": "", "1 ": "1", "\n1\n": "1",
		"1\n2": "", "1 2": "",
		"[1,\n 2]": "[1, 2]", "1 # c": "1", "[1, # c\n 2]": "[1, 2]",
	} {
		v, ok, err := literal.Parse[value.Value](text, value.Literals{}, false)
		got := ""
		if ok && err == nil {
			got = value.PrintedRepr(v)
		}
		if got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
	}
}

func TestNamesOfJSONAreReadWhereTheyAreWanted(t *testing.T) {
	v, ok, err := literal.Parse[value.Value]("[true, false, null, True]", value.Literals{}, true)
	if !ok || err != nil || value.PrintedRepr(v) != "[True, False, None, True]" {
		t.Errorf("%v, %t, %v", v, ok, err)
	}
}

// Python gives up at 200 brackets within each other; so does Parse, before the stack does.
func TestBracketsAreBounded(t *testing.T) {
	for depth, want := range map[int]bool{literal.MaxDepth: true, literal.MaxDepth + 1: false, 1 << 20: false} {
		if _, ok, _ := literal.Parse[value.Value](strings.Repeat("[", depth)+strings.Repeat("]", depth), value.Literals{},
			false); ok != want {
			t.Errorf("%d brackets: %t", depth, ok)
		}
	}
	if _, ok, _ := literal.Parse[value.Value](strings.Repeat("9", 4301), value.Literals{}, false); ok {
		t.Error("a number of more digits than Python reads")
	}
}
