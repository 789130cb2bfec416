package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"hark/controller/internal/console/ansihtml"
	"hark/controller/internal/console/auth"
	"hark/controller/internal/ui/view"
)

// page is the data of every page.
type page struct {
	Title    string
	Nav      string // its entry of the menu
	Live     string // address of its live events, "" if it has none
	Refresh  int    // seconds after which a browser without JavaScript reloads, 0 for never
	Query    string // that was searched for
	Warnings []string
	Body     any

	Menu  []entry
	Who   string
	Stamp string
	Foot  string
}

// entry is one of the menu. N is how many things need somebody there, "" for none.
type entry struct{ Name, Path, N string }

// parse reads the templates: each page with the layout, and with the parts that pages share.
func parse() (map[string]*template.Template, error) {
	base, err := template.New("").
		Funcs(template.FuncMap{"when": when, "number": withThousands,
			"drift": func(x driftAt, open bool) openDrift { return openDrift{x, open} }}).ParseFS(files, "pages/layout.html",
		"pages/runhead.html", "pages/dutyhead.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		t, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if pages[strings.TrimSuffix(path.Base(name), ".html")], err = t.ParseFS(files, name); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// stamp returns a digest of the static files.
func stamp() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(files, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		h.Write(text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:6]), err
}

// static serves the files that pages name. A name with the right stamp may be cached for ever.
func (s *Server) static() http.Handler {
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			s.refuse(w, r, http.StatusNotFound, "There is no page at this address.")
			return
		}
		if r.URL.RawQuery == s.stamp {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		serve.ServeHTTP(w, r)
	})
}

// show writes a page, or its data as JSON for programs that accept that and no HTML.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, p page) error {
	return s.showAs(w, r, http.StatusOK, name, p)
}

func (s *Server) showAs(w http.ResponseWriter, r *http.Request, status int, name string, p page) error {
	w.Header().Set("Vary", "Accept, Accept-Encoding")
	if accept := r.Header.Get("Accept"); strings.Contains(accept, "application/json") && !strings.Contains(accept,
		"text/html") {
		return asJSON(w, status, p.Body)
	}
	p.Menu = s.menu(r.Context())
	p.Who, p.Stamp, p.Foot = auth.Who(r.Context()), s.stamp, "hark "+s.Version
	var b bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&b, "layout", p); err != nil {
		return fmt.Errorf("internal error: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	text := ansihtml.Visible(b.String())
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, text) // a client that went away misses nothing
		_ = z.Close()
		return nil
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // as above
	return nil
}

// menu returns the pages that all pages lead to.
func (s *Server) menu(ctx context.Context) []entry {
	n := s.badges(ctx)
	all := []entry{{Name: "Overview", Path: "/"}}
	for _, name := range []string{"Runs", "Hosts", "Duties", "Jobs", "Warnings"} {
		all = append(all, entry{name, "/" + strings.ToLower(name), many(n[name])})
	}
	return all
}

func asJSON(w http.ResponseWriter, status int, body any) error {
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		return fmt.Errorf("internal error: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // as above
	return nil
}

// part renders a part of a page as HTML.
func (s *Server) part(page, name string, data any) (string, error) {
	var b strings.Builder
	if err := s.pages[page].ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("internal error: %w", err)
	}
	return ansihtml.Visible(b.String()), nil
}

// refusal is the page that says why there is none.
type refusal struct {
	Status int    `json:"status"`
	Big    string `json:"error"`
	Text   string `json:"text"`
	Back   string `json:"-"`
}

// refuse writes why there is no page.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	b := refusal{Status: status, Text: text}
	switch status {
	case http.StatusUnauthorized:
		b.Big = "You are not signed in"
	case http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusMethodNotAllowed:
		b.Big = "Refused"
		w.Header().Set("Allow", "GET, HEAD")
	case http.StatusNotFound:
		b.Big, b.Back = "Not found", "/runs"
	default:
		b.Big, b.Back = "This page could not be made", "/runs"
	}
	p := page{Title: b.Big, Body: b}
	if err := s.showAs(w, r, status, "refused", p); err != nil {
		http.Error(w, text, status)
	}
}

// when returns a time as a page without JavaScript shows it: today's without the day.
func when(t time.Time) string {
	now := time.Now().In(t.Location())
	switch {
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04:05")
	case now.Sub(t) < 300*24*time.Hour:
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// withThousands returns a count with its thousands separated.
func withThousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u2009" + text[i:] // a thin space
	}
	return text
}

// brief returns the beginning of a text for a line of a page.
func brief(text string) string {
	const most = 400
	text = view.OneLine(text)
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// took returns a duration in words.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}
