//go:build !darwin

package nss

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// machineOf is a machine with files, whose directories know what entries has by the words that getent is asked with.
func machineOf(t *testing.T, files, entries map[string]string) (s *system, asked *[]string) {
	t.Helper()
	s, asked = &system{root: t.TempDir()}, &[]string{}
	for path, text := range files {
		put(t, s, path, text)
	}
	s.getent = func(_ context.Context, words ...string) ([]byte, int, error) {
		key := strings.Join(words, " ")
		*asked = append(*asked, key)
		if text, ok := entries[key]; ok {
			return []byte(text), 0, nil
		}
		return nil, 2, nil
	}
	return s, asked
}

func put(t *testing.T, s *system, path, text string) {
	t.Helper()
	path = s.root + path
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	localPasswd = "root:x:0:0:root:/root:/bin/bash\n# " +
		"joe:x:7:7::/:\n+ghost:x:9:9::/:/bin/sh\njoe:x:1000:1000:Joe,,,:/home/joe:/bin/zsh\n"
	localGroup = "root:x:0:\njoe:x:1000:\nwheel:x:10:root,joe\n"
	ldapSwitch = "passwd: files [NOTFOUND=continue] sss # more\ngroup:files sss\nhosts: files dns\n"
	ldapu      = "ldapu:*:70001:70001:LDAP User:/home/ldapu:/bin/bash\n"
)

