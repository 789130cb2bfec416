// Package galaxytest is a Galaxy server for tests: roles by API v1, collections by v3, in memory. Nothing else is
// like a real one.
package galaxytest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
)

// Server has what Add and AddRole gave it. It serves while URL is in use.
type Server struct {
	*httptest.Server
	// Token, if set, must come with every request.
	Token string
	// PageSize is how many versions a page has, 2 if it is 0.
	PageSize int

	mu sync.Mutex
	// guarded by mu
	collections map[string][]collection // by namespace.name
	roles       map[string][]role
	archives    map[string][]byte
	asked       []string
	busy        int
}

type collection struct {
	version    string
	needs      map[string]string
	archive    string
	sha256     string
	signatures []string
}

type role struct{ version, archive string }

// Collection is one to serve.
type Collection struct {
	Namespace, Name, Version string
	Needs                    map[string]string
	Files                    map[string]string
	Signatures               []string
	// Sum, if set, is sent in place of the archive's real checksum.
	Sum string
}

// New starts a server on the loopback.
func New() *Server { return On(nil) }

// On starts one that serves a listener; nil is one on the loopback.
func On(l net.Listener) *Server {
	s := &Server{collections: map[string][]collection{}, roles: map[string][]role{}, archives: map[string][]byte{}}
	s.Server = httptest.NewUnstartedServer(s)
	if l != nil {
		_ = s.Listener.Close() // the loopback's, which nobody knows yet
		s.Listener = l
	}
	s.Start()
	return s
}

// Asked returns the paths that were asked for.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Busy makes the server refuse so many requests with 429.
func (s *Server) Busy(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = n
}

// Add serves a collection.
func (s *Server) Add(c Collection) {
	data := Archive(c)
	sum := sha256.Sum256(data)
	one := collection{version: c.Version, needs: c.Needs, archive: fmt.Sprintf("%s-%s-%s.tar.gz", c.Namespace, c.Name,
		c.Version),
		sha256: hex.EncodeToString(sum[:]), signatures: c.Signatures}
	if c.Sum != "" {
		one.sha256 = c.Sum
	}
	if one.needs == nil {
		one.needs = map[string]string{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := c.Namespace + "." + c.Name
	s.collections[id] = append(s.collections[id], one)
	s.archives[one.archive] = data
}

// AddRole serves a role's archive under user.name.
func (s *Server) AddRole(id, version string, archive []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := id + "-" + version + ".tar.gz"
	s.roles[id] = append(s.roles[id], role{version, name})
	s.archives[name] = archive
}

// Archive returns a collection as ansible-galaxy builds it.
func Archive(c Collection) []byte {
	if c.Files == nil {
		c.Files = map[string]string{"README.md": "# " + c.Name + "\n"}
	}
	entries := []map[string]any{{"name": ".", "ftype": "dir", "chksum_type": nil, "chksum_sha256": nil, "format": 1}}
	for _, dir := range dirs(c.Files) {
		entries = append(entries, map[string]any{"name": dir, "ftype": "dir", "chksum_type": nil, "chksum_sha256": nil,
			"format": 1})
	}
	for _, name := range sorted(c.Files) {
		sum := sha256.Sum256([]byte(c.Files[name]))
		entries = append(entries, map[string]any{"name": name, "ftype": "file", "chksum_type": "sha256",
			"chksum_sha256": hex.EncodeToString(sum[:]), "format": 1})
	}
	files := asJSON(map[string]any{"files": entries, "format": 1})
	sum := sha256.Sum256(files)
	needs := c.Needs
	if needs == nil {
		needs = map[string]string{}
	}
	manifest := asJSON(map[string]any{"collection_info": map[string]any{"namespace": c.Namespace, "name": c.Name,
		"version": c.Version,
		"authors": []string{"somebody"}, "readme": "README.md", "tags": []string{}, "description": "",
		"license":      []string{"MIT"},
		"license_file": nil, "dependencies": needs, "repository": nil, "documentation": nil, "homepage": nil, "issues": nil},
		"file_manifest_file": map[string]any{"name": "FILES.json", "ftype": "file", "chksum_type": "sha256",
			"chksum_sha256": hex.EncodeToString(sum[:]), "format": 1}, "format": 1})
	members := []Member{{"MANIFEST.json", string(manifest)}, {"FILES.json", string(files)}}
	for _, dir := range dirs(c.Files) {
		members = append(members, Member{Name: dir + "/"})
	}
	for _, name := range sorted(c.Files) {
		members = append(members, Member{name, c.Files[name]})
	}
	return Tar(members...)
}

// dirs returns the directories of files, those above others first.
func dirs(files map[string]string) []string {
	all := map[string]string{}
	for name := range files {
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			all[at] = ""
		}
	}
	return sorted(all)
}

// Member is a file of an archive; one whose text begins with -> is a link, one whose name ends in / a directory.
type Member struct{ Name, Text string }

// File returns a member.
func File(name, text string) Member { return Member{name, text} }

// Tar returns an archive, packed.
func Tar(members ...Member) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.Name, Size: int64(len(m.Text)), Mode: 0o644, Typeflag: tar.TypeReg}
		text := m.Text
		if to, ok := strings.CutPrefix(text, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, text = tar.TypeSymlink, to, 0, ""
		}
		if strings.HasSuffix(m.Name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		must(t.WriteHeader(h))
		_, err := t.Write([]byte(text))
		must(err)
	}
	must(t.Close())
	must(z.Close())
	return b.Bytes()
}

