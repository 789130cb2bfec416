//go:build hostile

package hostile

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/modules/treesync"
)

// archiveOf is an archive with one change, as synchronize sends it, and so many bytes of content.
func archiveOf(t *testing.T, c treesync.Change, content int) []byte {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := &tar.Header{Name: "x", Typeflag: tar.TypeReg, Size: int64(content), Format: tar.FormatPAX, PAXRecords: map[string]string{"HARK.change": string(raw)}}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A host from which a directory is pulled changes there what the task asks for: it deletes nothing, makes no links,
// gives no modes and owners, and fills no disk, unless that was asked for; and it reaches nothing beside the
// directory.
func TestPulledArchivesDoNoMoreThanTheTask(t *testing.T) {
	s := newSite(t)
	s.secret("id_rsa")
	s.guard(s.dir + "/private")
	for _, host := range append(honest, taken) {
		s.write(s.dir+"/tree-"+host+"/a", "content\n")
	}
	p := project{"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - synchronize: {mode: pull, src: "` + s.dir + `/tree-{{ inventory_hostname }}/", dest: "pulled-{{ inventory_hostname }}/", archive: false, recursive: true, rsync_opts: ["--exclude=mine"]}
  - ping:
`}
	for _, host := range append(honest, taken) {
		p["pulled-"+host+"/kept"] = "kept\n"
		p["pulled-"+host+"/d/kept"] = "kept\n"
		p["pulled-"+host+"/mine"] = "mine\n"
	}
	file := func(rel string) treesync.Entry { return treesync.Entry{Rel: rel, Kind: treesync.File, Mode: 0o4755} }
	changes := map[string]treesync.Change{
		"delete":       {Entry: file("kept"), Delete: true},
		"wipe":         {Entry: treesync.Entry{Rel: "d", Kind: treesync.Dir}, New: true},
		"file for dir": {Entry: file("d"), New: true, Content: true},
		"link":         {Entry: treesync.Entry{Rel: "l", Kind: treesync.Link, Link: s.dir + "/private/id_rsa"}, New: true, Content: true},
		"link for dir": {Entry: treesync.Entry{Rel: "d", Kind: treesync.Link, Link: "/"}, New: true, Content: true},
		"setuid":       {Entry: file("tool"), New: true, Content: true, Perms: true},
		"mode":         {Entry: file("kept"), Perms: true},
		"owner":        {Entry: treesync.Entry{Rel: "kept", Kind: treesync.File, UID: 1, GID: 1}, Owner: true, Group: true},
		"excluded":     {Entry: file("mine"), Content: true},
		"above":        {Entry: file("../site.yml"), New: true, Content: true},
		"absolute":     {Entry: file(s.dir + "/private/id_rsa"), New: true, Content: true},
		"around":       {Entry: file("d/../../site.yml"), New: true, Content: true},
		"device":       {Entry: treesync.Entry{Rel: "dev", Kind: treesync.Special}, New: true, Content: true},
		"bomb":         {Entry: treesync.Entry{Rel: "big", Kind: treesync.File, Size: 1 << 50}, New: true, Content: true},
		"more than is": {Entry: treesync.Entry{Rel: "big", Kind: treesync.File, Size: 1}, New: true, Content: true},
	}
	put := 0
	control, attacked := s.attack(p, func(h *hostile) {
		h.onExec = func(x *session, e *wire.Exec) {
			token := tokenForm.FindString(string(e.Call.Args))
			if token == "" || put > 0 {
				return
			}
			x.start.Play = e.Play
			for name, c := range changes {
				for _, mode := range []uint32{unix.S_IFDIR | 0o777, unix.S_IFREG | 0o777} {
					got, err := x.ask(wire.Ask{Kind: wire.AskUpload, Upload: piece(token, archiveOf(t, c, 0), mode)})
					if err != nil || got.Err == "" || strings.Contains(got.Err, "internal error") {
						t.Errorf("%s: %v, %s", name, err, plain(got))
					}
					put++
				}
			}
			for name, raw := range map[string][]byte{"nothing": {}, "no archive": []byte("#!/bin/sh\n"), "zeros": make([]byte, 1<<20), "cut off": archiveOf(t, changes["link"], 512)[:700]} {
				got, err := x.ask(wire.Ask{Kind: wire.AskUpload, Upload: piece(token, raw, unix.S_IFDIR|0o777)})
				if err != nil || strings.Contains(got.Err, "internal error") {
					t.Errorf("%s: %v, %s", name, err, plain(got))
				}
			}
		}
	})
	if control.code != 0 || attacked.code != 0 || put == 0 || control.of(taken) != attacked.of(taken) {
		t.Errorf("%d archives: %s", put, attacked)
	}
}
