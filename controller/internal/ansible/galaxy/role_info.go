package galaxy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// RoleInfo returns what is known of roles, here and on the server.
func (c *Client) RoleInfo(ctx context.Context, names, paths []string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		info, err := c.roleInfo(ctx, name, paths)
		if err != nil {
			return "", err
		}
		if info == nil {
			return "- the role " + name + " was not found", nil
		}
		out.WriteString(roleText(info))
	}
	return out.String(), nil
}

// roleInfo is nil for a role that nobody knows.
func (c *Client) roleInfo(ctx context.Context, name string, paths []string) (*value.Dict, error) {
	r := roleAt(paths[0], name, paths)
	list := value.NewTuple()
	for _, p := range paths {
		list.Items = append(list.Items, value.Str(p))
	}
	info := pairs("path", list)
	merge(info, firstYAML(filepath.Join(r.path, installInfo)))
	if v, ok := info.Get("version"); ok {
		info.Delete(value.Str("version"))
		info.Set("installed_version", v)
	}
	if c.Offline && !slices.ContainsFunc(r.paths, isDir) {
		return nil, nil
	}
	if !c.Offline {
		known, err := c.roleServer(ctx).role(ctx, name, false)
		var api *APIError
		switch {
		case errors.As(err, &api) && api.Code == 400 && strings.Contains(api.text, "Bad Request"):
			return nil, nil
		case errors.As(err, &api):
			return nil, failf("Unable to find info about '%s': %v", name, err)
		case known == nil || err != nil:
			return nil, err
		}
		merge(info, known)
	}
	merge(info, r.meta())
	info.Set("name", value.Str(name))
	return info, nil
}

func merge(into *value.Dict, v value.Value) {
	d, ok := v.(*value.Dict)
	if !ok {
		return
	}
	d.Each(func(k, v value.Value) bool {
		into.SetKey(k, v)
		return true
	})
}

// roleText returns what role info shows of a role.
func roleText(info *value.Dict) string {
	hidden := []string{"name", "description", "readme_html", "related", "summary_fields", "average_aw_composite",
		"average_aw_score", "url"}
	about := value.Under(info, "description")
	if about == nil {
		about = value.Under(info, "galaxy_info", "description")
	}
	lines := []string{"", "Role: " + shown(value.Under(info, "name")), "\tdescription: " + text(about)}
	for _, key := range sortedKeys(info) {
		if slices.Contains(hidden, key) {
			continue
		}
		v, _ := info.Get(key)
		d, ok := v.(*value.Dict)
		if !ok {
			lines = append(lines, fmt.Sprintf("\t%s: %s", key, shown(v)))
			continue
		}
		lines = append(lines, "\t"+key+":")
		for _, k := range sortedKeys(d) {
			if !slices.Contains(hidden, k) {
				inner, _ := d.Get(k)
				lines = append(lines, fmt.Sprintf("\t\t%s: %s", k, shown(inner)))
			}
		}
	}
	return strings.Join(append(lines, ""), "\n")
}

// shown returns a value as Python prints it, None too.
func shown(v value.Value) string {
	if v == nil || value.IsNone(v) {
		return "None"
	}
	return text(v)
}

func sortedKeys(d *value.Dict) []string {
	var out []string
	for _, k := range d.Keys() {
		out = append(out, text(k))
	}
	slices.Sort(out)
	return out
}
