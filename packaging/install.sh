#!/bin/sh
# Installs hark on this machine, and upgrades it when run again.
#
#   install.sh [--from DIR|URL] [--key FILE] [hark | hark-agent | hark-ansible-names]...      (default: hark)
#
# It takes the packages of apt, dnf or apk where one of these is, else the programs into /usr/local/bin. They come from the release that this
# script belongs to; DIR or URL holds another one, as `make release` or `make packages` leaves it.
#
# Nothing is installed before it is verified: SHA256SUMS must be signed with the key of hark's releases, and each file must be what SHA256SUMS
# says. The key is in this script; FILE has another one, a line as in hark.allowed_signers. By hand:
#
#   ssh-keygen -Y verify -f hark.allowed_signers -I release -n hark-release -s SHA256SUMS.sig <SHA256SUMS && sha256sum -c --ignore-missing SHA256SUMS
set -eu

# `make release` fills these in.
KEY=''
HOME_PAGE=''

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

from=
while [ $# -gt 0 ]; do
	case $1 in
	--from)
		[ $# -ge 2 ] || fail "--from needs a directory or URL"
		from=${2%/}
		shift 2
		;;
	--key)
		[ $# -ge 2 ] && [ -r "$2" ] || fail "--key needs a file that can be read"
		KEY=$(cat "$2")
		shift 2
		;;
	-h | --help)
		sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	-*) fail "there is no option $1" ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || set -- hark
if [ -z "$from" ]; then
	if [ -r "$(dirname "$0")/SHA256SUMS" ]; then from=$(cd "$(dirname "$0")" && pwd); else from=$HOME_PAGE; fi
fi
[ -n "$from" ] || fail "this script belongs to no release: name one with --from"
[ "$(id -u)" = 0 ] || fail "needs root"

system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64 | amd64) go=amd64 deb=amd64 rpm=x86_64 apk=x86_64 ;;
aarch64 | arm64) go=arm64 deb=arm64 rpm=aarch64 apk=aarch64 ;;
armv7l | armv8l) go=armv7 deb=armhf rpm=armv7hl apk=armv7 ;;
i?86) go=386 deb=i386 rpm=i386 apk=x86 ;;
*) fail "there is no hark for $(uname -m)" ;;
esac
if have dpkg; then
	kind=deb
elif have rpm; then
	kind=rpm
elif have apk; then
	kind=apk
else
	kind=tar.gz
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

get() { # NAME: from where the release is, into $work
	case $from in
	*://*)
		if have curl; then
			curl -fsSL "$from/$1" -o "$work/$1" || fail "cannot get $from/$1"
		elif have wget; then
			wget -qO "$work/$1" "$from/$1" || fail "cannot get $from/$1"
		else
			fail "needs curl or wget"
		fi
		;;
	*) cp "$from/$1" "$work/$1" || fail "cannot read $from/$1" ;;
	esac
}

# verified: SHA256SUMS is what the key has signed. Only packages of one's own on this machine may be without a signature.
verified() {
	if [ -z "$KEY" ]; then
		case $from in *://*) fail "there is no key to verify $from with: --key names it" ;; esac
		return 0
	fi
	have ssh-keygen || fail "needs ssh-keygen to verify the signature (package openssh-client, openssh-clients or openssh-keygen)"
	get SHA256SUMS.sig
	echo "$KEY" >"$work/allowed"
	ssh-keygen -Y verify -f "$work/allowed" -I release -n hark-release -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" >"$work/said" 2>&1 ||
		fail "the signature of $from/SHA256SUMS is not of the key of hark's releases: $(cat "$work/said")"
}

sum() { if have sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

# file NAME: the file of a package for this machine that SHA256SUMS names.
file() {
	case $kind in
	deb) begin="$1_[0-9]" ending="_\($deb\|all\)[.]deb" ;;
	rpm) begin="$1-[0-9]" ending="[.]\($rpm\|noarch\)[.]rpm" ;;
	apk) begin="$1_[0-9]" ending="_\($apk\|all\|noarch\)[.]apk" ;;
	*) begin="$1_[0-9]" ending="_${system}_$go[.]tar[.]gz" ;;
	esac
	sed 's/^[0-9a-f]*  //' "$work/SHA256SUMS" | grep "^$begin.*$ending\$" | tail -n 1
}

get SHA256SUMS
verified
files=
for name in "$@"; do
	file=$(file "$name")
	[ -n "$file" ] || fail "$from has no $kind of $name for $system on $(uname -m)"
	get "$file"
	[ "$(sum "$work/$file")" = "$(awk -v file="$file" '$2 == file { print $1 }' "$work/SHA256SUMS")" ] || fail "$file is not what SHA256SUMS says"
	files="$files $work/$file"
done
# shellcheck disable=SC2086
case $kind in
deb) dpkg -i $files ;;
rpm) rpm -U --replacepkgs --oldpackage $files ;;
apk) apk add --allow-untrusted $files ;; # SHA256SUMS vouches for them
*)
	for file in $files; do
		tar -xzf "$file" -C "$work"
		name=$(basename "$file" | sed 's/_.*//')
		cp "$work/$(basename "$file" .tar.gz)/$name" "/usr/local/bin/.$name.new"
		chmod 755 "/usr/local/bin/.$name.new"
		mv "/usr/local/bin/.$name.new" "/usr/local/bin/$name"
	done
	;;
esac
