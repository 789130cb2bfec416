package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/admit"
	"hark/controller/internal/play/link"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/search"
	"hark/playbook/vault"
)

// fleet is an inventory of hosts with raw variables.
type fleet map[string]*value.Dict

func (f fleet) Vars(host string) (*value.Dict, bool) { d, ok := f[host]; return d, ok }
func (f fleet) Magic(string) *value.Dict             { return value.NewDict() }
func (f fleet) Groups() *value.Dict {
	d := value.NewDict()
	d.Set("all", value.NewList(value.SourceText("a"), value.SourceText("b")))
	return d
}

func dict(kv ...any) *value.Dict {
	d := value.NewDict()
	for i := 0; i < len(kv); i += 2 {
		d.Set(kv[i].(string), value.FromGo(kv[i+1], value.KindSource))
	}
	return d
}

// begun is an Answerer with one batch of hosts a and b whose plan has the steps; files lie in a directory of their own.
func begun(t *testing.T, cfg Config, edit func(*Batch), steps ...*plan.Step) (*Answerer, string) {
	t.Helper()
	dir := t.TempDir()
	if cfg.Mirror == nil {
		cfg.Mirror = NewMirror(fleet{"a": dict(), "b": dict()}, false)
	}
	var nodes []plan.Node
	for _, s := range steps {
		s.Search = append(s.Search, dir)
		nodes = append(nodes, plan.Node{Step: s})
	}
	p := &plan.Plan{Play: plan.Play{ID: "0.0"}, Blocks: []plan.Block{{Body: nodes}}}
	b := Batch{Plan: p, Whole: func() (string, []byte, error) { return "d", []byte("{}"), nil }, Hosts: []string{"a", "b"}, Dir: search.Dir(dir), Index: plan.NewIndex(p)}
	if edit != nil {
		edit(&b)
	}
	a := New(cfg)
	a.Begin(b)
	return a, dir
}

func task(id plan.ID, action string, args *value.Dict) *plan.Step {
	return &plan.Step{ID: id, Kind: plan.Task, Action: "ansible.builtin." + action, Written: action, Args: plan.Dict{Dict: args}}
}

func ask(kind wire.AskKind, host string, step plan.ID) wire.Ask {
	return wire.Ask{Run: "r", Play: "0.0", Host: host, Step: step, Kind: kind}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestQuestionsOfNoPlayAreRefused(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "copy", dict("src", "x.txt")))
	write(t, filepath.Join(dir, "x.txt"), "x")
	other := ask(wire.AskVars, "a", "1")
	other.Play = "1.0"
	for name, k := range map[string]wire.Ask{
		"another play":       other,
		"a host of no part":  ask(wire.AskVars, "c", "1"),
		"a step that is not": ask(wire.AskVars, "a", "7"),
		"a blob that was not named": func() wire.Ask {
			k := ask(wire.AskBlob, "a", "")
			k.Digest = strings.Repeat("0", 64)
			return k
		}(),
		"an upload to no place": func() wire.Ask { k := ask(wire.AskUpload, "a", "1"); k.Upload = &wire.Upload{Dest: "/tmp/x"}; return k }(),
		"an upload of nothing":  ask(wire.AskUpload, "a", "1"),
		"another plan":          func() wire.Ask { k := ask(wire.AskPlan, "a", ""); k.Digest = "e"; return k }(),
		"a place of nothing":    ask(wire.AskPlace, "a", "1"),
		"no call":               ask(wire.AskDelegate, "a", "1"),
		"no tree":               ask(wire.AskTree, "a", "1"),
	} {
		if got := a.Answer(context.Background(), k); !strings.HasPrefix(got.Err, "refused: ") {
			t.Errorf("%s: answered %+v", name, got)
		}
	}
}

