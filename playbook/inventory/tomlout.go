package inventory

import (
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// writeTOML writes groups as Python's toml does: a table for every mapping, level by level.
func writeTOML(d *value.Dict) (string, error) {
	var b strings.Builder
	text, sections, err := tomlTable(d, "")
	if err != nil {
		return "", err
	}
	b.WriteString(text)
	for len(sections) > 0 {
		var next []tomlSection
		for _, s := range sections {
			text, inner, err := tomlTable(s.d, s.name)
			if err != nil {
				return "", err
			}
			if text != "" || len(inner) == 0 {
				if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n\n") {
					b.WriteByte('\n')
				}
				b.WriteString("[" + s.name + "]\n" + text)
			}
			for _, in := range inner {
				next = append(next, tomlSection{s.name + "." + in.name, in.d})
			}
		}
		sections = next
	}
	return b.String(), nil
}

type tomlSection struct {
	name string
	d    *value.Dict
}

var bareKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// tomlTable returns the plain entries of a table, and the tables within it for later.
func tomlTable(d *value.Dict, name string) (text string, sections []tomlSection, err error) {
	var plain, arrays strings.Builder
	if name != "" && !strings.HasSuffix(name, ".") {
		name += "."
	}
	for i := range d.Len() {
		k, v := d.At(i)
		key := value.Printed(k)
		if _, ok := value.Text(k); !ok {
			return "", nil, failf("The source inventory contains a non-string key (%s) which cannot be represented in TOML. "+
				"The specified key will need to be converted to a string. Be aware that if your playbooks "+
				"expect this key to be non-string, your playbooks will need to be modified to support this change.", key)
		}
		if !bareKey().MatchString(key) {
			key = tomlText(key)
		}
		switch v := v.(type) {
		case *value.Dict:
			sections = append(sections, tomlSection{key, v})
			continue
		case *value.List:
			if hasTable(v) {
				if err := tomlTables(&arrays, v, name+key); err != nil {
					return "", nil, err
				}
				continue
			}
		case value.None:
			continue
		}
		s, err := tomlScalar(v)
		if err != nil {
			return "", nil, err
		}
		plain.WriteString(key + " = " + s + "\n")
	}
	return plain.String() + arrays.String(), sections, nil
}

func hasTable(l *value.List) bool {
	for _, item := range l.Items {
		if _, ok := item.(*value.Dict); ok {
			return true
		}
	}
	return false
}

// tomlTables writes a list of mappings as an array of tables.
func tomlTables(b *strings.Builder, l *value.List, name string) error {
	for _, item := range l.Items {
		d, ok := item.(*value.Dict)
		if !ok {
			return failf("The source inventory contains a value that cannot be represented in TOML: a list of mappings and " +
				"other values")
		}
		var below strings.Builder
		below.WriteString("\n")
		b.WriteString("[[" + name + "]]\n")
		text, sections, err := tomlTable(d, name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(text, "[") {
			below.WriteString(text)
		} else {
			b.WriteString(text)
		}
		for len(sections) > 0 {
			var next []tomlSection
			for _, s := range sections {
				text, inner, err := tomlTable(s.d, name+"."+s.name)
				if err != nil {
					return err
				}
				if text != "" {
					below.WriteString("[" + name + "." + s.name + "]\n" + text)
				}
				for _, in := range inner {
					next = append(next, tomlSection{s.name + "." + in.name, in.d})
				}
			}
			sections = next
		}
		b.WriteString(below.String())
	}
	return nil
}

func tomlScalar(v value.Value) (string, error) {
	switch v := v.(type) {
	case value.Bool:
		return strings.ToLower(value.Printed(v)), nil
	case value.Float:
		s := value.FloatText(float64(v))
		return strings.ReplaceAll(strings.ReplaceAll(s, "e+0", "e+"), "e-0", "e-"), nil
	case value.Int, *value.BigInt:
		return value.Printed(v), nil
	case value.None:
		return tomlText("None"), nil
	case *value.List:
		return tomlItems(v.Items)
	case *value.Tuple:
		return tomlItems(v.Items)
	case *value.Vault:
		text, err := v.Open()
		return tomlText(text), err
	}
	s, ok := value.Text(v)
	if !ok {
		return "", failf("The source inventory contains a value that cannot be represented in TOML: %s", v.Type())
	}
	return tomlText(s), nil
}

func tomlItems(items []value.Value) (string, error) {
	var b strings.Builder
	b.WriteByte('[')
	for _, item := range items {
		s, err := tomlScalar(item)
		if err != nil {
			return "", err
		}
		b.WriteString(" " + s + ",")
	}
	b.WriteByte(']')
	return b.String(), nil
}

// tomlText writes text as Python's toml does: its repr in double quotes. That library's error with the escape \x is
// copied here.
func tomlText(s string) string {
	r := value.ReprText(s)
	single := r[0] == '\''
	r = r[1 : len(r)-1]
	if single {
		r = strings.ReplaceAll(strings.ReplaceAll(r, `\'`, `'`), `"`, `\"`)
	}
	parts := strings.Split(r, `\x`)
	for len(parts) > 1 {
		if parts[0] == "" {
			if parts = parts[1:]; len(parts) == 1 {
				break
			}
		}
		parts[0] = strings.ReplaceAll(parts[0], `\\`, `\`)
		backslashes := len(parts[0]) - len(strings.TrimRight(parts[0], `\`))
		joiner := "x"
		if backslashes > 0 && backslashes%2 == 0 {
			joiner = "u00"
		}
		parts = append([]string{parts[0] + joiner + parts[1]}, parts[2:]...)
	}
	return `"` + parts[0] + `"`
}
