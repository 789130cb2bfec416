package vars

import (
	"bufio"
	"context"
	"os"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// set puts a variable into the layer that regenerate.py calls so.
func set(h *Host, sh *Shared, st *Step, layer, name string, v value.Value) {
	if st.Role == nil {
		st.Role = &plan.Role{Name: "mine", Path: "/p/roles/mine"}
	}
	put := func(d **value.Dict) {
		if *d == nil {
			*d = value.NewDict()
		}
		(*d).Set(name, v)
	}
	switch layer {
	case "play_role_defaults":
		put(&sh.RoleDefaults)
	case "role_defaults":
		put(&st.Role.Defaults.Dict)
	case "group", "host": // the inventory merges groups and host itself
		if below, ok := h.Inventory.Get(name); ok && sh.HashMerge {
			v = mergeValue(below, v)
		}
		put(&h.Inventory)
	case "facts":
		put(&h.Facts)
	case "play":
		put(&sh.Vars)
	case "vars_files":
		if len(sh.VarsFiles) == 0 {
			sh.VarsFiles = make([]plan.VarsFile, 1)
		}
		put(&sh.VarsFiles[0].Vars.Dict)
	case "play_role_vars":
		put(&sh.RoleVars)
	case "role_vars":
		put(&st.Role.Vars.Dict)
	case "block", "task":
		put(&st.Vars)
	case "include_vars":
		put(&h.Include)
	case "set_fact":
		put(&h.Set)
	case "role_params":
		put(&st.Role.Params.Dict)
	case "include_params":
		put(&st.IncludeVars)
	case "extra":
		put(&sh.Extra)
	default:
		panic("no layer " + layer)
	}
}

func lines(t *testing.T) [][]string {
	f, err := os.Open("testdata/precedence.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][]string
	for in := bufio.NewScanner(f); in.Scan(); {
		if !strings.HasPrefix(in.Text(), "#") {
			out = append(out, strings.SplitN(in.Text(), " ", 4))
		}
	}
	if len(out) < 300 {
		t.Fatalf("only %d cases", len(out))
	}
	return out
}

func TestPrecedenceIsAnsibles(t *testing.T) {
	for _, c := range lines(t) {
		if c[0] == "magic" || c[1]+c[2] == "blocktask" && c[0] == "merge" {
			continue // the compiler merges blocks with tasks, name by name
		}
		h, sh, st := &Host{}, &Shared{InjectFacts: true, HashMerge: c[0] == "merge"}, Step{}
		for _, layer := range c[1:3] {
			d := value.NewDict()
			d.Set("common", value.SourceText(layer))
			d.Set(layer, value.Int(1))
			set(h, sh, &st, layer, "v", d)
		}
		got, ok, err := NewScope(h, sh, st).Raw(context.Background(), "v")
		if !ok || err != nil {
			t.Fatalf("%s: %v %v", c, ok, err)
		}
		want, err := value.Decode([]byte(c[3]), value.KindSource)
		if err != nil {
			t.Fatal(err)
		}
		if !sameDict(got.(*value.Dict), want.(*value.Dict)) {
			raw, _ := value.Encode(got)
			t.Errorf("%s: got %s", c, raw)
		}
	}
}

func sameDict(a, b *value.Dict) bool {
	same := a.Len() == b.Len()
	a.Each(func(k, v value.Value) bool {
		w, ok := b.GetKey(k)
		same = same && ok && v == w
		return same
	})
	return same
}

func TestMagicVariablesWinAsInAnsible(t *testing.T) {
	for _, c := range lines(t) {
		// What Ansible refuses to set cannot be compared; ansible_host is the connection's.
		if c[0] != "magic" || c[3] == "error" || c[1] == "ansible_host" {
			continue
		}
		if c[2] == "facts" && (Protected{}).Has(c[1]) {
			continue // no host sets it here, though some it may in Ansible
		}
		h := &Host{Magic: HostMagic(Name("h1", false), []value.Value{Name("g", false)}, "/p/inventory.yml", "/p")}
		sh := &Shared{InjectFacts: true, Magic: PlayMagic(PlayInfo{PlaybookDir: "/p", Batch: []string{"h1"}})}
		st := Step{Search: []string{"/p/roles/mine"}}
		set(h, sh, &st, c[2], c[1], value.SourceText("set"))
		got, ok, err := NewScope(h, sh, st).Raw(context.Background(), c[1])
		if !ok || err != nil {
			t.Fatalf("%s: %v %v", c, ok, err)
		}
		if wins := got == value.SourceText("set"); wins != (c[3] == "wins") {
			raw, _ := value.Encode(got)
			t.Errorf("%s: got %s", c, raw)
		}
	}
}

func TestFactsLoseTheirPrefixOnlyInAnsibleFacts(t *testing.T) {
	h := &Host{}
	facts := value.NewDict()
	for _, name := range []string{
		"ansible_distribution", "packages", "ansible_local", "ansible_user", "ansible_become_pass",
		"ansible_ssh_host_key_rsa_public", "ansible_python_interpreter", "ansible_ssh_private_key_file",
		"_ansible_secret",
	} {
		facts.Set(name, value.UnsafeStr("x"))
	}
	facts.Set("ansible_docker_gwbridge", value.NewDict()) // interfaces are mappings
	facts.Set("ansible_local_bridge", value.NewDict())
	clean, _ := (Protected{}).Facts(facts)
	h.Apply(Facts, clean, false)
	s := NewScope(h, &Shared{InjectFacts: true}, Step{})
	v, _, _ := s.Raw(context.Background(), "ansible_facts")
	var namespaced []string
	for _, k := range v.(*value.Dict).Keys() {
		name, _ := value.Text(k)
		namespaced = append(namespaced, name)
	}
	want := "distribution packages ansible_local ssh_host_key_rsa_public _ansible_secret docker_gwbridge local_bridge"
	if got := strings.Join(namespaced, " "); got != want {
		t.Errorf("ansible_facts has\n%s\nwant\n%s", got, want)
	}
	want = "ansible_facts ansible_distribution packages ansible_local ansible_ssh_host_key_rsa_public " +
		"ansible_docker_gwbridge ansible_local_bridge vars"
	if got := strings.Join(s.Names(context.Background()), " "); got != want {
		t.Errorf("variables are\n%s\nwant\n%s", got, want)
	}
	s = NewScope(h, &Shared{}, Step{})
	if got := strings.Join(s.Names(context.Background()), " "); got != "ansible_facts ansible_local vars" {
		t.Errorf("without injection the variables are %s", got)
	}
}

func TestScopeIsASnapshot(t *testing.T) {
	h := &Host{}
	one, two := value.NewDict(), value.NewDict()
	one.Set("x", value.Int(1))
	two.Set("x", value.Int(2))
	h.Apply(Set, one, false)
	s := NewScope(h, nil, Step{})
	h.Apply(Set, two, false)
	if v, _, _ := s.Raw(context.Background(), "x"); v != value.Int(1) {
		t.Errorf("x became %v", v)
	}
	h.Apply(Set, nil, true)
	if _, ok, _ := NewScope(h, nil, Step{}).Raw(context.Background(), "x"); ok {
		t.Error("x is still there after its layer was cleared")
	}
}

func TestLateVarsFilesKeepTheirPlace(t *testing.T) {
	early, mine, late := value.NewDict(), value.NewDict(), value.NewDict()
	early.Set("a", value.Int(1))
	early.Set("b", value.Int(1))
	mine.Set("a", value.Int(2))
	mine.Set("b", value.Int(2))
	late.Set("b", value.Int(3))
	sh := &Shared{VarsFiles: []plan.VarsFile{{Vars: plan.Dict{Dict: early}}, {Late: true}, {Vars: plan.Dict{Dict: late}}}}
	s := NewScope(&Host{Late: map[int]*value.Dict{1: mine}}, sh, Step{})
	for name, want := range map[string]value.Value{"a": value.Int(2), "b": value.Int(3)} {
		if v, _, _ := s.Raw(context.Background(), name); v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
}

func TestLazyWinsOverStoredAndVarsHoldsTheRest(t *testing.T) {
	extra := value.NewDict()
	extra.Set("groups", value.Int(1))
	extra.Set("x", value.SourceText("{{ y }}"))
	s := NewScope(nil, &Shared{Extra: extra}, Step{})
	s.LazyNames = []string{"groups", "hostvars"}
	s.Lazy = func(_ context.Context, name string) (value.Value, bool, error) {
		return value.Int(2), name == "groups" || name == "hostvars", nil
	}
	if v, _, _ := s.Raw(context.Background(), "groups"); v != value.Int(2) {
		t.Errorf("groups is %v", v)
	}
	v, ok, err := s.Raw(context.Background(), "vars")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	all := v.(*value.Dict)
	if x, _ := all.Get("x"); x != value.SourceText("{{ y }}") {
		t.Errorf("vars holds %v for x, want it raw", x)
	}
	if _, ok := all.Get("hostvars"); ok {
		t.Error("vars holds hostvars")
	}
	if v, _, _ := s.With(extra).Raw(context.Background(), "groups"); v != value.Int(1) {
		t.Errorf("a local variable lost to Lazy: %v", v)
	}
}

func BenchmarkRawAmong500(b *testing.B) {
	inv := value.NewDict()
	for i := range 500 {
		inv.Set("v"+string(rune('a'+i%26))+strings.Repeat("x", i/26), value.Int(int64(i)))
	}
	s := NewScope(&Host{Inventory: inv}, &Shared{InjectFacts: true}, Step{})
	ctx := context.Background()
	for b.Loop() {
		if _, ok, _ := s.Raw(ctx, "vaxxx"); !ok {
			b.Fatal("not found")
		}
	}
}
