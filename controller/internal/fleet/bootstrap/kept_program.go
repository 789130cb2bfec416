package bootstrap

import (
	"fmt"
	"strings"
)

// keptPrefix begins the names of agents in the cache of a user; what follows is their digest.
const keptPrefix = "agent-"

// keptScript looks for the agent that another run has left in the cache of the user. It is run only if its content
// has the digest that the controller expects, if it belongs to the user and is no link, and if nobody but the user
// and root could put another in its place between that look and the run: by the modes and owners of all directories
// above it. Else the agent is sent, and runs from a directory for this run alone where it may not stay.
func keptScript(all []*Binary) string {
	var cases strings.Builder
	for _, b := range all {
		fmt.Fprintf(&cases, "%s) kept_size=%d kept_digest=%s ;;\n", strings.Join(machines(b.Arch), "|"), b.Size, b.Digest)
	}
	return `kept_digest=
case $2 in
` + cases.String() + `esac
case $XDG_CACHE_HOME in /*) kept=$XDG_CACHE_HOME/hark ;; *) kept=$HOME/.cache/hark ;; esac
case $1$HOME in Linux/*) ;; *) kept_digest= ;; esac
` + guardScript + `f=$kept/` + keptPrefix + `$kept_digest
if [ "$kept_digest" ] && [ -f "$f" ] && [ -O "$f" ] && [ ! -L "$f" ] && ours && [ -x "$f" ] && whole "$f"; then
  touch -c "$f" 2>/dev/null
  path=$f
  echo kept=1
fi
`
}

// guardScript defines what keeps others out. ours: the cache is a directory of the user, and others cannot replace
// it: they can write no directory above it, unless that has the sticky bit. whole: a file has the size and the digest.
const guardScript = `ours() {
  [ -d "$kept" ] && [ -O "$kept" ] && [ ! -L "$kept" ] && chmod 700 "$kept" && p=$(cd -P "$kept" && pwd -P) || return 1
  u=$(id -u)
  set -- /
  while [ "$p" ]; do
    set -- "$@" "$p"
    p=${p%/*}
  done
  (ls -ldn "$@" 2>/dev/null | while read -r mode links owner rest; do
    case $mode in d????-??-* | d????????[tT]*) ;; *) exit 1 ;; esac
    [ "$owner" = 0 ] || [ "$owner" = "$u" ] || exit 1
  done)
}
whole() {
  [ "$(wc -c <"$1")" -eq "$kept_size" ] && s=$(sha256sum <"$1" 2>/dev/null) && [ "${s%% *}" = "$kept_digest" ]
}
`

// keepScript moves an agent that was uploaded into that cache; it is run from where it is if there can be none, as in
// a home from which nothing can be run or that has no room. Agents of other versions go, unless one was used within
// a day: another controller may be at work.
const keepScript = `if [ "$digest" = "$kept_digest" ] && mkdir -p "$kept" 2>/dev/null && ours && [ ! -d "$f" ] && new=$(mktemp "$kept/.` + keptPrefix + `XXXXXX" 2>/dev/null); then
      if cp "$path" "$new" 2>/dev/null && chmod 700 "$new" && whole "$new" && "$new" version >/dev/null 2>&1 </dev/null &&
        mv -f "$new" "$f" 2>/dev/null; then
        rm -f "$path"
        path=$f
        echo stays=1
        find "$kept/." ! -name . -prune -type f -name '*` + keptPrefix + `*' ! -name "*$digest" -mtime +0 -exec rm -f {} +
      else
        rm -f "$new"
      fi
    fi
`

// tidyScript marks a kept agent as used, and removes those that nobody has used for a week.
const tidyScript = `case $path in "$kept"/*)
  touch -c "$path" 2>/dev/null
  find "$kept/." ! -name . -prune -type f -name '*` + keptPrefix + `*' -mtime +7 -exec rm -f {} + ;;
esac
`
