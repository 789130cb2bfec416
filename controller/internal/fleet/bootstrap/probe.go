package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/agent/tempdir"
	"hark/controller/internal/fleet/ssh"
	"hark/modules/py/shlex"
)

// probeScript finds out what a host is, and the name of a directory, not there yet, from which programs can be run.
// It leaves nothing.
func probeScript() string {
	return lookScript + `echo "uid=$(id -u)"
` + dirScript() + `rm -rf "$d"
`
}

// lookScript finds out what a host is.
const lookScript = `umask 077
set -- $(uname -sm)
echo "os=$1"
echo "arch=$2"
for f in gzip zstd; do command -v $f >/dev/null 2>&1 && echo "unpacks=$f"; done
for f in /usr/bin/hark-agent /usr/local/bin/hark-agent; do
  [ -x "$f" ] && { s=$(sha256sum "$f" 2>/dev/null) && echo "have=${s%% *} $f"; }
done
`

// programRoom is how many bytes a host needs to have free for the program, more than it is large.
const programRoom = 32 << 20

// dirScript makes a directory, d, from which programs can be run.
func dirScript() string {
	return tempdir.Shell(programRoom) + `echo "dir=$d"
`
}

// place is what a probe found.
type place struct {
	os, arch, uid, dir string
	format             format            // the best that the host unpacks
	kept               bool              // the agent of an earlier run is there, and is run
	have               map[string]string // installed binaries by digest
}

func probe(ctx context.Context, c *ssh.Client, t ssh.Target) (*place, error) {
	out, err := c.Reach(ctx, t, "exec /bin/sh", probeScript())
	if err != nil {
		return nil, err
	}
	p := newPlace()
	for line := range strings.Lines(out) {
		p.note(line)
	}
	if p.os == "" || p.arch == "" || p.dir == "" {
		return nil, fmt.Errorf("the host's shell gave no sense: %.200q", out)
	}
	return p, nil
}

func newPlace() *place { return &place{have: map[string]string{}} }

// note takes a line of a probe. What is none, as a greeting, says nothing.
func (p *place) note(line string) {
	key, v, _ := strings.Cut(strings.TrimSpace(line), "=")
	switch key {
	case "os":
		p.os = strings.ToLower(v)
	case "arch":
		p.arch = goArch(v)
	case "uid":
		p.uid = v
	case "dir":
		p.dir = v
	case "unpacks":
		p.format = max(p.format, format(slices.Index(formats[:], v)))
	case "have":
		digest, path, _ := strings.Cut(v, " ")
		p.have[digest] = path
	case "kept":
		p.kept = true
	}
}

// goArch returns what Go calls a machine.
func goArch(machine string) string {
	for _, arch := range architectures() {
		if slices.Contains(machines(arch), machine) {
			return arch
		}
	}
	return machine
}

// architectures returns those that agents are built for, as Go calls them.
func architectures() []string { return []string{"amd64", "arm64", "arm", "386"} }

// machines returns what uname calls what Go calls so.
func machines(arch string) []string {
	switch arch {
	case "amd64":
		return []string{"x86_64", "amd64"}
	case "arm64":
		return []string{"aarch64", "arm64"}
	case "arm":
		return []string{"armv7l", "armv8l"}
	}
	return []string{"i686", "i586", "i386"}
}

// upload brings the agent's binary to the host, and gives its path there.
func (p *place) upload(ctx context.Context, c *ssh.Client, t ssh.Target, b *Binary) (string, error) {
	path := p.dir + "/hark-agent"
	body, err := b.body(p.format)
	if err != nil {
		return "", err
	}
	command := formats[p.format]
	if p.format != plain {
		command += " -dc"
	}
	// A controller that is killed in the middle leaves nothing either.
	script := fmt.Sprintf(`umask 077; mkdir %[1]s || exit 1; %[2]s >%[3]s && [ "$(wc -c <%[3]s)" -eq %[4]d ] && chmod `+
		`700 %[3]s || { rm -rf %[1]s; exit 1; }`,
		shlex.Quote(p.dir), command, shlex.Quote(path), len(b.Text))
	if _, err = c.Run(ctx, t, "exec /bin/sh -c "+shlex.Quote(script), bytes.NewReader(body)); err != nil {
		return "", fmt.Errorf("cannot upload the agent: %w", err)
	}
	return path, nil
}

// remove removes the directory.
func (p *place) remove(ctx context.Context, c *ssh.Client, t ssh.Target) error {
	_, err := c.Run(ctx, t, "rm -rf "+shlex.Quote(p.dir), nil)
	return err
}

func unreachable(err error) bool {
	var e *ssh.Error
	return errors.As(err, &e) && e.Unreachable
}
