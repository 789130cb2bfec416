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

// Other users cannot run a program in a directory that only its user may read, and opening that directory would show
// what lies beside it. So a shell of the user checks whether that user may run the program, and asks for it if not. The
// program comes through the pipe that the worker will read, into a directory of the user's own. The worker removes that
// as soon as it runs: see Settle.
const (
	programThere  = "hark-worker: the program is there"
	programWanted = "hark-worker: the program is wanted"
	programComes  = "hark-worker: the program comes"
)

// handover returns the shell that runs a program of size bytes, or asks for it and runs its copy. It drops what comes
// before the program, such as a password that nobody asked for.
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

// Settle is the first thing that a worker does with the words after its name: it removes the directory that holds the
// copy of its program.
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

// mostGreeting is how many bytes a shell may print before it says whether it wants the program.
const mostGreeting = 64 << 10

// handOver sends the shell the program if it asks for it. If it does neither, the error is what the shell printed.
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