func TestUsersAreThoseOfFilesAndThenOfDirectories(t *testing.T) {
	files := map[string]string{"/etc/passwd": localPasswd, "/etc/group": localGroup, "/etc/nsswitch.conf": ldapSwitch}
	s, asked := machineOf(t, files, map[string]string{"passwd ldapu": ldapu, "passwd 70001": ldapu,
		"group ldapg": "ldapg:*:70001:\n", "group 70002": "ldapx:*:70002:ldapu,joe\n"})
	joe, err := s.userNamed("joe")
	if err != nil || *joe != (User{"joe", 1000, 1000, "Joe,,,", "/home/joe", "/bin/zsh"}) {
		t.Errorf("%+v, %v", joe, err)
	}
	if g, err := s.groupOf(10); err != nil || g.Name != "wheel" || !slices.Equal(g.Members, []string{"root", "joe"}) {
		t.Errorf("%+v, %v", g, err)
	}
	if len(*asked) > 0 {
		t.Errorf("directories were asked for what files have: %q", *asked)
	}
	for name, do := range map[string]func() (*User, error){
		"by name": func() (*User, error) { return s.userNamed("ldapu") },
		"by id":   func() (*User, error) { return s.userOf(70001) },
	} {
		if u, err := do(); err != nil || *u != (User{"ldapu", 70001, 70001, "LDAP User", "/home/ldapu", "/bin/bash"}) {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	if g, err := s.groupNamed("ldapg"); err != nil || g.GID != 70001 {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := s.groupOf(70002); err != nil || g.Name != "ldapx" {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestNamesThatAreNone: getent would take some of them for ids or options.
func TestNamesThatAreNone(t *testing.T) {
	s, asked := machineOf(t, map[string]string{"/etc/passwd": localPasswd, "/etc/nsswitch.conf": ldapSwitch},
		map[string]string{"passwd 70001": ldapu})
	for _, name := range []string{"", "-s", "a:b", "x\ny", "70001", "ghost"} {
		if _, err := s.userNamed(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("user %q: %v", name, err)
		}
		if _, err := s.groupNamed(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("group %q: %v", name, err)
		}
	}
	if _, err := s.userOf(-1); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if !slices.Equal(*asked, []string{"passwd ghost", "group ghost"}) {
		t.Errorf("asked: %q", *asked)
	}
}

// TestMachinesWithoutDirectoriesAskNobody: a process for each unknown id would be dear.
func TestMachinesWithoutDirectoriesAskNobody(t *testing.T) {
	for _, text := range []string{"", "passwd: files\ngroup: files\n",
		"passwd:\tcompat\ngroup: compat [SUCCESS=return]\n"} {
		s, asked := machineOf(t, map[string]string{"/etc/passwd": "root:x:0:0::/:/bin/sh\n", "/etc/nsswitch.conf": text}, nil)
		_, err1 := s.userNamed("x")
		_, err2 := s.groupOf(5)
		if !errors.Is(err1, ErrUnknown) || !errors.Is(err2, ErrUnknown) || len(*asked) > 0 {
			t.Errorf("%q: %v, %v, asked %q", text, err1, err2, *asked)
		}
	}
}

// TestGroupsAreThoseOfInitgroups: a user of a file may be in groups of a directory, and the other way round.
func TestGroupsAreThoseOfInitgroups(t *testing.T) {
	files := map[string]string{"/etc/passwd": localPasswd, "/etc/group": localGroup + "video:x:44:ldapu\n",
		"/etc/nsswitch.conf": ldapSwitch}
	s, _ := machineOf(t, files, map[string]string{"initgroups ldapu": "ldapu                 44 70002\n",
		"initgroups joe": "joe 10 70002 1000\n"})
	for _, c := range []struct {
		user User
		want string
	}{{User{Name: "ldapu", GID: 70001}, "[70001 44 70002]"}, {User{Name: "joe", GID: 1000}, "[1000 10 70002]"},
		{User{Name: "root"}, "[0 10]"}} {
		if got, err := s.groupsOf(&c.user); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", c.user.Name, got, err, c.want)
		}
	}
}

// TestChangesAreSeenAtOnce, of files and of directories; ids of directories after Forget.
func TestChangesAreSeenAtOnce(t *testing.T) {
	entries := map[string]string{"passwd ldapu": ldapu, "passwd 70001": ldapu}
	s, asked := machineOf(t, map[string]string{"/etc/passwd": localPasswd, "/etc/nsswitch.conf": ldapSwitch,
		"/etc/hosts": "127.0.0.1 a.test\n"}, entries)
	home := func(u *User, err error) string {
		if err != nil {
			return err.Error()
		}
		return u.Home
	}
	before := []string{home(s.userNamed("joe")), home(s.userNamed("ldapu")), home(s.userOf(70001)), home(s.userOf(70001))}
	if slices.Index(*asked, "passwd 70001") != len(*asked)-1 {
		t.Errorf("an id was asked for twice: %q", *asked)
	}
	put(t, s, "/etc/passwd", strings.ReplaceAll(localPasswd, "/home/joe", "/srv/joe"))
	put(t, s, "/etc/hosts", "127.0.0.2 a.test\n")
	moved := strings.ReplaceAll(ldapu, "/home", "/srv")
	entries["passwd ldapu"], entries["passwd 70001"] = moved, moved
	s.forget()
	after := []string{home(s.userNamed("joe")), home(s.userNamed("ldapu")), home(s.userOf(70001))}
	if want := []string{"/home/joe", "/home/ldapu", "/home/ldapu", "/home/ldapu"}; !slices.Equal(before, want) {
		t.Errorf("before: %q", before)
	}
	if want := []string{"/srv/joe", "/srv/ldapu", "/srv/ldapu"}; !slices.Equal(after, want) {
		t.Errorf("after: %q", after)
	}
	if got, err := s.addresses(t.Context(), "a.test"); err != nil || !slices.Equal(got, []string{"127.0.0.2"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestADirectoryThatHangsIsGivenUp, and said of: nobody knows whether it has the name. getent is a process that does
// not end.
func TestADirectoryThatHangsIsGivenUp(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "getent"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := &system{root: t.TempDir(), limit: 50 * time.Millisecond}
	put(t, s, "/etc/nsswitch.conf", ldapSwitch)
	begun := time.Now()
	_, err1 := s.userNamed("x")
	_, err2 := s.groupOf(5)
	_, err3 := s.groupsOf(&User{Name: "x"})
	for _, err := range []error{err1, err2, err3} {
		if err == nil || errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "did not answer within 10 seconds") {
			t.Errorf("%v", err)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestGetentIsTheOneOfThePath, and what it says counts.
func TestGetentIsTheOneOfThePath(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in 'passwd ldapu') echo 'ldapu:*:70001:70001:LDAP User:/home/ldapu:/bin/bash' ;; " +
		"*) exit 2 ;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "getent"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := &system{root: t.TempDir()}
	put(t, s, "/etc/nsswitch.conf", ldapSwitch)
	if u, err := s.userNamed("ldapu"); err != nil || u.UID != 70001 {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := s.userNamed("nobodyatall"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// answering is a service of varlink that gives an answer for each method.
func answering(t *testing.T, socket string, answer func(method string, parameters map[string]any) string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			text, _ := bufio.NewReader(conn).ReadBytes(0)
			var call struct {
				Method     string         `json:"method"`
				Parameters map[string]any `json:"parameters"`
			}
			_ = json.Unmarshal(text[:max(len(text)-1, 0)], &call)
			fmt.Fprint(conn, answer(call.Method, call.Parameters), "\x00")
			conn.Close()
		}
	}()
}

// shortDir is a directory whose path has room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "nss")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestUserdbAnswersForItself where the switch names systemd; what it leaves open libc knows.
func TestUserdbAnswersForItself(t *testing.T) {
	s, asked := machineOf(t, nil, map[string]string{"passwd half": "half:x:60002:60002::/home/half:/bin/sh\n"})
	s.root = shortDir(t)
	put(t, s, "/etc/nsswitch.conf", "passwd: files systemd\ngroup: files systemd\n")
	answering(t, s.root+userdbSocket, func(method string, p map[string]any) string {
		switch {
		case p["service"] != "io.systemd.Multiplexer":
			return `{"error":"io.systemd.UserDatabase.BadService"}`
		case method == "io.systemd.UserDatabase.GetUserRecord" && (p["userName"] == "homed" || p["uid"] == 60001.0):
			return `{"parameters":{"record":{"userName":"homed","uid":60001,"gid":60001,"realName":"At Home",` +
				`"homeDirectory":"/home/homed","shell":"/bin/bash"},"incomplete":false}}`
		case method == "io.systemd.UserDatabase.GetUserRecord" && p["userName"] == "half":
			return `{"parameters":{"record":{"userName":"half","uid":60002}}}`
		case method == "io.systemd.UserDatabase.GetGroupRecord" && (p["groupName"] == "homed" || p["gid"] == 60001.0):
			return `{"parameters":{"record":{"groupName":"homed","gid":60001,"members":["a"]}}}`
		}
		return `{"error":"io.systemd.UserDatabase.NoRecordFound"}`
	})
	u, err := s.userNamed("homed")
	if err != nil || *u != (User{"homed", 60001, 60001, "At Home", "/home/homed", "/bin/bash"}) {
		t.Errorf("%+v, %v", u, err)
	}
	if u, err = s.userOf(60001); err != nil || u.Name != "homed" {
		t.Errorf("%+v, %v", u, err)
	}
	if g, err := s.groupNamed("homed"); err != nil || g.GID != 60001 {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := s.groupOf(60001); err != nil || g.Name != "homed" {
		t.Errorf("%+v, %v", g, err)
	}
	if len(*asked) > 0 {
		t.Errorf("asked beside: %q", *asked)
	}
	if u, err = s.userNamed("half"); err != nil || u.Home != "/home/half" {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err = s.userNamed("nobody-there"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// TestHostsAreThoseOfTheFileOfResolvedAndOfLibc, in this order.
func TestHostsAreThoseOfTheFileOfResolvedAndOfLibc(t *testing.T) {
	s, _ := machineOf(t, nil, map[string]string{
		"ahosts printer.local": "10.0.0.9        STREAM printer.local\n10.0.0.9        DGRAM  \n",
		"hosts 10.0.0.9":       "10.0.0.9        printer.local printer\n",
	})
	s.root = shortDir(t)
	put(t, s, "/etc/nsswitch.conf", "hosts: files resolve dns\n")
	put(t, s, "/etc/hosts",
		"# 10.9.9.9 db1\n10.0.0.1\tdb1.test DB1 # the first\n10.0.0.1 again\nfe80::1%lo db1\nno-address db1\n")
	answering(t, s.root+resolvedSocket, func(method string, p map[string]any) string {
		switch {
		case method == "io.systemd.Resolve.ResolveHostname" && p["name"] == "web1":
			return `{"parameters":{"addresses":[{"ifindex":2,"family":2,"address":[10,0,0,2]},{"family":10,"address":[32,1,` +
				`13,184,0,0,0,0,0,0,0,0,0,0,0,1]}],"name":"web1","flags":1}}`
		case method == "io.systemd.Resolve.ResolveAddress" && fmt.Sprint(p["address"]) == "[10 0 0 2]":
			return `{"parameters":{"names":[{"name":"web1.test."},{"name":"web1"}]}}`
		}
		return `{"error":"io.systemd.Resolve.DNSError","parameters":{"rcode":3}}`
	})
	for host, want := range map[string]string{
		"db1": "[10.0.0.1 fe80::1%lo]", "DB1.test.": "[10.0.0.1]", "web1": "[10.0.0.2 2001:db8::1]",
		"printer.local": "[10.0.0.9]", "10.1.1.1": "[10.1.1.1]", "::1": "[::1]",
	} {
		if got, err := s.addresses(t.Context(), host); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", host, got, err, want)
		}
	}
	for ip, want := range map[string]string{"10.0.0.1": "[db1.test DB1]", "10.0.0.2": "[web1.test web1]",
		"10.0.0.9": "[printer.local printer]"} {
		if got, err := s.names(t.Context(), ip); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", ip, got, err, want)
		}
	}
	for _, host := range []string{"none.test", "", "-x", "a b"} {
		var why *net.DNSError
		if got, err := s.addresses(t.Context(), host); !errors.As(err, &why) || !why.IsNotFound {
			t.Errorf("%q: %v, %v", host, got, err)
		}
	}
	var why *net.DNSError
	if _, err := s.names(t.Context(), "10.0.0.77"); !errors.As(err, &why) || !why.IsNotFound {
		t.Error(err)
	}
}

// TestDialersTryOneAddressAfterTheOther of a name.
func TestDialersTryOneAddressAfterTheOther(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	s, _ := machineOf(t, map[string]string{"/etc/hosts": "127.0.0.77 here.test\n127.0.0.1 here.test\n"}, nil)
	defer func(was *system) { machine = was }(machine)
	machine = s
	d := Dialer{Timeout: 5 * time.Second}
	conn, err := d.Dial("tcp", "here.test:"+port)
	if err != nil || conn.RemoteAddr().String() != "127.0.0.1:"+port {
		t.Fatalf("%v, %v", conn, err)
	}
	conn.Close()
	if _, err := d.Dial("tcp6", "here.test:"+port); err == nil {
		t.Error("it has no such address")
	}
	for _, address := range []string{"127.0.0.1:" + port, "[::1]:1", ":" + port, "nonsense"} {
		if conn, err := d.DialContext(t.Context(), "tcp", address); err == nil {
			conn.Close()
		} else if address == "127.0.0.1:"+port {
			t.Error(err)
		}
	}
}

// TestThisMachine: libc's getent says the same.
func TestThisMachine(t *testing.T) {
	root, err := UserOf(0)
	if err != nil || root.Name != "root" || Home("root") != root.Home {
		t.Errorf("%+v, %v", root, err)
	}
	if g, err := GroupOf(0); err != nil || g.GID != 0 {
		t.Errorf("%+v, %v", g, err)
	}
	out, code, err := runGetent(t.Context(), "passwd", "0")
	if err != nil || code != 0 {
		t.Skip("no getent here: ", err)
	}
	if u, ok := userOf(strings.TrimSpace(string(out))); !ok || *u != *root {
		t.Errorf("%+v, getent says %q", root, out)
	}
}
