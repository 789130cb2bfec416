package galaxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
)

// complete fills in what a requirement of a directory, an archive or a repository can tell only once it was fetched.
func (c *Client) complete(r Requirement) (Requirement, error) {
	if r.kind == Galaxy || r.kind == Subdirs {
		return r, nil
	}
	m, err := c.meta(context.Background(), r)
	if err != nil {
		return r, err
	}
	if r.name == (fqcn{}) {
		r.name = m.name
	}
	if r.version == "*" {
		r.version = m.version
	}
	return r, nil
}

// meta returns what the collection behind a requirement says of itself. A repository and a namespace need the
// collections in them.
func (c *Client) meta(ctx context.Context, r Requirement) (*Meta, error) {
	if m, ok := c.metas[r.source]; ok {
		return m, nil
	}
	path, err := c.path(ctx, r)
	if err != nil {
		return nil, err
	}
	var m *Meta
	switch r.kind {
	case URL, File:
		m, err = metaOfArchive(path)
	case Dir:
		m, err = c.metaOfDir(path, false)
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
	if c.metas == nil {
		c.metas = map[string]*Meta{}
	}
	c.metas[r.source] = m
	return m, nil
}

func onlyKeys(keys ...string) *value.Dict {
	d := value.NewDict()
	for _, k := range keys {
		d.Set(k, value.Str("*"))
	}
	return d
}

// path returns where the thing behind a concrete requirement lies on this machine; it is fetched at most once.
func (c *Client) path(ctx context.Context, r Requirement) (path string, err error) {
	if path, ok := c.fetched[r.source]; ok {
		return path, nil
	}
	switch r.kind {
	case URL:
		if path, err = c.download(ctx, r.source, "", nil, c.Insecure); err != nil {
			err = failf("Failed to download collection tar from '%s': %v", r.source, err)
		}
	case Git:
		path, err = c.clone(ctx, r.source, r.version)
	default:
		path = r.source
	}
	return c.remember(r.source, path, err)
}

func (c *Client) remember(source, path string, err error) (string, error) {
	if err == nil {
		if c.fetched == nil {
			c.fetched = map[string]string{}
		}
		c.fetched[source] = path
	}
	return path, err
}

// archiveOf returns the archive of a release, fetched from its server and held against its checksum.
func (c *Client) archiveOf(ctx context.Context, name string, r *release) (string, error) {
	if path, ok := c.fetched[r.url]; ok {
		return path, nil
	}
	c.Screen.Verbose(4, "Fetching a collection tarball for '"+name+"' from Ansible Galaxy")
	path, err := c.download(ctx, r.url, r.sha256, r.server.o.Auth, c.Insecure || r.server.o.Insecure)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", failf("Failed to download collection tar from '%s' due to the following unforeseen error: %v",
			r.server.o.Name, err)
	}
	c.Screen.Verbose(3, fmt.Sprintf("Collection '%s' obtained from server %s %s", name, r.server.o.Name, r.server.url))
	return c.remember(r.url, path, nil)
}

// download puts what a URL gives into a directory of its own, and holds it against a checksum if there is one.
func (c *Client) download(ctx context.Context, from, sum string, auth Auth, insecure bool) (string, error) {
	name := filepath.Base(pathOf(from))
	if name == "." || name == "/" {
		name = "archive.tar.gz"
	}
	dir, err := os.MkdirTemp(c.Temp, strings.TrimSuffix(name, ".tar.gz")+"-")
	if err != nil {
		return "", err
	}
	c.Screen.Say("Downloading " + from + " to " + dir)
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
		c.Screen.Verbose(4, fmt.Sprintf("Validating downloaded file hash %s with expected hash %s", got, sum))
		if got != sum {
			return "", failed("Mismatch artifact hash with downloaded file")
		}
	}
	return path, nil
}

// save writes the answer into a file and gives its checksum.
func (r request) save(ctx context.Context, path string) (sum string, err error) {
	resp, err := r.do(ctx)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(resp.Body, maxArchive+1))
	if err == nil && n > maxArchive {
		err = fmt.Errorf("it has more than %d bytes", int64(maxArchive))
	}
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, f.Close())
}

// scm returns what a source of a repository says: git+URL#directory,version.
func scm(source, version string) (name, url, branch, dir string) {
	if before, after, ok := strings.Cut(source, ","); ok {
		source, version = before, after
	} else if version == "*" || version == "" {
		version = "HEAD"
	}
	url, dir, _ = strings.Cut(strings.TrimPrefix(source, "git+"), "#")
	dir = strings.Trim(dir, "/")
	switch {
	case strings.HasSuffix(url, "/.git"):
		name = filepath.Base(strings.TrimSuffix(url, "/.git"))
	case !strings.Contains(url, "://") && !strings.Contains(url, "@"):
		name = filepath.Base(url)
	default:
		name = strings.TrimSuffix(url[strings.LastIndex(url, "/")+1:], ".git")
	}
	return name, url, version, dir
}

// clone checks a revision of a repository out. git may ask for passwords and show its progress.
func (c *Client) clone(ctx context.Context, source, version string) (string, error) {
	name, url, branch, sub := scm(source, version)
	dir, err := os.MkdirTemp(c.Temp, strings.ReplaceAll(name, "*", "")+"-")
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
	if err := c.git(ctx, "", git, append(args, "--", url, dir)...); err != nil {
		return "", failf("Failed to clone a Git repository from `%s`.", url)
	}
	if strings.HasPrefix(branch, "-") || c.git(ctx, dir, git, "checkout", branch) != nil {
		return "", failf("Failed to switch a cloned Git repo `%s` to the requested revision `%s`.", url, branch)
	}
	path, ok := join(dir, sub)
	if !ok {
		return "", failf("the directory %s of `%s` lies outside of it", sub, url)
	}
	return path, nil
}

// git runs it where its words go to the user, those of its progress as they come.
func (c *Client) git(ctx context.Context, dir, git string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, git, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, &out, c.Errors
	err := cmd.Run()
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if line != "" {
			c.Screen.Verbose(0, line)
		}
	}
	return err
}
