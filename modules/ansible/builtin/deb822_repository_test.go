package builtin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/modtest"
)

// deb822Run brings a repository in directories of the test's own.
func deb822Run(t *testing.T, dir string, env *modules.Env, args map[string]any) modules.Result {
	t.Helper()
	a, err := modules.Decoder[deb822Args](modules.Rules{})("deb822_repository", modtest.Args(args), modules.Reading{})
	if err != nil {
		return modules.Failure(err)
	}
	d := &deb822{ctx: t.Context(), env: env, args: a, sources: dir, keys: filepath.Join(dir, "keys")}
	res, err := d.bring()
	if err != nil {
		return modules.Failure(err)
	}
	return res
}

func TestDeb822RepositoryIsWrittenOnce(t *testing.T) {
	dir, env := t.TempDir(), &modules.Env{Check: true}
	file := filepath.Join(dir, "my-repo-1.sources")
	args := map[string]any{
		"name": "My_Repo  (1)", "uris": "http://a/debian", "suites": []any{"sid"}, "components": []any{"main", "contrib"}, "enabled": false,
		"date_max_future": int64(9), "languages": []any{}, "signed_by": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nabc\n-----END", "mode": "0600",
	}
	const want = `Components: main contrib
Date-Max-Future: 9
Enabled: no
Languages:
X-Repolib-Name: My_Repo  (1)
Signed-By:
    -----BEGIN PGP PUBLIC KEY BLOCK-----
    .
    abc
    -----END
Suites: sid
Types: deb
URIs: http://a/debian
`
	if r := deb822Run(t, dir, env, args); !r.Changed || modtest.Entry(r, "repo") != want || modtest.Entry(r, "dest") != file || fsx.Exists(file) {
		t.Errorf("check mode: %+v", r)
	}
	env.Check = false
	if r := deb822Run(t, dir, env, args); r.Failed || !r.Changed {
		t.Errorf("first: %+v", r)
	}
	info, err := os.Stat(file)
	if raw, _ := os.ReadFile(file); err != nil || string(raw) != want || info.Mode().Perm() != 0o600 {
		t.Errorf("wrote %q: %v", raw, err)
	}
	if r := deb822Run(t, dir, env, args); r.Failed || r.Changed {
		t.Errorf("second: %+v", r)
	}
}

func TestDeb822RepositoryFetchesItsKey(t *testing.T) {
	key := "-----BEGIN PGP PUBLIC KEY BLOCK-----\nx\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/key" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(key))
	}))
	defer s.Close()
	dir, env := t.TempDir(), &modules.Env{}
	args := map[string]any{"name": "x", "uris": "http://a", "suites": "./", "signed_by": s.URL + "/key"}
	file := filepath.Join(dir, "keys", "x.asc")
	if r := deb822Run(t, dir, env, args); r.Failed || !r.Changed || modtest.Entry(r, "key_filename") != file {
		t.Errorf("first: %+v", r)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != key {
		t.Errorf("the key is %q: %v", raw, err)
	}
	if r := deb822Run(t, dir, env, args); r.Failed || r.Changed {
		t.Errorf("second: %+v", r)
	}
	args["signed_by"] = s.URL + "/none"
	if r := deb822Run(t, dir, env, args); r.Msg != "Could not fetch signed_by key: HTTP Error 404: Not Found" {
		t.Errorf("no key: %+v", r)
	}
	for _, want := range []bool{true, false} {
		if r := deb822Run(t, dir, env, map[string]any{"name": "x", "state": "absent"}); r.Failed || r.Changed != want || fsx.Exists(file) {
			t.Errorf("absent: %+v", r)
		}
	}
}

// TestDeb822RepositoryKeepsTheNameOfAFile: since ansible-core 2.21 the name of a repository is that of its file,
// unless one of the older name is there.
func TestDeb822RepositoryKeepsTheNameOfAFile(t *testing.T) {
	dir := t.TempDir()
	args := map[string]any{"name": "My_Repo 1.2", "uris": "http://a", "suites": "./"}
	for _, c := range []struct {
		release modules.Release
		file    string
	}{{dialect.Level221, "My_Repo-1.2.sources"}, {dialect.Level220, "my-repo-12.sources"}, {dialect.Level221, "my-repo-12.sources"}} {
		r := deb822Run(t, dir, &modules.Env{Release: c.release}, args)
		if modtest.Entry(r, "dest") != filepath.Join(dir, c.file) {
			t.Errorf("%s: %+v", c.release, r)
		}
	}
}

func TestDeb822RepositoryNamesWhatIsWrong(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"missing required arguments: name":                                           {"state": "absent"},
		"value of types must be one or more of: deb, deb-src. Got no match for: rpm": {"name": "x", "types": "rpm"},
	} {
		if r := deb822Run(t, t.TempDir(), &modules.Env{}, args); !r.Failed || r.Msg != want {
			t.Errorf("%v gave %+v", args, r)
		}
	}
}
