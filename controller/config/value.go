package config

import (
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"hark/modules/py/value"
)

// convert reads the text of a value by the kind of its setting.
func (c *Config) convert(s Setting, text, origin string) (any, error) {
	base := c.world.Dir
	if filepath.IsAbs(origin) {
		base = filepath.Dir(origin)
	}
	switch s.Kind {
	case Bool:
		return Truth(text), nil
	case Int:
		n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(text), "_", ""))
		if err != nil {
			return nil, fmt.Errorf("invalid literal for int() with base 10: %s", value.ReprText(text))
		}
		return n, nil
	case Float:
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, fmt.Errorf("could not convert string to float: %s", value.ReprText(text))
		}
		return f, nil
	case Seconds:
		if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			return f, nil
		}
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf(
				"%s is no time: write a number of seconds, such as 60, or one with its unit, such as 90s or 5m",
				value.ReprText(text))
		}
		return d.Seconds(), nil
	case List:
		return splitList(text, origin), nil
	case Path:
		return c.world.abs(text, base), nil
	case PathSpec:
		return c.paths(strings.Split(text, ":"), base), nil
	case PathList:
		return c.paths(strings.Split(text, ","), base), nil
	}
	return unquote(text), nil
}

// splitList cuts a list at its commas. An empty default is an empty list; an empty value is a list of one empty text,
// as it is for Ansible.
func splitList(text, origin string) []string {
	if text == "" && origin == "default" {
		return []string{}
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		items[i] = unquote(strings.TrimSpace(item))
	}
	return items
}

func (c *Config) paths(list []string, base string) []string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		out = append(out, c.world.abs(strings.TrimSpace(p), base))
	}
	return out
}

func unquote(s string) string {
	if n := len(s); n > 1 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') && s[n-2] != '\\' {
		return s[1 : n-1]
	}
	return s
}

// Truth reports whether text is one of the words for true. Everything else is false.
func Truth(text string) bool {
	b, _ := value.BoolWord(text)
	return b
}

// Get returns the value of a setting by name, "callback/default.result_format" for one of a plug-in. A name that is
// not in the table is a mistake of the caller and panics.
func (c *Config) Get(name string) Value {
	v, ok := c.values[name]
	if !ok {
		panic("internal error: there is no setting " + name)
	}
	return v
}

// Text returns a setting of text or a path, "" for None.
func (c *Config) Text(name string) string { s, _ := c.Get(name).V.(string); return s }

// Bool is a setting that is true or false.
func (c *Config) Bool(name string) bool { b, _ := c.Get(name).V.(bool); return b }

// Int returns a whole number, 0 for None.
func (c *Config) Int(name string) int { n, _ := c.Get(name).V.(int); return n }

// Float returns a number, 0 for None.
func (c *Config) Float(name string) float64 { f, _ := c.Get(name).V.(float64); return f }

// List returns a list of texts or paths, nil for None.
func (c *Config) List(name string) []string { l, _ := c.Get(name).V.([]string); return l }

// IsSet reports whether a setting has a value that is not its default.
func (c *Config) IsSet(name string) bool { return c.Get(name).Origin != "default" }

// Values returns all values of a plug-in's settings ("" for the general ones), sorted by name.
func (c *Config) Values(plugin string) []Value {
	var out []Value
	for _, v := range c.values {
		if v.Setting.Plugin == plugin {
			out = append(out, v)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Setting.Name < out[j].Setting.Name })
	return out
}

// Abs makes a path of the command line absolute: ~ and variables expanded, relative to the working directory.
func (c *Config) Abs(path string) string { return c.world.abs(path, c.world.Dir) }

// WorkingDir returns the working directory.
func (c *Config) WorkingDir() string { return c.world.Dir }

// Getenv looks up a variable of the environment that the configuration was read from.
func (c *Config) Getenv(name string) (string, bool) { return c.world.Getenv(name) }
