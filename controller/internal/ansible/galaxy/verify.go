package galaxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hark/modules/py/value"
	"hark/modules/treesync"
)

// Verify holds installed collections against what their servers have, or with Client.Offline against their own
// manifests. It says no if one differs.
func (c *Client) Verify(ctx context.Context, wanted []Requirement, paths []string, ignoreErrors bool) (bool, error) {
	p := &picker{Client: c}
	good := true
	for _, r := range wanted {
		same, err := c.verifyOne(ctx, p, r, paths)
		switch {
		case err != nil && ignoreErrors && ctx.Err() == nil:
			c.Screen.Warn(fmt.Sprintf("Failed to verify collection '%s' but skipping due to --ignore-errors being set. "+
				"Error: %v", r, err))
		case err != nil:
			return false, err
		}
		good = good && (same || err != nil)
	}
	return good, nil
}

func (c *Client) verifyOne(ctx context.Context, p *picker, r Requirement, paths []string) (bool, error) {
	if r.concrete() {
		return false, failf("'%s' type is not supported. The format namespace.name is expected.", r.kind)
	}
	local, err := locate(c.Screen, r, paths)
	if err != nil {
		return false, err
	}
	var own []string
	for _, source := range r.signatures {
		text, err := readSignature(ctx, c.Screen, source)
		if err != nil {
			return false, err
		}
		own = append(own, text)
	}
	check := &comparison{Client: c, local: local}
	if c.Offline {
		check.signatures = append(keptSignatures(local), own...)
		return check.run(ctx, "")
	}
	remote := &candidate{Requirement: Requirement{name: r.name, version: r.version, kind: Galaxy, server: r.server}}
	if r.version == "*" {
		remote.version = local.version
	}
	rel, err := p.release(ctx, remote)
	if err != nil {
		return false, err
	}
	check.signatures = append(rel.signed(), own...)
	if check.remote = remote; c.Signing.Keyring != "" && len(check.signatures) > 0 {
		return check.run(ctx, "") // the signatures vouch for the manifest
	}
	check.fetch = func() (string, error) { return c.downloads().archiveOf(ctx, remote.String(), rel) }
	return check.run(ctx, "remote")
}

// locate returns the collection as it is installed.
func locate(screen Screen, r Requirement, paths []string) (*candidate, error) {
	err := failf("Collection %s is not installed in any of the collection paths.", r.name)
	for _, path := range paths {
		dir := filepath.Join(Root(path), r.name.namespace, r.name.name)
		if !isDir(dir) {
			continue
		}
		if installedDir(dir) {
			return installedAt(screen, dir, false)
		}
		err = failf("Collection %s does not have a MANIFEST.json. A MANIFEST.json is expected if the collection has been "+
			"built "+
			"and installed via ansible-galaxy", r.name)
	}
	return nil, err
}

// keptSignatures returns those that were written down when the collection was installed.
func keptSignatures(one *candidate) []string {
	v, err := readYAML(filepath.Join(infoDir(filepath.Dir(filepath.Dir(one.source)), one), "GALAXY.yml"))
	if err != nil {
		return nil
	}
	r := release{signatures: items(value.Under(v, "signatures"))}
	return r.signed()
}

// comparison is of an installed collection with its manifest.
type comparison struct {
	*Client
	local      *candidate
	remote     *candidate // nil: what is here is only held against itself
	signatures []string
	fetch      func() (string, error)

	changed []change
}

type change struct{ name, expected, found string }

