#!/bin/sh
# What tests start ends with them, and what they write goes: however they end, killed too.
#
#   leash.sh COMMAND...     runs a command whose temporary files lie in a directory of its own, LEASH, where there is an empty home too.
#                           A process or a file that it leaves behind fails it.
#   leash.sh --sweep DIR    waits for the end of its input, then ends what comes from the directory, and removes that
#
# What belongs to a directory is known by the mark LEASH=DIR in its environment, or by where it stands.
set -eu

# living: the processes that belong to a directory.
living() {
	{
		grep -lzxF "LEASH=$1" /proc/[0-9]*/environ 2>/dev/null || :
		find /proc/[0-9]* -maxdepth 1 \( -name cwd -o -name exe \) \( -lname "$1" -o -lname "$1/*" \) 2>/dev/null || :
	} | cut -d/ -f3 | sort -un
}

# sweep DIR: ends what belongs to the directory, and removes it.
sweep() {
	for _ in 1 2 3 4 5; do # what is killed may have started another just before
		pids=$(living "$1")
		[ -n "$pids" ] || break
		kill -KILL $pids 2>/dev/null || :
		sleep 0.1
	done
	chmod -R u+rwX "$1" 2>/dev/null || :
	rm -rf "$1"
}

# nothing_left DIR: what ends by itself when the tests do has a moment for it.
nothing_left() {
	tries=50
	while pids=$(living "$1") && [ -n "$pids" ] && [ "$tries" -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	files=$(find "$1" -mindepth 1 ! -path "$1/home" ! -path "$1/alive")
	[ -n "$pids$files" ] || return 0
	echo "the tests left behind:" >&2
	for pid in $pids; do echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")" >&2; done
	echo "$files" >&2
	return 1
}

if [ "${1:-}" = --sweep ]; then
	trap '' HUP INT TERM
	unset LEASH
	cd /
	cat >/dev/null
	sweep "$2"
	exit
fi

room=$(mktemp -d "${TMPDIR:-/tmp}/ht.XXXXXX") # short: the paths of sockets lie below it
chmod 711 "$room"                             # some tests run programs as other users
mkdir "$room/home"
mkfifo "$room/alive"
setsid "$0" --sweep "$room" <"$room/alive" &
exec 9>"$room/alive"
code=0
LEASH=$room TMPDIR=$room "$@" 9>&- || code=$?
nothing_left "$room" 9>&- || [ "$code" -ne 0 ] || code=1
exec 9>&-
wait
exit "$code"
