package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sassoftware/go-rpmutils"
)

// The shape of a repository's lists, as createrepo_c writes them and dnf reads them.
type (
	rpmList struct {
		XMLName  xml.Name
		Space    string       `xml:"xmlns,attr"`
		RPMSpace string       `xml:"xmlns:rpm,attr,omitempty"`
		Count    int          `xml:"packages,attr"`
		Packages []rpmPackage `xml:"package"`
	}
	rpmPackage struct {
		Type string `xml:"type,attr,omitempty"`
		// These two are how the lists beside primary.xml name a package.
		ID   string `xml:"pkgid,attr,omitempty"`
		Of   string `xml:"name,attr,omitempty"`
		For  string `xml:"arch,attr,omitempty"`
		Name string `xml:"name,omitempty"`
		Arch string `xml:"arch,omitempty"`

		Version  rpmVersion `xml:"version"`
		Checksum *rpmSum    `xml:"checksum,omitempty"`
		Summary  string     `xml:"summary,omitempty"`
		Text     string     `xml:"description,omitempty"`
		Packager string     `xml:"packager,omitempty"`
		URL      string     `xml:"url,omitempty"`
		Time     *rpmTime   `xml:"time,omitempty"`
		Size     *rpmSize   `xml:"size,omitempty"`
		Location *rpmRef    `xml:"location,omitempty"`
		Format   *rpmFormat `xml:"format,omitempty"`
		Files    []rpmFile  `xml:"file,omitempty"`
	}
	rpmVersion struct {
		Epoch   string `xml:"epoch,attr"`
		Version string `xml:"ver,attr"`
		Release string `xml:"rel,attr"`
	}
	rpmSum struct {
		Type string `xml:"type,attr"`
		ID   string `xml:"pkgid,attr,omitempty"`
		Text string `xml:",chardata"`
	}
	rpmTime struct {
		File  int64 `xml:"file,attr"`
		Build int64 `xml:"build,attr"`
	}
	rpmSize struct {
		Package   int64 `xml:"package,attr"`
		Installed int64 `xml:"installed,attr"`
		Archive   int64 `xml:"archive,attr"`
	}
	rpmRef struct {
		Href string `xml:"href,attr"`
	}
	rpmFormat struct {
		License   string    `xml:"rpm:license"`
		Vendor    string    `xml:"rpm:vendor"`
		Group     string    `xml:"rpm:group"`
		BuildHost string    `xml:"rpm:buildhost"`
		Range     rpmRange  `xml:"rpm:header-range"`
		Provides  *rpmNames `xml:"rpm:provides,omitempty"`
		Requires  *rpmNames `xml:"rpm:requires,omitempty"`
		Conflicts *rpmNames `xml:"rpm:conflicts,omitempty"`
		Files     []rpmFile `xml:"file,omitempty"`
	}
	rpmRange struct {
		Start int `xml:"start,attr"`
		End   int `xml:"end,attr"`
	}
	rpmNames struct {
		Entries []rpmName `xml:"rpm:entry"`
	}
	rpmName struct {
		Name    string `xml:"name,attr"`
		Flags   string `xml:"flags,attr,omitempty"`
		Epoch   string `xml:"epoch,attr,omitempty"`
		Version string `xml:"ver,attr,omitempty"`
		Release string `xml:"rel,attr,omitempty"`
	}
	rpmFile struct {
		Type string `xml:"type,attr,omitempty"`
		Path string `xml:",chardata"`
	}
	rpmMD struct {
		XMLName  xml.Name  `xml:"repomd"`
		Space    string    `xml:"xmlns,attr"`
		Revision int64     `xml:"revision"`
		Data     []rpmData `xml:"data"`
	}
	rpmData struct {
		Type     string `xml:"type,attr"`
		Checksum rpmSum `xml:"checksum"`
		Open     rpmSum `xml:"open-checksum"`
		Location rpmRef `xml:"location"`
		Time     int64  `xml:"timestamp"`
		Size     int    `xml:"size"`
		OpenSize int    `xml:"open-size"`
	}
)

// rpmRepository makes rpm/: the packages, and repodata/ with the lists and their signature. hark.repo is what goes
// into /etc/yum.repos.d.
func (r *release) rpmRepository() error {
	rpms, err := filepath.Glob(filepath.Join(r.out, "*.rpm"))
	if err != nil {
		return err
	}
	dir := filepath.Join(r.out, "rpm")
	var primary, files, other []rpmPackage
	for _, file := range rpms {
		p, err := r.rpmEntry(file)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		named := rpmPackage{ID: p.Checksum.Text, Of: p.Name, For: p.Arch, Version: p.Version}
		other = append(other, named)
		named.Files, p.Files = p.Files, nil
		files, primary = append(files, named), append(primary, p)
		if err := linkInto(file, dir); err != nil {
			return err
		}
	}
	const space = "http://linux.duke.edu/metadata/"
	md := rpmMD{Space: space + "repo", Revision: r.made.Unix()}
	for _, list := range []struct {
		kind, name, space string
		packages          []rpmPackage
	}{{"primary", "metadata", "common", primary}, {"filelists", "filelists", "filelists", files},
		{"other", "otherdata", "other", other}} {
		doc := rpmList{XMLName: xml.Name{Local: list.name}, Space: space + list.space, Count: len(rpms),
			Packages: list.packages}
		if list.kind == "primary" {
			doc.RPMSpace = space + "rpm"
		}
		data, err := r.rpmWrite(dir, list.kind, doc)
		if err != nil {
			return err
		}
		md.Data = append(md.Data, data)
	}
	text, err := asXML(md)
	if err != nil {
		return err
	}
	sig, err := r.sign.armored(text)
	if err != nil {
		return err
	}
	repo := fmt.Sprintf("[hark]\nname=hark\nbaseurl=%s/rpm\ngpgkey=%s/hark.asc\ngpgcheck=1\nrepo_gpgcheck=1\nenabled=1\n",
		r.project.Home, r.project.Home)
	return errors.Join(writeAll(filepath.Join(dir, "repodata/repomd.xml"), text),
		writeAll(filepath.Join(dir, "repodata/repomd.xml.asc"), sig),
		writeAll(filepath.Join(dir, "hark.repo"), []byte(repo)))
}

