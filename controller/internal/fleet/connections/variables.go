package connections

import (
	"fmt"
	"strconv"

	"hark/controller/config"
	"hark/modules/py/shlex"
)

// Variables reads the variables that say how one host is reached. The first that makes no sense is kept in Err.
type Variables struct {
	// Find gives a variable, rendered; false if it is not set.
	Find func(name string) (text string, ok bool, err error)
	Err  error
}

// Of reads variables from a map.
func Of(way map[string]string) *Variables {
	return &Variables{Find: func(name string) (string, bool, error) { text, ok := way[name]; return text, ok, nil }}
}

// Text is the first of some variables that is set.
func (v *Variables) Text(or string, names ...string) string {
	for _, name := range names {
		text, ok, err := v.Find(name)
		if err != nil {
			v.Fail(fmt.Errorf("cannot render %s: %w", name, err))
			return ""
		}
		if ok {
			return text
		}
	}
	return or
}

// Number is the same of a variable that holds a number.
func (v *Variables) Number(or int, names ...string) int {
	text := v.Text("", names...)
	if text == "" {
		return or
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		v.Fail(fmt.Errorf("%s is %q, which is not a number", names[len(names)-1], text))
	}
	return n
}

// Truth is a variable that says yes or no.
func (v *Variables) Truth(or bool, names ...string) bool {
	if text := v.Text("", names...); text != "" {
		return config.Truth(text)
	}
	return or
}

// Words are the arguments that some texts hold.
func (v *Variables) Words(texts ...string) []string {
	var all []string
	for _, text := range texts {
		words, err := shlex.Split(text)
		if err != nil {
			v.Fail(fmt.Errorf("cannot split %q into words: %w", text, err))
		}
		all = append(all, words...)
	}
	return all
}

// Fail notes an error, unless there was one before.
func (v *Variables) Fail(err error) {
	if v.Err == nil {
		v.Err = err
	}
}
