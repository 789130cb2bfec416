package facts

import (
	"encoding/binary"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// usableCPUs is on how many processors this process may run.
func usableCPUs(int) int { return runtime.NumCPU() }

// loads returns the averages of one, five and fifteen minutes: the kernel gives three numbers of 32 bits and, after
// padding, their scale.
func loads() (one, five, fifteen float64, ok bool) {
	raw, err := unix.SysctlRaw("vm.loadavg")
	if err != nil || len(raw) < 24 {
		return 0, 0, 0, false
	}
	scale := float64(binary.NativeEndian.Uint64(raw[16:]))
	if scale == 0 {
		return 0, 0, 0, false
	}
	load := func(i int) float64 { return float64(binary.NativeEndian.Uint32(raw[4*i:])) / scale }
	return load(0), load(1), load(2), true
}

// rootInode returns the number of the root of a volume.
func rootInode() uint64 { return 2 }

// sizesOf asks the kernel.
func sizesOf(mount string) (sizes, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(mount, &st); err != nil {
		return sizes{}, err
	}
	return sizes{int64(st.Bsize), int64(st.Iosize), int64(st.Blocks), int64(st.Bavail), int64(st.Files), int64(st.Ffree)},
		nil
}

// distribution is macOS, in its version.
func distribution(p *probe) {
	version, _ := p.run("sw_vers", "-productVersion")
	version = strings.TrimSpace(version)
	p.set("distribution", "MacOSX")
	p.set("distribution_release", p.text("kernel"))
	p.set("distribution_version", version)
	p.set("distribution_major_version", strings.SplitN(version, ".", 2)[0])
	p.set("os_family", "Darwin")
}
