package builtin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
)

// launchpad has one archive, me/it, with the key FACE, and me/bare without one.
func launchpad(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/~me/+archive/it":
			_, _ = w.Write([]byte(`{"name": "it", "signing_key_fingerprint": "FACE"}`))
		case "/~me/+archive/bare":
			_, _ = w.Write([]byte(`{"signing_key_fingerprint": null}`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// keyHost is a host whose key programs do nothing but what one of answers says, by the words of its command line.
type keyHost struct {
	answers map[string]modules.Output
	told    []string
}

func (h *keyHost) fetcher(t *testing.T, env *modules.Env, programs ...string) *keyFetcher {
	t.Helper()
	lists := env.Exec
	env.Exec = func(ctx context.Context, c modules.Command) (modules.Output, error) {
		line := strings.Join(c.Argv, " ")
		if !strings.HasPrefix(line, "apt-key") && !strings.HasPrefix(line, "gpg") {
			return lists(ctx, c)
		}
		h.told = append(h.told, line)
		for words, out := range h.answers {
			if strings.Contains(line, words) {
				return out, nil
			}
		}
		return modules.Output{}, nil
	}
	k := newKeyFetcher(t.Context(), env, true)
	k.api, k.keys, k.aptKey, k.gpg = launchpad(t), t.TempDir(), "", ""
	for _, p := range programs {
		if p == "gpg" {
			k.gpg = p
		} else {
			k.aptKey = p
		}
	}
	return k
}

func ppaArgs(repo string) *aptRepositoryArgs {
	noble := "noble"
	return &aptRepositoryArgs{Repo: repo, State: "present", Codename: &noble}
}

func TestPPAIsAddedWithItsKey(t *testing.T) {
	env, _, parts := sourcesHost(t)
	h := &keyHost{}
	k := h.fetcher(t, env, "apt-key", "gpg")
	r, err := ppaArgs("ppa:me/it").bring(t.Context(), env, k)
	want := "apt-key export FACE\napt-key adv --recv-keys --no-tty --keyserver hkp://keyserver.ubuntu.com:80 FACE"
	if told := strings.Join(h.told, "\n"); err != nil || !r.Changed || told != want {
		t.Errorf("%+v, %v after %s", r, err, told)
	}
	raw, _ := os.ReadFile(filepath.Join(parts, "ppa_me_it_noble.list"))
	if string(raw) != "deb http://ppa.launchpad.net/me/it/ubuntu noble main\n" {
		t.Errorf("the list is %q", raw)
	}
	h.told = nil
	if r, err := ppaArgs("ppa:me/it").bring(t.Context(), env, k); err != nil || r.Changed || h.told != nil {
		t.Errorf("once more: %+v, %v after %v", r, err, h.told)
	}
}

func TestPPAWhoseKeyIsThereFetchesNone(t *testing.T) {
	env, _, _ := sourcesHost(t)
	h := &keyHost{answers: map[string]modules.Output{"export": {Stdout: []byte("KEY"), Stderr: []byte("Warning: apt-key is deprecated\n")}}}
	k := h.fetcher(t, env, "apt-key")
	if r, err := ppaArgs("ppa:me/it").bring(t.Context(), env, k); err != nil || !r.Changed || len(h.told) != 1 {
		t.Errorf("%+v, %v after %v", r, err, h.told)
	}
}

func TestPPAInCheckModeFetchesNoKey(t *testing.T) {
	env, _, parts := sourcesHost(t)
	env.Check = true
	h := &keyHost{}
	r, err := ppaArgs("ppa:me/it").bring(t.Context(), env, h.fetcher(t, env, "apt-key"))
	if left, _ := os.ReadDir(parts); err != nil || !r.Changed || len(h.told) != 1 || len(left) != 0 {
		t.Errorf("%+v, %v after %v, left %v", r, err, h.told, left)
	}
}

func TestPPAWithoutAptKeyPutsTheKeyWhereAptLooks(t *testing.T) {
	env, _, _ := sourcesHost(t)
	h := &keyHost{answers: map[string]modules.Output{"--export": {Stdout: []byte("\x99\x01 key")}, "--list-packets": {Stdout: []byte("issuer fpr v4 FACE\n")}}}
	k := h.fetcher(t, env, "gpg")
	if _, err := ppaArgs("ppa:me/it").bring(t.Context(), env, k); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(filepath.Join(k.keys, "ubuntu-noble-main-me-it.gpg"))
	if string(raw) != "\x99\x01 key" {
		t.Errorf("the key is %q", raw)
	}
	if has, err := k.has("FACE"); !has || err != nil {
		t.Errorf("has gives %v, %v", has, err)
	}
}

func TestPPAsThatCannotBeAdded(t *testing.T) {
	refused := map[string]modules.Output{"recv-keys": {Rc: 2, Stderr: []byte("gpg: keyserver receive failed\n")}}
	for name, c := range map[string]struct {
		repo, program, want string
		answers             map[string]modules.Output
	}{
		"nobody knows it":     {"ppa:me/none", "apt-key", "failed to fetch PPA information, error was: HTTP Error 404: Not Found", nil},
		"named by its owner":  {"ppa:you", "apt-key", "failed to fetch PPA information, error was: HTTP Error 404: Not Found", nil},
		"it has no key":       {"ppa:me/bare", "apt-key", "failed to fetch PPA information, error was: the archive has no key", nil},
		"no key server":       {"ppa:me/it", "apt-key", "gpg: keyserver receive failed", refused},
		"no server for gpg":   {"ppa:me/it", "gpg", "gpg: keyserver receive failed", refused},
		"the key stays there": {"ppa:me/it", "gpg", "Unable to get required signing key", nil},
	} {
		env, _, parts := sourcesHost(t)
		h := &keyHost{answers: c.answers}
		_, err := ppaArgs(c.repo).bring(t.Context(), env, h.fetcher(t, env, c.program))
		if left, _ := os.ReadDir(parts); err == nil || err.Error() != c.want || len(left) != 0 {
			t.Errorf("%s: %v, left %v", name, err, left)
		}
	}
}
