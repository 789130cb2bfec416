package galaxy_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/ansible/galaxy"
	"hark/controller/internal/ansible/galaxy/galaxytest"
	"hark/modules/py/value"
)

// heard keeps what is said.
type heard struct{ lines []string }

func (h *heard) Say(text string)        { h.lines = append(h.lines, text) }
func (h *heard) Warn(text string)       { h.lines = append(h.lines, "[WARNING]: "+text) }
func (h *heard) Error(text string)      { h.lines = append(h.lines, "[ERROR]: "+text) }
func (h *heard) Verbose(int, string)    {}
func (h *heard) all() string            { return strings.Join(h.lines, "\n") }
func (h *heard) says(words string) bool { return strings.Contains(h.all(), words) }

// world is a client, what it says, its server and where it installs.
type world struct {
	*galaxy.Client
	heard *heard
	api   *galaxytest.Server
	root  string
}

func newWorld(t *testing.T, change func(*galaxy.ServerOptions)) *world {
	t.Helper()
	api := galaxytest.New()
	t.Cleanup(api.Close)
	return onServer(t, api, change)
}

func onServer(t *testing.T, api *galaxytest.Server, change func(*galaxy.ServerOptions)) *world {
	t.Helper()
	h := &heard{}
	o := galaxy.ServerOptions{Name: "test", URL: api.URL + "/api", Timeout: time.Minute,
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	if change != nil {
		change(&o)
	}
	s, err := galaxy.NewServer(o, h)
	if err != nil {
		t.Fatal(err)
	}
	c := &galaxy.Client{Screen: h, Servers: []*galaxy.Server{s}, Temp: t.TempDir(), Signing: galaxy.Signing{Count: "1"}}
	return &world{c, h, api, galaxy.Root(t.TempDir())}
}

func (w *world) add(name, version string, needs map[string]string) {
	namespace, short, _ := strings.Cut(name, ".")
	w.api.Add(galaxytest.Collection{Namespace: namespace, Name: short, Version: version, Needs: needs,
		Files: map[string]string{"README.md": name + version, "plugins/modules/m.py": "x"}})
}

// install is what is there afterwards, or the error.
func (w *world) install(t *testing.T, o galaxy.InstallOptions, wanted ...string) string {
	t.Helper()
	list, err := w.Wanted(wanted, "", nil)
	if err == nil {
		err = w.Install(t.Context(), list.Collections, w.root, o)
	}
	if err != nil {
		return err.Error()
	}
	places, err := w.List([]string{filepath.Dir(w.root)}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range places {
		for _, c := range p.Collections {
			out = append(out, c.Name+":"+c.Version)
		}
	}
	return strings.Join(out, " ")
}

func TestVersionsAreChosenAsAnsibleChoosesThem(t *testing.T) {
	for _, c := range []struct {
		wanted string
		o      galaxy.InstallOptions
		want   string
	}{
		{"a.base", galaxy.InstallOptions{}, "a.base:2.0.0"},
		{"a.base:1.0.0", galaxy.InstallOptions{}, "a.base:1.0.0"},
		{"a.base:>=1.0.0,<2.0.0", galaxy.InstallOptions{}, "a.base:1.1.0"},
		{"a.base:<2.0.0", galaxy.InstallOptions{Pre: true}, "a.base:1.2.0-beta.1"},
		{"a.base:1.2.0-beta.1", galaxy.InstallOptions{}, "a.base:1.2.0-beta.1"},
		{"a.base:!=2.0.0", galaxy.InstallOptions{}, "a.base:1.1.0"},
		{"a.base:1.0", galaxy.InstallOptions{}, "a.base:1.0.0"},
		{"a.web", galaxy.InstallOptions{}, "a.base:1.1.0 a.web:1.0.0"},
		{"a.web", galaxy.InstallOptions{NoDeps: true}, "a.web:1.0.0"},
		{"a.web a.new", galaxy.InstallOptions{},
			"Failed to resolve the requested dependencies map. Could not satisfy the following requirements:\n" +
				"* a.base:>=1.0.0,<2.0.0 (dependency of a.web:1.0.0)\n* a.base:>=2.0.0 (dependency of a.new:1.0.0)"},
		// The newest of a.any needs a.base 2, which a.web forbids: an older one is taken.
		{"a.web a.any", galaxy.InstallOptions{}, "a.any:1.0.0 a.base:1.1.0 a.web:1.0.0"},
		{"a.any a.web", galaxy.InstallOptions{}, "a.any:1.0.0 a.base:1.1.0 a.web:1.0.0"},
		{"a.pre", galaxy.InstallOptions{},
			"Failed to resolve the requested dependencies map. Could not satisfy the following requirements:\n* a.pre:* " +
				"(direct request)"},
		{"a.none", galaxy.InstallOptions{},
			"Failed to resolve the requested dependencies map. Could not satisfy the following requirements:\n* a.none:* " +
				"(direct request)"},
		{"a.base:x", galaxy.InstallOptions{}, "Non integer values in LooseVersion ('x')"},
	} {
		t.Run(c.wanted, func(t *testing.T) {
			w := newWorld(t, nil)
			for _, v := range []string{"1.0.0", "1.1.0", "1.2.0-beta.1", "2.0.0"} {
				w.add("a.base", v, nil)
			}
			w.add("a.web", "1.0.0", map[string]string{"a.base": ">=1.0.0,<2.0.0"})
			w.add("a.new", "1.0.0", map[string]string{"a.base": ">=2.0.0"})
			w.add("a.any", "1.0.0", map[string]string{"a.base": "*"})
			w.add("a.any", "2.0.0", map[string]string{"a.base": ">=2.0.0"})
			w.add("a.pre", "1.0.0-rc.1", nil)
			if got := w.install(t, c.o, strings.Fields(c.wanted)...); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWhatIsThereStaysUnlessItIsForced(t *testing.T) {
	w := newWorld(t, nil)
	w.add("a.base", "1.0.0", nil)
	w.add("a.base", "1.1.0", nil)
	w.add("a.web", "1.0.0", map[string]string{"a.base": ">=1.0.0"})
	for _, step := range []struct {
		o            galaxy.InstallOptions
		wanted, want string
		says         string
	}{
		{galaxy.InstallOptions{}, "a.base:1.0.0", "a.base:1.0.0", "a.base:1.0.0 was installed successfully"},
		{galaxy.InstallOptions{}, "a.base", "a.base:1.0.0",
			"Nothing to do. All requested collections are already installed."},
		{galaxy.InstallOptions{}, "a.web", "a.base:1.0.0 a.web:1.0.0", "'a.base:1.0.0' is already installed, skipping."},
		{galaxy.InstallOptions{Force: true}, "a.web", "a.base:1.0.0 a.web:1.0.0", "a.web:1.0.0 was installed successfully"},
		{galaxy.InstallOptions{ForceDeps: true}, "a.web", "a.base:1.1.0 a.web:1.0.0",
			"a.base:1.1.0 was installed successfully"},
		{galaxy.InstallOptions{Force: true}, "a.base:1.0.0", "a.base:1.0.0 a.web:1.0.0", ""},
		{galaxy.InstallOptions{Upgrade: true}, "a.base", "a.base:1.1.0 a.web:1.0.0", ""},
	} {
		w.heard.lines = nil
		if got := w.install(t, step.o, step.wanted); got != step.want || !w.heard.says(step.says) {
			t.Errorf("%s %+v: got %s, want %s; it said\n%s", step.wanted, step.o, got, step.want, w.heard.all())
		}
	}
}

func TestArchivesThatAreNotWhatTheySayAreRefused(t *testing.T) {
	whole := galaxytest.Collection{Namespace: "a", Name: "b", Version: "1.0.0", Files: map[string]string{"x": "right"}}
	list := func(entry string) string {
		return `{"files":[{"name":".","ftype":"dir"},` + entry + `],"format":1}`
	}
	const manifest = `{"collection_info":{"namespace":"a","name":"b","version":"1.0.0","dependencies":{}},` +
		`"file_manifest_file":{"name":"FILES.json"}}`
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"good", galaxytest.Archive(whole), "a.b:1.0.0"},
		{"another text", galaxytest.Tar(galaxytest.File("MANIFEST.json", manifest),
			galaxytest.File("FILES.json", list(`{"name":"x","ftype":"file","chksum_sha256":"00"}`)),
			galaxytest.File("x", "wrong")), "Checksum mismatch for 'x' inside collection at 'FILE'"},
		{"another list", galaxytest.Tar(galaxytest.File("MANIFEST.json",
			strings.Replace(manifest, `"FILES.json"`, `"FILES.json","chksum_sha256":"00"`, 1)),
			galaxytest.File("FILES.json", list(`{"name":"x","ftype":"dir"}`))),
			"Checksum mismatch for 'FILES.json' inside collection at 'FILE'"},
		{"out of it", galaxytest.Tar(galaxytest.File("MANIFEST.json", manifest),
			galaxytest.File("FILES.json", list(`{"name":"../../x","ftype":"file","chksum_sha256":"00"}`)),
			galaxytest.File("../../x", "wrong")),
			"Cannot extract tar entry '../../x' as it will be placed outside the collection directory"},
		{"link out of it", galaxytest.Tar(galaxytest.File("MANIFEST.json", manifest),
			galaxytest.File("FILES.json", list(`{"name":"x","ftype":"file","chksum_sha256":"00"}`)),
			galaxytest.File("x", "->/etc/passwd")),
			"Cannot extract symlink 'x' in collection: path points to location outside of collection '/etc/passwd'"},
		{"missing", galaxytest.Tar(galaxytest.File("MANIFEST.json", manifest),
			galaxytest.File("FILES.json", list(`{"name":"x","ftype":"file","chksum_sha256":"00"}`))),
			"Collection tar at 'FILE' does not contain the expected file 'x'."},
		{"no manifest", galaxytest.Tar(galaxytest.File("x", "y")),
			"Collection at 'FILE' does not contain the required file MANIFEST.json."},
		{"no archive", []byte("text"), "Collection artifact at 'FILE' is not a valid tar file."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			path := filepath.Join(t.TempDir(), "a-b-1.0.0.tar.gz")
			if err := os.WriteFile(path, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(w.install(t, galaxy.InstallOptions{}, path), path, "FILE"); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			if left, _ := filepath.Glob(w.root + "/*/*"); c.name != "good" && len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// Whoever names a collection, its directory lies below the one of collections.
func TestNamesOfCollectionsStayBelowTheirDirectory(t *testing.T) {
	const galaxyYML = "namespace: %q\nname: %q\nversion: 1.0.0\nreadme: README.md\nauthors: [me]\ndependencies: {%s}\n"
	source := func(t *testing.T, c galaxytest.Collection, needs string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "galaxy.yml"), fmt.Appendf(nil, galaxyYML, c.Namespace, c.Name, needs),
			0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	archive := func(t *testing.T, c galaxytest.Collection) string {
		path := filepath.Join(t.TempDir(), "x.tar.gz")
		if err := os.WriteFile(path, galaxytest.Archive(c), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named := func(t *testing.T, entry string) string {
		path := filepath.Join(t.TempDir(), "requirements.yml")
		if err := os.WriteFile(path, []byte("collections: ["+entry+"]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	type attempt struct {
		what, wanted, file, want string
	}
	for _, bad := range [][2]string{{"..", ".."}, {"..", "x"}, {"x", "../../pwned"}, {"/tmp", "x"}, {"x", "/tmp"},
		{"", ""}, {"", "x"}, {"x", ""}, {"a.b", "x"}, {"a", "."}, {"x/y", "z"}, {"my-ns", "x"}, {"x", "y\n"}} {
		t.Run(fmt.Sprintf("%q", bad), func(t *testing.T) {
			w := newWorld(t, nil)
			c := galaxytest.Collection{Namespace: bad[0], Name: bad[1], Version: "1.0.0"}
			const cannot, noName = "a collection cannot be called ", "Also 'name' is not an FQCN."
			w.add("s.needs", "1.0.0", map[string]string{bad[0] + "." + bad[1]: "*"})
			name := fmt.Sprintf("%q", bad[0]+"."+bad[1])
			list := []attempt{
				{"MANIFEST.json", archive(t, c), "", cannot}, {"galaxy.yml", source(t, c, ""), "", cannot},
				{"dependency on a server", "s.needs", "", noName},
				{"dependency in a galaxy.yml", source(t, galaxytest.Collection{Namespace: "a", Name: "b"}, name+": '*'"), "",
					noName},
				{"dependency in an archive",
					archive(t, galaxytest.Collection{Namespace: "a", Name: "b", Version: "1.0.0",
						Needs: map[string]string{bad[0] + "." + bad[1]: "*"}}), "", noName},
				{"requirement", "", named(t, "{type: galaxy, name: "+name+"}"), cannot},
				{"name beside a source", "",
					named(t, "{type: file, name: "+name+", source: "+
						archive(t, galaxytest.Collection{Namespace: "a", Name: "b", Version: "1.0.0"})+"}"), cannot},
			}
			for _, a := range list {
				refusedAndHarmless(t, w, a.what, a.wanted, a.file, a.want)
			}
			out := t.TempDir()
			if _, err := w.Build(source(t, c, ""), out, false); err == nil || !strings.Contains(err.Error(), cannot) {
				t.Errorf("build: %v", err)
			}
		})
	}
	t.Run("paths as dependencies", func(t *testing.T) {
		w := newWorld(t, nil)
		here := source(t, galaxytest.Collection{Namespace: "own", Name: "tree"}, "")
		for i, path := range []string{here,
			archive(t, galaxytest.Collection{Namespace: "own", Name: "file", Version: "1.0.0"})} {
			name := fmt.Sprint("s.needs", i)
			w.add(name, "1.0.0", map[string]string{path: "*"})
			refusedAndHarmless(t, w, path, name, "", "is a path of this machine")
		}
	})
	t.Run("versions", func(t *testing.T) {
		for _, version := range []string{"x/../../../pwned", "..", "/1.0.0", "1.0.0/../../../pwned", ""} {
			w := newWorld(t, nil)
			w.add("s.odd", version, nil)
			refusedAndHarmless(t, w, version, "s.odd", "", "in a version that is no semantic one")
		}
	})
}

// refusedAndHarmless installs what must be refused into a directory in which something lies already.
func refusedAndHarmless(t *testing.T, w *world, what, wanted, file, want string) {
	t.Helper()
	mine := filepath.Join(w.root, "own/kept/README.md")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	var names []string
	if wanted != "" {
		names = []string{wanted}
	}
	list, err := w.Wanted(names, file, nil)
	if err == nil {
		err = w.Install(t.Context(), list.Collections, w.root, galaxy.InstallOptions{})
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
	var there []string
	top := filepath.Dir(w.root)
	_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			there = append(there, strings.TrimPrefix(path, top+"/"))
		}
		return err
	})
	if !slices.Equal(there, []string{"ansible_collections/own/kept/README.md"}) {
		t.Errorf("%s: afterwards there is %v", what, there)
	}
}

func TestServersAnswers(t *testing.T) {
	t.Run("checksum", func(t *testing.T) {
		w := newWorld(t, nil)
		w.api.Add(galaxytest.Collection{Namespace: "a", Name: "bad", Version: "1.0.0", Sum: "00"})
		want := "Failed to download collection tar from 'test' due to the following unforeseen error: Mismatch artifact " +
			"hash with downloaded file"
		if got := w.install(t, galaxy.InstallOptions{}, "a.bad"); got != want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("busy", func(t *testing.T) {
		w := newWorld(t, nil)
		w.add("a.base", "1.0.0", nil)
		w.api.Busy(5)
		if got := w.install(t, galaxy.InstallOptions{}, "a.base"); got != "a.base:1.0.0" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("busy for good", func(t *testing.T) {
		w := newWorld(t, nil)
		w.api.Busy(1000)
		want := "Error when finding available api versions from test (" + w.api.URL +
			"/api) (HTTP Code: 429, Message: Too Many Requests)"
		if got := w.install(t, galaxy.InstallOptions{}, "a.base"); got != want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("token", func(t *testing.T) {
		w := newWorld(t, func(o *galaxy.ServerOptions) { o.Auth = galaxy.Token{Text: "secret"} })
		w.add("a.base", "1.0.0", nil)
		w.api.Token = "secret"
		if got := w.install(t, galaxy.InstallOptions{}, "a.base"); got != "a.base:1.0.0" {
			t.Errorf("got %s", got)
		}
		w.api.Token = "another"
		if got := w.install(t, galaxy.InstallOptions{Force: true}, "a.base:2.0.0"); !strings.Contains(got,
			"a.base:2.0.0 (direct request)") {
			t.Errorf("versions that are known were asked for again: %s", got)
		}
	})
}

// What is kept for a day is not asked for again; a collection that has changed is.
func TestAnswersAreKept(t *testing.T) {
	dir := t.TempDir()
	api := galaxytest.New()
	defer api.Close()
	keep := func(o *galaxy.ServerOptions) { o.CacheDir = dir }
	first := onServer(t, api, keep)
	for _, v := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		first.add("a.base", v, nil)
	}
	pages := func(w *world) int {
		n := 0
		for _, path := range w.api.Asked() {
			if strings.HasSuffix(path, "/versions/") {
				n++
			}
		}
		return n
	}
	if got := first.install(t, galaxy.InstallOptions{}, "a.base"); got != "a.base:1.2.0" || pages(first) != 2 {
		t.Fatalf("got %s after %d pages", got, pages(first))
	}
	again := onServer(t, api, keep)
	if got := again.install(t, galaxy.InstallOptions{}, "a.base"); got != "a.base:1.2.0" || pages(again) != 2 {
		t.Fatalf("got %s after %d pages", got, pages(again))
	}
	again.add("a.base", "1.3.0", nil)
	later := onServer(t, api, keep)
	if got := later.install(t, galaxy.InstallOptions{}, "a.base"); got != "a.base:1.3.0" || pages(later) != 4 {
		t.Fatalf("got %s after %d pages", got, pages(later))
	}
	st, err := os.Stat(filepath.Join(dir, "api.json"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v %v", st, err)
	}
}

func TestVerifyFindsWhatWasChanged(t *testing.T) {
	w := newWorld(t, nil)
	w.add("a.base", "1.0.0", nil)
	if got := w.install(t, galaxy.InstallOptions{}, "a.base"); got != "a.base:1.0.0" {
		t.Fatal(got)
	}
	check := func(offline bool) bool {
		w.heard.lines, w.Offline = nil, offline
		list, err := w.Wanted([]string{"a.base"}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		same, err := w.Verify(t.Context(), list.Collections, []string{filepath.Dir(w.root)}, false)
		if err != nil {
			t.Fatal(err)
		}
		return same
	}
	dir := filepath.Join(w.root, "a/base")
	if !check(true) || !check(false) {
		t.Fatalf("an untouched collection is told to be changed:\n%s", w.heard.all())
	}
	for name, text := range map[string]string{"README.md": "changed", "more/file": "new"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, offline := range []bool{true, false} {
		if check(offline) || !w.heard.says("    README.md") || !w.heard.says("    more/file") || w.heard.says("m.py") {
			t.Errorf("offline %v: it said\n%s", offline, w.heard.all())
		}
	}
}

// A GnuPG of the test's own says what the signature is.
func TestSignatures(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\ns=$(cat)\ncase $s in good) echo '[GNUPG:] GOODSIG x y';; *) echo \"[GNUPG:] $s x y\"; exit " +
		"1;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "gpg"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	const refused = "Not installing a.b because GnuPG signature verification failed."
	for _, c := range []struct {
		signatures, count, ignore string
		want                      string
	}{
		{"good", "1", "", "a.b:1.0.0"}, {"BADSIG", "1", "", refused}, {"BADSIG good", "1", "", "a.b:1.0.0"},
		{"BADSIG good", "all", "", refused},
		{"good", "2", "", refused}, {"", "1", "", "a.b:1.0.0"}, {"", "+1", "", refused},
		{"NO_PUBKEY good", "all", "NO_PUBKEY", "a.b:1.0.0"},
	} {
		w := newWorld(t, nil)
		w.Signing = galaxy.Signing{Keyring: filepath.Join(bin, "ring"), Count: c.count, Ignore: strings.Fields(c.ignore)}
		w.api.Add(galaxytest.Collection{Namespace: "a", Name: "b", Version: "1.0.0",
			Signatures: strings.Fields(c.signatures)})
		if got := w.install(t, galaxy.InstallOptions{}, "a.b"); got != c.want {
			t.Errorf("%q, %s wanted: got %s", c.signatures, c.count, got)
		}
	}
}

func TestRolesBringWhatTheyNeed(t *testing.T) {
	w := newWorld(t, nil)
	role := func(name, deps string, more ...galaxytest.Member) []byte {
		return galaxytest.Tar(
			append([]galaxytest.Member{galaxytest.File(name+"/meta/main.yml", "galaxy_info: {author: me}\ndependencies: ["+deps+
				"]\n"),
				galaxytest.File(name+"/tasks/main.yml", "- debug:\n")}, more...)...)
	}
	w.api.AddRole("me.web", "1.9", role("web", "me.base, local"))
	w.api.AddRole("me.web", "1.10", role("web", "me.base, local"))
	w.api.AddRole("me.base", "1", role("base", ""))
	w.api.AddRole("me.out", "1", role("out", "", galaxytest.File("out/../../../x", "out")))
	w.api.AddRole("me.link", "1", role("link", "", galaxytest.File("link/away", "->../../.."),
		galaxytest.File("link/away/x", "out")))
	w.api.AddRole("me.none", "1", galaxytest.Tar(galaxytest.File("tasks/main.yml", "- debug:\n")))
	roles := filepath.Join(t.TempDir(), "roles")
	install := func(lines ...string) error {
		w.heard.lines = nil
		var list []*galaxy.Role
		for _, line := range lines {
			r, err := w.NewRole(value.Str(line), []string{roles})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		return w.InstallRoles(t.Context(), list, galaxy.RoleOptions{Paths: []string{roles}})
	}
	if err := install("me.web"); err != nil {
		t.Fatal(err, w.heard.all())
	}
	if got, _ := filepath.Glob(roles + "/*/tasks/main.yml"); !slices.Equal(got,
		[]string{roles + "/me.base/tasks/main.yml", roles + "/me.web/tasks/main.yml"}) {
		t.Errorf("there is %v", got)
	}
	if !w.heard.says("- me.web (1.10) was installed successfully") || !w.heard.says("- adding dependency: me.base") {
		t.Errorf("it said\n%s", w.heard.all())
	}
	w.api.AddRole("me.needs", "1", role("needs", "{src: me.base, name: ../../pwned}"))
	for _, line := range []string{"me.base,,../../pwned", "me.base,,/" + roles + "/../pwned", "me.base,,.",
		"me.base,,a/../../pwned", "me.needs"} {
		if err := install(line); err == nil || !w.heard.says("it would be unpacked outside of the roles path") {
			t.Errorf("%s: %v\n%s", line, err, w.heard.all())
		}
	}
	for _, dir := range []string{"../pwned", "../../pwned"} {
		if _, err := os.Stat(filepath.Join(roles, dir)); err == nil {
			t.Errorf("%s was made", dir)
		}
	}
	for name, words := range map[string]string{"me.out": "Invalid name for tarfile member",
		"me.link":   "Invalid linkname for tarfile member",
		"me.none":   "this role does not appear to have a meta/main.yml file.",
		"me.nobody": "- sorry, me.nobody was not found on", "me.web,3": "already installed - use --force"} {
		err := install(name)
		if !w.heard.says(words) || err == nil && name != "me.web,3" {
			t.Errorf("%s: %v\n%s", name, err, w.heard.all())
		}
	}
	if _, err := os.Stat(filepath.Join(roles, "../x")); err == nil {
		t.Error("a role wrote beside its directory")
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	w := newWorld(t, func(o *galaxy.ServerOptions) { o.URL = "http://127.0.0.1:1/api" })
	got := w.install(t, galaxy.InstallOptions{}, "a.b")
	if want := "Unknown error when attempting to call Galaxy at 'http://127.0.0.1:1/api': <urlopen error [Errno 111] " +
		"Connection refused>"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestKeycloakExchangesTheToken(t *testing.T) {
	w := newWorld(t, nil)
	issuer := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.FormValue("refresh_token") != "offline" || r.FormValue("client_id") != "cloud-services" {
			rw.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(rw, `{"access_token": "short"}`)
	}))
	defer issuer.Close()
	k := &galaxy.Keycloak{Offline: "offline", URL: issuer.URL}
	if got, err := k.Header(t.Context()); err != nil || got != "Bearer short" {
		t.Errorf("got %q %v, %s", got, err, w.heard.all())
	}
}
