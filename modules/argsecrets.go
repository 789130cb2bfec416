package modules

import (
	"fmt"
)

// secrets notes the texts of a nolog parameter, before they are converted. Ansible finds here first that what should have
// sub-options has none.
func (c *checker) secrets(p *Param, args map[string]any) {
	v := args[p.Name]
	if p.NoLog || p.NoLogIf != "" && saysYes(args[p.NoLogIf]) {
		c.parsed.Secrets = appendLeaves(c.parsed.Secrets, v)
	}
	if p.Options == nil || v == nil {
		return
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, item := range list {
		if err := optionsIn(p, item); err != nil {
			c.errs = append(c.errs, err)
			return
		}
	}
}

func appendLeaves(out []string, v any) []string {
	switch v := v.(type) {
	case nil, bool:
	case []any:
		for _, x := range v {
			out = appendLeaves(out, x)
		}
	case map[string]any:
		for _, x := range v {
			out = appendLeaves(out, x)
		}
	default:
		if s := Str(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// optionsIn tells why a value cannot hold sub-options.
func optionsIn(p *Param, v any) error {
	switch v := v.(type) {
	case map[string]any:
		return nil
	case string:
		_, err := dictFromText(v)
		return err
	}
	return message(fmt.Sprintf("Value '%s' in the sub parameter field '%s' must by a %s, not '%s'", Str(v), p.Name, p.Type, ClassName(v)))
}

// message is an error in words that are Ansible's or Python's.
type message string

func (m message) Error() string { return string(m) }
