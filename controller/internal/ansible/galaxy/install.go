package galaxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// InstallOptions say how collections are installed.
type InstallOptions struct {
	Force, ForceDeps, NoDeps bool
	Upgrade, Pre             bool
	IgnoreErrors             bool
}

// Root returns the directory of a search path in which collections lie.
func Root(path string) string {
	if filepath.Base(path) == "ansible_collections" {
		return path
	}
	return filepath.Join(path, "ansible_collections")
}

// Install puts collections and what they need under a directory that Root gave.
func (c *Client) Install(ctx context.Context, wanted []Requirement, root string, o InstallOptions) error {
	if err := os.MkdirAll(root, 0o777); err != nil {
		return failf("cannot make the collections path: %v", err)
	}
	there, err := installed(c.Screen, root, false)
	if err != nil {
		return err
	}
	open, err := unsatisfied(wanted, there, o)
	if err != nil {
		return err
	}
	if !open && !o.Upgrade {
		c.Screen.Say("Nothing to do. All requested collections are already installed. If you want to reinstall them, " +
			"consider using `--force`.")
		return nil
	}
	c.Screen.Say("Process install dependency map")
	p := &picker{Client: c, pinned: pinned(wanted), noDeps: o.NoDeps, pre: o.Pre, upgrade: o.Upgrade,
		signed: !c.Signing.Off}
	for _, one := range there {
		requested := slices.ContainsFunc(wanted, func(r Requirement) bool { return r.name == one.name })
		if !o.ForceDeps && !(o.Force && requested) {
			p.installed = append(p.installed, one)
		}
	}
	list, err := p.resolve(ctx, wanted)
	if err != nil {
		return err
	}
	c.Screen.Say("Starting collection install process")
	return c.installAll(ctx, p, list, root, o)
}

// unsatisfied reports whether anything that is wanted is not there yet.
func unsatisfied(wanted []Requirement, there []*candidate, o InstallOptions) (bool, error) {
	for _, r := range wanted {
		found := false
		for _, one := range there {
			if r.name != one.name || o.Force || o.ForceDeps {
				continue
			}
			ok, err := meets(one.version, r.version)
			if err != nil {
				return false, err
			}
			found = found || ok
		}
		if !found {
			return true, nil
		}
	}
	return false, nil
}

// pinned returns the requirements that leave no choice.
func pinned(wanted []Requirement) []Requirement {
	return slices.DeleteFunc(slices.Clone(wanted), func(r Requirement) bool { return !r.concrete() && ranged(r.version) })
}

func (c *Client) installAll(ctx context.Context, p *picker, list []*candidate, root string, o InstallOptions) error {
	for _, one := range list {
		if one.virtual() {
			c.Screen.Verbose(4, "Encountered "+one.String()+", skipping.")
			continue
		}
		if one.installed {
			c.Screen.Say("'" + one.String() + "' is already installed, skipping.")
			continue
		}
		err := c.installOne(ctx, p, one, root)
		if err != nil && o.IgnoreErrors && ctx.Err() == nil {
			c.Screen.Warn(fmt.Sprintf("Failed to install collection %s but skipping due to --ignore-errors being set. Error: %v",
				one, err))
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) installOne(ctx context.Context, p *picker, one *candidate, root string) error {
	if err := one.name.checkNames("install"); err != nil { // nothing comes so far that has not been checked
		return err
	}
	dest := filepath.Join(root, one.name.namespace, one.name.name)
	var (
		path       string
		rel        *release
		err        error
		signatures = one.signed
	)
	if one.concrete() {
		path, err = c.downloads().path(ctx, one.Requirement)
	} else {
		if rel, err = p.release(ctx, one); err != nil {
			return err
		}
		signatures = append(slices.Clone(signatures), rel.signed()...)
		if !c.Signing.Off && len(signatures) > 0 && c.Signing.Keyring == "" {
			c.Screen.Warn("The GnuPG keyring used for collection signature verification was not configured but signatures " +
				"were provided by the " +
				"Galaxy server to verify authenticity. Configure a keyring for ansible-galaxy to use or disable signature " +
				"verification. " +
				"Skipping signature verification.")
		}
		path, err = c.downloads().archiveOf(ctx, one.String(), rel)
	}
	if err != nil {
		return err
	}
	c.Screen.Say("Installing '" + one.String() + "' to '" + dest + "'")
	if err := os.RemoveAll(dest); err != nil {
		return err
	}
	if one.kind == Dir {
		err = c.installDir(path, dest, one)
	} else {
		err = c.installArchive(ctx, path, dest, one, signatures)
	}
	if err == nil && rel != nil {
		err = keepSource(root, one, rel)
	}
	if err != nil {
		return err
	}
	c.Screen.Say(one.String() + " was installed successfully")
	return nil
}

// installDir copies what belongs to the collection, with a manifest as if it had been built.
func (c *Client) installDir(from, dest string, one *candidate) error {
	m, err := c.downloads().meta(context.Background(), one.Requirement)
	if err != nil {
		return err
	}
	man, err := makeManifest(c.Screen, from, m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dest, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{manifestName: man.manifest, filesName: man.files} {
		if err := os.WriteFile(filepath.Join(dest, name), data, 0o644); err != nil {
			return err
		}
	}
	slices.SortFunc(man.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range man.entries {
		if err := copyEntry(filepath.Join(from, e.name), filepath.Join(dest, e.name)); err != nil {
			return err
		}
	}
	c.Screen.Say("Created collection for " + one.String() + " at " + dest)
	return nil
}

func copyEntry(from, to string) error {
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	if st.IsDir() {
		return os.MkdirAll(to, 0o755)
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	if st.Mode()&0o100 != 0 {
		return writeFile(to, f, 0o755)
	}
	return writeFile(to, f, 0o644)
}

// installArchive unpacks what FILES.json names and holds each file against its checksum. A failure leaves nothing
// behind.
func (c *Client) installArchive(ctx context.Context, path, dest string, one *candidate,
	signatures []string) (err error) {
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dest)
			_ = os.Remove(filepath.Dir(dest)) // of the namespace, if nothing else is in it
		}
	}()
	own, err := smallMembers(path, manifestName, filesName)
	if err != nil {
		return err
	}
	if own[manifestName] == nil {
		return failf("Collection tar at '%s' does not contain the expected file '%s'.", path, manifestName)
	}
	if own[filesName] == nil {
		return failf("Collection tar at '%s' does not contain the expected file '%s'.", path, filesName)
	}
	manifestPath := filepath.Join(dest, manifestName)
	if err := writeFile(manifestPath, strings.NewReader(string(own[manifestName])), 0o644); err != nil {
		return err
	}
	if c.Signing.Keyring != "" && !c.Signing.Off {
		ok, err := c.Signing.verified(ctx, c.Screen, one.name, manifestPath, signatures)
		if err != nil {
			return err
		}
		if !ok {
			return failf("Not installing %s because GnuPG signature verification failed.", one.name)
		}
		c.Screen.Verbose(4, "GnuPG signature verification succeeded for "+one.name.String())
	}
	if err := matchesManifest(own, path); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dest, filesName), strings.NewReader(string(own[filesName])), 0o644); err != nil {
		return err
	}
	return unpack(path, dest, own[filesName])
}

