package connections

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// controlPath returns where the user wants connections to be shared, "" if he did not say. The directory is made.
func (s *Settings) controlPath(v *Variables) string {
	path := v.Text(s.ControlPath, "ansible_control_path")
	dir := v.Text("", "ansible_control_path_dir")
	if dir == "" && (path != "" || s.ControlDirSet) {
		dir = s.ControlDir
	}
	if dir != "" {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(s.Home, rest)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			v.Fail(fmt.Errorf("cannot make the directory of connections: %v", err))
		}
	}
	if path == "" && dir != "" {
		return filepath.Join(dir, "%C")
	}
	return strings.NewReplacer("%%", "%", "%(directory)s", dir).Replace(path)
}
