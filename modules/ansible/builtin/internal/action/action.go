// Package action is what modules share that are actions in Ansible: they steer a play and its variables, and most run
// inside the session and touch no host.
package action

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

// ValidOptions refuses options that an action does not have, in the words of Ansible's actions.
func ValidOptions(env *modules.Env, extra *value.Dict) error {
	if extra.Len() == 0 {
		return nil
	}
	names := extra.Names()
	sort.Strings(names)
	return modules.ActionFail("", dialect.InvalidOptions.Format, env.Name, strings.Join(names, ","))
}

// Int converts as Python's int(): floats are cut.
func Int(v value.Value) (int, error) {
	if text, ok := value.Text(v); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return n, nil
		}
		return 0, fmt.Errorf("invalid literal for int() with base 10: %s", value.ReprText(text))
	}
	if n, ok := value.AsInt(v); ok {
		return int(n), nil
	}
	if f, ok := v.(value.Float); ok {
		return int(f), nil
	}
	return 0, fmt.Errorf("int() argument must be a string, a bytes-like object or a real number, not '%s'",
		modules.ClassName(v))
}
