package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	nothing "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	tarlayer "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// containerUser is the number of the user in images, who owns /data.
const containerUser = 65532

// service is what a container runs.
type service struct {
	name, title string
	command     []string
	port        string // "" if it listens nowhere
}

// services are those that there are images of.
func services() []service {
	return []service{
		{"hark-broker", "the broker of hark, with its registrar",
			[]string{"broker", "run", "--data", "/data/broker", "--listen", "0.0.0.0:4222"}, "4222/tcp"},
		{
			"hark-console", "the console of hark",
			[]string{"console", "--data", "/data/console", "--listen", "0.0.0.0:8470", "--tls-cert", "/tls/tls.crt", "--tls-key",
				"/tls/tls.key"}, "8470/tcp",
		},
		{"hark-keeper", "the keeper of hark", []string{"keeper", "run", "--project", "/project"}, ""},
	}
}

// images makes an archive in OCI layout for each service: an index of the images for amd64 and arm64. They have
// nothing but hark and a directory.
func (r *release) images() error {
	for _, s := range services() {
		if err := r.image(s); err != nil {
			return fmt.Errorf("cannot make the image of %s: %w", s.name, err)
		}
	}
	return nil
}

func (r *release) image(s service) error {
	tag, err := r.form("oci")
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(nothing.Index, types.OCIImageIndex)
	for _, arch := range r.controllers {
		image, err := r.imageFor(s, arch)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	dir := filepath.Join(r.work, "images", s.name)
	into, err := layout.Write(dir, nothing.Index)
	if err != nil {
		return err
	}
	if err := into.AppendIndex(index,
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": s.name + ":" + tag})); err != nil {
		return err
	}
	files, err := filesBelow(dir)
	if err != nil {
		return err
	}
	text, err := tarball(files, r.made)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("%s_%s.oci.tar", s.name, r.version)), text, 0o644)
}

// imageFor is the image for one architecture. All services share its layers.
func (r *release) imageFor(s service, arch string) (v1.Image, error) {
	base := []entry{
		{path: "etc/", mode: 0o755},
		{path: "etc/passwd", mode: 0o644,
			text: fmt.Appendf(nil, "root:x:0:0:root:/:/none\nhark:x:%d:%d:hark:/data:/none\n", containerUser, containerUser)},
		{path: "etc/group", mode: 0o644, text: fmt.Appendf(nil, "root:x:0:\nhark:x:%d:\n", containerUser)},
		{path: "data/", mode: 0o700, owner: containerUser},
		{path: "tmp/", mode: 0o1777},
		{path: "usr/bin/", mode: 0o755},
		{path: "usr/bin/hark", mode: 0o755, from: r.path(program{"hark", "linux", arch})},
	}
	text, err := tarball(base, r.made)
	if err != nil {
		return nil, err
	}
	layer, err := tarlayer.LayerFromOpener(func() (io.ReadCloser,
		error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	}, tarlayer.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(nothing.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image,
		mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.made}, CreatedBy: "packaging/release"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: r.made}
	config.Config = v1.Config{
		User: fmt.Sprint(containerUser), Entrypoint: []string{"/usr/bin/hark"}, Cmd: s.command, WorkingDir: "/data",
		Env: []string{"PATH=/usr/bin", "HOME=/data", "HARK_HOME=/data/home"}, Volumes: map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": s.title, "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.url":      r.project.Home,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.vendor": r.project.Vendor,
		},
	}
	if s.port != "" {
		config.Config.ExposedPorts = map[string]struct{}{s.port: {}}
	}
	return mutate.ConfigFile(image, config)
}

// filesBelow are all files of a directory, as entries of an archive, in order.
func filesBelow(dir string) ([]entry, error) {
	var all []entry
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		e := entry{path: filepath.ToSlash(rel), from: path, mode: 0o644}
		if d.IsDir() {
			e = entry{path: e.path + "/", mode: 0o755}
		}
		all = append(all, e)
		return nil
	})
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare([]byte(a.path), []byte(b.path)) })
	return all, err
}
