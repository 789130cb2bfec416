package builtin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// archiveFormats are git's, by the end of the file's name.
func archiveFormats() map[string]string {
	return map[string]string{".zip": "zip", ".gz": "tar.gz", ".tar": "tar", ".tgz": "tgz"}
}

// archive packs the version into the file that was asked for, unless that holds the same already.
func (g *checkout) archive() error {
	path := modules.Text(g.args.Archive)
	if path == "" {
		return nil
	}
	if g.Env.Check {
		g.res.Changed = true
		return nil
	}
	format := archiveFormats()[filepath.Ext(path)]
	if format == "" {
		return tool.Fail(value.DictOf(
			"details", "Please specify archive as filename with extension. File extension can be one of ['tar', 'tar.gz', "+
				"'zip', 'tgz']",
		), "Unable to get file extension from archive file name : %s", path)
	}
	if !fsx.Exists(path) {
		g.res.Changed = true
		return g.pack(path, format)
	}
	dir, err := os.MkdirTemp("", "hark-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := strings.ReplaceAll(g.repo[strings.LastIndexByte(g.repo, '/')+1:], ".git", "")
	fresh := filepath.Join(dir, name+"."+format)
	if err := g.pack(fresh, format); err != nil {
		return err
	}
	content, err := os.ReadFile(fresh)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, content) {
		g.res.Changed = false
		return nil
	}
	if err := fsx.WriteFile(path, content, false); err != nil {
		return tool.Fail(value.DictOf("details", "Error occurred while moving : "+err.Error()), "Failed to move %s to %s",
			fresh, path)
	}
	g.res.Changed = true
	return nil
}

func (g *checkout) pack(path, format string) error {
	argv := []string{"archive", "--format", format, "--output", path}
	if g.args.ArchivePrefix != nil {
		argv = append(argv, "--prefix", *g.args.ArchivePrefix)
	}
	out, err := g.Run(g.dest, append(argv, g.args.Version)...)
	if err == nil && out.Rc != 0 {
		return tool.Fail(value.DictOf(
			"details", "Git archive command failed to create archive "+path+" using "+g.dest+" directory.Error: "+out.Stderr,
		), "Failed to perform archive operation")
	}
	return err
}
