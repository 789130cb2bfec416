package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hark/agent/tempdir"
)

// A program that lies in a directory of its user's alone cannot be run by others, and making it readable to them all
// would show what lies beside it. So the shell as the user looks whether that user may run it, and asks for it if
// not. It comes through the pipe that the worker will read, into a directory of the user's own, which the worker
// removes as soon as it runs: see Settle.
const (
	programThere  = "hark-worker: the program is there"
	programWanted = "hark-worker: the program is wanted"
	programComes  = "hark-worker: the program comes"
)

// handover is the shell that runs a program of so many bytes, or asks for it and runs its copy. What comes before the
// program, as a password for which nobody asked, is dropped.
func handover(argv []string, size int64) []string {
	script := `if [ -f "$0" ] && [ -x "$0" ]; then
  echo '` + programThere + `'
  exec "$0" "$@"
fi
clean() { [ -z "$d" ] || rm -rf "$d"; }
trap clean EXIT; trap : HUP PIPE; trap 'clean; exit 1' TERM
` + tempdir.Shell(size) + `echo '` + programWanted + `'
while :; do
  IFS= read -r line || exit 1
  [ "$line" != '` + programComes + `' ] || break
done
p="$d/hark-agent"
(umask 077; head -c ` + strconv.FormatInt(size, 10) + ` >"$p") && [ "$(wc -c <"$p")" -eq ` + strconv.FormatInt(size, 10) + ` ] && chmod 700 "$p" || exit 1
exec "$p" "$@" "$d"
`
	return append([]string{"/bin/sh", "-c", script}, argv...)
}

// Settle is what a worker does first with the words after its name: it removes the directory in which its program is
// a copy.
func Settle(words []string) error {
	self, err := os.Executable()
	if len(words) == 0 || err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(words[0])
	if err == nil && dir != filepath.Dir(self) {
		err = fmt.Errorf("%s is not where this program is", words[0])
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// mostGreeting is how many bytes a shell may say before it reports whether it wants the program.
const mostGreeting = 64 << 10

// handOver gives the shell the program if it wants that. The error of a shell that does not come to it is what it said.
func handOver(program string, from *bufio.Reader, to io.Writer) error {
	var before strings.Builder
	for before.Len() < mostGreeting {
		line, err := from.ReadSlice('\n')
		switch strings.TrimRight(string(line), "\r\n") {
		case programThere:
			return nil
		case programWanted:
			return send(program, to)
		}
		before.Write(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return fmt.Errorf("%.4096s", strings.TrimSpace(before.String()))
}

func send(program string, to io.Writer) error {
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.WriteString(to, programComes+"\n"); err != nil {
		return err
	}
	_, err = io.Copy(to, f)
	return err
}

// everybodyRuns reports whether all users may run a program, by the modes of the file and of the directories above it.
func everybodyRuns(program string) bool {
	path, err := filepath.EvalSymlinks(program)
	if err != nil || !filepath.IsAbs(path) {
		return false
	}
	for want := os.FileMode(0o005); ; want = 0o001 {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&want != want {
			return false
		}
		if path == "/" {
			return true
		}
		path = filepath.Dir(path)
	}
}