// rpmWrite writes a list, and says what repomd.xml says of it.
func (r *release) rpmWrite(dir, kind string, list rpmList) (rpmData, error) {
	text, err := asXML(list)
	if err != nil {
		return rpmData{}, err
	}
	packed, err := gzipped(text)
	if err != nil {
		return rpmData{}, err
	}
	sum, open := fmt.Sprintf("%x", sha256.Sum256(packed)), fmt.Sprintf("%x", sha256.Sum256(text))
	href := "repodata/" + sum + "-" + kind + ".xml.gz"
	return rpmData{
		Type: kind, Checksum: rpmSum{Type: "sha256", Text: sum}, Open: rpmSum{Type: "sha256", Text: open},
		Location: rpmRef{href},
		Time:     r.made.Unix(), Size: len(packed), OpenSize: len(text),
	}, writeAll(filepath.Join(dir, href), packed)
}

func asXML(v any) ([]byte, error) {
	text, err := xml.MarshalIndent(v, "", " ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// rpmEntry is what the lists say of a package, with all its files.
func (r *release) rpmEntry(file string) (rpmPackage, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return rpmPackage{}, err
	}
	h, err := rpmutils.ReadHeader(bytes.NewReader(text))
	if err != nil {
		return rpmPackage{}, err
	}
	word := func(tag int) string {
		s, _ := h.GetString(tag) // "" of a package that does not say it
		return s
	}
	installed, err := h.InstalledSize()
	if err != nil {
		return rpmPackage{}, err
	}
	archive, err := h.PayloadSize()
	if err != nil {
		return rpmPackage{}, err
	}
	found, err := h.GetFiles()
	if err != nil {
		return rpmPackage{}, err
	}
	var all, some []rpmFile
	for _, f := range found {
		entry := rpmFile{Path: f.Name()}
		if f.Mode()&0o170000 == 0o040000 {
			entry.Type = "dir"
		}
		all = append(all, entry)
		// what dnf finds without the list of files
		if strings.Contains(f.Name(), "bin/") || strings.HasPrefix(f.Name(), "/etc/") {
			some = append(some, entry)
		}
	}
	at := h.GetRange()
	return rpmPackage{
		Type: "rpm", Name: word(rpmutils.NAME), Arch: word(rpmutils.ARCH),
		Version:  rpmVersion{"0", word(rpmutils.VERSION), word(rpmutils.RELEASE)},
		Checksum: &rpmSum{Type: "sha256", ID: "YES", Text: fmt.Sprintf("%x", sha256.Sum256(text))},
		Summary:  word(rpmutils.SUMMARY),
		Text:     word(rpmutils.DESCRIPTION), Packager: word(rpmutils.PACKAGER), URL: word(rpmutils.URL),
		Time: &rpmTime{r.made.Unix(), r.made.Unix()},
		Size: &rpmSize{int64(len(text)), installed, archive}, Location: &rpmRef{filepath.Base(file)}, Files: all,
		Format: &rpmFormat{
			License: word(rpmutils.LICENSE), Vendor: word(rpmutils.VENDOR), Group: word(rpmutils.GROUP),
			BuildHost: word(rpmutils.BUILDHOST), Range: rpmRange{at.Start, at.End},
			Provides:  rpmRelations(h, rpmutils.PROVIDENAME, rpmutils.PROVIDEVERSION, rpmutils.PROVIDEFLAGS),
			Requires:  rpmRelations(h, rpmutils.REQUIRENAME, rpmutils.REQUIREVERSION, rpmutils.REQUIREFLAGS),
			Conflicts: rpmRelations(h, rpmutils.CONFLICTNAME, rpmutils.CONFLICTVERSION, rpmutils.CONFLICTFLAGS), Files: some,
		},
	}, nil
}

// rpmRelations are what a package provides, needs or conflicts with; nil if that is nothing.
func rpmRelations(h *rpmutils.RpmHeader, name, version, flags int) *rpmNames {
	names, err := h.GetStrings(name)
	if err != nil || len(names) == 0 {
		return nil // the package has none
	}
	versions, _ := h.GetStrings(version)
	signs, _ := h.GetInts(flags)
	out := &rpmNames{}
	for i, n := range names {
		if strings.HasPrefix(n, "rpmlib(") {
			continue // rpm's own
		}
		entry := rpmName{Name: n}
		if i < len(versions) && i < len(signs) && versions[i] != "" {
			entry.Flags = map[int]string{2: "LT", 4: "GT", 8: "EQ", 10: "LE", 12: "GE"}[signs[i]&14]
			entry.Epoch = "0"
			entry.Version, entry.Release, _ = strings.Cut(versions[i], "-")
		}
		out.Entries = append(out.Entries, entry)
	}
	if len(out.Entries) == 0 {
		return nil
	}
	return out
}
