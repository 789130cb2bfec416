package facts

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// releaseFile is a file that names the distribution: the first that exists and is understood decides.
type releaseFile struct {
	path, name string
	empty      bool // its presence is enough
	// read finds what the text says; false means that it speaks of something else.
	read func(text string, found map[string]any, path string) bool
}

var releaseFiles = []releaseFile{
	{"/etc/altlinux-release", "Altlinux", false, named("Altlinux", "ALT")},
	{"/etc/oracle-release", "OracleLinux", false, named("OracleLinux", "Oracle Linux")},
	{"/etc/slackware-version", "Slackware", false, slackware},
	{"/etc/centos-release", "CentOS", false, centos},
	{"/etc/redhat-release", "RedHat", false, named("RedHat", "Red Hat")},
	{"/etc/vmware-release", "VMwareESX", true, nil},
	{"/etc/openwrt_release", "OpenWrt", false, distribKeys("OpenWrt")},
	{"/etc/os-release", "Amazon", false, amazon},
	{"/etc/system-release", "Amazon", false, amazon},
	{"/etc/alpine-release", "Alpine", false, alpine},
	{"/etc/arch-release", "Archlinux", true, nil},
	{"/etc/os-release", "Archlinux", false, holds("Archlinux", "Arch Linux")},
	{"/etc/os-release", "SUSE", false, suse},
	{"/etc/gentoo-release", "Gentoo", false, nil},
	{"/etc/os-release", "Debian", false, debian},
	{"/etc/lsb-release", "Debian", false, debian},
	{"/etc/lsb-release", "Mandriva", false, distribKeys("Mandriva")},
	{"/etc/sourcemage-release", "SMGL", false, named("SMGL", "Source Mage GNU/Linux")},
	{"/usr/lib/os-release", "ClearLinux", false, clearLinux},
	{"/etc/os-release", "Flatcar", false, flatcar},
	{"/etc/os-release", "NA", false, other},
}

