package galaxy_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/controller/internal/ansible/galaxy"
	"hark/controller/internal/ansible/galaxy/galaxytest"
	"hark/modules/py/value"
)

// What a role names as its sources, in its dependencies too, is no option of git's and no program.
func TestSourcesOfRolesStartNoProgram(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	witness := filepath.Join(t.TempDir(), "witness")
	t.Setenv("WITNESS", witness)
	for _, source := range []string{
		`{src: "git+-cprotocol.ext.allow=always", name: "ext::sh -c touch% $WITNESS"}`,
		`{src: "git+--upload-pack=touch $WITNESS", name: "."}`,
		`{src: "git+--template=x", name: "-uttouch"}`,
		`{src: "git+ext::sh -c touch% $WITNESS", name: "a.b"}`,
		`{src: "git+file:///none", name: "a.b", version: "--upload-pack=touch $WITNESS"}`,
		`{src: "hg+--config=alias.clone=!touch $WITNESS", name: "a.b"}`,
	} {
		w := newWorld(t, nil)
		w.api.AddRole("me.web", "1", galaxytest.Tar(galaxytest.File("web/meta/main.yml", "dependencies: ["+source+"]\n")))
		roles := t.TempDir()
		r, err := w.NewRole(value.Str("me.web"), []string{roles})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.InstallRoles(t.Context(), []*galaxy.Role{r}, galaxy.RoleOptions{Paths: []string{roles}}); err == nil {
			t.Errorf("%s: it was installed", source)
		}
		if _, err := os.Stat(witness); err == nil {
			t.Fatalf("%s: a program was started", source)
		}
	}
}

