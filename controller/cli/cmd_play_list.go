package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/controller/internal/ui/view"
	"hark/playbook/compile"
)

// listing is what --syntax-check, --list-hosts, --list-tasks, --list-tags and --list-evaluators print instead of
// running.
type listing struct {
	*run
	hosts, tasks, tags bool
	who                bool // --list-evaluators
	syntaxOnly         bool
}

func (l listing) wanted() bool { return l.hosts || l.tasks || l.tags || l.who || l.syntaxOnly }

// print lists all playbooks, or nothing if one has a play that cannot be.
func (l listing) print(ctx context.Context, names []string, books []*compile.Playbook) error {
	settings := map[*compile.Play]*compile.Settings{}
	for _, b := range books {
		for _, p := range b.Plays {
			s, err := l.Compiler.Settings(ctx, p, compile.World{})
			if err != nil {
				return err
			}
			if settings[p] = s; s.HostsWritten {
				if _, err := l.Inventory.Match(s.Hosts...); err != nil { // it warns of groups that are not there
					return err
				}
			}
		}
	}
	for i, b := range books {
		l.line("\nplaybook: " + names[i])
		if l.syntaxOnly {
			continue
		}
		for n, p := range b.Plays {
			if err := l.play(ctx, n+1, p, settings[p]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l listing) line(text string) { l.display.Print(view.NoColor, text) }

func (l listing) play(ctx context.Context, n int, p *compile.Play, s *compile.Settings) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  play #%d (%s): %s\tTAGS: [%s]", n, strings.Join(s.Hosts, ","), s.Name,
		strings.Join(unique(s.Tags), ","))
	hosts, err := l.Inventory.Match(s.Hosts...)
	if err != nil {
		return err
	}
	if l.hosts {
		fmt.Fprintf(&b, "\n    pattern: %s\n    hosts (%d):", printed(s.Hosts), len(hosts))
		for _, h := range hosts {
			b.WriteString("\n      " + h.Name)
		}
	}
	l.line(b.String())
	if l.tasks || l.tags {
		if err := l.taskList(ctx, p, s); err != nil {
			return err
		}
	}
	if l.who {
		return l.evaluators(ctx, n, p, s, hosts)
	}
	return nil
}

func (l listing) taskList(ctx context.Context, p *compile.Play, s *compile.Settings) error {
	tasks, err := l.Compiler.List(ctx, p, compile.World{})
	if err != nil {
		return err
	}
	var b strings.Builder
	if l.tasks {
		b.WriteString("    tasks:\n")
	}
	all := slices.Clone(s.Tags)
	for _, t := range tasks {
		all = append(all, t.Tags...)
		if l.tasks {
			fmt.Fprintf(&b, "      %s\tTAGS: [%s]\n", t.Name,
				strings.Join(unique(slices.Sorted(slices.Values(append(slices.Clone(s.Tags), t.Tags...)))), ", "))
		}
	}
	if l.tags {
		fmt.Fprintf(&b, "      TASK TAGS: [%s]\n", strings.Join(unique(slices.Sorted(slices.Values(all))), ", "))
	}
	l.line(b.String())
	return nil
}

// unique leaves the first of equal texts.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
