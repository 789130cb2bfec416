package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
)

// sources are apt's lists of repositories, by file.
type sources struct {
	dir   string // where new files go
	files map[string][]sourceLine
}

// sourceLine is one line of a list.
type sourceLine struct {
	valid, enabled  bool
	source, comment string
	rest            string // what was taken for the source, as it stood
}

func (l sourceLine) String() string {
	text := l.source
	if !l.enabled {
		text = "# " + text
	}
	if l.comment != "" {
		text += " # " + l.comment
	}
	return text + "\n"
}

func parseSource(line string) sourceLine {
	l := sourceLine{enabled: true}
	line = strings.TrimSpace(line)
	if rest, off := strings.CutPrefix(line, "#"); off {
		l.enabled, line = false, rest
	}
	if at := strings.IndexByte(line, '#'); at > 0 {
		line, l.comment = line[:at], strings.TrimSpace(line[at+1:])
	}
	l.rest, l.source = line, strings.TrimSpace(line)
	if words := strings.Fields(l.source); len(words) > 0 && (words[0] == "deb" || words[0] == "deb-src") {
		l.valid, l.source = true, strings.Join(words, " ")
	}
	return l
}

// readSources asks apt where its lists are and reads those of one line a repository.
func readSources(ctx context.Context, env *modules.Env) (*sources, error) {
	lines, err := outputRows(ctx, env, "=", 2, "apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS",
		"Dir::Etc::sourceparts/d")
	if err != nil {
		return nil, err
	}
	s := &sources{files: map[string][]sourceLine{}}
	var paths []string
	for _, f := range lines {
		path := strings.Trim(strings.Join(f[1:], "="), "'")
		if f[0] == "LIST" {
			paths = append(paths, path)
			continue
		}
		s.dir = filepath.Clean(path)
		more, err := filepath.Glob(filepath.Join(s.dir, "*.list"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	if s.dir == "" {
		//lint:ignore ST1005 the words that users see
		return nil, fmt.Errorf("Module apt_repository is not supported on target.")
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the repositories: %w", err)
		}
		for _, line := range modules.Lines(string(raw)) {
			s.files[path] = append(s.files[path], parseSource(line.(string)))
		}
	}
	return s, nil
}

// codename returns the release of the host.
func (s *sources) codename() string {
	raw, _ := os.ReadFile("/etc/os-release")
	for _, line := range strings.Split(string(raw), "\n") {
		if name, ok := strings.CutPrefix(line, "VERSION_CODENAME="); ok {
			return strings.Trim(name, `"`)
		}
	}
	return ""
}

func (s *sources) has(source string) bool {
	for _, lines := range s.files {
		if slices.ContainsFunc(lines, func(l sourceLine) bool { return l.valid && l.enabled && l.source == source }) {
			return true
		}
	}
	return false
}

// dump returns the content of every file that has any.
func (s *sources) dump() map[string]string {
	texts := map[string]string{}
	for file, lines := range s.files {
		var text strings.Builder
		for _, l := range lines {
			text.WriteString(l.String())
		}
		if len(lines) > 0 {
			texts[file] = text.String()
		}
	}
	return texts
}

// add enables the source wherever it is, or adds it to the file, whose path it gives then.
func (s *sources) add(source, file string) string {
	found := false
	for _, lines := range s.files {
		for i := range lines {
			if l := &lines[i]; l.valid && l.source == source {
				l.enabled, found = true, true
			}
		}
	}
	if found {
		return ""
	}
	if !strings.Contains(file, "/") {
		file = filepath.Join(s.dir, file)
	}
	s.files[file] = append(s.files[file], sourceLine{valid: true, enabled: true, source: source})
	return file
}

func (s *sources) remove(source string) {
	for file, lines := range s.files {
		s.files[file] = slices.DeleteFunc(lines, func(l sourceLine) bool {
			return l.valid && l.enabled && l.source == source
		})
	}
}

var (
	sourceOptions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\]]+\]`) })
	sourceScheme  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+://`) })
	notNameLike   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-zA-Z0-9]+`) })
)

// suggestName names a file after the address of a repository, without user and password.
func suggestName(source string) string {
	source = sourceScheme().ReplaceAllString(sourceOptions().ReplaceAllString(source, ""), "")
	for _, word := range strings.Fields(source) {
		if word == "deb" || word == "deb-src" {
			continue
		}
		if _, rest, ok := strings.Cut(word, "@"); ok {
			word = rest
		}
		return strings.Trim(notNameLike().ReplaceAllString(word, "_"), "_")
	}
	return ""
}
