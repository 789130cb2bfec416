package facts

import (
	"slices"
	"strconv"

	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
)

// packageManagers in the order in which a later one that is there wins.
var packageManagers = []struct{ path, name string }{
	{"/usr/bin/rpm-ostree", "atomic_container"}, {"/usr/bin/yum", "yum"}, {"/usr/bin/dnf", "dnf"},
	{"/usr/bin/apt-get", "apt"},
	{"/usr/bin/zypper", "zypper"}, {"/usr/sbin/urpmi", "urpmi"}, {"/usr/bin/pacman", "pacman"}, {"/bin/opkg", "opkg"},
	{"/usr/pkg/bin/pkgin", "pkgin"}, {"/sbin/apk", "apk"}, {"/usr/sbin/pkg", "pkgng"}, {"/usr/bin/emerge", "portage"},
	{"/usr/sbin/pkgadd", "svr4pkg"}, {"/usr/bin/pkg", "pkg5"}, {"/usr/bin/xbps-install", "xbps"},
	{"/usr/bin/swupd", "swupd"},
	{"/usr/sbin/sorcery", "sorcery"},
}

func packageManager(p *probe) {
	family, name := p.text("os_family"), "unknown"
	for _, m := range packageManagers {
		if fsx.Exists(m.path) && (family != "Altlinux" || m.path != "/usr/bin/pkg") {
			name = m.name
		}
	}
	switch {
	case family == "RedHat":
		name = redHatManager(p, name)
	case family == "Debian":
		// yum, dnf or zypper may be installed on Debian too; that does not make them the system's.
		name = "apt"
	case family == "Altlinux" && name == "apt":
		name = "apt_rpm"
	}
	// without one rpm makes its own, in the home
	if name == "apt" && fsx.Exists("/usr/bin/rpm") && slices.ContainsFunc(rpmDatabases(), fsx.Exists) {
		if _, ok := p.runKnown(rpmDatabase(), "rpm", "-q", "--whatprovides", "/usr/bin/apt-get"); ok {
			name = "apt_rpm"
		}
	}
	p.set("pkg_mgr", name)
}

// rpmDatabase is another text when the installed packages are.
func rpmDatabase() string {
	files := []string{"/var/lib/rpm/", "/usr/lib/sysimage/rpm/"}
	for _, db := range rpmDatabases() {
		files = append(files, db, db+"-wal")
	}
	return stampOf(files...)
}

// rpmDatabases returns the files that rpm keeps the installed packages in, of its several kinds.
func rpmDatabases() []string {
	const old, new = "/var/lib/rpm/", "/usr/lib/sysimage/rpm/"
	return []string{old + "Packages", old + "Packages.db", old + "rpmdb.sqlite", new + "Packages", new + "Packages.db",
		new + "rpmdb.sqlite"}
}

func redHatManager(p *probe, name string) string {
	if fsx.Exists("/run/ostree-booted") {
		return "atomic_container"
	}
	major, err := strconv.Atoi(p.text("distribution_major_version"))
	since := map[string]int{"Fedora": 23, "Amazon": 2022}[p.text("distribution")]
	if since == 0 {
		if err == nil && major < 8 {
			return "yum"
		}
		return "dnf"
	}
	want := "dnf"
	if err == nil && major < since {
		want = "yum"
	}
	if err != nil || fsx.Exists("/usr/bin/"+want) {
		return want
	}
	return name
}

func serviceManager(p *probe) { p.set("service_mgr", tool.ServiceManager(p.env)) }
