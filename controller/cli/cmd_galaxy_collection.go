package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/galaxy"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/foreign"
)

func (j *galaxyJob) cacheFlags(fs flags) {
	fs.Toggle(&j.clear, "clear-response-cache", "", false, "forget the answers of servers that are kept")
	fs.Toggle(&j.noCache, "no-cache", "", false, "use no answers that are kept")
}

// installFlags are those of the installation of roles and of collections; second are the ones that follow the first
// of them in Ansible's help.
func (j *galaxyJob) installFlags(fs flags, second func(flags)) {
	fs.Toggle(&j.force, "force", "f", false, "put them in place of those that are there")
	second(fs)
	fs.Toggle(&j.ignoreErrors, "ignore-errors", "i", false, "go on with the others when one fails")
	fs.Toggle(&j.noDeps, "no-deps", "n", false, "fetch nothing that they need")
	fs.Toggle(&j.forceDeps, "force-with-deps", "", false, "put them, and what they need, in place of those that are there")
	fs.Exclusive("no-deps", "force-with-deps")
}

func (j *galaxyJob) signatureFlags(fs flags, install, single bool) {
	fs.Text(&j.keyring, "keyring", "", j.cfg.Text("GALAXY_GPG_KEYRING"), "KEYRING",
		"the keyring that signatures are checked with")
	if install {
		fs.Toggle(&j.noVerify, "disable-gpg-verify", "", j.cfg.Bool("GALAXY_DISABLE_GPG_VERIFY"),
			"check no signatures of collections")
	}
	if single {
		fs.List(&j.signatures, "signature", "", "SIGNATURES", "where another signature of the collection is: a URL")
	}
	fs.Text(&j.count, "required-valid-signature-count", "", j.cfg.Text("GALAXY_REQUIRED_VALID_SIGNATURE_COUNT"),
		"REQUIRED_VALID_SIGNATURE_COUNT",
		"how many signatures must be good: a number or all, +1 if there must be one")
	fs.List(&j.ignoreStatus, "ignore-signature-status-code", "", "{"+strings.Join(galaxy.StatusNames(), ",")+"}",
		"a code of GnuPG that makes no signature bad")
}

func (j *galaxyJob) checkSignatureFlags(cmd *cobra.Command) error {
	if j.count != "" && !galaxy.ValidCount(j.count) {
		return &argparse.UsageError{Text: fmt.Sprintf(
			"argument --required-valid-signature-count: invalid validate_signature_count value: '%s'", j.count)}
	}
	for _, code := range j.ignoreStatus {
		if !slices.Contains(galaxy.StatusNames(), code) {
			return argparse.BadChoice(cmd, "ignore-signature-status-code", code, galaxy.StatusNames())
		}
	}
	if j.ignoreStatus == nil {
		j.ignoreStatus = j.cfg.List("GALAXY_IGNORE_INVALID_SIGNATURE_STATUS_CODES")
	}
	return nil
}

// checked puts the check of the flags for signatures before a command.
func checked(cmd *cobra.Command, j **galaxyJob) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := (*j).checkSignatureFlags(cmd); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

func newCollectionInstallCommand(a *app) *cobra.Command {
	var mine *galaxyJob
	return checked(newGalaxySub(a, "install", "Fetch collections and what they need", "[collection_name ...]",
		func(fs flags, j *galaxyJob) {
			mine = j
			j.installFlags(fs, j.cacheFlags)
			fs.Text(&j.path, "collections-path", "p", a.cfg.List("COLLECTIONS_PATHS")[0], "COLLECTIONS_PATH",
				"where to put them")
			fs.Text(&j.requirements, "requirements-file", "r", "", "REQUIREMENTS", "a file with the collections to fetch")
			fs.Toggle(&j.pre, "pre", "", false, "take pre-releases too")
			fs.Toggle(&j.upgrade, "upgrade", "U", false, "fetch newer versions of what is there")
			j.signatureFlags(fs, true, true)
			fs.Toggle(&j.offline, "offline", "", false, "ask no server")
		}, func(ctx context.Context, j *galaxyJob) error {
			file := j.requirementsFile()
			wanted, err := j.client.Wanted(j.args, file, j.signatures)
			if err != nil {
				return err
			}
			if len(wanted.Roles) > 0 {
				j.display.Verbose(3, "", ignoredKind(file, "role"))
			}
			if len(wanted.Collections) == 0 {
				j.display.Print(view.NoColor, "Skipping install, no requirements found")
				return nil
			}
			return j.installCollections(ctx, wanted.Collections, j.resolve(j.path))
		}), &mine)
}