// The operator's key goes to nobody, whatever a plan looks up or copies.
func TestOwnKeysAreNotServed(t *testing.T) {
	home := t.TempDir()
	key := filepath.Join(home, "operator.nk")
	write(t, key, "SU: 1")
	vars := func(string) (*value.Dict, error) { return dict("seed", "SU"), nil }
	data := func(string) (value.Value, error) { return dict("seed", "SU"), nil }
	a, dir := begun(t, Config{Private: Private{Dir: home}, Vars: vars, Data: data}, nil, task("1", "copy", dict("src", "{{ x }}")), task("2", "include_vars", dict("file", "{{ x }}")),
		task("3", "debug", dict("msg", "{{ lookup('file', x) }}")), task("4", "fetch", dict("src", "x", "dest", "{{ x }}", "flat", true)))
	if err := os.Symlink(home, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{key, home, filepath.Join(dir, "link", "operator.nk"), home + "/../" + filepath.Base(home) + "/operator.nk"} {
		file, include, lookup := ask(wire.AskFile, "a", "1"), ask(wire.AskVarsFile, "a", "2"), ask(wire.AskLookup, "a", "3")
		file.Dir, file.Name, include.Names = "files", name, []string{name}
		lookup.Name, lookup.Args = "file", plan.Lit(value.NewList(strs(name)...))
		place, below := ask(wire.AskPlace, "a", "4"), ask(wire.AskPlace, "a", "4")
		place.Place = &wire.Place{Root: name, File: true}
		below.Place = &wire.Place{Root: filepath.Join(home, "new")}
		for _, k := range []wire.Ask{file, include, lookup, place, below} {
			if got := a.Answer(context.Background(), k); got.Err == "" {
				t.Errorf("%s of %s: answered %+v", k.Kind, name, got)
			}
		}
	}
}

// A keeper's checkout of a project lies among hark's own files, and is the project's; what is beside it, or a link in
// it leads to, is not.
func TestTheCheckoutOfAKeeperIsTheProjects(t *testing.T) {
	home := t.TempDir()
	at := filepath.Join(home, "keeper", "at-0123")
	write(t, filepath.Join(home, "operator.nk"), "SU")
	write(t, filepath.Join(home, "keeper", "mirror.git", "config"), "url")
	write(t, filepath.Join(at, "roles", "a", "templates", "motd.j2"), "hello")
	if err := os.Symlink("../../operator.nk", filepath.Join(at, "key")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "operator.nk")
	write(t, outside, "SU")
	p := Private{Dir: home, Key: outside, Checkout: at}
	for path, want := range map[string]bool{
		filepath.Join(at, "roles/a/templates/motd.j2"): false, filepath.Join(at, "new"): false, at: false, filepath.Join(at, "key"): true, filepath.Join(at, "..", "last-signed"): true,
		filepath.Join(home, "operator.nk"): true, home: true, filepath.Join(home, "keeper"): true, filepath.Join(home, "keeper", "mirror.git", "config"): true,
		filepath.Join(home, "keeper", "at-01234"): true, outside: true, filepath.Dir(outside): false,
	} {
		if got := p.holds(path); got != want {
			t.Errorf("%s: private %v, want %v", path, got, want)
		}
	}
}

func TestFileIsFoundNamedAndPulledByItsHostOnly(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "copy", dict("src", "big.bin")))
	text := strings.Repeat("0123456789abcdef", 3*ChunkSize/16)
	write(t, filepath.Join(dir, "files", "big.bin"), text)
	k := ask(wire.AskFile, "a", "1")
	k.Dir, k.Name = "files", "big.bin"
	got := a.Answer(context.Background(), k)
	sum := sha256.Sum256([]byte(text))
	if got.File == nil || got.File.Digest != hex.EncodeToString(sum[:]) || got.File.Path != filepath.Join(dir, "files", "big.bin") {
		t.Fatalf("answered %+v %s", got.File, got.Err)
	}
	var pulled strings.Builder
	for eof := false; !eof; {
		k := ask(wire.AskBlob, "a", "")
		k.Digest, k.Offset = got.File.Digest, int64(pulled.Len())
		part := a.Answer(context.Background(), k)
		if part.Err != "" || len(part.Data) > ChunkSize {
			t.Fatalf("%d bytes: %s", len(part.Data), part.Err)
		}
		pulled.Write(part.Data)
		eof = part.EOF
	}
	if pulled.String() != text {
		t.Error("the file was not pulled whole")
	}
	k = ask(wire.AskBlob, "b", "")
	k.Digest = got.File.Digest
	if part := a.Answer(context.Background(), k); part.Err == "" {
		t.Error("a host pulled a file that was named to another")
	}
}

