package galaxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// downloads are what was fetched for one call of the command, each source once.
type downloads struct {
	screen   Screen
	errors   io.Writer // of git
	temp     string
	insecure bool

	fetched map[string]string // source to path
	metas   map[string]*Meta  // by source
}

// meta returns what the collection behind a requirement says of itself. A repository and a namespace need the
// collections in them.
func (d *downloads) meta(ctx context.Context, r Requirement) (*Meta, error) {
	if m, ok := d.metas[r.source]; ok {
		return m, nil
	}
	path, err := d.path(ctx, r)
	if err != nil {
		return nil, err
	}
	var m *Meta
	switch r.kind {
	case URL, File:
		m, err = metaOfArchive(path)
	case Dir:
		m, err = metaOfDir(d.screen, path, false)
	case Git:
		m = &Meta{version: "*", needs: onlyKeys(path)}
	case Subdirs:
		m = &Meta{version: "*", needs: onlyKeys(collectionsUnder(r.source)...)}
	}
	if err == nil && !r.virtual() {
		err = m.name.checkNames(r.source)
	}
	if err != nil {
		return nil, err
	}
	d.metas[r.source] = m
	return m, nil
}

// path returns where the thing behind a concrete requirement lies on this machine; it is fetched at most once.
func (d *downloads) path(ctx context.Context, r Requirement) (path string, err error) {
	if path, ok := d.fetched[r.source]; ok {
		return path, nil
	}
	switch r.kind {
	case URL:
		if path, err = d.download(ctx, r.source, "", nil, d.insecure); err != nil {
			err = failf("Failed to download collection tar from '%s': %v", r.source, err)
		}
	case Git:
		path, err = d.clone(ctx, r.source, r.version)
	default:
		path = r.source
	}
	return d.remember(r.source, path, err)
}

func (d *downloads) remember(source, path string, err error) (string, error) {
	if err == nil {
		d.fetched[source] = path
	}
	return path, err
}

// archiveOf returns the archive of a release, fetched from its server and held against its checksum.
func (d *downloads) archiveOf(ctx context.Context, name string, r *release) (string, error) {
	if path, ok := d.fetched[r.url]; ok {
		return path, nil
	}
	d.screen.Verbose(4, "Fetching a collection tarball for '"+name+"' from Ansible Galaxy")
	path, err := d.download(ctx, r.url, r.sha256, r.server.o.Auth, d.insecure || r.server.o.Insecure)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", failf("Failed to download collection tar from '%s' due to the following unforeseen error: %v",
			r.server.o.Name, err)
	}
	d.screen.Verbose(3, fmt.Sprintf("Collection '%s' obtained from server %s %s", name, r.server.o.Name, r.server.url))
	return d.remember(r.url, path, nil)
}

// download puts what a URL gives into a directory of its own, and holds it against a checksum if there is one.
func (d *downloads) download(ctx context.Context, from, sum string, auth Auth, insecure bool) (string, error) {
	name := filepath.Base(pathOf(from))
	if name == "." || name == "/" {
		name = "archive.tar.gz"
	}
	dir, err := os.MkdirTemp(d.temp, strings.TrimSuffix(name, ".tar.gz")+"-")
	if err != nil {
		return "", err
	}
	d.screen.Say("Downloading " + from + " to " + dir)
	r := request{method: "GET", url: from, insecure: insecure, timeout: patience}
	if auth != nil {
		header, err := auth.Header(ctx)
		if err != nil {
			return "", err
		}
		if header != "" {
			r.header = map[string][]string{"Authorization": {header}}
		}
	}
	path := filepath.Join(dir, name)
	got, err := patiently(ctx, wait, func() (string, error) { return r.save(ctx, path) })
	if err != nil {
		return "", failed(twice(err))
	}
	if sum != "" {
		d.screen.Verbose(4, fmt.Sprintf("Validating downloaded file hash %s with expected hash %s", got, sum))
		if got != sum {
			return "", failed("Mismatch artifact hash with downloaded file")
		}
	}
	return path, nil
}