func (j *galaxyJob) requirementsFile() string {
	if j.requirements == "" {
		return ""
	}
	return j.resolve(j.requirements)
}

func ignoredKind(file, kind string) string {
	return fmt.Sprintf(
		"The requirements file '%[1]s' contains %[2]ss which will be ignored. To install these %[2]ss run 'ansible-galaxy "+
			"%[2]s install -r' "+
			"or to install both at the same time run 'ansible-galaxy install -r' without a custom install path.", file, kind)
}

func (j *galaxyJob) installCollections(ctx context.Context, list []galaxy.Requirement, path string) error {
	j.display.Print(view.NoColor, "Starting galaxy collection install process")
	configured := j.cfg.List("COLLECTIONS_PATHS")
	if !slices.ContainsFunc(configured, func(p string) bool { return strings.HasPrefix(p, path) }) {
		j.display.Warn(fmt.Sprintf(
			"The specified collections path '%s' is not part of the configured Ansible collections paths '%s'. The installed "+
				"collection will not be picked up in an Ansible run, unless within a playbook-adjacent collections directory.",
			path,
			strings.Join(configured, ":")))
	}
	return j.client.Install(ctx, list, galaxy.Root(path), galaxy.InstallOptions{Force: j.force, ForceDeps: j.forceDeps,
		NoDeps:  j.noDeps,
		Upgrade: j.upgrade, Pre: j.pre, IgnoreErrors: j.ignoreErrors})
}

func newCollectionDownloadCommand(a *app) *cobra.Command {
	return newGalaxySub(a, "download", "Fetch collections as archives, to install them elsewhere", "[collection ...]",
		func(fs flags, j *galaxyJob) {
			j.cacheFlags(fs)
			fs.Toggle(&j.noDeps, "no-deps", "n", false, "fetch nothing that they need")
			fs.Text(&j.path, "download-path", "p", "./collections", "DOWNLOAD_PATH", "where to put them")
			fs.Text(&j.requirements, "requirements-file", "r", "", "REQUIREMENTS", "a file with the collections to fetch")
			fs.Toggle(&j.pre, "pre", "", false, "take pre-releases too")
		}, func(ctx context.Context, j *galaxyJob) error {
			wanted, err := j.client.Wanted(j.args, j.requirementsFile(), nil)
			if err != nil {
				return err
			}
			return j.client.Download(ctx, wanted.Collections, j.resolve(j.path), j.noDeps, j.pre)
		})
}

func newCollectionBuildCommand(a *app) *cobra.Command {
	return newGalaxySub(a, "build", "Make the archive of a collection", "[collection ...]", func(fs flags, j *galaxyJob) {
		fs.Toggle(&j.force, "force", "f", false, "put it in place of the archive that is there")
		fs.Text(&j.output, "output-path", "", "./", "OUTPUT_PATH", "where to put it")
	}, func(_ context.Context, j *galaxyJob) error {
		output := j.resolve(j.output)
		if err := galaxy.Output(output); err != nil {
			return err
		}
		if len(j.args) == 0 {
			j.args = []string{"."}
		}
		for _, dir := range j.args {
			if _, err := j.client.Build(j.resolve(dir), output, j.force); err != nil {
				return err
			}
		}
		return nil
	})
}

func newCollectionListCommand(a *app) *cobra.Command {
	formats := []string{"human", "yaml", "json"}
	var mine *galaxyJob
	cmd := newGalaxySub(a, "list", "Show the collections that are installed", "[collection]",
		func(fs flags, j *galaxyJob) {
			mine = j
			fs.List(&j.paths, "collections-path", "p", "COLLECTIONS_PATH",
				"directories to look into before those of the configuration")
			fs.Text(&j.format, "format", "", "human", "{"+strings.Join(formats, ",")+"}", "how to print")
		}, func(_ context.Context, j *galaxyJob) error { return j.listCollections() })
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(formats, mine.format) {
			return argparse.BadChoice(cmd, "format", mine.format, formats)
		}
		if len(args) > 1 {
			return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(args[1:], " ")}
		}
		return run(cmd, args)
	}
	return cmd
}