func TestMissingFileSaysWhereItWasLookedFor(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "copy", dict("src", "nope")))
	k := ask(wire.AskFile, "a", "1")
	k.Dir, k.Name = "files", "nope"
	got := a.Answer(context.Background(), k)
	want := "Could not find or access 'nope'\nSearched in:\n\tDIR/files/nope\n\tDIR/nope\n\tDIR/files/nope\n\tDIR/nope on the Ansible Controller.\n" +
		"If you are using a module and expect the file to exist on the remote, see the remote_src option"
	if text := strings.ReplaceAll(got.Err, dir, "DIR"); text != want || got.ErrKind != "not_found" {
		t.Errorf("answered %q %q", got.ErrKind, text)
	}
}

func TestVaultedFileIsOpenedWhenAsked(t *testing.T) {
	sealed, err := vault.Encrypt([]byte("secret text\n"), []byte("pw"), "")
	if err != nil {
		t.Fatal(err)
	}
	secrets := &vault.Secrets{List: []vault.Secret{{ID: "default", Password: []byte("pw")}}}
	for _, c := range []struct {
		secrets *vault.Secrets
		decrypt bool
		want    string
	}{{secrets, true, "secret text\n"}, {secrets, false, string(sealed)}, {nil, true, ""}} {
		a, dir := begun(t, Config{Secrets: c.secrets}, nil, task("1", "copy", dict("src", "v")))
		write(t, filepath.Join(dir, "v"), string(sealed))
		k := ask(wire.AskFile, "a", "1")
		k.Dir, k.Name, k.Decrypt = "files", "v", c.decrypt
		got := a.Answer(context.Background(), k)
		switch {
		case c.want == "":
			if !strings.HasPrefix(got.Err, "A vault password or secret must be specified to decrypt ") {
				t.Errorf("without a secret: %q", got.Err)
			}
		case got.File == nil || string(got.File.Inline) != c.want:
			t.Errorf("decrypt %v: %+v %s", c.decrypt, got.File, got.Err)
		}
	}
}

func TestDirectoryIsListedWholeAndLoopsEnd(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "copy", dict("src", "tree/")))
	write(t, filepath.Join(dir, "tree", "sub", "x"), "x")
	write(t, filepath.Join(dir, "tree", "a"), "a")
	if err := os.Symlink("..", filepath.Join(dir, "tree", "sub", "up")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "tree", "broken")); err != nil {
		t.Fatal(err)
	}
	k := ask(wire.AskFile, "a", "1")
	k.Dir, k.Name = "files", "tree/"
	got := a.Answer(context.Background(), k)
	if got.File == nil || !got.File.Dir {
		t.Fatalf("answered %+v %s", got.File, got.Err)
	}
	var list []string
	for _, e := range got.File.Entries {
		list = append(list, fmt.Sprint(e.Rel, " ", e.Dir, " ", e.Digest != "", " ", e.Link))
	}
	want := "a false true |broken false false nowhere|sub true false |sub/up true false ..|sub/x false true "
	if s := strings.Join(list, "|"); s != want {
		t.Errorf("entries are %s", s)
	}
}

func TestHostvarsAreRenderedWithTheirHostsVariables(t *testing.T) {
	inv := fleet{"a": dict(), "b": dict("port", 80, "url", "http://{{ name }}:{{ port }}", "name", "b1", "bad", "{{ nothing_here }}")}
	m := NewMirror(inv, false)
	a, _ := begun(t, Config{Mirror: m}, nil, task("1", "debug", dict("var", "hostvars.b.url")))
	m.Apply("b", admit.New(admit.Config{}).Evaluated("b", nil, []wire.Effect{effect("set", "", dict("name", "b2"))}))
	k := ask(wire.AskVars, "a", "1")
	k.Hosts, k.Names = []string{"b", "nobody"}, []string{"url", "bad", "absent"}
	got := a.Answer(context.Background(), k)
	if _, ok := got.Vars["nobody"]; ok || got.Err != "" {
		t.Errorf("answered %+v", got)
	}
	d := got.Vars["b"]
	url, _ := d.Get("url")
	if s, _ := value.Text(url); s != "http://b2:80" {
		t.Errorf("url is %v", url)
	}
	if bad, _ := d.Get("bad"); bad != value.UnsafeStr("{{ nothing_here }}") {
		t.Errorf("what cannot be rendered is %#v", bad)
	}
	if d.Len() != 2 {
		t.Errorf("%d variables came back", d.Len())
	}
}

