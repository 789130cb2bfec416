package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThePictureIsWhatCommandsPrint: an SVG that XML readers take, with colours, cut lines and a screen that moves up.
func TestThePictureIsWhatCommandsPrint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.svg")
	if err := run(file, screen{rows: 3, columns: 20, below: "/p/site"}, []string{
		`printf '/p/site/site.yml\n\033[0;32mok: [web1]\033[0m\n<b> & "c"\n%s\nlast\n' ` + strings.Repeat("x", 40),
	}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`<tspan fill="#6bc46d">ok: [web1]</tspan>`, "<tspan>&lt;b&gt; &amp; &#34;c&#34;</tspan>", "<tspan>" + strings.Repeat("x", 20) + "</tspan>",
		"to{transform:translateY(-54px)}", "prefers-reduced-motion",
		"<tspan>site.yml</tspan>",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if err := run(file, screen{rows: 3, columns: 20}, []string{"exit 3"}); err == nil {
		t.Error("a command that fails makes a picture")
	}
}