// clone checks a revision of a repository out. git may ask for passwords and show its progress.
func (d *downloads) clone(ctx context.Context, source, version string) (string, error) {
	name, url, branch, sub := scm(source, version)
	dir, err := os.MkdirTemp(d.temp, strings.ReplaceAll(name, "*", "")+"-")
	if err != nil {
		return "", err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return "", failf("Could not find git executable to extract the collection from the Git repository `%s`.", url)
	}
	args := []string{"clone"}
	if branch == "HEAD" {
		args = append(args, "--depth=1")
	}
	if err := d.git(ctx, "", git, append(args, "--", url, dir)...); err != nil {
		return "", failf("Failed to clone a Git repository from `%s`.", url)
	}
	if strings.HasPrefix(branch, "-") || d.git(ctx, dir, git, "checkout", branch) != nil {
		return "", failf("Failed to switch a cloned Git repo `%s` to the requested revision `%s`.", url, branch)
	}
	path, ok := join(dir, sub)
	if !ok {
		return "", failf("the directory %s of `%s` lies outside of it", sub, url)
	}
	return path, nil
}

// git runs it where its words go to the user, those of its progress as they come.
func (d *downloads) git(ctx context.Context, dir, git string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, git, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, &out, d.errors
	err := cmd.Run()
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if line != "" {
			d.screen.Verbose(0, line)
		}
	}
	return err
}

// roleArchive fetches an archive; a failure is printed and gives none.
func (d *downloads) roleArchive(ctx context.Context, from string) string {
	d.screen.Say("- downloading role from " + from)
	f, err := os.CreateTemp(d.temp, "role-")
	if err == nil {
		if err = f.Close(); err == nil {
			_, err = request{method: "GET", url: from, insecure: d.insecure, timeout: patience}.save(ctx, f.Name())
		}
	}
	if err != nil {
		d.screen.Error("failed to download the file: " + err.Error())
		return ""
	}
	return f.Name()
}

// roleFromRepository makes an archive of a revision.
func (d *downloads) roleFromRepository(ctx context.Context, r *Role, history bool) (string, error) {
	if r.scm != "git" && r.scm != "hg" {
		return "", failf("- scm %s is not currently supported", r.scm)
	}
	program, err := exec.LookPath(r.scm)
	if err != nil {
		return "", failf("could not find/use %s, it is required to continue with installing %s", r.scm, r.src)
	}
	temp, err := os.MkdirTemp(d.temp, "scm-")
	if err != nil {
		return "", err
	}
	name := strings.ReplaceAll(r.Name, "/", "_")
	clone := []string{"clone"}
	if d.insecure {
		clone = append(clone, map[string][]string{"git": {"-c", "http.sslVerify=false"}, "hg": {"--insecure"}}[r.scm]...)
	}
	// What a role names as its source is no option.
	if err := runIn(ctx, temp, program, append(clone, "--", r.src, name)...); err != nil {
		return "", err
	}
	if strings.HasPrefix(r.Version, "-") {
		return "", failf("%s is no version", r.Version)
	}
	tree := filepath.Join(temp, name)
	if r.scm == "git" && r.Version != "" {
		if err := runIn(ctx, tree, program, "checkout", r.Version); err != nil {
			return "", err
		}
	}
	archive := temp + ".tar"
	args := []string{"archive", "--prefix=" + name + "/", "--output=" + archive, cmpOr(r.Version, "HEAD")}
	switch {
	case history:
		return archive, runIn(ctx, temp, "tar", "-cf", archive, name)
	case r.scm == "hg":
		args = []string{"archive", "--prefix", name + "/"}
		if r.Version != "" {
			args = append(args, "-r", r.Version)
		}
		args = append(args, archive)
	}
	return archive, runIn(ctx, tree, program, args...)
}
