//go:build hostile

package hostile

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hark/agent/wire"
)

var tokenForm = regexp.MustCompile(`[A-Z2-7]{26}`)

// changes is an archive of changes with one symbolic link, as synchronize sends it.
func changes(t *testing.T, rel, to string) []byte {
	t.Helper()
	entry, err := json.Marshal(map[string]any{"entry": map[string]any{"rel": rel, "kind": "L", "mode": 511, "modified": 0, "link": to}, "new": true, "content": true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	head := &tar.Header{Name: rel, Typeflag: tar.TypeSymlink, Linkname: to, Format: tar.FormatPAX, PAXRecords: map[string]string{"HARK.change": string(entry)}}
	if err := w.WriteHeader(head); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func piece(dest string, data []byte, mode uint32) *wire.Upload {
	sum := sha256.Sum256(data)
	return &wire.Upload{Dest: dest, Data: data, Digest: hex.EncodeToString(sum[:]), Last: true, Mode: mode}
}

// A host that is to bring a file brings that, to where the controller said: no link, no archive and no path leads
// elsewhere, and what it begins and does not finish is gone when the play is over.
func TestUploadsStayInTheirPlace(t *testing.T) {
	s := newSite(t)
	s.secret("authorized_keys")
	private := s.dir + "/private"
	s.guard(private)
	for _, host := range append(honest, taken) {
		s.write(s.dir+"/source-"+host, "content\n")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if names, err := os.ReadDir(tmp); err != nil || len(names) > 0 {
			t.Errorf("left behind: %v, %v", names, err)
		}
	})
	p := project{"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - fetch: {src: "` + s.dir + `/source-{{ inventory_hostname }}", dest: fetched/}
  - fetch: {src: "` + s.dir + `/source-{{ inventory_hostname }}", dest: "flat/{{ inventory_hostname }}", flat: true}
  - fetch: {src: "` + s.dir + `/source-{{ inventory_hostname }}", dest: "{{ playbook_dir }}/", flat: true}
  - ping:
- hosts: all
  gather_facts: false
  tasks:
  - fetch: {src: "` + s.dir + `/source-{{ inventory_hostname }}", dest: again/}
  - ping:
`, "kept/db1": "kept\n", "group_vars/all.yml": "x: 1\n"}
	var tokens []string // of the plays so far
	put, seen := 0, map[string]bool{}
	control, attacked := s.attack(p, func(h *hostile) {
		tries := func(x *session, own string, same, flat bool) {
			dests := []string{"", "/", private, private + "/authorized_keys", "AAAAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAA/x", "fetched", "fetched/db1/etc/hostname",
				"kept/db1", "../x", "x/authorized_keys"}
			for _, token := range append(tokens, own) {
				for _, rel := range []string{"/..", "/../x", "/../db1", "/../../kept/db1", "/x/../../db1", "//" + private, "/" + private + "/authorized_keys", "/../../../../../../../../" + private + "/authorized_keys",
					"/.", "/x/.."} {
					dests = append(dests, token+rel)
				}
			}
			if !flat { // no other file than the one that was asked for
				dests = append(dests, own+"/other", own+"/etc/cron.d/x", own+s.dir+"/source-db1", own+s.dir+"/source-"+taken+"/x")
			}
			if flat { // whatever is in the directory that the file goes to
				dests = append(dests, own+"/site.yml", own+"/group_vars/all.yml", own+"/kept/db1")
			}
			for _, old := range tokens {
				if old != own && !same {
					dests = append(dests, old)
				}
			}
			for _, dest := range dests {
				for _, u := range []*wire.Upload{
					piece(dest, []byte("forged\n"), 0), piece(dest, changes(t, "x", private), unix.S_IFDIR|0o777), piece(dest, changes(t, "x", private), unix.S_IFREG|0o777),
					{Dest: dest, Stat: true}, {Dest: dest, Data: []byte("unfinished")}, {Dest: dest, Offset: 5, Data: []byte("x"), Last: true}, {Dest: dest, Offset: -5, Last: true},
				} {
					a := wire.Ask{Kind: wire.AskUpload, Upload: u}
					got, err := x.ask(a)
					if err != nil || got.Err == "" || strings.Contains(got.Err, "internal error") {
						t.Errorf("%s: %v, %s", plain(a), err, plain(got))
					}
					put++
				}
			}
			if got, err := x.ask(wire.Ask{Kind: wire.AskUpload}); err != nil || got.Err == "" {
				t.Errorf("an upload of nothing: %v, %s", err, plain(got))
			}
			// These it may begin; nobody finishes them.
			for range 5 {
				_, _ = x.ask(wire.Ask{Kind: wire.AskUpload, Upload: &wire.Upload{Dest: own, Data: []byte("unfinished")}})
			}
		}
		h.onExec = func(x *session, e *wire.Exec) {
			own := tokenForm.FindString(string(e.Call.Args))
			if own == "" || seen[own] {
				return
			}
			seen[own] = true
			if x.start.Play != e.Play {
				x.start.Play = e.Play
			}
			// The tokens of the first play are this host's own as long as that lasts.
			tries(x, own, len(tokens) < 3, strings.Contains(string(e.Call.Args), `"flat":true`))
			tokens = append(tokens, own)
		}
	})
	if control.code != 0 || attacked.code != 0 || control.of(taken) != attacked.of(taken) {
		t.Error(attacked)
	}
	if len(tokens) != 4 || put < 100 {
		t.Errorf("%d places were given, %d uploads put", len(tokens), put)
	}
}
