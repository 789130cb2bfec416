package galaxy

import (
	"context"
	"fmt"
	"net/url"

	"hark/modules/py/value"
)

// release is one version of a collection on a server.
type release struct {
	url, sha256 string
	needs       *value.Dict // collection to versions
	href        string
	signatures  []value.Value
	server      *Server
}

// collectionVersions returns all versions of a collection, none if the server does not have it.
func (s *Server) collectionVersions(ctx context.Context, c fqcn) ([]string, error) {
	if list, ok := s.known[c.String()]; ok {
		return list, nil
	}
	list, err := s.askVersions(ctx, c)
	if err == nil {
		s.known[c.String()] = list
	}
	return list, err
}

func (s *Server) askVersions(ctx context.Context, c fqcn) ([]string, error) {
	version, path, err := s.api(ctx, "get_collection_versions", "v3", "v2")
	if err != nil {
		return nil, err
	}
	size := map[string]string{"v3": "limit", "v2": "page_size"}[version]
	at := urlJoin(s.url, path, "collections", c.namespace, c.name, "versions", "/?"+size+"=100")
	key := pathOf(at)
	if s.cache != nil {
		if found, err := s.freshen(ctx, at, key, path, version, c); err != nil || !found {
			return nil, err
		}
		if v, ok := s.cache.get(at, key); ok {
			return versionsOf(items(v)), nil
		}
	}
	what := fmt.Sprintf("Error when getting available collection versions for %s from %s (%s)", c, s.o.Name, s.url)
	all, err := s.pages(ctx, at, what, version)
	if err != nil {
		if notFound(err) {
			return nil, nil
		}
		return nil, err
	}
	s.cache.put(at, key, value.NewList(all...), true)
	return versionsOf(all), s.cache.save()
}

// freshen forgets the versions that are kept if the collection has changed since. It says no if the server does not
// have it.
func (s *Server) freshen(ctx context.Context, at, key, path, version string, c fqcn) (bool, error) {
	info := urlJoin(s.url, path, "collections", c.namespace, c.name, "/")
	v, err := s.get(ctx, info, fmt.Sprintf("Error when getting the collection info for %s from %s (%s)", c, s.o.Name,
		s.url), "", false)
	if notFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	field := map[string]string{"v3": "updated_at", "v2": "modified"}[version]
	s.cache.changed(at, key, c.String(), text(value.Under(v, field)))
	return true, nil
}

// pages returns the items of all pages of a list.
func (s *Server) pages(ctx context.Context, at, what, version string) ([]value.Value, error) {
	var all []value.Value
	for first := at; at != ""; {
		v, err := s.get(ctx, at, what, "", false)
		if err != nil {
			return nil, err
		}
		results, links := value.Under(v, "data"), []string{"next"}
		if results == nil {
			results = value.Under(v, "results")
		}
		if version == "v3" {
			links = []string{"links", "next"}
		}
		all = append(all, items(results)...)
		if at, err = follow(first, text(value.Under(v, links...))); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// follow returns the URL of a link, which may be relative to the server.
func follow(from, link string) (string, error) {
	if link == "" {
		return "", nil
	}
	base, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	to, err := base.Parse(link)
	if err != nil {
		return "", failf("the server names a next page that is no URL: %s", link)
	}
	return to.String(), nil
}

func versionsOf(list []value.Value) []string {
	var out []string
	for _, v := range list {
		out = append(out, text(value.Under(v, "version")))
	}
	return out
}

// release returns what the server says about one version.
func (s *Server) release(ctx context.Context, c fqcn, version string) (*release, error) {
	_, path, err := s.api(ctx, "get_collection_version_metadata", "v3", "v2")
	if err != nil {
		return nil, err
	}
	at := urlJoin(s.url, path, "collections", c.namespace, c.name, "versions", version, "/")
	what := fmt.Sprintf("Error when getting collection version metadata for %s:%s from %s (%s)", c, version, s.o.Name,
		s.url)
	v, err := s.get(ctx, at, what, "", true)
	if err != nil {
		return nil, err
	}
	if err := s.cache.save(); err != nil {
		return nil, err
	}
	r := &release{url: text(value.Under(v, "download_url")), sha256: text(value.Under(v, "artifact", "sha256")),
		href:       text(value.Under(v, "href")),
		signatures: items(value.Under(v, "signatures")), server: s}
	r.needs, _ = value.Under(v, "metadata", "dependencies").(*value.Dict)
	if r.url == "" || r.sha256 == "" {
		return nil, failf("the server %s tells no download_url or no artifact of %s:%s", s.o.Name, c, version)
	}
	return r, nil
}

// signed returns the signatures that the server has of the version.
func (r *release) signed() []string {
	var out []string
	for _, v := range r.signatures {
		out = append(out, text(value.Under(v, "signature")))
	}
	return out
}
