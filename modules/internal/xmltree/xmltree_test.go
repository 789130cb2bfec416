package xmltree

import (
	"strings"
	"testing"
)

// documents are those of the module's cases, and others that are hard to read.
func documents() []string {
	return []string{
		"<a/>", "<a>&#13;\r\n<b c='&#10;\n\t&quot;'/></a>", "<!-- x --><!DOCTYPE a [<!ENTITY e 'v'>]>\n<?p q?><a xmlns='u' xmlns:n='v' n:b='1'><n:c/>]]&gt;</a><!-- y -->",
		"<a><![CDATA[x<y]]> <b> </b>\n<c/> t <d/> </a>", "<?xml version='1.0' encoding='latin1'?><a>\xe9</a>", "<a", "<a></b>", "<a><n:b/></a>", "<a b='1' b='2'/>", "\xff",
	}
}

func FuzzParsePrintsTheSameTwice(f *testing.F) {
	for _, d := range documents() {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range []Options{{}, {NoBlanks: true}, {PlainCDATA: true}} {
			tree, err := Parse([]byte(text), o)
			if err != nil {
				continue
			}
			once := tree.Print(Format{Declaration: true})
			again, err := Parse([]byte(once), o)
			if err != nil {
				t.Fatalf("cannot read %q again: %v", once, err)
			}
			if twice := again.Print(Format{Declaration: true}); twice != once {
				t.Errorf("%q became %q", once, twice)
			}
		}
	})
}

func FuzzSelectDoesNotPanic(f *testing.F) {
	for _, expr := range []string{"/a", "//b[1]", "/a/b[@c='1' and position()<last()]", "count(//*)", "/a[", "//n:b", "//text()", "a|b", "sum(1)", "/a['x", "//b[lang('x')]"} {
		f.Add(expr)
	}
	tree, err := Parse([]byte("<a xmlns:n='u'>x<b c='1'/><n:b/><!-- y --><b/></a>"), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if CheckExpression(expr) != nil {
			return
		}
		found, err := Select(tree.Root(), expr, map[string]string{"n": "u"})
		if err != nil {
			return
		}
		for _, m := range found {
			if !m.Value && !strings.HasPrefix(Path(m.Node), "/a") {
				t.Errorf("%q selects %q", expr, Path(m.Node))
			}
		}
	})
}

func TestParseTellsWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "Document is empty, line 1, column 1",
		"<a>\n</b>":        "element <a> closed by </b>, line 2",
		"<n:a/>":           "Namespace prefix n on a is not defined",
		"<a n:b='1'/>":     "Namespace prefix n for b on a is not defined",
		"<a b='1' b='2'/>": "Attribute b redefined",
		"<a/><b/>":         "Extra content at the end of the document",
		"<?xml version='1.0' encoding='koi8-r'?><a/>": "Unsupported encoding koi8-r",
	} {
		if _, err := Parse([]byte(text), Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