// collectionPaths returns those of the configuration, and Python's, where packages bring collections.
func (j *galaxyJob) collectionPaths() []string {
	paths := slices.Clone(j.cfg.List("COLLECTIONS_PATHS"))
	environ := func(name string) string { v, _ := j.cfg.Getenv(name); return v }
	for _, home := range foreign.PythonDirs(environ, environ("HOME")) {
		if !slices.Contains(paths, home) && project.Exists(filepath.Join(home, "ansible_collections")) {
			paths = append(paths, home)
		}
	}
	return paths
}

func (j *galaxyJob) listCollections() error {
	quiet := j.collectionPaths()
	name := ""
	if len(j.args) > 0 {
		name = j.args[0]
	}
	places, err := j.client.List(j.given(j.paths, quiet), name, quiet)
	if err != nil {
		return err
	}
	all := value.NewDict()
	for _, p := range places {
		found := value.NewDict()
		for _, c := range p.Collections {
			version := value.NewDict()
			version.Set("version", value.Str(c.Version))
			found.Set(c.Name, version)
		}
		all.Set(p.Root, found)
		if j.format == "human" {
			j.display.Print(view.NoColor, p.Table())
		}
	}
	switch j.format {
	case "json":
		j.display.Print(view.NoColor, value.JSONText(all, value.JSONOptions{ASCII: true}))
	case "yaml":
		text, err := yamlText(all)
		if err != nil {
			return err
		}
		j.display.Print(view.NoColor, text)
	}
	return nil
}

func newCollectionVerifyCommand(a *app) *cobra.Command {
	var mine *galaxyJob
	return checked(newGalaxySub(a, "verify", "Check that collections are as they were published",
		"[collection_name ...]", func(fs flags, j *galaxyJob) {
			mine = j
			fs.List(&j.paths, "collections-path", "p", "COLLECTIONS_PATH",
				"directories to look into before those of the configuration")
			fs.Toggle(&j.ignoreErrors, "ignore-errors", "i", false, "go on with the others when one fails")
			fs.Toggle(&j.offline, "offline", "", false, "ask no server: hold what is here against its own manifest")
			fs.Text(&j.requirements, "requirements-file", "r", "", "REQUIREMENTS", "a file with the collections to check")
			j.signatureFlags(fs, false, true)
		}, func(ctx context.Context, j *galaxyJob) error {
			wanted, err := j.client.Wanted(j.args, j.requirementsFile(), j.signatures)
			if err != nil {
				return err
			}
			same, err := j.client.Verify(ctx, wanted.Collections, j.given(j.paths, j.collectionPaths()), j.ignoreErrors)
			if err == nil && !same {
				err = &quietError{exitError}
			}
			return err
		}), &mine)
}

// newGalaxyInitCommand makes the tree of a role or a collection.
func newGalaxyInitCommand(a *app, collection bool) *cobra.Command {
	kind, setting := "role", "GALAXY_ROLE_SKELETON"
	if collection {
		kind, setting = "collection", "GALAXY_COLLECTION_SKELETON"
	}
	cmd := newGalaxySub(a, "init", "Make the tree of a new "+kind, kind+"_name", func(fs flags, j *galaxyJob) {
		fs.Toggle(&j.force, "force", "f", false, "empty the directory if it is there")
		if !collection {
			fs.Toggle(&j.offline, "offline", "", false, "ask no server")
		}
		fs.Text(&j.path, "init-path", "", "./", "INIT_PATH", "where to put it")
		fs.Text(&j.skeleton, kind+"-skeleton", "", a.cfg.Text(setting), strings.ToUpper(kind)+"_SKELETON", "a tree to copy")
		if !collection {
			fs.Text(&j.roleType, "type", "", "default", "ROLE_TYPE", "the type of role that templates of the tree are told")
		}
	}, func(ctx context.Context, j *galaxyJob) error {
		s := galaxy.Skeleton{Parent: j.path, Name: j.args[0], Collection: collection, Own: j.skeleton, Force: j.force,
			Ignore: j.cfg.List(setting + "_IGNORE"), RoleType: j.roleType, AnsibleVersion: levelOf(j.app).CoreVersion()[:4]}
		if s.Own != "" {
			s.Own = j.resolve(s.Own)
		}
		return j.client.Init(ctx, s)
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return &argparse.UsageError{Text: "the following arguments are required: " + kind + "_name"}
		case len(args) > 1:
			return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(args[1:], " ")}
		case collection:
			if err := galaxy.CheckName(args[0]); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
	return cmd
}