func TestEqualIncludesShareAFragmentInTheOrderOfHosts(t *testing.T) {
	compiled := 0
	include := &plan.Step{ID: "1", Kind: plan.Include, Action: "ansible.builtin.include_tasks"}
	a, _ := begun(t, Config{}, func(b *Batch) {
		b.Include = func(_ context.Context, _ string, step plan.ID, c wire.IncludeCall, index int) (*plan.Fragment, error) {
			compiled++
			return &plan.Fragment{Index: index, Blocks: []plan.Block{{Body: []plan.Node{{Step: &plan.Step{ID: step.Under(index).Under(1)}}}}}}, nil
		}
	}, include)
	of := func(host string, files ...string) []plan.Fragment {
		k := ask(wire.AskInclude, host, "1")
		for _, f := range files {
			k.Includes = append(k.Includes, wire.IncludeCall{Args: plan.Dict{Dict: dict("_raw_params", f)}})
		}
		got := a.Answer(context.Background(), k)
		if got.Err != "" {
			t.Fatal(got.Err)
		}
		return got.Fragments
	}
	b := of("b", "y.yml", "x.yml", "x.yml")
	first := of("a", "z.yml", "x.yml")
	if b[1].Index == b[2].Index {
		t.Error("the same include twice by one host is one fragment")
	}
	if first[1].Index != b[1].Index || compiled != 4 {
		t.Errorf("indexes %d and %d, compiled %d times", first[1].Index, b[1].Index, compiled)
	}
	if first[0].Index > b[0].Index {
		t.Error("what the second host includes comes before what the first does")
	}
}

// offered is the token of a place.
func offered(t *testing.T, a *Answerer, p wire.Place) string {
	t.Helper()
	k := ask(wire.AskPlace, "a", "1")
	k.Place = &p
	got := a.Answer(context.Background(), k)
	if len(got.Paths) != 1 {
		t.Fatalf("no place: %+v", got)
	}
	return got.Paths[0]
}

// up sends a piece and gives why it was not taken.
func up(a *Answerer, u wire.Upload) string {
	k := ask(wire.AskUpload, "a", "1")
	k.Upload = &u
	return a.Answer(context.Background(), k).Err
}

func TestFetchedFileAppearsWhole(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "fetch", dict("src", "/etc/x", "dest", "got/")))
	text := strings.Repeat("x", 1000)
	sum := sha256.Sum256([]byte(text))
	token := offered(t, a, wire.Place{Root: "got/a"})
	dest := filepath.Join(dir, "got", "a", "etc", "x")
	up := func(u wire.Upload) string {
		u.Dest = token + "/etc/x"
		return up(a, u)
	}
	if err := up(wire.Upload{Data: []byte(text[:600])}); err != "" {
		t.Fatal(err)
	}
	if _, err := os.Stat(dest); err == nil {
		t.Error("half a file appeared")
	}
	if err := up(wire.Upload{Offset: 600, Data: []byte(text[600:]), Last: true, Digest: hex.EncodeToString(sum[:])}); err != "" {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(dest); string(got) != text {
		t.Error("the file is not what was sent")
	}
	if err := up(wire.Upload{Data: []byte("y"), Last: true, Digest: hex.EncodeToString(sum[:])}); err == "" {
		t.Error("damaged content was taken")
	}
	if err := up(wire.Upload{Data: []byte("begun")}); err != "" {
		t.Error(err)
	}
	a.End("0.0")
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(dest), ".fetch-*")); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
	if err := up(wire.Upload{Data: []byte("y"), Last: true}); err == "" {
		t.Error("the place outlived its play")
	}
}

