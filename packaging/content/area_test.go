package content

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// area is a directory of odd files. Each call has a copy of its own, always at the same path.
type area struct{ template, dir string }

// oddFiles are the files of an area, by their paths. A path that ends in / is a directory, a content that begins with
// "-> " a symbolic link, with "= " a hard link; a path may be followed by a mode.
func oddFiles() [][2]string {
	return [][2]string{
		{"plain.txt", "one\ntwo\nthree\n"}, {"nonl", "one\ntwo"}, {"empty", ""}, {"crlf.txt", "one\r\ntwo\r\n"}, {"cr", "one\rtwo\r"},
		{"latin\xff.txt", "caf\xe9\none\n"}, {"bin", "\x00\x01\xff\none\n"}, {"with space.txt", "one\n"}, {"quote'\"$HOME.txt", "two\n"}, {"-dash", "one\n"},
		{"é.txt", "été\none\n"}, {"blank lines", "\n\none\n\n"}, {"ro.txt 0444", "one\n"}, {"none.txt 0000", "two\n"}, {"exec.sh 0755", "#!/bin/sh\necho ran \"$@\"\n"},
		{"suid 4755", "one\n"}, {"block.txt", "head\n# BEGIN ANSIBLE MANAGED BLOCK\nold\n# END ANSIBLE MANAGED BLOCK\ntail\n"}, {"half.txt", "# BEGIN ANSIBLE MANAGED BLOCK\nold\n"},
		{"conf.ini", "top = 1\n[a]\nx=1\n; c\n\n[b c]\n# y = 3\ny = 2\ny = 4\n"}, {"sysctl.conf", "# c\nnet.ipv4.ip_forward=1\nvm.swappiness = 10\n"},
		{"fstab", "# c\n/dev/sda1 / ext4 defaults 0 1\nUUID=1 /a\\040b xfs ro\n"}, {"repos/base.repo", "[base]\nname = b\nbaseurl = http://x/\n\n[other]\nname = o\n"}, {"repos/broken.repo", "name\n"},
		{"crontab", "PATH=/bin\n#Ansible: job\n0 1 * * * root true\n# c\n* * * * * root false\n"}, {"hosts", hostLine("h1", 1) + "# c\n" + hostLine("h2,[h3]:22", 2) + "broken\n"},
		{"keys", keyOf(1) + " a@b\n# c\ncommand=\"x y\",no-pty " + keyOf(2) + "\n"}, {"keys.sha1", hexSum("one\ntwo\nthree\n") + "  plain.txt\n"},
		{"deep/a/b/c/f.txt", "one\n"}, {"deep/z.txt", "two\n"}, {"deep/.hidden", "h\n"}, {"frag/10-a", "a\n"}, {"frag/20-b", "b"}, {"frag/.30-c", "c\n"}, {"frag/sub/x", "x\n"}, {"emptydir/", ""},
		{"rodir/f", "one\n"}, {"sticky/f", "one\n"}, {"setgid/f", "one\n"}, {"home/mine", "one\n"}, {"to-file", "-> plain.txt"}, {"to-dir", "-> deep"}, {"dangling", "-> nowhere"}, {"loop", "-> loop"},
		{"up", "-> deep/../plain.txt"}, {"deep/back", "-> .."}, {"hard", "= plain.txt"}, {"rodir/ 0555", ""}, {"sticky/ 1777", ""}, {"setgid/ 2755", ""}, {"bin.d/crontab 0755", fakeCrontab},
		{"long.txt", strings.Repeat("x", 70000) + "\none\n"}, {"tree/a/f", "one\n"}, {"tree/g", "two\n"}, {"tree/l", "-> a"}, {"tree/m", "-> g"},
		{"tree/n", "-> nowhere"}, {"home/tab", "#Ansible: mine\n1 2 * * * true\n\n@daily x\n"},
	}
}

