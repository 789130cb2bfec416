package facts

import "golang.org/x/sys/unix"

// usableCPUs is on how many processors this process may run.
func usableCPUs(all int) int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		return set.Count()
	}
	return all
}

// loads returns the averages of one, five and fifteen minutes.
func loads() (one, five, fifteen float64, ok bool) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, 0, 0, false
	}
	load := func(i int) float64 { return float64(info.Loads[i]) / 65536 }
	return load(0), load(1), load(2), true
}

// rootInode returns the number that the root of a file system like that of / has.
func rootInode() uint64 {
	var fs unix.Statfs_t
	if unix.Statfs("/", &fs) == nil {
		switch int64(fs.Type) {
		case unix.BTRFS_SUPER_MAGIC:
			return 256
		case unix.XFS_SUPER_MAGIC:
			return 128
		}
	}
	return 2
}

// sizesOf asks the kernel.
func sizesOf(mount string) (sizes, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(mount, &st); err != nil {
		return sizes{}, err
	}
	return sizes{int64(st.Frsize), int64(st.Bsize), int64(st.Blocks), int64(st.Bavail), int64(st.Files), int64(st.Ffree)},
		nil
}

// distribution is told by files.
func distribution(p *probe) { distributionFiles(p) }
