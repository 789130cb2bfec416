#!/bin/bash
# repository.sh DIR: builds small packages, and a repository of them in DIR/repo with groups, advisories and a module.
# It needs rpmbuild, createrepo_c and modifyrepo_c.
set -e
dir=$1
mkdir -p "$dir/repo" "$dir/specs"
cd "$dir"
export HOME=$PWD # where Debian's rpm keeps the packages of this machine
# pkg NAME VERSION RELEASE [TAGS [INSTALL [FILES]]]
pkg() {
  local f=specs/$1-$2-$3.spec
  cat >"$f" <<-SPEC
	Name: $1
	Version: $2
	Release: $3
	Summary: s
	License: x
	BuildArch: noarch
	$(printf '%b' "${4:-}")
	%description
	d
	%install
	mkdir -p %{buildroot}/usr/share/$1
	echo $1-$2-$3 >%{buildroot}/usr/share/$1/v
	${5:-}
	%files
	/usr/share/$1
	${6:-}
	SPEC
  rpmbuild -bb --quiet --define "_topdir $PWD/top" --define "_rpmdir $PWD/repo" \
    --define '_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' --define '_build_id_links none' \
    "$f" >/dev/null 2>>build.log
}
pkg foo 1.0 1; pkg foo 1.0 2; pkg foo 2.0 1
pkg libx 1.0 1; pkg libx 1.5 1
pkg bar 1.0 1 "Requires: foo\nRequires: libx\nRecommends: baz\nProvides: webserver"
pkg bar 1.1 1 "Requires: foo\nRequires: libx >= 1.5\nRecommends: baz\nProvides: webserver"
pkg baz 1.0 1
pkg hello 1.0 1 "" "mkdir -p %{buildroot}/usr/bin; echo hi >%{buildroot}/usr/bin/hello" "/usr/bin/hello"
pkg broken 1.0 1 "Requires: nothing-that-is-there"
pkg ep 3.0 1; pkg ep 1.0 1 "Epoch: 1"
pkg c1 1.0 1 ; pkg c2 1.0 1 "Conflicts: c1"
pkg oldname 1.0 1; pkg newname 2.0 1 "Obsoletes: oldname < 2\nProvides: oldname = 2"
pkg a-name-that-is-longer-than-the-column-that-it-is-printed-in-by-dnf 1.0.20260101gitdeadbeefdeadbeef 1
pkg python3-x 3.0 1; pkg python3-y 3.0 1
pkg tilde 1.0~rc1 1; pkg tilde 1.0 1
cat > comps.xml <<'X'
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE comps PUBLIC "-//Red Hat, Inc.//DTD Comps info//EN" "comps.dtd">
<comps>
<group><id>tools</id><name>My Tools</name><description>t</description>
<default>false</default><uservisible>true</uservisible>
<packagelist><packagereq type="mandatory">foo</packagereq>
<packagereq type="default">hello</packagereq>
<packagereq type="optional">baz</packagereq></packagelist></group>
<group><id>empty</id><name>Empty</name><description>t</description>
<default>false</default><uservisible>true</uservisible><packagelist></packagelist></group>
<environment><id>envy</id><name>An Environment</name><description>e</description><display_order>1</display_order>
<grouplist><groupid>tools</groupid></grouplist><optionlist></optionlist></environment>
</comps>
X
createrepo_c -q -g $PWD/comps.xml repo
cat > ui.xml <<'X'
<updates>
<update from="a" status="stable" type="security" version="1"><id>S-1</id><title>t</title>
<issued date="2026-01-01 00:00:00"/><severity>Important</severity><description>d</description>
<pkglist><collection short="c"><name>c</name><package name="foo" version="1.0" release="2" epoch="0" arch="noarch">
<filename>foo-1.0-2.noarch.rpm</filename></package></collection></pkglist></update>
<update from="a" status="stable" type="bugfix" version="1"><id>B-1</id><title>t</title>
<issued date="2026-01-01 00:00:00"/><severity>None</severity><description>d</description>
<pkglist><collection short="c"><name>c</name><package name="libx" version="1.5" release="1" epoch="0" arch="noarch">
<filename>libx-1.5-1.noarch.rpm</filename></package></collection></pkglist></update>
</updates>
X
mv ui.xml updateinfo.xml; modifyrepo_c --mdtype=updateinfo updateinfo.xml repo/repodata >/dev/null
cat > modules.yaml <<'X'
---
document: modulemd
version: 2
data:
  name: mod
  stream: "1"
  version: 1
  context: deadbeef
  arch: noarch
  summary: m
  description: m
  license:
    module: [MIT]
  profiles:
    client:
      rpms: [python3-x]
    default:
      rpms: [python3-y]
  artifacts:
    rpms: [python3-x-0:3.0-1.noarch, python3-y-0:3.0-1.noarch]
...
---
document: modulemd-defaults
version: 1
data:
  module: mod
  stream: "1"
  profiles:
    "1": [default]
...
X
modifyrepo_c --mdtype=modules modules.yaml repo/repodata >/dev/null