// matchesManifest holds FILES.json against the manifest, so that a signature of the manifest is one of every file.
func matchesManifest(own map[string][]byte, path string) error {
	v, err := jsonOf(own[manifestName], manifestName)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(own[filesName])
	if want := text(value.Under(v, "file_manifest_file", "chksum_sha256")); want != "" &&
		want != hex.EncodeToString(sum[:]) {
		return failf("Checksum mismatch for '%s' inside collection at '%s'", filesName, path)
	}
	return nil
}

// smallMembers are files of an archive that fit into memory.
func smallMembers(path string, names ...string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := eachMember(path, func(m member, r io.Reader) (bool, error) {
		if !slices.Contains(names, m.name) || out[m.name] != nil {
			return true, nil
		}
		data, err := io.ReadAll(io.LimitReader(r, maxAnswer))
		out[m.name] = append([]byte{}, data...)
		return len(out) < len(names), err
	})
	return out, err
}

// unpack writes what the list of files names. What the archive has beside it stays in the archive.
func unpack(path, dest string, list []byte) error {
	v, err := jsonOf(list, filesName)
	if err != nil {
		return err
	}
	wanted := map[string]value.Value{}
	for _, e := range items(value.Under(v, "files")) {
		if name := text(value.Under(e, "name")); name != "." {
			wanted[name] = e
		}
	}
	into, err := unpackInto(dest)
	if err != nil {
		return err
	}
	err = eachMember(path, func(m member, r io.Reader) (bool, error) {
		e, ok := wanted[m.name]
		if !ok {
			return true, nil
		}
		delete(wanted, m.name)
		return true, unpackOne(into, path, m, r, e)
	})
	if err := errors.Join(err, into.close()); err != nil {
		return err
	}
	for name, e := range wanted {
		if text(value.Under(e, "ftype")) == "file" {
			return failf("Collection tar at '%s' does not contain the expected file '%s'.", path, name)
		}
		return failf("Unable to extract '%s' from collection", name)
	}
	return nil
}

func unpackOne(into *unpacking, path string, m member, r io.Reader, e value.Value) error {
	dest := into.dir
	to, ok := join(dest, m.name)
	if !ok || !insideReal(dest, to) {
		return failf("Cannot extract tar entry '%s' as it will be placed outside the collection directory", m.name)
	}
	if m.kind == '2' {
		at := m.link
		if !filepath.IsAbs(at) {
			at = filepath.Join(filepath.Dir(to), at)
		}
		if !child(filepath.Clean(at), dest) {
			return failf("Cannot extract symlink '%s' in collection: path points to location outside of collection '%s'", m.name,
				m.link)
		}
		return into.link(m.link, to)
	}
	if text(value.Under(e, "ftype")) != "file" {
		return into.mkdir(to)
	}
	mode := os.FileMode(0o644)
	if m.mode&0o100 != 0 {
		mode = 0o755
	}
	hash := sha256.New()
	if err := into.file(to, io.TeeReader(r, hash), mode); err != nil {
		return err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != text(value.Under(e, "chksum_sha256")) {
		return failf("Checksum mismatch for '%s' inside collection at '%s'", m.name, path)
	}
	return nil
}

// keepSource writes down where the collection came from, for later checks without the server.
func keepSource(root string, one *candidate, r *release) error {
	info := pairs("format_version", value.Str("1.0.0"), "namespace", value.Str(one.name.namespace), "name",
		value.Str(one.name.name),
		"version", value.Str(one.version), "server", value.Str(r.server.url), "version_url", value.Str(r.href),
		"download_url", value.Str(r.url), "signatures", value.NewList(r.signatures...))
	words, err := pyyaml.Dump(info, pyyaml.DumpOptions{})
	if err != nil {
		return err
	}
	dir := infoDir(root, one)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "GALAXY.yml"), []byte(words), 0o644)
}

func infoDir(root string, one *candidate) string {
	return filepath.Join(root, fmt.Sprintf("%s-%s.info", one.name, one.version))
}
