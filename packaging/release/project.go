package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// project is who makes the packages.
type project struct {
	Name, Vendor, Maintainer, Home string
}

func readProject(file string) (project, error) {
	var p project
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("cannot read %s: %w", file, err)
	}
	for variable, field := range map[string]*string{"HARK_RELEASE_HOME": &p.Home, "HARK_RELEASE_MAINTAINER": &p.Maintainer,
		"HARK_RELEASE_VENDOR": &p.Vendor} {
		if text := os.Getenv(variable); text != "" {
			*field = text
		}
	}
	home, err := url.Parse(p.Home)
	if err != nil || home.Scheme != "https" || p.Name == "" || !strings.Contains(p.Maintainer, "@") {
		return p, fmt.Errorf("%s needs a name, a maintainer with an address and a home that begins with https://", file)
	}
	if strings.HasSuffix(home.Hostname(), ".example") {
		fmt.Fprintf(os.Stderr,
			"release: %s is a place-holder: set home and maintainer in packaging/release/%s before you publish\n", p.Home, file)
	}
	return p, nil
}
