package galaxy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"hark/modules/py/value"
)

const (
	manifestName = "MANIFEST.json"
	filesName    = "FILES.json"
)

// Meta is what a collection says of itself: collection_info of its MANIFEST.json, or its galaxy.yml.
type Meta struct {
	name    fqcn
	version string
	// odd is what Python calls the type of a version that is no text, as 1.0 in YAML.
	odd   string
	needs *value.Dict
	// info has all of it. Source is set for a galaxy.yml.
	info   *value.Dict
	source bool
}

func metaOf(info *value.Dict, source bool) *Meta {
	m := &Meta{name: fqcn{text(value.Under(info, "namespace")), text(value.Under(info, "name"))},
		version: text(value.Under(info, "version")), info: info, source: source}
	if v := value.Under(info, "version"); v != nil && !value.IsText(v) {
		m.odd = value.NativeType(v)
	}
	m.needs, _ = value.Under(info, "dependencies").(*value.Dict)
	return m
}

// galaxyKeys returns the keys of galaxy.yml: those that must be there, then those of text, lists and mappings.
func galaxyKeys() (must, texts, lists, dicts []string) {
	return []string{"authors", "name", "namespace", "readme", "version"},
		strings.Fields("namespace name version readme description license_file repository documentation homepage issues"),
		strings.Fields("authors license tags build_ignore"), []string{"dependencies"}
}

// metaOfSource reads a galaxy.yml. With lenient a broken one is a warning, and no description.
func metaOfSource(screen Screen, dir string, lenient bool) (*Meta, error) {
	path := filepath.Join(dir, "galaxy.yml")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failf("The collection galaxy.yml path '%s' does not exist.", path)
	}
	v, err := parseYAML(data)
	if err != nil {
		return nil, failf("Failed to parse the galaxy.yml at '%s' with the following error:\n%s", path, yamlWords(err, path))
	}
	broken := func(format string, a ...any) error {
		err := failf(format, a...)
		if lenient {
			screen.Warn(err.Error())
			return errNoMeta
		}
		return err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, broken("The collection galaxy.yml at '%s' is incorrectly formatted.", path)
	}
	must, texts, lists, dicts := galaxyKeys()
	var missing []string
	for _, key := range must {
		if _, ok := d.Get(key); !ok {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return nil, broken("The collection galaxy.yml at '%s' is missing the following mandatory keys: %s", path,
			strings.Join(missing, ", "))
	}
	if more := unknownKeys(d, texts, lists, dicts, []string{"manifest"}); len(more) > 0 {
		screen.Warn(fmt.Sprintf("Found unknown keys in collection galaxy.yml at '%s': %s", path, strings.Join(more, ", ")))
	}
	fillMeta(d, texts, lists, dicts)
	return metaOf(d, true), nil
}

func unknownKeys(d *value.Dict, known ...[]string) []string {
	all := map[string]bool{}
	for _, list := range known {
		for _, key := range list {
			all[key] = true
		}
	}
	var more []string
	for _, k := range d.Keys() {
		if !all[text(k)] {
			more = append(more, text(k))
		}
	}
	sort.Strings(more)
	return more
}

// fillMeta gives every key the form that the manifest has.
func fillMeta(d *value.Dict, texts, lists, dicts []string) {
	for _, key := range texts {
		if _, ok := d.Get(key); !ok {
			d.Set(key, value.None{})
		}
	}
	for _, key := range lists {
		switch v, _ := d.Get(key); {
		case v == nil || value.IsNone(v):
			d.Set(key, value.NewList())
		case items(v) == nil && !isList(v):
			d.Set(key, value.NewList(v))
		}
	}
	for _, key := range dicts {
		if _, ok := d.Get(key); !ok {
			d.Set(key, value.NewDict())
		}
	}
	if v, _ := d.Get("version"); !value.IsTrue(v) {
		d.Set("version", value.Str("*")) // a version may be given when the collection is built
	}
}

func isList(v value.Value) bool { _, ok := v.(*value.List); return ok }

// errNoMeta is a collection that says nothing usable of itself where that is no failure.
var errNoMeta = fmt.Errorf("no metadata")

// metaOfInstalled reads the MANIFEST.json of a directory.
func metaOfInstalled(dir string) (*Meta, error) {
	v, err := jsonFile(dir, manifestName)
	if err != nil {
		return nil, err
	}
	info, _ := value.Under(v, "collection_info").(*value.Dict)
	if info == nil {
		return nil, failf("the %s of %s has no collection_info", manifestName, dir)
	}
	if version := value.Under(info, "version"); !value.IsTrue(version) {
		repr := "None"
		if version != nil {
			repr, _ = value.Repr(version)
		}
		return nil, failf("Collection metadata file `%s` at `%s` is expected to have a valid SemVer version value but got %s",
			manifestName, dir, repr)
	}
	return metaOf(info, false), nil
}

// jsonFile returns what a file of an installed collection holds.
func jsonFile(dir, name string) (value.Value, error) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failf("The collection %s path '%s' does not exist.", name, path)
	}
	return jsonOf(data, name)
}

func jsonOf(data []byte, name string) (value.Value, error) {
	if v, err := parseJSON(data); err == nil && json.Valid(data) {
		return v, nil
	}
	return nil, failf("Collection tar file member %s does not contain a valid json string.", name)
}

// metaOfArchive reads the MANIFEST.json of an archive.
func metaOfArchive(path string) (*Meta, error) {
	var data []byte
	err := eachMember(path, func(m member, r io.Reader) (bool, error) {
		if m.name != manifestName {
			return true, nil
		}
		var err error
		data, err = io.ReadAll(io.LimitReader(r, maxAnswer))
		return false, err
	})
	if err != nil {
		return nil, failf("Collection artifact at '%s' is not a valid tar file.", path)
	}
	if data == nil {
		return nil, failf("Collection at '%s' does not contain the required file %s.", path, manifestName)
	}
	v, err := jsonOf(data, manifestName)
	if err != nil {
		return nil, err
	}
	info, _ := value.Under(v, "collection_info").(*value.Dict)
	if info == nil {
		return nil, failf("the %s of '%s' has no collection_info", manifestName, path)
	}
	return metaOf(info, false), nil
}

// metaOfDir reads what a directory has, the manifest first.
func metaOfDir(screen Screen, dir string, lenient bool) (*Meta, error) {
	if installedDir(dir) {
		return metaOfInstalled(dir)
	}
	m, err := metaOfSource(screen, dir, lenient)
	if err != nil && !sourceDir(dir) {
		err = failf("Failed to find the collection dir deps: %v", err)
	}
	return m, err
}
