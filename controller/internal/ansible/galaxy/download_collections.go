package galaxy

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// Download puts the archives of collections and of what they need into a directory, with a requirements file that
// installs them.
func (c *Client) Download(ctx context.Context, wanted []Requirement, dir string, noDeps, pre bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	c.Screen.Say("Process download dependency map")
	p := &picker{Client: c, pinned: pinned(wanted), noDeps: noDeps, pre: pre}
	list, err := p.resolve(ctx, wanted)
	if err != nil {
		return err
	}
	c.Screen.Say("Starting collection download process to '" + dir + "'")
	files := value.NewList()
	for _, one := range list {
		if one.virtual() {
			c.Screen.Say(one.String() + " is not downloadable")
			continue
		}
		c.Screen.Say("Downloading collection '" + one.String() + "' to '" + dir + "'")
		path, err := c.archive(ctx, p, one, dir)
		if err != nil {
			return err
		}
		c.Screen.Say("Collection '" + one.String() + "' was downloaded successfully")
		files.Items = append(files.Items, pairs("name", value.Str(filepath.Base(path)), "version", value.Str(one.version)))
	}
	words, err := pyyaml.Dump(pairs("collections", files), pyyaml.DumpOptions{})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "requirements.yml")
	c.Screen.Say("Writing requirements.yml file of downloaded collections to '" + path + "'")
	return os.WriteFile(path, []byte(words), 0o666)
}

// archive puts the archive of a candidate into a directory.
func (c *Client) archive(ctx context.Context, p *picker, one *candidate, dir string) (string, error) {
	if one.kind == Dir {
		path, err := c.downloads().path(ctx, one.Requirement)
		if err != nil {
			return "", err
		}
		return c.Build(path, dir, true)
	}
	from, err := c.downloads().path(ctx, one.Requirement)
	if !one.concrete() {
		var r *release
		if r, err = p.release(ctx, one); err == nil {
			from, err = c.downloads().archiveOf(ctx, one.String(), r)
		}
	}
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, filepath.Base(from))
	return to, copyOver(from, to)
}

func copyOver(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, f); err != nil {
		_ = out.Close() // the first error counts
		return err
	}
	return out.Close()
}
