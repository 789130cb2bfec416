package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/galaxy"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
)

func (j *galaxyJob) rolesPathFlag(fs flags) {
	fs.List(&j.paths, "roles-path", "p", "ROLES_PATH", "directories for roles, before those of the configuration")
}

func (j *galaxyJob) rolesPaths() []string { return j.given(j.paths, j.cfg.List("DEFAULT_ROLES_PATH")) }

func newRoleInstallCommand(a *app) *cobra.Command {
	var mine *galaxyJob
	return checked(newGalaxySub(a, "install", "Fetch roles and what they need", "[role_name ...]",
		func(fs flags, j *galaxyJob) {
			mine = j
			j.installFlags(fs, j.rolesPathFlag)
			fs.Text(&j.requirements, "role-file", "r", "", "REQUIREMENTS",
				"a file with the roles to fetch; without role, its collections too")
			fs.Toggle(&j.keepHistory, "keep-scm-meta", "g", false, "take the repository's own files along")
			j.signatureFlags(fs, true, false)
			fs.own("keyring", "disable-gpg-verify", "required-valid-signature-count", "ignore-signature-status-code")
		}, func(ctx context.Context, j *galaxyJob) error { return j.installRoles(ctx) }), &mine)
}

func (j *galaxyJob) installRoles(ctx context.Context) error {
	wanted, err := j.wantedRoles()
	if err != nil {
		return err
	}
	if len(wanted.Roles) == 0 && len(wanted.Collections) == 0 {
		j.display.Print(view.NoColor, "Skipping install, no requirements found")
		return nil
	}
	if len(wanted.Roles) > 0 {
		j.display.Print(view.NoColor, "Starting galaxy role install process")
		o := galaxy.RoleOptions{Force: j.force, ForceDeps: j.forceDeps, NoDeps: j.noDeps, IgnoreErrors: j.ignoreErrors,
			KeepHistory: j.keepHistory, Paths: j.rolesPaths()}
		if j.requirements != "" {
			o.Only = j.args
		}
		if err := j.client.InstallRoles(ctx, wanted.Roles, o); err != nil {
			return err
		}
	}
	if len(wanted.Collections) == 0 {
		return nil
	}
	return j.installCollections(ctx, wanted.Collections, j.cfg.List("COLLECTIONS_PATHS")[0])
}

// wantedRoles returns the roles of the command line or of the file, whose collections count only where role was not
// said and no path was given.
func (j *galaxyJob) wantedRoles() (*galaxy.RequirementsFile, error) {
	out := &galaxy.RequirementsFile{}
	if j.requirements == "" {
		if len(j.args) == 0 {
			return nil, galaxy.OptionsError("- you must specify a user/role name or a roles file")
		}
		for _, line := range j.args {
			r, err := j.client.NewRole(value.Str(strings.TrimSpace(line)), j.rolesPaths())
			if err != nil {
				return nil, err
			}
			out.Roles = append(out.Roles, r)
		}
		return out, nil
	}
	file := j.requirementsFile()
	if !strings.HasSuffix(file, ".yaml") && !strings.HasSuffix(file, ".yml") {
		return nil, ansibleerror.Errorf("Invalid role requirements file, it must end with a .yml or .yaml extension")
	}
	both := j.implied && len(j.paths) == 0
	out, err := j.client.ReadRequirements(file, true, both, j.rolesPaths())
	if err != nil {
		return nil, err
	}
	if len(out.Collections) > 0 && !both {
		if j.implied {
			j.display.Warn(ignoredKind(file, "collection"))
		} else {
			j.display.Verbose(3, "", ignoredKind(file, "collection"))
		}
		out.Collections = nil
	}
	return out, nil
}

func newRoleRemoveCommand(a *app) *cobra.Command {
	cmd := newGalaxySub(a, "remove", "Take roles away", "role [role ...]",
		func(fs flags, j *galaxyJob) { j.rolesPathFlag(fs) },
		func(_ context.Context, j *galaxyJob) error { return j.client.RemoveRoles(j.args, j.rolesPaths()) })
	return needing(cmd, "role")
}

// needing makes a command demand an argument.
func needing(cmd *cobra.Command, name string) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := argparse.Needs(name)(cmd, args); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

func newRoleListCommand(a *app) *cobra.Command {
	return newGalaxySub(a, "list", "Show the roles that are installed", "[role]",
		func(fs flags, j *galaxyJob) { j.rolesPathFlag(fs) },
		func(_ context.Context, j *galaxyJob) error {
			if len(j.args) > 1 {
				return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(j.args[1:], " ")}
			}
			return j.client.ListRoles(j.rolesPaths(), strings.Join(j.args, ""))
		})
}

func newRoleSearchCommand(a *app) *cobra.Command {
	return newGalaxySub(a, "search", "Look for roles on the server", "[searchterm ...]", func(fs flags, j *galaxyJob) {
		fs.Text(&j.query.Platforms, "platforms", "", "", "PLATFORMS", "only roles for these systems")
		fs.Text(&j.query.Tags, "galaxy-tags", "", "", "GALAXY_TAGS", "only roles with these tags")
		fs.Text(&j.query.Author, "author", "", "", "AUTHOR", "only roles of this person")
	}, func(ctx context.Context, j *galaxyJob) error {
		j.query.Words = j.args
		text, found, err := j.client.SearchRoles(ctx, j.query)
		if err != nil {
			return err
		}
		if !found {
			j.display.Print(view.ColorError, text)
			return &quietError{exitError}
		}
		return j.term.Page(ctx, text)
	})
}

func newRoleInfoCommand(a *app) *cobra.Command {
	cmd := newGalaxySub(a, "info", "Show what is known of roles", "role_name[,version] [role_name[,version] ...]",
		func(fs flags, j *galaxyJob) {
			j.rolesPathFlag(fs)
			fs.Toggle(&j.offline, "offline", "", false, "ask no server")
		}, func(ctx context.Context, j *galaxyJob) error {
			text, err := j.client.RoleInfo(ctx, j.args, j.rolesPaths())
			if err != nil {
				return err
			}
			return j.term.Page(ctx, text)
		})
	return needing(cmd, "role_name[,version]")
}
