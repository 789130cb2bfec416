package bootstrap

import (
	"fmt"
	"strings"
)

// keptPrefix begins the names of agents in the cache of a user; what follows is their digest.
const keptPrefix = "agent-"

// keptScript looks for the agent that another run has left in the cache of the user, by its digest and its size. Only
// what belongs to the user, in a directory that nobody else can write, is taken. What nobody has used for a week is
// removed, once there is nobody who waits.
func keptScript(all []*Binary) string {
	var cases strings.Builder
	for _, b := range all {
		fmt.Fprintf(&cases, "%s) kept_size=%d kept_name=%s%s ;;\n", strings.Join(machines(b.Arch), "|"), len(b.Text), keptPrefix, b.Digest)
	}
	return `kept="$HOME/.cache/hark" kept_name=
case $2 in
` + cases.String() + `esac
if [ "$kept_name" ] && [ "$1" = Linux ] && [ -d "$kept" ] && [ -O "$kept" ] && [ ! -L "$kept" ]; then
  chmod 700 "$kept"
  f="$kept/$kept_name"
  [ -f "$f" ] && [ -O "$f" ] && [ -x "$f" ] && [ "$(wc -c <"$f")" -eq "$kept_size" ] && path=$f && echo kept=1
fi
`
}

// keepScript moves an agent that was uploaded into that cache; it is run from where it is if there can be none, as in
// a home from which nothing can be run. It is on the disk before it has its name, so the name and the size are enough
// to know it by.
const keepScript = `to="$kept/agent-$digest"
  mkdir -p "$kept" && [ -O "$kept" ] && [ ! -L "$kept" ] && chmod 700 "$kept" && new=$(mktemp "$kept/.agent-XXXXXX") && {
    cp "$path" "$new" && chmod 700 "$new" && "$new" version >/dev/null 2>&1 </dev/null && { sync "$new" 2>/dev/null || sync; } && mv -f "$new" "$to" && rm -f "$path" && path=$to || rm -f "$new"
  }
`

// tidyScript marks a kept agent as used, and removes those that nobody has used for a week.
const tidyScript = `case $path in "$kept"/*) touch -c "$path"; find "$kept" -name '*agent-*' -mtime +7 -exec rm -f {} + ;; esac
`
