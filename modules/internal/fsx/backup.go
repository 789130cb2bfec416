package fsx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/localtime"
)

// Backup copies a file beside itself with mode, owner, times and attributes, as path.PID.YYYY-MM-DD@HH:MM:SS~. It
// gives the copy's name, "" if there was no file.
func Backup(path string, now time.Time) (string, error) {
	if !Exists(path) {
		return "", nil
	}
	stamp := localtime.In(now).Format("2006-01-02@15:04:05~")
	// One agent makes all backups, so its pid does not tell two of the same second apart: count on.
	for pid := os.Getpid(); ; pid++ {
		dest := fmt.Sprintf("%s.%d.%s", path, pid, stamp)
		err := copyPreserved(path, dest)
		if err == nil {
			return dest, nil
		}
		if failed := (*Error)(nil); errors.As(err, &failed) {
			return "", failed
		}
		if !errors.Is(err, os.ErrExist) {
			return "", failure("Could not make backup of %s to %s: %s", path, dest, oserr.Path(err, path))
		}
	}
}

func copyPreserved(src, dest string) error {
	st, err := Stat(src, true)
	if err != nil {
		return err
	}
	in, err := hostfs.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := hostfs.OpenFile(dest, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = preserve(src, dest, st)
	}
	if err != nil {
		_ = hostfs.Remove(dest) // half a backup is none
	}
	return err
}

func preserve(src, dest string, st *syscall.Stat_t) error {
	copyXattrs(src, dest)
	if err := hostfs.Chown(dest, int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, syscall.EPERM) {
		return err
	}
	if err := hostfs.Chmod(dest, uint32(st.Mode)&PermBits); err != nil {
		return err
	}
	access, modification, _ := Times(st)
	if err := hostfs.Chtimes(dest, time.Unix(access.Unix()), time.Unix(modification.Unix())); err != nil {
		return err
	}
	return preserveFlags(src, dest)
}

// preserveFlags comes last, since an immutable file takes nothing else.
func preserveFlags(src, dest string) error {
	want, ok := FlagsOf(src, false)
	if !ok {
		return nil
	}
	if have, ok := FlagsOf(dest, false); ok && have.Letters == want.Letters {
		return nil
	}
	if err := setFlags(dest, '=', want.Letters); err != nil {
		return chattrFailed(dest, err)
	}
	return nil
}
