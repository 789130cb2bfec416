package general

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type archiveArgs struct {
	Path              []string `arg:"path,required,elements=path" doc:"Files and directories to pack; * and ? are wildcards."`
	Format            string   `arg:"format,default=gz,choices=bz2|gz|tar|xz|zip" doc:"How to pack; all but zip make a tar of several files."`
	Dest              *string  `arg:"dest,type=path" doc:"The archive; by itself the name of a single file with the format added."`
	ExcludePath       []string `arg:"exclude_path,elements=path,default=" doc:"Which of the paths to leave out; wildcards as in path."`
	ExclusionPatterns []string `arg:"exclusion_patterns,elements=path" doc:"Shell patterns of names to leave out, wherever they are."`
	ForceArchive      bool     `arg:"force_archive,default=no" doc:"Make an archive of a single file too, instead of only compressing it."`
	Remove            bool     `arg:"remove,default=no" doc:"Delete what was packed."`
	fsx.FileArgs
}

// Archive is community.general.archive.
var Archive = modules.Define("community.general.archive", "Pack files and directories", runArchive,
	modules.Is(modules.ReadsInCheck),
	modules.Documented(`- community.general.archive: {path: /srv/app, dest: /var/backups/app.tgz, mode: "0600"}
- community.general.archive: {path: ["/etc/*.conf", /etc/app], exclude_path: [/etc/secret.conf], dest: /tmp/conf.zip, format: zip}
- community.general.archive: {path: /var/log/app.log, format: xz, remove: true}
`,
		modules.Return{Name: "archived", Type: "list", When: "success", Doc: "What was packed."},
		modules.Return{Name: "arcroot", Type: "str", When: "success",
			Doc: "The directory that names in the archive begin at."},
		modules.Return{Name: "dest", Type: "str", When: "success", Doc: "The archive."},
		modules.Return{Name: "dest_state", Type: "str", When: "success",
			Doc: "absent, archive, compress, or incomplete if paths were missing."},
		modules.Return{Name: "missing", Type: "list", When: "success", Doc: "Paths that are not there."},
		modules.Return{Name: "expanded_paths", Type: "list", When: "success", Doc: "The paths without wildcards."},
		modules.Return{Name: "expanded_exclude_paths", Type: "list", When: "success",
			Doc: "The paths to leave out without wildcards."},
	))

func runArchive(ctx context.Context, env *modules.Env, a archiveArgs) (modules.Result, error) {
	p, err := newPacking(ctx, env, &a)
	if err != nil {
		return modules.Result{}, err
	}
	before, err := p.contents()
	if err != nil {
		return modules.Result{}, err
	}
	state, changed := "absent", false
	switch {
	case len(p.targets) == 0:
		if fsx.Exists(p.dest) {
			state = p.stateOf()
		}
	case env.Check:
		changed = p.archives || !fsx.Exists(p.dest)
	default:
		if state, err = p.pack(); err != nil {
			return modules.Result{}, err
		}
		after, err := p.contents()
		if err != nil {
			return modules.Result{}, err
		}
		changed = !sameContents(before, after)
		if a.Remove {
			if err := p.remove(); err != nil {
				return modules.Result{}, err
			}
		}
	}
	if fsx.Exists(p.dest) {
		did, err := a.For(p.dest, false).Apply(env.Check, nil)
		if err != nil {
			return modules.Result{}, err
		}
		changed = changed || did
	}
	return modules.Result{Changed: changed, Data: value.DictOf(
		"archived", modules.List(p.packed), "dest", p.dest, "dest_state", state, "changed", modules.Here, "arcroot", p.root,
		"missing", modules.List(p.missing),
		"expanded_paths", modules.List(p.expanded), "expanded_exclude_paths", modules.List(p.excluded),
	)}, nil
}

// packing is what goes into one archive.
type packing struct {
	tool.Host
	args *archiveArgs
	dest string
	// archives reports whether the format's archive is made, and not only a compressed file.
	archives           bool
	root               string
	expanded, excluded []string
	paths              []string // expanded without excluded, sorted
	targets, missing   []string // the paths that are there, and those that are not
	packed             []string
}

