package galaxy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/versions"
)

// candidate is a collection in the version that may be installed.
type candidate struct {
	Requirement
	// installed lies in its place already and would stay.
	installed bool
	// signed are the signatures that requirements brought.
	signed []string
}

// picker gives the resolver its candidates.
type picker struct {
	*Client
	// installed are preferred to what servers have; pinned are the versions that the user named.
	installed []*candidate
	pinned    []Requirement
	noDeps    bool
	pre       bool
	upgrade   bool
	signed    bool // signatures are wanted
	releases  map[string]*release
}

func isPre(version string) bool {
	key, err := versions.Semantic(version)
	return err == nil && strings.Contains(strings.SplitN(version, "+", 2)[0], "-") && key != nil
}

// ranged are requirements that leave a choice, for which pre-releases are none.
func ranged(version string) bool {
	return version == "*" || strings.HasPrefix(version, "<") || strings.HasPrefix(version, ">") ||
		strings.HasPrefix(version, "!=")
}

func (p *picker) userPinned(c *candidate) bool {
	return slices.ContainsFunc(p.pinned, func(r Requirement) bool {
		return r.name == c.name && r.version == c.version && r.kind == c.kind && (r.server == nil || r.server == c.server)
	})
}

// satisfied reports whether a candidate meets a requirement.
func (p *picker) satisfied(r Requirement, c *candidate) (bool, error) {
	if isPre(c.version) && !p.pre && ranged(r.version) && !p.userPinned(c) {
		return false, nil
	}
	if r.virtual() || c.virtual() || r.version == "*" {
		return true, nil
	}
	return meets(c.version, r.version)
}

