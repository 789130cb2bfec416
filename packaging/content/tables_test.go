package content

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hark/modules"
)

// laid are the calls of a module that its table gives: each row alone, in check mode, with a diff and for the second
// time, and a row with each value of each argument.
func (d drawn) laid(m *modules.Module) []besideCall {
	var all []besideCall
	add := func(args map[string]any, c besideCall) {
		c.given = args
		all = append(all, c)
	}
	rows := d.rows()
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		add(row, besideCall{})
		add(row, besideCall{Check: true, Diff: true})
		add(row, besideCall{Twice: d.name != "tempfile", Diff: true})
	}
	never := strings.Fields(d.never + " seuser serole selevel setype attributes")
	at := 0
	for _, p := range m.Params() {
		if p.Hidden || p.Extra || p.Since != "" || p.Resolved || slices.Contains(never, p.Name) {
			continue
		}
		for _, v := range d.values(p) {
			row := maps.Clone(rows[at%len(rows)])
			row[p.Name] = v
			add(row, besideCall{Check: at%11 == 0, Diff: at%5 == 0, Twice: at%7 == 0 && d.name != "tempfile"})
			at++
		}
	}
	return all
}

// rows reads the table of a module: arguments separated by "; ", each a name, "=" and a value: JSON, or a string.
func (d drawn) rows() []map[string]any {
	var all []map[string]any
	for line := range strings.Lines(tables()[d.name]) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		row := map[string]any{}
		for _, part := range strings.Split(line, "; ") {
			name, text, _ := strings.Cut(part, "=")
			var v any
			switch err := json.Unmarshal([]byte(text), &v); {
			case err != nil:
				v = text
			default:
				if n, ok := v.(float64); ok {
					v = int(n)
				}
			}
			row[name] = v
		}
		all = append(all, row)
	}
	return all
}

func hostOf(name string, n byte) string { return strings.TrimSpace(hostLine(name, n)) }

