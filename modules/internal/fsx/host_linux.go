package fsx

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"hark/modules/internal/hostfs"
)

// Times returns when a file was last read, when its content and when its status changed.
func Times(st *syscall.Stat_t) (access, modification, change syscall.Timespec) {
	return st.Atim, st.Mtim, st.Ctim
}

// syncFileSystem is for what a temporary copy of a tree needs; what cannot be synced will be written later.
func syncFileSystem(f *os.File) { _ = unix.Syncfs(int(f.Fd())) }

// fsIocGetVersion is FS_IOC_GETVERSION of a 64-bit machine.
const fsIocGetVersion = 0x80087601

// openHeld opens a file to ask for its attributes; a pipe does not wait.
func openHeld(path string, flags int) (fd int, err error) {
	err = hostfs.Held(path, flags&unix.O_NOFOLLOW == 0, func(held string) error {
		fd, err = unix.Open(held, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
		return err
	})
	return fd, err
}

// readFlags returns the attributes of a file and, if that is wanted, its generation.
func readFlags(path string, version bool) (set, generation uint32, ok bool) {
	fd, err := openHeld(path, unix.O_NOFOLLOW)
	if err != nil {
		return 0, 0, false
	}
	defer unix.Close(fd)
	if set, err = unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == nil && version {
		generation, err = unix.IoctlGetUint32(fd, fsIocGetVersion)
	}
	return set, generation, err == nil
}

// changeFlags sets attributes of a file: those given, or those beside or without them.
func changeFlags(path string, op byte, bits uint32) error {
	fd, err := openHeld(path, 0)
	if err != nil {
		return chattrError(err, " while trying to stat "+path)
	}
	defer unix.Close(fd)
	now, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return chattrError(err, " while reading flags on "+path)
	}
	switch op {
	case '+':
		bits |= now
	case '-':
		bits = now &^ bits
	}
	if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(bits)); err != nil {
		return chattrError(err, " while setting flags on "+path)
	}
	return nil
}
