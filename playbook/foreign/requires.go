package foreign

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/versions"
)

// Supports reports whether the collection of a directory is made for a version of ansible-core: requires_ansible of its
// meta/runtime.yml. One that asks for nothing is; the error is of one whose wish cannot be read.
func Supports(dir, version string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, "meta", "runtime.yml"))
	if err != nil {
		return true, nil // has none
	}
	// The file of a large collection takes long to read as YAML; this is one line at its top.
	for line := range strings.Lines(string(text)) {
		if wish, ok := strings.CutPrefix(line, "requires_ansible:"); ok {
			wish, _, _ = strings.Cut(wish, " #")
			return fits(strings.Trim(strings.TrimSpace(wish), `'"`), version)
		}
	}
	return true, nil
}

// fits judges conditions like >=2.9.10,<2.17: all must hold.
func fits(wish, version string) (bool, error) {
	for _, one := range strings.Split(wish, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		number := strings.TrimLeft(one, "<>=!~ ")
		operator := strings.TrimSpace(one[:len(one)-len(number)])
		order, err := versions.Compare(versions.PEP440, version, number)
		if err != nil || !strings.Contains(" < <= > >= == != ~= ", " "+operator+" ") {
			return false, value.Errorf("InvalidSpecifier", "Invalid specifier: '%s'", one)
		}
		if !holds(operator, order, version, number) {
			return false, nil
		}
	}
	return true, nil
}

func holds(operator string, order int, version, number string) bool {
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "!=":
		return order != 0
	case "~=": // the last number may grow
		series := number[:strings.LastIndex("."+number, ".")]
		return order >= 0 && strings.HasPrefix(version+".", series)
	}
	return order == 0
}
