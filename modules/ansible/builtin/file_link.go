package builtin

import (
	"fmt"
	"path/filepath"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// ensureLink makes the path a symbolic link to src; without src it only sets attributes.
func (w *fileWork) ensureLink(env *modules.Env) (modules.Result, error) {
	before := fsx.State(w.Path)
	src := w.Src
	if src == nil && w.Follow && fsx.Exists(w.Path) {
		target, err := hostfs.Readlink(w.Path)
		if err != nil {
			return modules.Result{}, fsx.Failed(oserr.Bytes(err, w.Path))
		}
		src = &target
	}
	if err := w.mayLink(before, src); err != nil {
		return modules.Result{}, err
	}
	d := newDelta(w.Path, "link", before)
	changed := before != "link"
	if changed && src == nil {
		return modules.Result{}, fsx.Failed("src is required for creating new symlinks")
	}
	if before == "link" && src != nil {
		if old, err := hostfs.Readlink(w.Path); err == nil && old != *src {
			d.Note("src", old, *src)
			changed = true
		}
	}
	if changed && !w.check {
		if err := w.putLink(before, func(at string) error { return hostfs.Symlink(*src, at) }); err != nil {
			return modules.Result{}, err
		}
	}
	res := outcome("dest", w.Path, changed, d)
	res.Data = value.DictOf("dest", w.Path, "src", modules.TextOrNil(src), "changed", modules.Here, "diff", modules.Here)
	if w.check && !fsx.Exists(w.Path) {
		return res, nil
	}
	attrs := w.For(w.Path, w.Follow)
	if w.Follow && fsx.IsLink(w.Path) && !fsx.Exists(attrs.Path) {
		env.Warn("Cannot set fs attributes on a non-existent symlink target. follow should be set to False to avoid this.")
		return res, nil
	}
	did, err := w.dress(attrs, d)
	res.Changed = res.Changed || did
	return res, err
}

// mayLink returns what forbids a link in place of what is there.
func (w *fileWork) mayLink(before string, src *string) error {
	if src != nil && !w.Force {
		dir := w.Path
		if fsx.IsLink(w.Path) || !fsx.IsDir(w.Path) {
			dir = fsx.DirName(w.Path)
		}
		target := fsx.JoinPath(dir, *src)
		if !fsx.Exists(target) {
			force := `"force=yes"`
			if w.tagged {
				force = "'force=yes'"
			}
			return fsx.Failed("src file does not exist, use "+force+" if you really want to create the link: "+target, "path",
				w.Path, "src", *src)
		}
	}
	switch {
	case before == "directory" && !w.Force, (before == "file" || before == "hard") && !w.Force:
		return fsx.Failed(fmt.Sprintf("refusing to convert from %s to symlink for %s", before, w.Path), "path", w.Path)
	case before == "directory":
		if entries, err := hostfs.ReadDir(w.Path); err != nil || len(entries) > 0 {
			return fsx.Failed(fmt.Sprintf("the directory %s is not empty, refusing to convert it", w.Path), "path", w.Path)
		}
	}
	return nil
}

// putLink makes a link, in place of what is there by renaming.
func (w *fileWork) putLink(before string, link func(at string) error) error {
	if before == "absent" {
		if err := link(w.Path); err != nil {
			return fsx.Failed("Error while linking: "+linkText(err, modules.Text(w.Src), w.Path), "path", w.Path)
		}
		return nil
	}
	if before == "directory" {
		if err := hostfs.Remove(w.Path); err != nil {
			return fsx.Failed("Error while replacing: "+oserr.Bytes(err, w.Path), "path", w.Path)
		}
	}
	temp := filepath.Join(filepath.Dir(w.Path), ".hark-"+randomWord())
	err := link(temp)
	if err == nil {
		err = hostfs.Rename(temp, w.Path)
	}
	if err != nil {
		_ = hostfs.Remove(temp)
		return fsx.Failed("Error while replacing: "+linkText(err, temp, w.Path), "path", w.Path)
	}
	return nil
}

func linkText(err error, from, to string) string {
	return oserr.Bytes(err, from) + " -> " + value.ReprBytes(to)
}

// ensureHard makes the path a hard link of src.
func (w *fileWork) ensureHard() (modules.Result, error) {
	before := fsx.State(w.Path)
	attrs := w.For(w.Path, w.Follow)
	if before != "hard" && w.Src == nil {
		return modules.Result{}, fsx.Failed("src is required for creating new hardlinks")
	}
	if w.Src != nil && !fsx.Exists(*w.Src) {
		return modules.Result{}, fsx.Failed("src does not exist", "dest", w.Path, "src", *w.Src)
	}
	d := newDelta(w.Path, "hard", before)
	changed, err := w.needsHard(before, d)
	if err != nil {
		return modules.Result{}, err
	}
	if before == "directory" && !changed {
		return modules.Result{Data: value.DictOf("path", w.Path)}, nil
	}
	if changed && !w.check {
		if err := w.putLink(before, func(at string) error { return hostfs.Link(*w.Src, at) }); err != nil {
			return modules.Result{}, err
		}
	}
	res := outcome("dest", w.Path, changed, d)
	res.Data = value.DictOf("dest", w.Path, "src", modules.TextOrNil(w.Src), "changed", modules.Here, "diff", modules.Here)
	if w.check && !fsx.Exists(w.Path) {
		return res, nil
	}
	did, err := w.dress(attrs, d)
	res.Changed = res.Changed || did
	return res, err
}

// needsHard reports whether a new link must be made, or what forbids it.
func (w *fileWork) needsHard(before string, d *fsx.Delta) (bool, error) {
	refuse := func(msg string) error { return fsx.Failed(msg, "dest", w.Path, "src", modules.TextOrNil(w.Src)) }
	switch before {
	case "link":
		old, err := hostfs.Readlink(w.Path)
		if err != nil {
			return false, fsx.Failed(oserr.Bytes(err, w.Path))
		}
		if old == *w.Src {
			return false, nil
		}
		d.Note("src", old, *w.Src)
	case "hard":
		if w.Src == nil || sameFile(w.Path, *w.Src) {
			return false, nil
		}
		if !w.Force {
			return false, refuse("Cannot link, different hard link exists at destination")
		}
	case "file":
		if !w.Force {
			return false, refuse("Cannot link, file exists at destination")
		}
	case "directory":
		if sameFile(w.Path, *w.Src) {
			return false, nil
		}
		if !w.Force {
			return false, refuse("Cannot link: different hard link exists at destination")
		}
	}
	return true, nil
}