// A host writes in the place that its call was given, and nowhere else.
func TestUploadsStayInTheirPlace(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "fetch", dict()))
	secret := filepath.Join(dir, "secret")
	write(t, filepath.Join(secret, "key"), "kept")
	write(t, filepath.Join(dir, "got", "is"), "a directory")
	for link, to := range map[string]string{"out": secret, "up": "..", "file": filepath.Join(secret, "key")} {
		if err := os.Symlink(to, filepath.Join(dir, "got", link)); err != nil {
			t.Fatal(err)
		}
	}
	tree, file := offered(t, a, wire.Place{Root: "got"}), offered(t, a, wire.Place{Root: "one", File: true})
	archive := offered(t, a, wire.Place{Root: "kept", Archive: true})
	for _, to := range []string{
		tree, tree + "/", tree + "/../secret/key", tree + "//etc/x", tree + "/out/key", tree + "/out/new/key", tree + "/up/secret/key", tree + "/a/../../x",
		file + "/x", file + "/../x", archive + "/x", "", "/", "x", "/etc/x", secret + "/key", strings.ToLower(tree) + "/x",
	} {
		if rel, own := strings.CutPrefix(to, tree); own {
			to = offered(t, a, wire.Place{Root: "got"}) + rel
		}
		if err := up(a, wire.Upload{Dest: to, Data: []byte("forged"), Last: true}); err == "" {
			t.Errorf("%q was written", to)
		}
		if got := a.Answer(context.Background(), func() wire.Ask {
			k := ask(wire.AskUpload, "a", "1")
			k.Upload = &wire.Upload{Dest: to, Stat: true}
			return k
		}()); got.Err == "" && to != file && !strings.HasSuffix(to, "/") {
			if text, _ := value.Text(got.Value.V); text != "" {
				t.Errorf("%q was looked at: %s", to, text)
			}
		}
	}
	if got, _ := os.ReadFile(filepath.Join(secret, "key")); string(got) != "kept" {
		t.Errorf("the key is %q", got)
	}
	tree = offered(t, a, wire.Place{Root: "got"}) // a place is for the file that is named first
	if err := up(a, wire.Upload{Dest: tree + "/file", Data: []byte("replaced"), Last: true}); err != "" {
		t.Error(err)
	}
	if got, _ := os.ReadFile(filepath.Join(secret, "key")); string(got) != "kept" {
		t.Error("a link was followed")
	}
	if err := up(a, wire.Upload{Dest: file, Data: []byte("one"), Last: true}); err != "" {
		t.Error(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "one")); string(got) != "one" {
		t.Errorf("the file is %q", got)
	}
}

func TestDelegatedCallGoesToItsHostAndItsAsksAreServed(t *testing.T) {
	var a *Answerer
	digest := ""
	step := task("1", "copy", dict("src", "x"))
	step.DelegateTo = plan.Lit(value.SourceText("outside"))
	cfg := Config{Exec: func(ctx context.Context, e wire.Exec) ([]byte, error) {
		if e.Host != "outside" || e.Origin != "a" || e.Play != "0.0" || e.ID == "" {
			t.Errorf("executes %+v", e)
		}
		k := ask(wire.AskBlob, "outside", "1")
		k.Digest = digest
		if got := a.Answer(ctx, k); got.Err != "" {
			t.Errorf("a file of the call: %s", got.Err)
		}
		return []byte(`{"changed": true}`), nil
	}}
	var dir string
	a, dir = begun(t, cfg, nil, step)
	write(t, filepath.Join(dir, "x"), "x")
	file := ask(wire.AskFile, "a", "1")
	file.Dir, file.Name = "files", "x"
	digest = a.Answer(context.Background(), file).File.Digest
	k := ask(wire.AskDelegate, "a", "1")
	k.Name, k.Call = "outside", &wire.Call{Module: "ansible.builtin.copy", Files: []string{digest}}
	if got := a.Answer(context.Background(), k); string(got.Result) != `{"changed": true}` {
		t.Errorf("answered %+v", got)
	}
	if got := a.Answer(context.Background(), ask(wire.AskMagic, "outside", "1")); got.Err == "" {
		t.Error("the host may ask after the call")
	}
	a.Exec = func(context.Context, wire.Exec) ([]byte, error) {
		return nil, &link.AbsentError{Host: "outside", Reason: "it was never enrolled"}
	}
	if got := a.Answer(context.Background(), k); got.ErrKind != "unreachable" || got.Err != "it was never enrolled" {
		t.Errorf("answered %+v", got)
	}
	a.Exec = func(context.Context, wire.Exec) ([]byte, error) { return nil, errors.New("broken") }
	if got := a.Answer(context.Background(), k); got.Err != "broken" {
		t.Errorf("answered %+v", got)
	}
}
