// Package action is what modules share that are actions in Ansible: they steer a play and its variables, and most run inside the session and
// touch no host.
package action

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"hark/modules"
)

// ValidOptions refuses options that an action does not have, in the words of Ansible's actions.
func ValidOptions(env *modules.Env, extra map[string]any) error {
	if len(extra) == 0 {
		return nil
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	sort.Strings(names)
	return modules.ActionFail("", "Invalid options for %s: %s", env.Name, strings.Join(names, ","))
}

// Int converts as Python's int(): floats are cut.
func Int(v any) (int, error) {
	switch v := v.(type) {
	case float64:
		return int(v), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			return n, nil
		}
		return 0, fmt.Errorf("invalid literal for int() with base 10: %s", modules.Repr(v))
	case int64:
		return int(v), nil
	}
	return 0, fmt.Errorf("int() argument must be a string, a bytes-like object or a real number, not '%s'",
		strings.TrimSuffix(strings.TrimPrefix(modules.TypeName(v), "<class '"), "'>"))
}