// tables have for each module what it is mostly called with. A module that is not here is only called with what is
// drawn.
func tables() map[string]string {
	return map[string]string{
		"file": `
			path=$AREA/plain.txt; mode=0600
			path=$AREA/plain.txt; state=file; mode=u+x,g=w
			path=$AREA/new; state=touch; mode=384
			path=$AREA/with space.txt; state=touch; access_time=preserve; modification_time=preserve
			path=$AREA/plain.txt; state=touch; access_time=202001020304.05; modification_time=202001020304.05
			path=$AREA/n/e/w; state=directory; mode=0750
			path=$AREA/deep; state=directory; recurse=true; mode=u=rwX,go=
			path=$AREA/to-dir; state=directory; recurse=true; mode=0700; follow=false
			path=$AREA/to-dir; state=directory; recurse=true; mode=0700; follow=true
			path=$AREA/plain.txt; state=directory
			path=$AREA/deep; state=absent
			path=$AREA/to-dir; state=absent
			path=$AREA/dangling; state=absent
			path=$AREA/to-dir/; state=absent
			path=$AREA/missing; state=absent
			path=$AREA/plain.txt/x; state=absent
			path=$AREA/loop; state=file
			path=$AREA/dangling; mode=0600
			path=$AREA/dangling; mode=0600; follow=false
			path=$AREA/newlink; src=plain.txt; state=link
			path=$AREA/newlink; src=nowhere; state=link
			path=$AREA/newlink; src=nowhere; state=link; force=true
			path=$AREA/to-file; src=nonl; state=link
			path=$AREA/to-file; src=nonl; state=link; follow=false
			path=$AREA/plain.txt; src=nonl; state=link
			path=$AREA/plain.txt; src=nonl; state=link; force=true
			path=$AREA/emptydir; src=deep; state=link
			path=$AREA/emptydir; src=deep; state=link; force=true
			path=$AREA/deep; src=emptydir; state=link; force=true
			path=$AREA/emptydir/; src=$AREA/plain.txt; state=link
			path=$AREA/newhard; src=$AREA/plain.txt; state=hard
			path=$AREA/hard; src=$AREA/plain.txt; state=hard
			path=$AREA/nonl; src=$AREA/plain.txt; state=hard
			path=$AREA/nonl; src=$AREA/plain.txt; state=hard; force=true
			path=$AREA/newhard; src=$AREA/deep; state=hard
			path=$AREA/newhard; src=$AREA/missing; state=hard
			path=$AREA/missing; state=hard
			path=$AREA/missing; state=link
			path=$AREA/to-file; state=link; mode=0600
			path=$AREA/dangling; state=touch
			path=$AREA/missing/f; state=touch
			path=$AREA/deep; state=touch
			path=$AREA/fifo; state=touch
			path=$AREA/fifo; mode=0600
			path=$AREA/suid; mode=u-s
			path=$AREA/setgid; mode=g-s,o+t
			path=$AREA/setgid/n/m; state=directory
			path=$AREA/latin` + "\xff" + `.txt; state=absent
			path=$AREA/é.txt; mode=a-w`,
		"copy": `
			src=$AREA/plain.txt; dest=$AREA/new; remote_src=true
			src=$AREA/plain.txt; dest=$AREA/nonl; remote_src=true; backup=true
			src=$AREA/plain.txt; dest=$AREA/nonl; remote_src=true; force=false
			src=$AREA/plain.txt; dest=$AREA/emptydir; remote_src=true
			src=$AREA/plain.txt; dest=$AREA/emptydir/; remote_src=true; mode=0600
			src=$AREA/plain.txt; dest=$AREA/missing/; remote_src=true; directory_mode=0700
			src=$AREA/plain.txt; dest=$AREA/missing/f; remote_src=true
			src=$AREA/plain.txt; dest=$AREA/to-file; remote_src=true
			src=$AREA/nonl; dest=$AREA/to-file; remote_src=true
			src=$AREA/nonl; dest=$AREA/to-file; remote_src=true; follow=true
			src=$AREA/nonl; dest=$AREA/dangling; remote_src=true; follow=true
			src=$AREA/deep; dest=$AREA/emptydir; remote_src=true
			src=$AREA/deep/; dest=$AREA/emptydir; remote_src=true; mode=preserve
			src=$AREA/deep/; dest=$AREA/missing/dir; remote_src=true; directory_mode=0700; mode=0600
			src=$AREA/deep; dest=$AREA/plain.txt; remote_src=true
			src=$AREA/setgid; dest=$AREA/missing; remote_src=true
			src=$AREA/tree/a; dest=$AREA/emptydir; remote_src=true; mode=preserve
			src=$AREA/tree/a/; dest=$AREA/emptydir; remote_src=true; mode=0600; directory_mode=0700
			src=$AREA/tree; dest=$AREA/missing; remote_src=true; local_follow=false
			src=$AREA/tree/a; dest=$AREA/tree; remote_src=true
			src=$AREA/suid; dest=$AREA/new; remote_src=true; mode=preserve
			src=$AREA/to-file; dest=$AREA/new; remote_src=true
			src=$AREA/to-file; dest=$AREA/new; remote_src=true; local_follow=false
			src=$AREA/missing; dest=$AREA/new; remote_src=true
			src=$AREA/long.txt; dest=$AREA/new; remote_src=true
			src=$AREA/bin; dest=$AREA/plain.txt; remote_src=true; validate=grep -q one %s
			src=$AREA/bin; dest=$AREA/plain.txt; remote_src=true; validate=grep -q two %s
			src=$AREA/empty; dest=$AREA/hard; remote_src=true
			src=$AREA/empty; dest=$AREA/plain.txt; remote_src=true; unsafe_writes=true`,
		"lineinfile": `
			path=$AREA/plain.txt; line=two
			path=$AREA/plain.txt; line=four
			path=$AREA/nonl; line=four
			path=$AREA/empty; line=four
			path=$AREA/missing; line=four
			path=$AREA/missing; line=four; create=true; mode=0600
			path=$AREA/missing/f; line=four; create=true
			path=$AREA/deep; line=four
			path=$AREA/to-file; line=four
			path=$AREA/dangling; line=four; create=true
			path=$AREA/crlf.txt; regexp=^two; line=2
			path=$AREA/crlf.txt; line=two
			path=$AREA/cr; line=two
			path=$AREA/plain.txt; regexp=^t(.*)$; line=\1 t; backrefs=true
			path=$AREA/plain.txt; regexp=^t(.*)$; line=\1 t; backrefs=true; firstmatch=true
			path=$AREA/plain.txt; regexp=^(?P<a>t)(h)?; line=\g<a>-\2; backrefs=true
			path=$AREA/plain.txt; regexp=^nope; line=x; backrefs=true
			path=$AREA/plain.txt; regexp=^o; line=x; state=absent
			path=$AREA/plain.txt; line=two; state=absent; backup=true
			path=$AREA/plain.txt; search_string=tw; line=x
			path=$AREA/plain.txt; search_string=tw; state=absent
			path=$AREA/plain.txt; search_string=nope; line=x; insertbefore=BOF
			path=$AREA/plain.txt; line=x; insertafter=^one
			path=$AREA/plain.txt; line=x; insertafter=e$
			path=$AREA/plain.txt; line=x; insertafter=e$; firstmatch=true
			path=$AREA/plain.txt; line=x; insertbefore=e$
			path=$AREA/plain.txt; line=x; insertbefore=e$; firstmatch=true
			path=$AREA/plain.txt; line=x; insertbefore=nope
			path=$AREA/nonl; line=x; insertafter=^two
			path=$AREA/plain.txt; regexp=^nope; line=x; insertafter=^one
			path=$AREA/plain.txt; regexp=^three; line=x; insertbefore=^one
			path=$AREA/plain.txt; line=x; validate=grep -q x %s
			path=$AREA/plain.txt; line=x; validate=false %s
			path=$AREA/long.txt; regexp=^x+$; line=short
			path=$AREA/latin` + "\xff" + `.txt; regexp=^caf; line=té
			path=$AREA/bin; line=two
			path=$AREA/é.txt; line=été; state=absent
			path=$AREA/none.txt; line=x
			path=$AREA/fifo/x; line=x`,
		"blockinfile": `
			path=$AREA/plain.txt; block=a
			path=$AREA/plain.txt; block=a; insertbefore=BOF
			path=$AREA/plain.txt; block=a; insertafter=^one
			path=$AREA/plain.txt; block=a; insertbefore=^t
			path=$AREA/plain.txt; block=a; insertafter=^t
			path=$AREA/plain.txt; block=a; insertafter=nope
			path=$AREA/block.txt; block=new; backup=true
			path=$AREA/block.txt; block=old
			path=$AREA/block.txt; block=
			path=$AREA/block.txt; state=absent
			path=$AREA/block.txt; block=x; insertbefore=BOF
			path=$AREA/block.txt; block=x; insertafter=EOF
			path=$AREA/half.txt; block=x
			path=$AREA/half.txt; state=absent
			path=$AREA/nonl; block=a
			path=$AREA/empty; block=a
			path=$AREA/missing; block=a
			path=$AREA/missing; block=a; create=true; mode=0600
			path=$AREA/missing; state=absent; create=true
			path=$AREA/missing/f; block=a; create=true
			path=$AREA/deep; block=a
			path=$AREA/to-file; block=a
			path=$AREA/dangling; block=a; create=true
			path=$AREA/crlf.txt; block=a; marker=; {mark}
			path=$AREA/conf.ini; block=k=v; marker=; {mark} MINE; marker_begin=B; marker_end=E
			path=$AREA/plain.txt; block=a; marker=same
			path=$AREA/plain.txt; block=a; validate=grep -q BEGIN %s
			path=$AREA/plain.txt; block=a; validate=false %s
			path=$AREA/long.txt; block=a; insertafter=^x
			path=$AREA/latin` + "\xff" + `.txt; block=é`,
		"replace": `
			path=$AREA/plain.txt; regexp=t(.); replace=\1t
			path=$AREA/plain.txt; regexp=t(?P<n>.); replace=\g<n>\g<0>
			path=$AREA/plain.txt; regexp=^t
			path=$AREA/plain.txt; regexp=$; replace=!
			path=$AREA/plain.txt; regexp=o; replace=0; backup=true
			path=$AREA/plain.txt; regexp=e; replace=E; after=one
			path=$AREA/plain.txt; regexp=e; replace=E; before=three
			path=$AREA/plain.txt; regexp=\w+; replace=W; after=one; before=three
			path=$AREA/plain.txt; regexp=e; replace=E; after=nope
			path=$AREA/plain.txt; regexp=e; replace=E; after=three; before=one
			path=$AREA/plain.txt; regexp=(; replace=x
			path=$AREA/plain.txt; regexp=o; replace=\2
			path=$AREA/plain.txt; regexp=\n; replace=,
			path=$AREA/crlf.txt; regexp=\r$
			path=$AREA/crlf.txt; regexp=^two$; replace=2
			path=$AREA/cr; regexp=^two; replace=2
			path=$AREA/nonl; regexp=two\Z; replace=2
			path=$AREA/empty; regexp=^; replace=x
			path=$AREA/missing; regexp=x; replace=y
			path=$AREA/deep; regexp=x; replace=y
			path=$AREA/to-file; regexp=two; replace=2
			path=$AREA/dangling; regexp=two; replace=2
			path=$AREA/long.txt; regexp=x{10}; replace=y
			path=$AREA/latin` + "\xff" + `.txt; regexp=caf.; replace=thé; encoding=latin-1
			path=$AREA/latin` + "\xff" + `.txt; regexp=one; replace=1
			path=$AREA/é.txt; regexp=é; replace=e
			path=$AREA/é.txt; regexp=\w; replace=w
			path=$AREA/é.txt; regexp=t; replace=T; encoding=ascii
			path=$AREA/plain.txt; regexp=(?im)^TWO; replace=2
			path=$AREA/plain.txt; regexp=one; replace=1; validate=false %s
			path=$AREA/plain.txt; regexp=one; replace=1; validate=grep -q 1 %s; mode=0600
			path=$AREA/plain.txt; regexp=(?<=t)w; replace=
			path=$AREA/bin; regexp=one; replace=1`,
		"stat": `
			path=$AREA/plain.txt
			path=$AREA/to-file
			path=$AREA/to-file; follow=true
			path=$AREA/dangling; follow=true
			path=$AREA/plain.txt; checksum_algorithm=sha256
			path=$AREA/plain.txt; checksum_algorithm=md5
			path=$AREA/plain.txt; get_checksum=false; get_mime=false; get_attributes=false
			path=$AREA/deep
			path=$AREA/long.txt; checksum_algorithm=sha512`,
		"find": `
			paths=$AREA
			paths=$AREA; recurse=true
			paths=$AREA; recurse=true; file_type=any
			paths=$AREA; recurse=true; file_type=directory
			paths=$AREA; recurse=true; file_type=link
			paths=$AREA; recurse=true; hidden=true; file_type=file
			paths=$AREA; recurse=true; follow=true; depth=3
			paths=$AREA; recurse=true; depth=1
			paths=$AREA; recurse=true; depth=2; file_type=any; hidden=true
			paths=$AREA; patterns=*.txt
			paths=$AREA; patterns=*.txt,crlf*; excludes=*n*
			paths=$AREA; patterns=^.*\.t.t$; use_regex=true
			paths=$AREA; patterns=^[a-c].{1,2}$; use_regex=true
			paths=$AREA; patterns=(; use_regex=true
			paths=$AREA; contains=.*two
			paths=$AREA; contains=two
			paths=$AREA; contains=t.*o; read_whole_file=true
			paths=$AREA; contains=one.*two; read_whole_file=true
			paths=$AREA; contains=one\ntwo; read_whole_file=true
			paths=$AREA; recurse=true; contains=^caf
			paths=$AREA; age=1d
			paths=$AREA; age=-1d
			paths=$AREA; age=1w; age_stamp=ctime
			paths=$AREA; age=1d; age_stamp=atime
			paths=$AREA; size=1
			paths=$AREA; size=1k
			paths=$AREA; size=-1k; recurse=true
			paths=$AREA; get_checksum=true
			paths=$AREA/missing
			paths=$AREA/plain.txt
			paths=$AREA/rodir,$AREA/deep; recurse=true
			paths=$AREA/deep,$AREA/deep
			paths=$AREA/to-dir; recurse=true
			paths=$AREA; patterns=["a,b", "*.ini"]
			paths=deep
			paths=~`,
		"slurp": `
			src=$AREA/plain.txt
			src=$AREA/bin
			src=$AREA/empty
			src=$AREA/long.txt
			src=$AREA/deep
			src=$AREA/missing
			src=$AREA/to-file
			src=$AREA/loop`,
		"tempfile": `
			path=$AREA/deep
			path=$AREA/deep; state=directory
			path=$AREA/deep; suffix=.txt; prefix=pre-
			path=$AREA/deep; state=directory; suffix=.d; prefix=pre-
			path=$AREA/missing
			path=$AREA/missing; state=directory`,
		"assemble": `
			src=$AREA/frag; dest=$AREA/new; remote_src=true
			src=$AREA/frag; dest=$AREA/plain.txt; remote_src=true; backup=true
			src=$AREA/frag; dest=$AREA/new; remote_src=true; delimiter=--
			src=$AREA/frag; dest=$AREA/new; remote_src=true; delimiter=\n
			src=$AREA/frag; dest=$AREA/new; remote_src=true; regexp=^2
			src=$AREA/frag; dest=$AREA/new; remote_src=true; ignore_hidden=true
			src=$AREA/frag; dest=$AREA/new; remote_src=true; mode=0600
			src=$AREA/frag; dest=$AREA/new; remote_src=true; validate=grep -q b %s
			src=$AREA/frag; dest=$AREA/new; remote_src=true; validate=false %s
			src=$AREA/emptydir; dest=$AREA/new; remote_src=true
			src=$AREA/missing; dest=$AREA/new; remote_src=true
			src=$AREA/plain.txt; dest=$AREA/new; remote_src=true
			src=$AREA/frag; dest=$AREA/deep; remote_src=true
			src=$AREA/frag; dest=$AREA/to-file; remote_src=true
			src=$AREA/frag; dest=$AREA/missing/f; remote_src=true
			src=$AREA/; dest=$AREA/deep/new; remote_src=true`,
		"get_url": `
			url=file://$AREA/plain.txt; dest=$AREA/new
			url=file://$AREA/plain.txt; dest=$AREA/nonl; backup=true
			url=file://$AREA/plain.txt; dest=$AREA/nonl; force=true
			url=file://$AREA/plain.txt; dest=$AREA/hard
			url=file://$AREA/plain.txt; dest=$AREA/emptydir
			url=file://$AREA/plain.txt; dest=$AREA/missing/
			url=file://$AREA/plain.txt; dest=$AREA/missing/f
			url=file://$AREA/plain.txt; dest=$AREA/to-file; force=true
			url=file://$AREA/nonl; dest=$AREA/to-file; force=true; mode=0600
			url=file://$AREA/nonl; dest=$AREA/new; tmp_dest=$AREA/emptydir
			url=file://$AREA/nonl; dest=$AREA/new; tmp_dest=$AREA/missing
			url=file://$AREA/missing; dest=$AREA/new
			url=file://$AREA/deep; dest=$AREA/new
			url=file:///nosuch/é; dest=$AREA/new
			url=file://localhost$AREA/plain.txt; dest=$AREA/new
			url=file://$AREA/plain.txt; dest=$AREA/new; checksum=sha1:` + hexSum("one\ntwo\nthree\n") + `
			url=file://$AREA/plain.txt; dest=$AREA/new; checksum=sha256:00
			url=file://$AREA/plain.txt; dest=$AREA/plain.txt; checksum=sha1:` + hexSum("one\ntwo\nthree\n") + `
			url=file://$AREA/plain.txt; dest=$AREA/nonl; checksum=sha1:` + hexSum("one\ntwo\nthree\n") + `
			url=plain.txt; dest=$AREA/new
			url=; dest=$AREA/new
			url=gopher://x/; dest=$AREA/new`,
		"command": `
			_raw_params=echo a  b
			_raw_params=echo a; creates=$AREA/plain.txt
			_raw_params=echo a; removes=$AREA/missing
			_raw_params=pwd; chdir=$AREA/deep
			_raw_params=pwd; chdir=$AREA/missing
			_raw_params=pwd; chdir=deep
			_raw_params=ls; chdir=deep; creates=z.txt
			_raw_params=cat; stdin=in
			_raw_params=cat; stdin=in; stdin_add_newline=false
			_raw_params=printf 'a\n\n'; strip_empty_ends=false
			_raw_params=printf 'a\r\n\r\n'
			_raw_params=printf 'a\rb\fc\vd\x1ce\n'
			argv=["printf", "%s.", "a b", "", "é"]
			argv=["./exec.sh", "*"]
			argv=["echo", "$HOME", "~"]
			_raw_params=echo $HOME ~
			_raw_params=echo ${HOME} "$HOME" '$HOME' $NOSUCH
			_raw_params=sh -c 'kill -9 $$'
			_raw_params=sh -c 'exit 256'
			_raw_params=./exec.sh a'b c'd "e\"f" g\ h
			_raw_params=./plain.txt
			_raw_params=deep/
			_raw_params=with space.txt
			_raw_params=echo a#b # c`,
		"shell": `
			_raw_params=echo a | tr a b
			_raw_params=echo $0 $# $-
			_raw_params=echo a; exit 4
			_raw_params=exit 4
			_raw_params=echo 'caf\351' | cat -v
			_raw_params=cat; stdin=in
			_raw_params=pwd; chdir=$AREA/deep
			_raw_params=pwd; chdir=$AREA/missing
			_raw_params=echo *; chdir=$AREA/deep
			_raw_params=echo a; creates=$AREA/*.txt
			_raw_params=echo a; removes=$AREA/nope*
			_raw_params=echo $BASH_VERSION | cut -c1; executable=/bin/bash
			_raw_params=echo out && echo err >&2 && kill -15 $$
			_raw_params=printf 'a\0b'
			_raw_params=head -c 100000 /dev/zero | tr '\0' x | md5sum
			_raw_params=echo 'open`,
		"known_hosts": `
			path=$AREA/hosts; name=h1; key=` + hostOf("h1", 1) + `
			path=$AREA/hosts; name=h1; key=` + hostOf("h1", 9) + `
			path=$AREA/hosts; name=new; key=` + hostOf("new", 9) + `
			path=$AREA/hosts; name=new; key=` + hostOf("new", 9) + `; hash_host=true
			path=$AREA/hosts; name=h2; state=absent
			path=$AREA/hosts; name=[h3]:22; state=absent
			path=$AREA/hosts; name=nope; state=absent
			path=$AREA/hosts; name=h1; key=garbage
			path=$AREA/hosts; name=h1
			path=$AREA/missing/f; name=h1; key=` + hostOf("h1", 1) + `
			path=$AREA/missing; name=h1; state=absent
			path=$AREA/deep; name=h1; state=absent
			path=$AREA/deep; name=h1; key=` + hostOf("h1", 1) + `
			path=$AREA/nonl; name=h1; key=` + hostOf("h1", 1) + `
			path=$AREA/to-file; name=h1; key=` + hostOf("h1", 1) + `
			path=$AREA/dangling; name=h1; key=` + hostOf("h1", 1) + `
			path=$AREA/loop; name=h1; state=absent`,
		"cron": `
			name=job; job=true; cron_file=$AREA/crontab; user=root
			name=job; job=true; cron_file=$AREA/crontab; user=root; hour=1; minute=0
			name=new; job=echo %a; cron_file=$AREA/crontab; user=root; special_time=daily
			name=new; job=echo a; cron_file=$AREA/missing; user=root; disabled=true
			name=job; state=absent; cron_file=$AREA/crontab
			name=job; state=absent; cron_file=$AREA/crontab; backup=true
			state=absent; cron_file=$AREA/crontab
			name=PATH; env=true; job=/usr/bin; cron_file=$AREA/crontab; user=root
			name=NEW; env=true; job=x; cron_file=$AREA/crontab; user=root; insertafter=PATH
			name=NEW; env=true; job=x; cron_file=$AREA/crontab; user=root; insertbefore=PATH
			name=PATH; env=true; state=absent; cron_file=$AREA/crontab
			name=job; job=true; cron_file=$AREA/deep; user=root
			name=job; job=true; cron_file=$AREA/missing/f; user=root
			name=job; job=a\nb; cron_file=$AREA/crontab; user=root
			name=job; job=true; cron_file=$AREA/nonl; user=root; special_time=reboot
			name=job; cron_file=$AREA/crontab
			name=job; job=true
			name=mine; job=true
			name=mine; job=false; hour=3; backup=true
			name=mine; state=absent
			name=gone; state=absent
			name=MAIL; env=true; job=me
			name=mine; job=true; special_time=hourly; disabled=true
			name=mine; job=true; user=root`,
		"yum_repository": `
			name=base; description=b; baseurl=http://x/; reposdir=$AREA/repos
			name=base; description=n; baseurl=http://y/; reposdir=$AREA/repos; gpgcheck=true; enabled=false
			name=new; description=n; baseurl=["http://y/", "http://z/"]; reposdir=$AREA/repos
			name=new; description=n; mirrorlist=http://y/; file=base; reposdir=$AREA/repos; mode=0600
			name=base; state=absent; reposdir=$AREA/repos
			name=other; state=absent; file=base; reposdir=$AREA/repos
			name=nope; state=absent; reposdir=$AREA/repos
			name=new; description=n; baseurl=http://y/; reposdir=$AREA/missing
			name=new; baseurl=http://y/; reposdir=$AREA/repos
			name=new; description=n; reposdir=$AREA/repos
			name=new; description=n; baseurl=http://y/; file=broken; reposdir=$AREA/repos`,
		"unarchive": `
			src=$AREA/a.tar; dest=$AREA/emptydir; remote_src=true
			src=$AREA/a.tar.gz; dest=$AREA/emptydir; remote_src=true; list_files=true
			src=$AREA/a.tar; dest=$AREA/deep; remote_src=true
			src=$AREA/a.tar; dest=$AREA/deep; remote_src=true; keep_newer=true
			src=$AREA/a.tar; dest=$AREA/emptydir; remote_src=true; mode=0700
			src=$AREA/a.tar; dest=$AREA/emptydir; remote_src=true; include=["z.txt"]
			src=$AREA/a.tar; dest=$AREA/emptydir; remote_src=true; exclude=["z.txt"]
			src=$AREA/a.tar; dest=$AREA/emptydir; remote_src=true; extra_opts=["--strip-components=1"]
			src=$AREA/a.zip; dest=$AREA/emptydir; remote_src=true
			src=$AREA/a.zip; dest=$AREA/emptydir; remote_src=true; list_files=true; exclude=["z.txt"]
			src=$AREA/a.zip; dest=$AREA/emptydir; remote_src=true; mode=0700
			src=$AREA/broken.tar.gz; dest=$AREA/emptydir; remote_src=true
			src=$AREA/plain.txt; dest=$AREA/emptydir; remote_src=true
			src=$AREA/missing; dest=$AREA/emptydir; remote_src=true
			src=$AREA/a.tar; dest=$AREA/missing; remote_src=true
			src=$AREA/a.tar; dest=$AREA/plain.txt; remote_src=true
			src=$AREA/a.tar; dest=$AREA/to-dir; remote_src=true
			src=$AREA/a.tar; dest=$AREA/emptydir/; remote_src=true; owner=54242; group=54243
			src=$AREA/empty; dest=$AREA/emptydir; remote_src=true`,
		"git": `
			repo=$AREA/repo.git; dest=$AREA/new
			repo=$AREA/repo.git; dest=$AREA/new; version=side
			repo=$AREA/repo.git; dest=$AREA/new; version=v1
			repo=$AREA/repo.git; dest=$AREA/new; bare=true
			repo=file://$AREA/repo.git; dest=$AREA/new; depth=1
			repo=file://$AREA/repo.git; dest=$AREA/new; depth=1; version=v1
			repo=file://$AREA/repo.git; dest=$AREA/new; depth=1; single_branch=true; version=side
			repo=$AREA/repo.git; dest=$AREA/work
			repo=$AREA/repo.git; dest=$AREA/work; version=side
			repo=$AREA/repo.git; dest=$AREA/work; version=nope
			repo=$AREA/repo.git; dest=$AREA/work; update=false
			repo=$AREA/repo.git; dest=$AREA/new; clone=false
			repo=$AREA/repo.git; dest=$AREA/new; clone=false; update=false
			repo=$AREA/repo.git; dest=$AREA/dirty; version=v1
			repo=$AREA/repo.git; dest=$AREA/dirty; version=v1; force=true
			repo=$AREA/repo.git; dest=$AREA/work; remote=up
			repo=file://$AREA/repo.git; dest=$AREA/work
			repo=$AREA/missing.git; dest=$AREA/work
			repo=$AREA/missing.git; dest=$AREA/new
			repo=$AREA/repo.git; dest=$AREA/new; separate_git_dir=$AREA/gd
			repo=$AREA/repo.git; dest=$AREA/work; separate_git_dir=$AREA/gd
			repo=$AREA/repo.git; dest=$AREA/work; separate_git_dir=$AREA/deep
			repo=$AREA/repo.git; dest=$AREA/new; separate_git_dir=$AREA/emptydir
			repo=$AREA/repo.git; dest=$AREA/new; separate_git_dir=gd
			repo=$AREA/repo.git; dest=$AREA/new; archive=$AREA/o.tar
			repo=$AREA/repo.git; dest=$AREA/new; archive=$AREA/o.tar.gz; archive_prefix=p/
			repo=$AREA/repo.git; dest=$AREA/work; archive=$AREA/o.zip; version=v2
			repo=$AREA/repo.git; dest=$AREA/new; refspec=+refs/heads/side:refs/remotes/origin/side
			repo=$AREA/repo.git; dest=$AREA/new; reference=$AREA/repo.git
			repo=$AREA/repo.git; dest=$AREA/new; umask=0077
			repo=$AREA/repo.git; dest=$AREA/emptydir
			repo=$AREA/repo.git; dest=$AREA/deep
			repo=$AREA/repo.git; dest=$AREA/plain.txt
			repo=$AREA/repo.git; dest=$AREA/missing/x
			repo=$AREA/repo.git; dest=$AREA/to-dir
			repo=$AREA/repo.git; dest=$AREA/new; track_submodules=true; recursive=false
			repo=$AREA/repo.git`,
		"getent": `
			database=passwd; key=root
			database=passwd; key=nosuch
			database=passwd; key=nosuch; fail_key=false
			database=nosuch
			database=group; key=root; split=:
			database=services; key=ssh
			database=hosts; key=localhost`,
		"wait_for": `
			path=$AREA/plain.txt; timeout=1
			path=$AREA/plain.txt; timeout=1; state=absent
			path=$AREA/missing; timeout=1; state=absent
			path=$AREA/missing; timeout=1
			path=$AREA/plain.txt; timeout=1; search_regex=^t(w)(?P<x>o)
			path=$AREA/plain.txt; timeout=1; search_regex=nope; msg=my words
			path=; timeout=1
			path=; timeout=1; state=absent
			timeout=0
			path=$AREA/dangling; timeout=0
			path=$AREA/deep; timeout=0; search_regex=x
			path=$AREA/latin` + "\xff" + `.txt; timeout=0; search_regex=caf`,
		"ping": `
			data=pong
			data=é`,
		"community.general.ini_file": `
			path=$AREA/conf.ini; section=a; option=x; value=2
			path=$AREA/conf.ini; section=a; option=new; value=2; no_extra_spaces=true
			path=$AREA/conf.ini; section=b c; option=y; value=4
			path=$AREA/conf.ini; section=b c; option=y; values=["1","2"]
			path=$AREA/conf.ini; section=b c; option=y; values=["1"]; exclusive=false
			path=$AREA/conf.ini; section=b c; option=y; state=absent
			path=$AREA/conf.ini; section=a; state=absent
			path=$AREA/conf.ini; section=n; option=k; value=v; backup=true
			path=$AREA/conf.ini; option=top; value=2
			path=$AREA/missing; section=n; option=k; value=v; mode=0600
			path=$AREA/missing; section=n; option=k; value=v; create=false
			path=$AREA/missing/f; section=n; option=k; value=v
			path=$AREA/crlf.txt; section=n; option=k; value=v
			path=$AREA/nonl; section=n; option=k; allow_no_value=true
			path=$AREA/empty; section=n; option=k; value=v
			path=$AREA/deep; section=n; option=k; value=v
			path=$AREA/to-file; section=n; option=k; value=v`,
		"ansible.posix.authorized_key": `
			user=root; path=$AREA/keys; manage_dir=false; key=` + keyOf(1) + `
			user=root; path=$AREA/keys; manage_dir=false; key=` + keyOf(5) + ` new
			user=root; path=$AREA/keys; manage_dir=false; state=absent; key=` + keyOf(2) + `
			user=root; path=$AREA/keys; manage_dir=false; exclusive=true; key=` + keyOf(5) + `
			user=root; path=$AREA/keys; manage_dir=false; key_options=no-pty; key=` + keyOf(1) + `
			user=root; path=$AREA/keys; manage_dir=false; comment=c; key=` + keyOf(1) + `
			user=root; path=$AREA/missing; manage_dir=false; key=` + keyOf(1) + `
			user=root; path=$AREA/missing/d/keys; manage_dir=true; key=` + keyOf(1) + `
			user=root; path=$AREA/missing/d/keys; manage_dir=false; key=` + keyOf(1) + `
			user=root; path=$AREA/nonl; manage_dir=false; key=` + keyOf(1) + `
			user=root; path=$AREA/to-file; manage_dir=false; follow=true; key=` + keyOf(1) + `
			user=root; path=$AREA/deep; manage_dir=false; key=` + keyOf(1) + `
			user=root; path=$AREA/keys; manage_dir=false; key=garbage
			user=nosuch; path=$AREA/keys; manage_dir=false; key=` + keyOf(1),
		"ansible.posix.sysctl": `
			name=vm.swappiness; value=5; sysctl_file=$AREA/sysctl.conf; reload=false; sysctl_set=false
			name=new.key; value=5; sysctl_file=$AREA/sysctl.conf; reload=false; sysctl_set=false
			name=net.ipv4.ip_forward; state=absent; sysctl_file=$AREA/sysctl.conf; reload=false; sysctl_set=false
			name=nope; state=absent; sysctl_file=$AREA/sysctl.conf; reload=false; sysctl_set=false
			name=new.key; value=5; sysctl_file=$AREA/missing; reload=false; sysctl_set=false
			name=new.key; value=5; sysctl_file=$AREA/nonl; reload=false; sysctl_set=false
			name=new.key; sysctl_file=$AREA/sysctl.conf; reload=false; sysctl_set=false
			name=new.key; value=a  b; sysctl_file=$AREA/to-file; reload=false; sysctl_set=false`,
		"ansible.posix.mount": `
			path=$AREA/emptydir; src=/dev/sda1; fstype=ext4; state=present; fstab=$AREA/fstab
			path=$AREA/a b; src=/dev/s a; fstype=ext4; state=present; fstab=$AREA/fstab; opts=ro,noexec; backup=true
			path=/; src=/dev/sda1; fstype=ext4; state=present; fstab=$AREA/fstab
			path=/; src=/dev/sdb; fstype=xfs; state=present; fstab=$AREA/fstab; dump=1; passno=2
			path=/; state=absent_from_fstab; fstab=$AREA/fstab
			path=/a b; state=absent_from_fstab; fstab=$AREA/fstab
			path=/x; src=a; fstype=nfs; state=present; fstab=$AREA/missing
			path=/x; src=a; fstype=nfs; state=present; fstab=$AREA/missing/f
			path=/x; src=a; fstype=nfs; state=present; fstab=$AREA/nonl`,
		"community.general.archive": `
			path=$AREA/plain.txt; dest=$AREA/o.gz
			path=$AREA/plain.txt
			path=$AREA/deep; dest=$AREA/o.tar; format=tar
			path=$AREA/deep/; dest=$AREA/o.zip; format=zip
			path=$AREA/*.txt; dest=$AREA/o.tgz
			path=["$AREA/plain.txt", "$AREA/missing"]; dest=$AREA/o.tar; format=tar
			path=$AREA/deep; dest=$AREA/o.tar; format=tar; remove=true
			path=$AREA/deep; dest=$AREA/o.tar; format=tar; exclude_path=$AREA/deep/a
			path=$AREA/plain.txt; dest=$AREA/o.tar; format=tar; force_archive=true
			path=$AREA/missing; dest=$AREA/o.tar
			path=$AREA/deep; dest=$AREA/missing/o.tar`,
	}
}
