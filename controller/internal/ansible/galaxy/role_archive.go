package galaxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja/versions"
)

// latestLoose returns the greatest of version numbers of any form.
func latestLoose(names []string) (string, error) {
	latest := names[0]
	for _, n := range names[1:] {
		order, err := versions.Compare(versions.Loose, n, latest)
		if err != nil {
			return "", failf("Unable to compare role versions (%s) to determine the most recent version due to incompatible "+
				"version formats. "+
				"Please contact the role author to resolve versioning conflicts, or specify an explicit role version to install.",
				strings.Join(names, ", "))
		}
		if order >= 0 {
			latest = n
		}
	}
	return latest, nil
}

// installRole fetches a role and unpacks it. It returns false when the download failed, which was printed.
func (c *Client) installRole(ctx context.Context, r *Role, o RoleOptions) (bool, error) {
	archive, err := c.fetchRole(ctx, r, o)
	if archive == "" || err != nil {
		return false, err
	}
	list, err := members(archive)
	var tooLarge failed
	if errors.As(err, &tooLarge) {
		return false, err
	}
	if err != nil {
		return false, failed("the downloaded file does not appear to be a valid tar archive.")
	}
	top, meta, ok := roleTop(list)
	if !ok {
		return false, failed("this role does not appear to have a meta/main.yml file.")
	}
	data, err := smallMembers(archive, meta)
	if err != nil {
		return false, err
	}
	if r.metaData, err = parseYAML(data[meta]); err != nil {
		return false, failed("this role does not appear to have a valid meta/main.yml file.")
	}
	for i, p := range r.paths {
		r.path = p
		c.Screen.Say("- extracting " + r.Name + " to " + r.path)
		err := extractRole(r, archive, top, o)
		if errors.Is(err, syscall.EACCES) && i < len(r.paths)-1 {
			continue
		}
		var said failed
		if errors.As(err, &said) {
			return false, err
		}
		if err != nil {
			return false, failf("Could not update files in %s: %v", r.path, err)
		}
		break
	}
	c.Screen.Say("- " + r.String() + " was installed successfully")
	return true, nil
}

// fetchRole brings the role's archive here.
func (c *Client) fetchRole(ctx context.Context, r *Role, o RoleOptions) (string, error) {
	switch {
	case r.scm != "":
		return c.downloads().roleFromRepository(ctx, r, o.KeepHistory)
	case isFile(r.src):
		return r.src, nil
	case strings.Contains(r.src, "://"):
		return c.downloads().roleArchive(ctx, r.src), nil
	}
	s := c.roleServer(ctx)
	known, err := s.role(ctx, r.src, true)
	if err != nil {
		return "", err
	}
	if known == nil {
		return "", failf("- sorry, %s was not found on %s.", r.src, s.url)
	}
	if text(value.Under(known, "role_type")) == "APP" {
		c.Screen.Warn(r.Name + " is a Container App role, and should only be installed using Ansible Container")
	}
	if err := chooseVersion(ctx, s, r, known); err != nil {
		return "", err
	}
	user, repo := text(value.Under(known, "github_user")), text(value.Under(known, "github_repo"))
	switch {
	case r.url != "":
		return c.downloads().roleArchive(ctx, r.url), nil
	case user != "" && repo != "":
		at := fmt.Sprintf("https://github.com/%s/%s/archive/%s.tar.gz", user, repo, r.Version)
		return c.downloads().roleArchive(ctx, at), nil
	}
	return c.downloads().roleArchive(ctx, r.src), nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func runIn(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var words strings.Builder
	cmd.Stderr = &words
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return failf("- command %s failed in directory %s (rc=%d) - %s", strings.Join(append([]string{program}, args...),
			" "), dir, exit.ExitCode(), words.String())
	}
	if err != nil {
		return failf("when executing %s: %v", strings.Join(cmd.Args, " "), err)
	}
	return nil
}

// roleTop finds the directory of an archive that is the role: the highest one with a meta/main.yml.
func roleTop(list []member) (top, meta string, ok bool) {
	for _, m := range list {
		if !strings.Contains(m.name, "meta/main.yml") && !strings.Contains(m.name, "meta/main.yaml") {
			continue
		}
		at := path.Dir(path.Dir(m.name))
		if at == "." {
			at = ""
		}
		if !ok || len(at) < len(top) {
			top, meta, ok = at, m.name, true
		}
	}
	return top, meta, ok
}

// extractRole unpacks the files and links of an archive below top. Nothing lands outside of the role.
func extractRole(r *Role, archive, top string, o RoleOptions) error {
	if exists(r.path) {
		switch {
		case !isDir(r.path):
			return failed("the specified roles path exists and is not a directory.")
		case !o.Force:
			return failf("the specified role %s appears to already exist. Use --force to replace it.", r.Name)
		case !r.remove():
			return failf("%s doesn't appear to contain a role.\n  please remove this directory manually if you really "+
				"want to put the role here.", r.path)
		}
	}
	if err := os.MkdirAll(r.path, 0o777); err != nil {
		return err
	}
	into, err := unpackInto(r.path)
	if err != nil {
		return err
	}
	err = eachMember(archive, func(m member, content io.Reader) (bool, error) {
		if m.kind != '0' && m.kind != '2' && m.kind != 0 {
			return true, nil
		}
		name := strings.TrimPrefix(strings.TrimPrefix(m.name, top), "/")
		to, ok := join(r.path, name)
		if !ok || !insideReal(r.path, to) {
			return false, failf("Invalid name for tarfile member: path %s is not a subpath of the role %s", m.name, r.path)
		}
		if m.kind != '2' {
			return true, into.file(to, content, m.mode|0o600)
		}
		if at := filepath.Join(filepath.Dir(to), m.link); filepath.IsAbs(m.link) || !child(at, r.path) {
			return false, failf("Invalid linkname for tarfile member: path %s is not a subpath of the role %s", m.link, r.path)
		}
		return true, into.link(m.link, to)
	})
	if err := errors.Join(err, into.close()); err != nil {
		return err
	}
	return r.writeInfo(time.Now())
}