// must is for writes into memory.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func sorted(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func asJSON(v any) []byte {
	data, err := json.MarshalIndent(v, "", " ")
	must(err)
	return data
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path)
	if s.busy > 0 {
		s.busy--
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	if s.Token != "" && r.Header.Get("Authorization") != "Token "+s.Token {
		refuse(w, http.StatusUnauthorized, "Authentication credentials were not provided.", "not_authenticated")
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api" || r.URL.Path == "/api/":
		answer(w, map[string]any{"available_versions": map[string]string{"v1": "v1/", "v3": "v3/"}, "current_version": "v3"})
	case parts[0] == "download" && s.archives[parts[len(parts)-1]] != nil:
		_, _ = w.Write(s.archives[parts[len(parts)-1]]) // the client may have gone
	case strings.HasPrefix(r.URL.Path, "/api/v3/collections/") && len(parts) >= 5:
		s.collection(w, r, parts[3]+"."+parts[4], parts[5:])
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		s.role(w, r, parts[2:])
	default:
		refuse(w, http.StatusNotFound, "Not found.", "not_found")
	}
}

func (s *Server) collection(w http.ResponseWriter, r *http.Request, id string, rest []string) {
	list, ok := s.collections[id]
	namespace, name, _ := strings.Cut(id, ".")
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "Not found.", "not_found")
	case len(rest) == 0:
		answer(w, map[string]any{"created_at": "2023-01-01T00:00:00Z",
			"updated_at": fmt.Sprint("2023-01-01T00:00:0", len(list), "Z")})
	case len(rest) == 1:
		s.versions(w, r, list)
	default:
		for _, c := range list {
			if c.version != rest[1] {
				continue
			}
			signatures := []map[string]any{}
			for _, text := range c.signatures {
				signatures = append(signatures, map[string]any{"signature": text, "pubkey_fingerprint": "none",
					"signing_service": nil, "pulp_created": "2023"})
			}
			answer(w, map[string]any{"namespace": map[string]any{"name": namespace}, "collection": map[string]any{"name": name},
				"version":      c.version,
				"download_url": s.URL + "/download/" + c.archive, "artifact": map[string]any{"sha256": c.sha256},
				"metadata": map[string]any{"dependencies": c.needs}, "href": r.URL.Path, "signatures": signatures})
			return
		}
		refuse(w, http.StatusNotFound, "Not found.", "not_found")
	}
}

func (s *Server) versions(w http.ResponseWriter, r *http.Request, list []collection) {
	size := s.PageSize
	if size == 0 {
		size = 2
	}
	var from int
	_, _ = fmt.Sscan(r.URL.Query().Get("offset"), &from) // none is the first page
	to := min(from+size, len(list))
	data := []map[string]any{}
	for _, c := range list[min(from, len(list)):to] {
		data = append(data, map[string]any{"version": c.version})
	}
	var next any
	if to < len(list) {
		next = fmt.Sprintf("%s?limit=%d&offset=%d", r.URL.Path, size, to)
	}
	answer(w, map[string]any{"meta": map[string]any{"count": len(list)}, "links": map[string]any{"next": next},
		"data": data})
}

func (s *Server) role(w http.ResponseWriter, r *http.Request, rest []string) {
	q := r.URL.Query()
	results := []any{}
	switch {
	case rest[0] == "roles" && len(rest) == 1:
		if id := q.Get("owner__username") + "." + q.Get("name"); s.roles[id] != nil {
			results = append(results, map[string]any{"id": id, "name": q.Get("name"), "description": "the role " + id,
				"github_branch": "main"})
		}
	case rest[0] == "roles" && len(rest) == 3:
		for _, v := range s.roles[rest[1]] {
			results = append(results, map[string]any{"name": v.version, "download_url": s.URL + "/download/" + v.archive})
		}
	case rest[0] == "search":
		for id := range s.roles {
			if user, name, _ := strings.Cut(id, "."); strings.Contains(name, q.Get("autocomplete")) {
				results = append(results, map[string]any{"username": user, "name": name, "description": "the role " + id})
			}
		}
	default:
		refuse(w, http.StatusNotFound, "Not found.", "not_found")
		return
	}
	answer(w, map[string]any{"count": len(results), "results": results, "next_link": nil})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(asJSON(v)) // the client may have gone
}

func refuse(w http.ResponseWriter, status int, title, code string) {
	w.WriteHeader(status)
	answer(w, map[string]any{"errors": []map[string]any{{"title": title, "code": code, "status": fmt.Sprint(status)}}})
}
