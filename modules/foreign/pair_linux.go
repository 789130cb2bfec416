package foreign

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// pair returns a socket, and the other end for a server.
func pair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// inMemory returns a file that holds a pack and is on no disk.
func inMemory(pack []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("pack", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "pack")
	if _, err := f.Write(pack); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
