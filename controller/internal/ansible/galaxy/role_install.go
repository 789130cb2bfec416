package galaxy

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// RoleOptions say how roles are installed.
type RoleOptions struct {
	Force, ForceDeps, NoDeps bool
	IgnoreErrors             bool
	// KeepHistory takes the repository's own files along.
	KeepHistory bool
	// Only, if it is not empty, are the roles of the list that are meant.
	Only  []string
	Paths []string
}

// InstallRoles puts roles, and those that they depend on, into the first of the search paths that can be written to.
func (c *Client) InstallRoles(ctx context.Context, list []*Role, o RoleOptions) error {
	o.Force = o.Force || o.ForceDeps
	for i := 0; i < len(list); i++ { // it grows by dependencies
		r := list[i]
		if len(o.Only) > 0 && !slices.Contains(o.Only, r.Name) {
			c.Screen.Verbose(3, "Skipping role "+r.Name)
			continue
		}
		c.Screen.Verbose(3, "Processing role "+r.Name+" ")
		err := r.placed()
		if err == nil && c.stays(r, o) {
			continue
		}
		done := false
		if err == nil {
			done, err = c.installRole(ctx, r, o)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.Screen.Warn(fmt.Sprintf("- %s was NOT installed successfully: %v ", r.Name, err))
			if err := unlessIgnored(o); err != nil {
				return err
			}
			continue
		}
		if done && !o.NoDeps {
			more, err := c.roleNeeds(r, list, o)
			if err != nil {
				return err
			}
			list = append(list, more...)
		}
		if !done {
			c.Screen.Warn("- " + r.Name + " was NOT installed successfully.")
			if err := unlessIgnored(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// placed refuses a role whose name leads out of the roles path: it is neither unpacked there nor is anything replaced.
func (r *Role) placed() error {
	if !filepath.IsLocal(r.Name) || filepath.Clean(r.Name) == "." {
		return failf("the role cannot be called %q: it would be unpacked outside of the roles path.", r.Name)
	}
	return nil
}

func unlessIgnored(o RoleOptions) error {
	if o.IgnoreErrors {
		return nil
	}
	return failed("- you can use --ignore-errors to skip failed roles and finish processing the list.")
}

func unspecified(version string) string {
	if version == "" {
		return "unspecified"
	}
	return version
}

// stays reports whether a role is there already and stays; one that must not stay is removed.
func (c *Client) stays(r *Role, o RoleOptions) bool {
	have, there := r.installedVersion()
	if !there {
		return false
	}
	if o.Force {
		c.Screen.Say(fmt.Sprintf("- changing role %s from %s to %s", r.Name, have, unspecified(r.Version)))
		r.remove()
		return false
	}
	if have != r.Version {
		c.Screen.Warn(fmt.Sprintf("- %s (%s) is already installed - use --force to change version to %s", r.Name, have,
			unspecified(r.Version)))
		return true
	}
	c.Screen.Say("- " + r.String() + " is already installed, skipping.")
	return true
}

// roleNeeds returns the roles that one depends on and that are not there.
func (c *Client) roleNeeds(r *Role, list []*Role, o RoleOptions) ([]*Role, error) {
	if !value.IsTrue(r.meta()) {
		c.Screen.Warn("Meta file " + r.path + " is empty. Skipping dependencies.")
		return nil, nil
	}
	deps, err := r.dependencies()
	if err != nil {
		return nil, err
	}
	var more []*Role
	for _, v := range deps {
		d, err := c.NewRole(v, o.Paths)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(d.Name, ".") && !strings.Contains(d.src, ".") && d.scm == "" {
			continue // a role of the same project, which no server has
		}
		if c.dependency(r, d, append(slices.Clone(list), more...), o) {
			more = append(more, d)
		}
	}
	return more, nil
}

// dependency reports whether a role that another needs is to be installed.
func (c *Client) dependency(r, d *Role, list []*Role, o RoleOptions) bool {
	if d.placed() != nil {
		return true // InstallRoles refuses it
	}
	have, there := d.installedVersion()
	switch {
	case !there && slices.ContainsFunc(list, func(other *Role) bool { return other.Name == d.Name }):
		c.Screen.Say("- dependency " + d.Name + " already pending installation.")
	case !there:
		c.Screen.Say("- adding dependency: " + d.String())
		return true
	case have != d.Version && o.ForceDeps:
		c.Screen.Say(fmt.Sprintf("- changing dependent role %s from %s to %s", d.Name, have, unspecified(d.Version)))
		d.remove()
		return true
	case have != d.Version:
		c.Screen.Warn(fmt.Sprintf("- dependency %s (%s) from role %s differs from already installed version (%s), skipping",
			d, d.Version, r.Name, have))
	case o.ForceDeps:
		return true
	default:
		c.Screen.Say("- dependency " + d.Name + " is already installed, skipping.")
	}
	return false
}

// chooseVersion finds the version of a role of a server, and where its archive is.
func chooseVersion(ctx context.Context, s *Server, r *Role, known value.Value) error {
	all := s.roleVersions(ctx, text(value.Under(known, "id")))
	var names []string
	for _, v := range all {
		names = append(names, text(value.Under(v, "name")))
	}
	switch {
	case r.Version == "" && len(names) > 0:
		latest, err := latestLoose(names)
		if err != nil {
			return err
		}
		r.Version = latest
	case r.Version == "":
		if r.Version = text(value.Under(known, "github_branch")); r.Version == "" {
			r.Version = "master"
		}
	case r.Version != "master" && len(names) > 0 && !slices.Contains(names, r.Version):
		list, _ := value.Repr(value.NewList(all...))
		return failf("- the specified version (%s) of %s was not found in the list of available versions (%s).", r.Version,
			r.Name, list)
	}
	for _, v := range all {
		if text(value.Under(v, "name")) != r.Version {
			continue
		}
		if source := value.Under(v, "source"); source != nil {
			r.src = text(source)
		}
		if at := value.Under(v, "download_url"); at != nil {
			r.url = text(at)
		}
	}
	return nil
}