// Links of a role's archive lead to places in the role, however they are chained, and nothing is written through one.
func TestLinksOfArchivesLeadNowhere(t *testing.T) {
	deep := []galaxytest.Member{galaxytest.File("web/meta/main.yml", "galaxy_info: {}\n"), galaxytest.File("web/d/e/f/x", "x"),
		galaxytest.File("web/d/e/f/l", "->../../..")}
	for name, more := range map[string][]galaxytest.Member{
		"chained":               {galaxytest.File("web/m", "->d/e/f/l/../outside")},
		"chained, with a file":  {galaxytest.File("web/m", "->d/e/f/l/../outside"), galaxytest.File("web/m", "text")},
		"what hark writes":      {galaxytest.File("web/meta/.galaxy_install_info", "->../d/e/f/l/../outside")},
		"directory of the info": {galaxytest.File("web/n", "->d/e/f/l/.."), galaxytest.File("web/n/outside", "text")},
		"absolute":              {galaxytest.File("web/m", "->/etc/passwd")},
	} {
		w := newWorld(t, nil)
		w.api.AddRole("me.web", "1", galaxytest.Tar(append(slices.Clone(deep), more...)...))
		top := t.TempDir()
		roles := filepath.Join(top, "roles")
		if err := os.WriteFile(filepath.Join(roles+"x"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := w.NewRole(value.Str("me.web"), []string{roles})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.InstallRoles(t.Context(), []*galaxy.Role{r}, galaxy.RoleOptions{Paths: []string{roles}}); err == nil {
			t.Errorf("%s: it was installed", name)
		}
		if _, err := os.Stat(filepath.Join(roles, "outside")); err == nil {
			t.Errorf("%s: a file was made beside the role", name)
		}
		if _, err := os.Lstat(filepath.Join(roles, "me.web/m")); err == nil {
			t.Errorf("%s: the link was made", name)
		}
	}
}

// So do those of a collection's.
func TestLinksOfCollectionsLeadNowhere(t *testing.T) {
	const manifest = `{"collection_info":{"namespace":"a","name":"b","version":"1.0.0","dependencies":{}},` +
		`"file_manifest_file":{"name":"FILES.json"}}`
	const files = `{"files":[{"name":".","ftype":"dir"},{"name":"d/e/f","ftype":"dir"},{"name":"d/e/f/l","ftype":"dir"},` +
		`{"name":"m","ftype":"dir"},{"name":"m/x","ftype":"file"}],"format":1}`
	for _, last := range [][]galaxytest.Member{nil, {galaxytest.File("m/x", "text")}} {
		w := newWorld(t, nil)
		path := filepath.Join(t.TempDir(), "a-b-1.0.0.tar.gz")
		data := galaxytest.Tar(append([]galaxytest.Member{galaxytest.File("MANIFEST.json", manifest),
			galaxytest.File("FILES.json", strings.Replace(files, `,{"name":"m/x","ftype":"file"}`, "", 1-len(last))),
			galaxytest.File("d/e/f/", ""), galaxytest.File("d/e/f/l", "->../../.."),
			galaxytest.File("m", "->d/e/f/l/../x")}, last...)...)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		got := w.install(t, galaxy.InstallOptions{}, path)
		if !strings.Contains(got, "outside") && !strings.Contains(got, "leads out of") {
			t.Errorf("got %s", got)
		}
		if left, _ := filepath.Glob(w.root + "/*/*"); len(left) > 0 {
			t.Errorf("it left %v", left)
		}
	}
}

// A role that is named by a path is not taken away, whatever is forced.
func TestForcedRolesTakeNothingElseAway(t *testing.T) {
	w := newWorld(t, nil)
	top := t.TempDir()
	roles, mine := filepath.Join(top, "roles"), filepath.Join(top, "mine")
	for file, text := range map[string]string{"meta/main.yml": "galaxy_info: {}\n", "meta/.galaxy_install_info": "version: '1'\n"} {
		if err := os.MkdirAll(filepath.Join(mine, "meta"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(mine, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"../mine", mine, "x/../../mine"} {
		short := fmt.Sprint("me.r", i)
		w.api.AddRole(short, "1", galaxytest.Tar(galaxytest.File("r/meta/main.yml",
			"galaxy_info: {}\ndependencies: [{src: a.b, name: "+name+", version: '2'}]\n")))
		w.api.AddRole("a.b", "2", galaxytest.Tar(galaxytest.File("b/meta/main.yml", "galaxy_info: {}\n")))
		r, err := w.NewRole(value.Str(short), []string{roles})
		if err != nil {
			t.Fatal(err)
		}
		err = w.InstallRoles(t.Context(), []*galaxy.Role{r},
			galaxy.RoleOptions{Paths: []string{roles}, Force: true, ForceDeps: true})
		if err == nil {
			t.Errorf("%s: it was installed", name)
		}
		if _, err := os.Stat(filepath.Join(mine, "meta/main.yml")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// An archive of very many empty members takes no memory for them.
func TestArchivesOfManyMembersAreRefused(t *testing.T) {
	const most = 200_000
	var one, b bytes.Buffer
	if err := tar.NewWriter(&one).WriteHeader(&tar.Header{Name: "web/x", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range most + 2 {
		if _, err := z.Write(one.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil)
	w.api.AddRole("me.web", "1", b.Bytes())
	roles := t.TempDir()
	r, err := w.NewRole(value.Str("me.web"), []string{roles})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.InstallRoles(t.Context(), []*galaxy.Role{r}, galaxy.RoleOptions{Paths: []string{roles}}); err == nil ||
		!w.heard.says("has more than 200000 members") {
		t.Errorf("%v: %s", err, w.heard.all())
	}
}

// What a server says is shown, and never moves the cursor; nor does its answer make hark read a file of this machine.
func TestServersAnswersAreNoFilesOfThisMachine(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file://"+secret, http.StatusFound)
	}))
	defer s.Close()
	w := newWorld(t, func(o *galaxy.ServerOptions) { o.URL = s.URL })
	got := w.install(t, galaxy.InstallOptions{}, "a.b")
	if strings.Contains(got+w.heard.all(), "CANARY") {
		t.Errorf("it read the file: %s%s", got, w.heard.all())
	}
}
