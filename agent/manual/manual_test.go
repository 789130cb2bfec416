package manual

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSectionsStandBeforeSeeAlso(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct{ has, want string }{
		"a.1": {".SH NAME\na\n\n.SH SEE ALSO\nb(1)\n",
			".SH NAME\na\n.SH FILES\n.TP\n.B \\&.a\\-b\nit is \\e here\n.SH SEE ALSO\nb(1)\n"},
		"b.8": {".SH NAME\nb\n", ".SH NAME\nb\n.SH FILES\n.TP\n.B \\&.a\\-b\nit is \\e here\n"},
	} {
		page := filepath.Join(dir, name)
		if err := os.WriteFile(page, []byte(tc.has), 0o600); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if got, err := os.ReadFile(page); err != nil || string(got) != tc.want {
				t.Errorf("%s: %q, %v; want %q", name, got, err, tc.want)
			}
		}()
	}
	if err := Add(dir, []Section{{"FILES", []Entry{{".a-b", `it is \ here`}}}}); err != nil {
		t.Fatal(err)
	}
	if err := Add(t.TempDir(), nil); err == nil {
		t.Error("a directory without pages is no error")
	}
}
