package main

import (
	"crypto/ed25519"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bom writes what the programs are made of, as the compiler has noted it in them (CycloneDX).
func (r *release) bom() error {
	doc := cdx.NewBOM()
	doc.SerialNumber = ""
	doc.Metadata = &cdx.Metadata{
		Timestamp: r.made.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{BOMRef: "hark", Type: cdx.ComponentTypeApplication, Name: "hark", Version: r.version,
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}},
	}
	modules := map[string]cdx.Component{}
	var programs []cdx.Component
	links := []cdx.Dependency{}
	var all []string
	for _, p := range append(agents(), controllers()...) {
		read, err := buildinfo.ReadFile(r.path(p))
		if err != nil {
			return fmt.Errorf("%s: %w", r.path(p), err)
		}
		sum, err := digest(r.path(p))
		if err != nil {
			return err
		}
		ref := fmt.Sprintf("%s/%s/%s", p.name, p.system, p.arch)
		programs = append(programs, cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: ref, Version: r.version,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}},
		})
		needs := []string{"pkg:golang/std@" + strings.TrimPrefix(read.GoVersion, "go")}
		modules[needs[0]] = cdx.Component{BOMRef: needs[0], Type: cdx.ComponentTypeLibrary, Name: "std",
			Version: read.GoVersion, PackageURL: needs[0]}
		for _, m := range read.Deps {
			url := "pkg:golang/" + m.Path + "@" + m.Version
			modules[url] = cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
				PackageURL: url}
			needs = append(needs, url)
		}
		links, all = append(links, cdx.Dependency{Ref: ref, Dependencies: &needs}), append(all, ref)
	}
	links = append([]cdx.Dependency{{Ref: "hark", Dependencies: &all}}, links...)
	urls := make([]string, 0, len(modules))
	for url := range modules {
		urls = append(urls, url)
	}
	slices.Sort(urls)
	for _, url := range urls {
		programs = append(programs, modules[url])
	}
	doc.Components, doc.Dependencies = &programs, &links
	f, err := os.Create(filepath.Join(r.out, fmt.Sprintf("hark_%s.cdx.json", r.version)))
	if err != nil {
		return err
	}
	defer f.Close()
	return cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(doc)
}

// payloadType is that of statements of where something comes from (in-toto).
const payloadType = "application/vnd.in-toto+json"

type (
	statement struct {
		Type          string     `json:"_type"`
		Subject       []subject  `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     provenance `json:"predicate"`
	}
	subject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	// provenance is SLSA's, version 1 (slsa.dev/spec/v1.0/provenance). It has no time and no machine, so that it is
	// the same for everybody.
	provenance struct {
		Definition struct {
			Type     string            `json:"buildType"`
			External map[string]string `json:"externalParameters"`
			Resolved []resolved        `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		Run struct {
			Builder struct {
				ID      string            `json:"id"`
				Version map[string]string `json:"version"`
			} `json:"builder"`
		} `json:"runDetails"`
	}
	resolved struct {
		URI    string            `json:"uri"`
		Digest map[string]string `json:"digest"`
	}
	// envelope is a signed statement (DSSE).
	envelope struct {
		Type       string      `json:"payloadType"`
		Payload    string      `json:"payload"`
		Signatures []signature `json:"signatures"`
	}
	signature struct {
		Key string `json:"keyid"`
		Sig string `json:"sig"`
	}
)

// provenance writes where all files come from: the commit, the compiler, the version that was asked for.
func (r *release) provenance() error {
	names, err := r.results()
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, name := range names {
		sum, err := digest(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		s.Subject = append(s.Subject, subject{name, map[string]string{"sha256": sum}})
	}
	s.Predicate.Definition.Type = r.project.Home + "/make-release/v1"
	s.Predicate.Definition.External = map[string]string{"command": "make release", "version": r.version}
	s.Predicate.Definition.Resolved = []resolved{}
	if commit, err := r.output(nil, "git", "-c", "safe.directory=*", "rev-parse", "HEAD"); err == nil {
		s.Predicate.Definition.Resolved = append(s.Predicate.Definition.Resolved,
			resolved{"git+" + r.project.Home, map[string]string{"gitCommit": commit}})
	}
	s.Predicate.Run.Builder.ID = r.project.Home + "/make-release"
	s.Predicate.Run.Builder.Version = map[string]string{"go": runtime.Version()}
	payload, err := json.Marshal(s)
	if err != nil {
		return err
	}
	text, err := json.Marshal(envelope{payloadType, base64.StdEncoding.EncodeToString(payload),
		[]signature{{"", base64.StdEncoding.EncodeToString(r.sign.statement(payload))}}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("hark_%s.intoto.jsonl", r.version)), append(text, '\n'), 0o644)
}

// statement signs a statement as DSSE says (github.com/secure-systems-lab/dsse, protocol.md).
func (s *signer) statement(payload []byte) []byte {
	return ed25519.Sign(s.key,
		fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload))
}
