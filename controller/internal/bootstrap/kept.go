package bootstrap

import (
	"context"
	"fmt"
	"strings"

	"hark/controller/internal/ssh"
	"hark/modules/py/shlex"
)

// keptScript tells, before a probe, of the agents that other runs have left in the cache of the user, and marks them as used. Only what belongs to the
// user, in a directory that nobody else can write, is taken; its digest is compared anyway. What nobody has used for a week is removed.
const keptScript = `kept="$HOME/.cache/hark"
if [ -d "$kept" ] && [ -O "$kept" ] && [ ! -L "$kept" ]; then
  chmod 700 "$kept"
  find "$kept" -name 'agent-*' -mtime +7 -exec rm -f {} +
  for f in "$kept"/agent-*; do
    [ -f "$f" ] && [ -O "$f" ] && [ -x "$f" ] && { s=$(sha256sum "$f" 2>/dev/null) && echo "have=${s%% *} $f"; touch -c "$f"; }
  done
fi
`

// keep moves an agent that was uploaded into that cache, and gives the path where it is then: the old one if there can be none, as in a home from
// which nothing can be run.
func (p *place) keep(ctx context.Context, c *ssh.Client, t ssh.Target, b *Binary, uploaded string) string {
	script := fmt.Sprintf(`umask 077
kept="$HOME/.cache/hark"; to="$kept/agent-%s"
mkdir -p "$kept" && [ -O "$kept" ] && [ ! -L "$kept" ] && chmod 700 "$kept" && cp %[2]s "$to.$$" && chmod 700 "$to.$$" && "$to.$$" version >/dev/null 2>&1 &&
  mv -f "$to.$$" "$to" && rm -rf %[3]s && echo "$to" || { rm -f "$to.$$"; echo %[2]s; }`, b.Digest, shlex.Quote(uploaded), shlex.Quote(p.dir))
	out, err := c.Run(ctx, t, "exec /bin/sh -c "+shlex.Quote(script), nil)
	if path := strings.TrimSpace(out); err == nil && path != "" {
		return path
	}
	return uploaded
}
