package answer

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/search"
)

// lookupCase is a lookup with the result that ansible-core 2.14 gave for it. SITE stands for testdata/site.
type lookupCase struct {
	Name  string
	Terms json.RawMessage
	Kw    json.RawMessage
	Paths []string // ansible_search_path, under SITE
	Want  []string
	Error string
}

func TestLookupsAreAnsibles(t *testing.T) {
	t.Setenv("HARK_TEST", "set here")
	site, err := filepath.Abs("testdata/site")
	if err != nil {
		t.Fatal(err)
	}
	a := New(Config{})
	for n, c := range readCases(t) {
		run := a.lookups[c.Name]
		got, err := run(a, c.call(t, site))
		if err != nil {
			text := strings.ReplaceAll(err.Error(), site, "SITE")
			if _, want, _ := strings.Cut(c.Error, ": "); text != want {
				t.Errorf("case %d: %s %s: error %q, want %q", n+1, c.Name, c.Terms, text, want)
			}
			continue
		}
		var texts []string
		for _, v := range got {
			texts = append(texts, strings.ReplaceAll(textOf(v), site, "SITE"))
		}
		if c.Name == "fileglob" { // in the order of the directory
			slices.Sort(texts)
			slices.Sort(c.Want)
		}
		if c.Error != "" || !slices.Equal(texts, c.Want) {
			t.Errorf("case %d: %s %s: got %q, want %q %s", n+1, c.Name, c.Terms, texts, c.Want, c.Error)
		}
	}
}

func readCases(t *testing.T) []lookupCase {
	f, err := os.Open("testdata/lookups.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []lookupCase
	for s := bufio.NewScanner(f); s.Scan(); {
		var c lookupCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

func (c lookupCase) call(t *testing.T, site string) *lookupCall {
	call := &lookupCall{ctx: context.Background(), kw: value.NewDict(), dir: search.Dir(site)}
	terms, err := value.Decode(c.Terms, value.KindSource)
	if err != nil {
		t.Fatal(err)
	}
	call.terms = terms.(*value.List).Items
	if len(c.Kw) > 0 {
		kw, err := value.Decode(c.Kw, value.KindSource)
		if err != nil {
			t.Fatal(err)
		}
		call.kw = kw.(*value.Dict)
	}
	if len(c.Paths) == 0 {
		c.Paths = []string{""}
	}
	for _, p := range c.Paths {
		call.paths = append(call.paths, filepath.Join(site, p))
	}
	return call
}

func TestPasswordIsKeptAndEncryptedWithOneSalt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "secret")
	a := New(Config{Hash: func(plain, scheme, salt, ident string) (string, error) {
		return scheme + "$" + salt + "$" + ident + "$" + plain, nil
	}})
	ask := func(kw ...string) string {
		c := &lookupCall{ctx: context.Background(), kw: value.NewDict(), terms: strs(path)}
		for i := 0; i < len(kw); i += 2 {
			c.kw.Set(kw[i], value.Str(kw[i+1]))
		}
		got, err := lookupPassword(a, c)
		if err != nil {
			t.Fatal(err)
		}
		return textOf(got[0])
	}
	first := ask("length", "9")
	if len(first) != 9 || ask() != first {
		t.Errorf("the password %q was not kept", first)
	}
	once := ask("encrypt", "sha512_crypt")
	if !strings.HasSuffix(once, "$"+first) || ask("encrypt", "sha512_crypt") != once {
		t.Errorf("encrypted as %q and then as %q", once, ask("encrypt", "sha512_crypt"))
	}
	raw, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(raw), first+" salt=") {
		t.Errorf("the file holds %q (%v)", raw, err)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v", st.Mode())
	}
}
