package facts

import (
	"path/filepath"
	"strings"
)

func fibreChannel(p *probe) {
	names := []string{}
	files, _ := filepath.Glob("/sys/class/fc_host/*/port_name")
	for _, f := range files {
		for _, line := range lines(f) {
			names = append(names, strings.TrimPrefix(strings.TrimSpace(line), "0x"))
		}
	}
	p.set("fibre_channel_wwn", names)
}

func iscsi(p *probe) {
	name := ""
	for _, line := range lines("/etc/iscsi/initiatorname.iscsi") {
		if iqn, ok := strings.CutPrefix(line, "InitiatorName="); ok && !strings.HasPrefix(line, "#") &&
			strings.TrimSpace(line) != "" {
			name = iqn
			break
		}
	}
	p.set("iscsi_iqn", name)
}

func nvme(p *probe) {
	name := ""
	for _, line := range lines("/etc/nvme/hostnqn") {
		if strings.HasPrefix(line, "nqn.") {
			name = line
			break
		}
	}
	p.set("hostnqn", name)
}