func newPacking(ctx context.Context, env *modules.Env, a *archiveArgs) (*packing, error) {
	p := &packing{Host: hostOf(ctx, env), args: a, dest: modules.Text(a.Dest)}
	var wild bool
	p.expanded, wild = expand(a.Path)
	p.excluded, _ = expand(a.ExcludePath)
	for _, path := range p.expanded {
		if !slices.Contains(p.excluded, path) {
			p.paths = append(p.paths, path)
		}
	}
	slices.Sort(p.paths)
	p.paths = slices.Compact(p.paths)
	all := strings.Join(a.Path, ", ")
	if len(p.paths) == 0 {
		return nil, tool.Fail(value.DictOf(
			"path", all, "expanded_paths", strings.Join(p.expanded, ", "), "expanded_exclude_paths",
			strings.Join(p.excluded, ", "),
		), "Error, no source paths were found")
	}
	p.root = commonRoot(p.paths)
	p.archives = a.ForceArchive || wild || fsx.IsDir(p.paths[0]) || len(p.paths) > 1
	if p.dest == "" && p.archives {
		return nil, tool.Fail(value.DictOf("dest", "None", "path", all),
			`Error, must specify "dest" when archiving multiple files or trees`)
	}
	if p.dest == "" {
		p.dest = p.paths[0] + "." + a.Format
	}
	for _, path := range p.paths {
		if a.Remove && fsx.IsDir(path) && strings.HasPrefix(p.dest, strings.TrimSuffix(path, "/")+"/") {
			return nil, tool.Fail(value.DictOf("path", strings.Join(p.paths, ", ")),
				"Error, created archive can not be contained in source paths when remove=true")
		}
		if _, err := os.Lstat(path); err != nil {
			p.missing = append(p.missing, path)
		} else {
			p.targets = append(p.targets, path)
		}
	}
	return p, nil
}

// stateOf returns, by its name, the state of an archive that was there before.
func (p *packing) stateOf() string {
	name := strings.ToLower(filepath.Base(p.dest))
	for _, end := range []string{".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".zip"} {
		if strings.HasSuffix(name, end) {
			return "archive"
		}
	}
	return "compress"
}

// expand replaces wildcards by what they match, and reports whether there were any.
func expand(paths []string) (out []string, wild bool) {
	for _, path := range paths {
		if !strings.ContainsAny(path, "*?") {
			out = append(out, path)
			continue
		}
		wild = true
		// Python's glob knows no escapes, and has ! where Go has ^.
		matches, _ := filepath.Glob(strings.ReplaceAll(strings.ReplaceAll(path, `\`, `\\`), "[!", "[^"))
		for _, match := range matches {
			if !showsHidden(path, match) {
				out = append(out, match)
			}
		}
	}
	return out, wild
}

// showsHidden reports whether a wildcard stands for the dot of a hidden file, which it must not.
func showsHidden(pattern, match string) bool {
	patterns, names := strings.Split(filepath.Clean(pattern), "/"), strings.Split(match, "/")
	for i, name := range names {
		if i < len(patterns) && strings.HasPrefix(name, ".") && !strings.HasPrefix(patterns[i], ".") {
			return true
		}
	}
	return false
}

// commonRoot returns the directory that all the paths are under, with a slash at its end.
func commonRoot(paths []string) string {
	prefix := parent(paths[0])
	for _, path := range paths[1:] {
		dir := parent(path)
		n := 0
		for n < len(prefix) && n < len(dir) && prefix[n] == dir[n] {
			n++
		}
		prefix = prefix[:n]
	}
	return parent(prefix)
}

// parent returns what stands before the last part of a path, with one slash at its end.
func parent(path string) string {
	dir := path[:strings.LastIndex(path, "/")+1]
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" {
		return trimmed + "/"
	}
	return dir
}

// remove deletes what was packed, and the directories that it was in.
func (p *packing) remove() error {
	if !p.archives {
		if err := os.Remove(p.paths[0]); err != nil {
			return tool.Fail(value.DictOf("path", p.paths[0]), "Unable to remove source file: %s", oserr.Path(err, p.paths[0]))
		}
		return nil
	}
	var kept []string
	drop := func(path string) {
		var err error
		switch {
		case fsx.IsDir(path) && fsx.IsLink(path):
			err = unix.ENOTDIR
		case fsx.IsDir(path):
			err = os.RemoveAll(path)
		default:
			err = os.Remove(path)
		}
		if err != nil {
			kept = append(kept, path)
		}
	}
	for _, path := range p.packed {
		if fsx.Exists(path) {
			drop(path)
		}
	}
	for _, path := range p.paths {
		if fsx.IsDir(path) {
			drop(path)
		}
	}
	if kept != nil {
		return tool.Fail(value.DictOf("dest", p.dest, "files", modules.List(kept)), "Error deleting some source files: ")
	}
	return nil
}