func (k *comparison) run(ctx context.Context, source string) (bool, error) {
	dir := k.local.source
	k.Screen.Say("Verifying '" + k.local.String() + "'.")
	k.Screen.Say("Installed collection found at '" + dir + "'")
	if k.remote != nil && k.local.version != k.remote.version {
		k.Screen.Say(fmt.Sprintf("%s has the version '%s' but is being compared to '%s'", k.local.name, k.local.version,
			k.remote.version))
		return false, nil
	}
	if k.Signing.Keyring == "" && len(k.signatures) > 0 {
		k.Screen.Warn("The GnuPG keyring used for collection signature verification was not configured but signatures " +
			"were provided by the " +
			"Galaxy server. Configure a keyring for ansible-galaxy to verify the origin of the collection. Skipping " +
			"signature verification.")
	} else if k.Signing.Keyring != "" {
		ok, err := k.Signing.verified(ctx, k.Screen, k.local.name, filepath.Join(dir, manifestName), k.signatures)
		if !ok || err != nil {
			return false, err
		}
		k.Screen.Verbose(4, "GnuPG signature verification succeeded, verifying contents of "+k.local.String())
	}
	read := func(name string) ([]byte, error) { return readIn(dir, name) }
	if source == "remote" {
		path, err := k.fetch()
		if err != nil {
			return false, err
		}
		k.Screen.Verbose(3, "Remote collection cached as '"+path+"'")
		read = func(name string) ([]byte, error) {
			found, err := smallMembers(path, name)
			if err == nil && found[name] == nil {
				err = failf("Collection tar at '%s' does not contain the expected file '%s'.", path, name)
			}
			return found[name], err
		}
	}
	if err := k.compare(read, dir, source == "remote"); err != nil {
		return false, err
	}
	return k.tell(), nil
}

func readIn(dir, name string) ([]byte, error) {
	path, ok := join(dir, name)
	if !ok {
		return nil, failf("%s lies outside of the collection", name)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failf("The collection %s path '%s' does not exist.", name, path)
	}
	return data, nil
}

// compare walks the manifest, the list of files and the directory.
func (k *comparison) compare(read func(string) ([]byte, error), dir string, remote bool) error {
	data, err := read(manifestName)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if remote {
		k.file(dir, manifestName, hash)
	}
	k.Screen.Say("MANIFEST.json hash: " + hash)
	v, err := jsonOf(data, manifestName)
	if err != nil {
		return err
	}
	listName := text(value.Under(v, "file_manifest_file", "name"))
	k.file(dir, listName, text(value.Under(v, "file_manifest_file", "chksum_sha256")))
	if data, err = read(listName); err != nil {
		return err
	}
	if v, err = jsonOf(data, listName); err != nil {
		return err
	}
	files, dirs := map[string]bool{manifestName: true, filesName: true}, map[string]bool{".": true}
	for _, e := range items(value.Under(v, "files")) {
		switch name := text(value.Under(e, "name")); text(value.Under(e, "ftype")) {
		case "file":
			files[name] = true
			k.file(dir, name, text(value.Under(e, "chksum_sha256")))
		case "dir":
			dirs[name] = true
		}
	}
	return k.strangers(dir, files, dirs)
}

// file holds one against its checksum.
func (k *comparison) file(dir, name, want string) {
	path, ok := join(dir, name)
	got := "None"
	if ok && isFile(path) {
		if sum, err := treesync.Sum(path); err == nil {
			got = sum
		}
	}
	if got != want {
		k.changed = append(k.changed, change{name, want, got})
	}
}

// strangers are files and directories that the collection did not bring.
func (k *comparison) strangers(dir string, files, dirs map[string]bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case isDir(path) && !dirs[rel]:
			k.changed = append(k.changed, change{rel, "the directory does not exist", "the directory exists"})
		case !isDir(path) && !files[rel]:
			k.changed = append(k.changed, change{rel, "the file does not exist", "the file exists"})
		}
		return nil
	})
}

// tell prints what differs, and reports whether nothing does.
func (k *comparison) tell() bool {
	if len(k.changed) == 0 {
		what := "match the remote collection"
		if k.remote == nil {
			what = "are internally consistent with its manifest"
		}
		k.Screen.Say("Successfully verified that checksums for '" + k.local.String() + "' " + what + ".")
		return true
	}
	k.Screen.Say("Collection " + k.local.name.String() + " contains modified content in the following files:")
	for _, ch := range k.changed {
		k.Screen.Say("    " + ch.name)
		k.Screen.Verbose(1, "    Expected: "+ch.expected+"\n    Found: "+ch.found)
	}
	return false
}
