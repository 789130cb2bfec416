// Package strictyaml reads the agent's YAML files: what they may not say is an error, in words for those who wrote
// them.
package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// YAML reads text into what v points to. Keys that v has no field for are errors; an empty text is none.
func YAML(text []byte, v any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(v)
	if errors.Is(err, io.EOF) {
		return nil
	}
	var types *yaml.TypeError
	if errors.As(err, &types) {
		return inWords(types.Errors)
	}
	return err
}

var (
	unknown = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`field (.*) not found in type \S+$`) })
	unfit   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("cannot unmarshal !!(\\w+)(?: `.*`)? into \\S+$")
	})
	kinds = map[string]string{"map": "a mapping", "seq": "a list", "str": "a text", "int": "a number",
		"float": "a number", "bool": "a boolean"}
)

// inWords says what yaml.v3 has found without the names of types in Go.
func inWords(found []string) error {
	for i, text := range found {
		text = unknown().ReplaceAllString(text, `there is no setting "$1"`)
		if m := unfit().FindStringSubmatch(text); m != nil && kinds[m[1]] != "" {
			text = unfit().ReplaceAllString(text, kinds[m[1]]+" cannot stand here")
		}
		found[i] = text
	}
	return errors.New(strings.Join(found, "; "))
}
