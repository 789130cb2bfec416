#!/bin/sh
# Installs the hark packages of this machine's kind and architecture.
#
#   install.sh [--from DIR|URL] [hark-agent | hark | hark-ansible-names]...      (default: hark-agent)
#
# DIR or URL holds the packages and their SHA256SUMS, as `make packages` leaves them in bin/packages; the default is the directory
# of this script. Each package is checked against SHA256SUMS before it is installed; run it again to upgrade.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

from=$(cd "$(dirname "$0")" && pwd)
while [ $# -gt 0 ]; do
	case $1 in
	--from)
		[ $# -ge 2 ] || fail "--from wants a directory or URL"
		from=${2%/}
		shift 2
		;;
	-h | --help)
		sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	-*) fail "no such option: $1" ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || set -- hark-agent
[ "$(id -u)" = 0 ] || fail "needs root"

case $(uname -m) in
x86_64) deb=amd64 rpm=x86_64 ;;
aarch64) deb=arm64 rpm=aarch64 ;;
*) fail "there are no packages for $(uname -m)" ;;
esac
if command -v dpkg >/dev/null 2>&1; then
	kind=deb
elif command -v rpm >/dev/null 2>&1; then
	kind=rpm
else
	fail "needs dpkg or rpm"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

get() { # NAME: from where the packages are, into $work
	case $from in
	*://*)
		if command -v curl >/dev/null 2>&1; then
			curl -fsSL "$from/$1" -o "$work/$1" || fail "cannot get $from/$1"
		elif command -v wget >/dev/null 2>&1; then
			wget -qO "$work/$1" "$from/$1" || fail "cannot get $from/$1"
		else
			fail "needs curl or wget"
		fi
		;;
	*) cp "$from/$1" "$work/$1" || fail "cannot read $from/$1" ;;
	esac
}

# newest NAME: the last version of a package that SHA256SUMS names.
newest() {
	if [ $kind = deb ]; then ending="_\($deb\|all\)[.]deb" begin="$1_"; else ending="[.]\($rpm\|noarch\)[.]rpm" begin="$1-[0-9]"; fi
	sed 's/^[0-9a-f]*  //' "$work/SHA256SUMS" | grep "^$begin.*$ending\$" | sort -V | tail -n 1
}

get SHA256SUMS
files=
for name in "$@"; do
	file=$(newest "$name")
	[ -n "$file" ] || fail "$from has no $kind package of $name for $(uname -m)"
	get "$file"
	(cd "$work" && grep "  $file\$" SHA256SUMS | sha256sum -c --quiet -) || fail "$file is not what SHA256SUMS says"
	files="$files $work/$file"
done
# shellcheck disable=SC2086
if [ $kind = deb ]; then dpkg -i $files; else rpm -U --replacepkgs $files; fi
