package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // these make the formats known to nfpm
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// kinds are the formats of packages.
func kinds() []string { return []string{"deb", "rpm", "apk"} }

// packages makes the packages that the *.yaml files beside this one describe.
func (r *release) packages() error {
	for _, name := range packageNames() {
		archs := r.controllers
		if name == "hark-ansible-names" {
			archs = []string{"all"}
		}
		if name == "hark-agent" && len(archs) > 1 {
			archs = append(append([]string(nil), archs...), "armv7", "386")
		}
		for _, arch := range archs {
			for _, kind := range kinds() {
				if err := r.pack(name, arch, kind); err != nil {
					return fmt.Errorf("cannot make the %s of %s for %s: %w", kind, name, arch, err)
				}
			}
		}
	}
	return nil
}

func (r *release) pack(name, arch, kind string) error {
	version, err := r.form(kind)
	if err != nil {
		return err
	}
	values := map[string]string{
		"ARCH": arch, "VERSION": version, "WORK": r.work, "MAINTAINER": r.project.Maintainer, "HOME_PAGE": r.project.Home,
		"VENDOR": r.project.Vendor,
	}
	values["GOARCH"] = strings.Replace(arch, "armv7", "arm7", 1) // nfpm's word for it
	config, err := nfpm.ParseFileWithEnvMapping(name+".yaml", func(key string) string { return values[key] })
	if err != nil {
		return err
	}
	info, err := config.Get(kind)
	if err != nil {
		return err
	}
	info.MTime, info.RPM.BuildHost, info.RPM.Packager = r.made, r.project.Name, r.project.Maintainer
	for _, c := range info.Contents {
		if c.FileInfo == nil {
			c.FileInfo = &files.ContentFileInfo{}
		}
		c.FileInfo.MTime = r.made
	}
	// The times of scripts and of directories in a tree are taken from the disk.
	scripts := &info.Scripts
	for _, script := range []*string{&scripts.PreInstall, &scripts.PostInstall, &scripts.PreRemove, &scripts.PostRemove} {
		if *script != "" {
			*script = filepath.Join(r.work, *script)
		}
	}
	if kind == "rpm" && r.sign != nil {
		info.RPM.Signature.SignFn = r.sign.packet
	}
	info = nfpm.WithDefaults(info)
	packager, err := nfpm.Get(kind)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, packager.ConventionalFileName(info)), b.Bytes(), 0o644)
}
