// Package osrelease finds out which distribution a host runs.
package osrelease

import (
	"os"
	"strings"
)

// Distribution returns the distribution's name as Ansible's modules choose by it: its ID with a capital.
func Distribution() string {
	raw, _ := os.ReadFile("/etc/os-release")
	return nameIn(raw)
}

// nameIn returns the name in the text of an os-release file.
func nameIn(raw []byte) string {
	for _, line := range strings.Split(string(raw), "\n") {
		id, ok := strings.CutPrefix(line, "ID=")
		if id = strings.Trim(id, `"'`); !ok || id == "" {
			continue
		}
		if usual, ok := map[string]string{"ol": "oracle", "rhel": "redhat", "amzn": "amazon"}[id]; ok {
			id = usual
		}
		return strings.ToUpper(id[:1]) + strings.ToLower(id[1:])
	}
	return "OtherLinux"
}