func (p *picker) allSatisfied(list []need, c *candidate) (bool, error) {
	for _, n := range list {
		if ok, err := p.satisfied(n.Requirement, c); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// meets reports whether a version lies in a range: comparisons with commas between them, all of which must hold.
func meets(version, wanted string) (bool, error) {
	for _, part := range strings.Split(wanted, ",") {
		op := strings.TrimSpace(part)
		op = op[:len(op)-len(strings.TrimLeft(op, "!=<>"))]
		than := part[strings.Index(part, op)+len(op):]
		switch op {
		case "!=", "==", "=", ">=", ">", "<=", "<":
		default:
			op, than = "==", part
		}
		if than == "*" || version == "*" {
			continue
		}
		whole, err := loose(than)
		if err != nil {
			return false, err
		}
		n, err := compareVersions(version, whole)
		if err != nil {
			return false, err
		}
		holds := map[string]bool{"!=": n != 0, "==": n == 0, "=": n == 0, ">=": n >= 0, ">": n > 0, "<=": n <= 0, "<": n < 0}
		if !holds[op] {
			return false, nil
		}
	}
	return true, nil
}

func compareVersions(a, b string) (int, error) {
	n, err := versions.Compare(versions.Semantic, a, b)
	if err != nil {
		return 0, failed(err.Error())
	}
	return n, nil
}

// loose completes a version of fewer than three numbers: 1.2 is 1.2.0.
func loose(text string) (string, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "v")
	cut := strings.IndexAny(text, "-+")
	core, rest := text, ""
	if cut >= 0 {
		core, rest = text[:cut], text[cut:]
	}
	if strings.Trim(core, "0123456789.") != "" || core == "" {
		return "", failf("Non integer values in LooseVersion (%s)", value.ReprText(text))
	}
	for strings.Count(core, ".") < 2 {
		core += ".0"
	}
	return core + rest, nil
}

// find returns the candidates for requirements of one collection, the best first.
func (p *picker) find(ctx context.Context, list []need) ([]*candidate, error) {
	first := list[0].Requirement
	if first.concrete() {
		return p.concreteOne(ctx, first)
	}
	var stay []*candidate
	if !p.upgrade {
		var err error
		if stay, err = p.staying(list, nil); err != nil || len(stay) > 0 {
			return stay, err
		}
	}
	found, err := p.onServers(ctx, first, list)
	if err != nil {
		return nil, err
	}
	if stay, err = p.staying(list, found); err != nil {
		return nil, err
	}
	return append(stay, found...), nil
}

func (p *picker) concreteOne(ctx context.Context, r Requirement) ([]*candidate, error) {
	m, err := p.downloads().meta(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, err := versions.Semantic(m.version); m.odd != "" || err != nil && m.version != "*" {
		class := "str"
		if m.odd != "" {
			class = m.odd
		}
		return nil, failf("Invalid version found for the collection '%s': %s (<class '%s'>). A SemVer-compliant version "+
			"or '*' is required. "+
			"See https://semver.org to learn how to compose it correctly. This is an issue with the collection.", r, m.version,
			class)
	}
	r.version = m.version
	return []*candidate{{Requirement: r}}, nil
}

// staying returns the installed ones that meet all requirements. When upgrades are wanted they stay if nothing newer
// was found.
func (p *picker) staying(list []need, found []*candidate) ([]*candidate, error) {
	var out []*candidate
	for _, c := range p.installed {
		if c.name != list[0].name {
			continue
		}
		ok, err := p.allSatisfied(list, c)
		if err != nil {
			return nil, err
		}
		for _, newer := range found {
			if !p.upgrade || !ok {
				break
			}
			n, err := compareVersions(newer.version, c.version)
			if err != nil {
				return nil, err
			}
			ok = n <= 0
		}
		if ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// onServers returns the releases that meet all requirements, the newest first.
func (p *picker) onServers(ctx context.Context, first Requirement, list []need) ([]*candidate, error) {
	if p.Offline {
		return nil, nil
	}
	servers := p.Servers
	if first.server != nil {
		servers = []*Server{first.server}
	}
	var out []*candidate
	var last error
	answered := false
	for _, s := range servers {
		all, err := s.collectionVersions(ctx, first.name)
		if err != nil {
			last = p.skipServer(ctx, s, first.name, err)
			continue
		}
		answered = true
		for _, version := range all {
			c := &candidate{Requirement: Requirement{name: first.name, version: version, kind: Galaxy, server: s}}
			ok, err := p.allSatisfied(list, c)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if _, err := versions.Semantic(version); err != nil {
				return nil, failf("the server %s has %s in a version that is no semantic one: %q", s.o.Name, first.name, version)
			}
			out = append(out, c)
		}
	}
	if !answered && last != nil {
		return nil, last
	}
	return p.sorted(ctx, out, list)
}

// skipServer warns of a server that has failed in a way that others may not.
func (p *picker) skipServer(ctx context.Context, s *Server, name fqcn, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, api := err.(*APIError); !api {
		p.Screen.Warn(fmt.Sprintf("Skipping Galaxy server %s. Got an unexpected error when getting available versions of "+
			"collection %s: %v",
			s.url, name, err))
	}
	return err
}

func (p *picker) sorted(ctx context.Context, out []*candidate, list []need) ([]*candidate, error) {
	var signed []string
	if p.signed && len(out) > 0 {
		for _, n := range list {
			for _, source := range n.signatures {
				text, err := readSignature(ctx, p.Screen, source)
				if err != nil {
					return nil, err
				}
				signed = append(signed, text)
			}
		}
	}
	var bad error
	slices.SortStableFunc(out, func(a, b *candidate) int {
		n, err := compareVersions(b.version, a.version)
		if err != nil {
			bad = err
		}
		return n
	})
	for _, c := range out {
		c.signed = signed
	}
	return out, bad
}

// release returns what servers say about a candidate. It asks once.
func (p *picker) release(ctx context.Context, c *candidate) (*release, error) {
	key := c.String()
	if c.server != nil {
		key = c.server.o.Name + " " + key
	}
	if r, ok := p.releases[key]; ok {
		return r, nil
	}
	servers := p.Servers
	if c.server != nil {
		servers = []*Server{c.server}
	}
	var last error
	for _, s := range servers {
		r, err := s.release(ctx, c.name, c.version)
		if err != nil {
			last = p.skipServer(ctx, s, c.name, err)
			continue
		}
		if p.releases == nil {
			p.releases = map[string]*release{}
		}
		p.releases[key] = r
		return r, nil
	}
	return nil, last
}

// needs returns the requirements of a candidate.
func (p *picker) needs(ctx context.Context, c *candidate) ([]Requirement, error) {
	var d *value.Dict
	switch {
	case c.concrete():
		m, err := p.downloads().meta(ctx, c.Requirement)
		if err != nil {
			return nil, err
		}
		d = m.needs
	default:
		r, err := p.release(ctx, c)
		if err != nil {
			return nil, err
		}
		d = r.needs
	}
	if d == nil || p.noDeps && !c.virtual() {
		return nil, nil
	}
	var out []Requirement
	for _, k := range d.Keys() {
		v, _ := d.GetKey(k)
		if kind := kindOf(text(k)); !c.virtual() && (kind == File || kind == Dir || kind == Subdirs) {
			return nil, failf("%s: its dependency %q is a path of this machine: collections name others by "+
				"<namespace>.<collection>, "+
				"or by the URL of a repository or an archive.", c, text(k))
		}
		entry := value.NewDict()
		entry.Set("name", k)
		entry.Set("version", v)
		r, err := p.requirement(entry, nil, true)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