// distributionFiles knows Linux by the files that distributions have.
func distributionFiles(p *probe) {
	found := guess(p)
	for _, f := range releaseFiles {
		info, err := os.Stat(f.path)
		if err != nil || info.Size() == 0 && !f.empty {
			continue
		}
		if f.empty {
			found["distribution"], found["distribution_file_path"], found["distribution_file_variety"] = f.name, f.path, f.name
			break
		}
		more := map[string]any{"distribution": f.name}
		for k, v := range found {
			if k != "distribution" {
				more[k] = v
			}
		}
		if f.read == nil || !f.read(strings.Trim(content(f.path), `'"\`), more, f.path) {
			continue
		}
		found = more
		found["distribution_file_path"], found["distribution_file_variety"], found["distribution_file_parsed"] = f.path,
			f.name, true
		break
	}
	for name, v := range found {
		p.set(name, v)
	}
	name, _ := found["distribution"].(string)
	p.set("os_family", family(name))
}

func family(name string) string {
	for family, names := range map[string]string{
		"RedHat": "RedHat|RHEL|Fedora|CentOS|Scientific|SLC|Ascendos|CloudLinux|PSBM|OracleLinux|OVS|OEL|Amazon|" +
			"Virtuozzo|XenServer|Alibaba|EulerOS|openEuler|AlmaLinux|Rocky|TencentOS|EuroLinux|Kylin Linux Advanced Server",
		"Debian": "Debian|Ubuntu|Raspbian|Neon|KDE neon|Linux Mint|SteamOS|Devuan|Kali|" +
			"Cumulus Linux|Pop!_OS|Parrot|Pardus GNU/Linux|Uos|Deepin|OSMC",
		"Suse":       "SuSE|SLES|SLED|openSUSE|openSUSE Tumbleweed|SLES_SAP|SUSE_LINUX|openSUSE Leap",
		"Archlinux":  "Archlinux|Antergos|Manjaro",
		"Mandrake":   "Mandrake|Mandriva",
		"Gentoo":     "Gentoo|Funtoo",
		"ClearLinux": "Clear Linux OS|Clear Linux Mix",
	} {
		if strings.Contains("|"+names+"|", "|"+name+"|") {
			return family
		}
	}
	return name
}

// guess returns what os-release alone says. Debian's point release is known where the library distro of the host's
// Python tells it, as in Ansible: its own copy of that does not.
func guess(p *probe) map[string]any {
	rel := osRelease()
	name := strings.ToLower(rel["ID"])
	version := rel["VERSION_ID"]
	if name == "debian" {
		if py := interpreter(p); py != nil && py.Distro != "" {
			version = py.Distro
		}
	}
	if name == "centos" {
		if m := twoNumbers().FindString(content("/etc/centos-release")); m != "" {
			version = m
		}
	}
	release := any(rel["VERSION_CODENAME"])
	if release == "" {
		release = codename(rel)
	}
	return map[string]any{
		"distribution":               orNA(displayName(name)),
		"distribution_version":       orNA(version),
		"distribution_major_version": orNA(strings.SplitN(version, ".", 2)[0]),
		"distribution_release":       release,
	}
}

var (
	twoNumbers     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)?`) })
	namedInBracket = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(([^)]+)\)`) })
)

func codename(rel map[string]string) string {
	if s := rel["UBUNTU_CODENAME"]; s != "" {
		return s
	}
	if m := namedInBracket().FindStringSubmatch(rel["VERSION"]); m != nil && rel["ID"] != "fedora" {
		return m[1]
	}
	if rel["ID"] == "fedora" {
		return ""
	}
	return "NA"
}

func displayName(id string) string {
	switch id {
	case "amzn":
		return "Amazon"
	case "rhel":
		return "Redhat"
	case "":
		return "OtherLinux"
	}
	return strings.ToUpper(id[:1]) + id[1:]
}

func orNA(s string) string {
	if s == "" {
		return "NA"
	}
	return s
}

// osRelease reads /etc/os-release, or where it points by tradition.
func osRelease() map[string]string {
	text := content("/etc/os-release")
	if text == "" {
		text = content("/usr/lib/os-release")
	}
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if key, val, ok := strings.Cut(line, "="); ok {
			out[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(val), `"'`)
		}
	}
	return out
}

// named takes the file for name if it holds the words, else for what its first word says.
func named(name, words string) func(string, map[string]any, string) bool {
	return func(text string, found map[string]any, _ string) bool {
		if strings.Contains(text, words) {
			found["distribution"], found["distribution_file_search_string"] = name, words
		} else if f := strings.Fields(text); len(f) > 0 {
			found["distribution"] = f[0]
		}
		return true
	}
}

func holds(name, words string) func(string, map[string]any, string) bool {
	return func(text string, found map[string]any, _ string) bool {
		found["distribution"] = name
		return strings.Contains(text, words)
	}
}

func distribKeys(name string) func(string, map[string]any, string) bool {
	return func(text string, found map[string]any, _ string) bool {
		if !strings.Contains(text, name) {
			return false
		}
		keys := pairs(text, "=", map[string]string{"DISTRIB_RELEASE": "version", "DISTRIB_CODENAME": "release"})
		for key, val := range keys {
			found["distribution_"+key] = strings.Trim(val, `"'`)
		}
		return true
	}
}

var slackwareVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+[.]\w+\+?`) })

func slackware(text string, found map[string]any, _ string) bool {
	if v := slackwareVersion().FindString(text); v != "" {
		found["distribution_version"] = v
	}
	return strings.Contains(text, "Slackware")
}

func centos(text string, found map[string]any, _ string) bool {
	switch {
	case strings.Contains(text, "CentOS Stream"):
		found["distribution_release"] = "Stream"
	case strings.Contains(text, "TencentOS Server"):
		found["distribution"] = "TencentOS"
	default:
		return false
	}
	return true
}

func amazon(text string, found map[string]any, path string) bool {
	if !strings.Contains(text, "Amazon") {
		return false
	}
	if path != "/etc/os-release" {
		found["distribution_version"] = "NA"
		for _, f := range strings.Fields(text) {
			if strings.Trim(f, "0123456789") == "" {
				found["distribution_version"] = f
				break
			}
		}
		return true
	}
	if v := osRelease()["VERSION_ID"]; v != "" {
		major, minor, ok := strings.Cut(v, ".")
		if !ok {
			minor = "NA"
		}
		found["distribution_version"], found["distribution_major_version"], found["distribution_minor_version"] = v, major,
			minor
	}
	return true
}

func alpine(text string, found map[string]any, _ string) bool {
	found["distribution_version"] = text
	return true
}

func suse(text string, found map[string]any, _ string) bool {
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "suse") {
		return false
	}
	rel := osRelease()
	found["distribution"] = rel["NAME"]
	version := twoNumbers().FindString(rel["VERSION_ID"])
	major, minor, _ := strings.Cut(version, ".")
	found["distribution_version"], found["distribution_major_version"] = version, major
	switch {
	case strings.Contains(lower, "open"):
		found["distribution_release"] = minor
	case strings.Contains(lower, "enterprise") && minor == "":
		found["distribution_release"] = "0"
	case strings.Contains(lower, "enterprise"):
		found["distribution_release"] = minor
	}
	if target, err := os.Readlink("/etc/products.d/baseproduct"); err == nil && strings.HasSuffix(target,
		"SLES_SAP.prod") {
		found["distribution"] = "SLES_SAP"
	}
	return true
}

var (
	prettyRelease = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`PRETTY_NAME=[^(]+ \(?([^)]+?)\)`) })
	debianVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d+)`) })
)

// debian reads Debian and those distributions that derive from it.
func debian(text string, found map[string]any, _ string) bool {
	if strings.Contains(text, "Debian") || strings.Contains(text, "Raspbian") {
		if m := prettyRelease().FindStringSubmatch(text); m != nil {
			found["distribution_release"] = m[1]
		}
		for _, line := range lines("/etc/debian_version") {
			if m := debianVersion().FindStringSubmatch(line); m != nil {
				found["distribution_minor_version"] = m[2]
			}
		}
		return true
	}
	rel := osRelease()
	for _, d := range []struct{ words, name string }{
		{"Ubuntu", "Ubuntu"}, {"SteamOS", "SteamOS"}, {"Kali", "Kali"}, {"Parrot", "Parrot"}, {"Devuan", "Devuan"},
		{"Cumulus", "Cumulus Linux"},
		{"Mint", "Linux Mint"}, {"UOS", "Uos"}, {"Uos", "Uos"}, {"uos", "Uos"}, {"Deepin", "Deepin"}, {"deepin", "Deepin"},
	} {
		if !strings.Contains(text, d.words) {
			continue
		}
		found["distribution"] = d.name
		if d.name == "Ubuntu" {
			return true
		}
		if v := rel["VERSION_ID"]; v != "" {
			found["distribution_version"], found["distribution_major_version"] = v, strings.SplitN(v, ".", 2)[0]
		}
		if c := rel["VERSION_CODENAME"]; c != "" {
			found["distribution_release"] = c
		}
		return true
	}
	return false
}

func clearLinux(_ string, found map[string]any, _ string) bool {
	rel := osRelease()
	if !strings.Contains(rel["NAME"], "Clear Linux") {
		return false
	}
	found["distribution"], found["distribution_release"] = rel["NAME"], rel["ID"]
	found["distribution_version"], found["distribution_major_version"] = rel["VERSION_ID"], rel["VERSION_ID"]
	return true
}

func flatcar(_ string, found map[string]any, _ string) bool {
	rel := osRelease()
	if rel["ID"] != "flatcar" {
		return false
	}
	found["distribution_version"], found["distribution_major_version"] = rel["VERSION"],
		strings.SplitN(rel["VERSION"], ".", 2)[0]
	return true
}

func other(_ string, found map[string]any, _ string) bool {
	rel := osRelease()
	if rel["NAME"] != "" {
		found["distribution"] = rel["NAME"]
	}
	if found["distribution_version"] == "NA" && rel["VERSION"] != "" {
		found["distribution_version"] = rel["VERSION"]
	}
	return true
}