// fakeCrontab keeps the crontab of whoever asks in HOME.
const fakeCrontab = `#!/bin/sh
while [ $# -gt 1 ] && [ "$1" = -u ]; do shift 2; done
case $1 in
-l) [ -e "$HOME/tab" ] || { echo no crontab >&2; exit 1; }; cat "$HOME/tab" ;;
-r) rm "$HOME/tab" ;;
*) cat "$1" >"$HOME/tab" ;;
esac
`

func hexSum(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// keyOf is a public key; n tells it from others.
func keyOf(n byte) string {
	const kind = "ssh-ed25519"
	blob := binary.BigEndian.AppendUint32(nil, uint32(len(kind)))
	blob = binary.BigEndian.AppendUint32(append(blob, kind...), 32)
	blob = append(blob, make([]byte, 32)...)
	blob[len(blob)-1] = n
	return kind + " " + base64.StdEncoding.EncodeToString(blob)
}

func hostLine(hosts string, n byte) string { return hosts + " " + keyOf(n) + "\n" }

// long is the time of all files of an area.
var long = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

// newArea makes the template, with repositories of git and archives.
func newArea(t *testing.T) *area {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// The path has always the same length, which is part of the sizes of links and of what git writes.
	root = filepath.Join(root, strings.Repeat("x", max(1, 100-len(root))))
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	a := &area{filepath.Join(root, "template"), filepath.Join(root, "area")}
	syscall.Umask(0o022)
	for _, f := range oddFiles() {
		a.lay(t, f[0], f[1])
	}
	if err := os.Symlink(filepath.Join(a.dir, "plain.txt"), filepath.Join(a.template, "whole")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(a.template, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	script := `set -e
pack="tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@1704164645"
$pack -cf a.tar -C deep a z.txt; $pack -czf a.tar.gz -C frag 10-a 20-b sub; head -c 60 a.tar.gz >broken.tar.gz
zip -q -X -r a.zip deep/a deep/z.txt 2>/dev/null || rm -f a.zip
export GIT_AUTHOR_DATE='2024-01-01 00:00:00 +0000' GIT_COMMITTER_DATE='2024-01-01 00:00:00 +0000' HOME=/nonexistent
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_TEMPLATE_DIR=
git init -q -b main seed; cd seed; echo one >f; git add f; git commit -qm 1; git tag v1
git checkout -qb side; echo two >g; git add g; git commit -qm 2; git checkout -q main
echo three >f; git commit -qam 3; git tag -a -m x v2; cd ..
git clone -q --bare seed repo.git; rm -rf seed
git clone -q repo.git work; git -C work remote set-url origin "$1/repo.git"; cp -a work dirty; echo more >>dirty/f; git -C work checkout -q v1`
	cmd := exec.Command("sh", "-c", script, "sh", a.dir)
	cmd.Dir = a.template
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a.age(t)
	t.Cleanup(func() {
		open(a.template)
		open(a.dir)
	})
	return a
}

func (a *area) lay(t *testing.T, name, content string) {
	t.Helper()
	closed := strings.HasSuffix(name, " 0000")
	name, mode := nameAndMode(name)
	path := filepath.Join(a.template, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch {
	case err != nil:
	case strings.HasSuffix(name, "/"):
		err = os.MkdirAll(path, 0o755)
	case strings.HasPrefix(content, "-> "):
		err = os.Symlink(content[3:], path)
	case strings.HasPrefix(content, "= "):
		err = os.Link(filepath.Join(a.template, content[2:]), path)
	default:
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err == nil && (mode != 0 || closed) {
		err = syscall.Chmod(path, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// nameAndMode splits the first half of an odd file.
func nameAndMode(text string) (name string, mode uint32) {
	if i := strings.LastIndexByte(text, ' '); i > 0 {
		if n, err := strconv.ParseUint(text[i+1:], 8, 32); err == nil {
			return text[:i], uint32(n)
		}
	}
	return text, 0
}

// age gives all that is in the template the same time.
func (a *area) age(t *testing.T) {
	err := filepath.WalkDir(a.template, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(path, long, long)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// open lets everything in a directory be removed.
func open(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
}

// renew puts a new copy in place.
func (a *area) renew(t *testing.T) {
	t.Helper()
	open(a.dir)
	if err := os.RemoveAll(a.dir); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("cp", "-a", a.template, a.dir).CombinedOutput()
	if closed := filepath.Join(a.dir, "none.txt"); err != nil && os.Geteuid() != 0 { // cp cannot read it
		err = os.WriteFile(closed, []byte("two\n"), 0)
		_ = os.Chtimes(closed, long, long)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// freeFifo ends whoever waits for a writer of the fifo, or a reader.
func (a *area) freeFifo() {
	if fd, err := syscall.Open(filepath.Join(a.dir, "fifo"), syscall.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
		time.Sleep(50 * time.Millisecond) // the waiting side has it open before it is closed again
		_ = syscall.Close(fd)
	}
}

// look describes all that is in the area: kind, mode, owner, time and content.
func (a *area) look(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(a.dir, path)
		if err != nil {
			found[rel] = "closed"
			return nil
		}
		if ofGit().MatchString(rel) {
			return nil
		}
		var st syscall.Stat_t
		switch err := syscall.Lstat(path, &st); {
		case err == syscall.EACCES: // in a directory that may be read and not searched
			found[a.empty(rel)] = "closed"
			return nil
		case err != nil:
			return err
		}
		found[a.empty(rel)] = a.describe(path, d, &st)
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// ofGit is what git writes beside the state of a repository: it differs from clone to clone.
var ofGit = func() func() *regexp.Regexp {
	re := regexp.MustCompile(`/(index|logs|objects|hooks|FETCH_HEAD|ORIG_HEAD|COMMIT_EDITMSG|description|info)(/|$)`)
	return func() *regexp.Regexp { return re }
}()

func (a *area) describe(path string, d fs.DirEntry, st *syscall.Stat_t) string {
	text := fmt.Sprintf("%06o %s:%s", st.Mode, own(st.Uid, os.Geteuid()), own(st.Gid, os.Getegid()))
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return text + " -> " + a.empty(target)
	case !d.Type().IsRegular():
		return text
	}
	switch at := time.Unix(st.Mtim.Unix()); {
	case at.Equal(long):
	case time.Since(at).Abs() < time.Hour:
		text += " now"
	default:
		text += " " + at.UTC().Format(time.DateTime)
	}
	if st.Nlink > 1 {
		text += fmt.Sprintf(" links=%d", st.Nlink)
	}
	content, err := os.ReadFile(path)
	if os.IsPermission(err) {
		_ = os.Chmod(path, 0o600)
		content, err = os.ReadFile(path)
		_ = syscall.Chmod(path, st.Mode&0o7777)
	}
	if err != nil {
		return text + " " + err.Error()
	}
	if strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".zip") || strings.HasSuffix(path, ".tgz") {
		return text + " packed"
	}
	return text + " " + brief(strconv.Quote(a.empty(string(content))))
}

// brief is a text, or the ends and the sum of a long one.
func brief(text string) string {
	if len(text) < 2000 {
		return text
	}
	return fmt.Sprintf("%s ... %s (%d bytes, sha1 %s)", text[:40], text[len(text)-40:], len(text), hexSum(text))
}

func own(id uint32, mine int) string {
	if int(id) == mine {
		return "me"
	}
	return strconv.Itoa(int(id))
}

// volatileWords are parts of texts that differ from call to call.
var volatileWords = func() func() *regexp.Regexp {
	re := regexp.MustCompile(`\.\d+\.\d{4}-\d\d-\d\d@\d\d:\d\d:\d\d~|\|1\|[A-Za-z0-9+/=]+\|[A-Za-z0-9+/=]+`)
	return func() *regexp.Regexp { return re }
}()

// empty takes the area's path out of a text, and what differs from call to call.
func (a *area) empty(text string) string {
	return volatileWords().ReplaceAllString(strings.ReplaceAll(text, a.dir, "$AREA"), "...")
}
