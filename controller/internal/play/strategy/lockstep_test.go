package strategy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/playbook/plan"
)

var update = flag.Bool("update", false, "rewrite the expectations")

// TestLockstep tells the machine what comes of hosts and compares what it decides. A file has scenarios, separated by
// ---: the batch and its plan, what comes, and, indented by a tab, what follows of each.
func TestLockstep(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var again []string
		for _, text := range strings.Split(string(raw), "---\n") {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) {
				s := &scenario{rules: map[plan.ID]Rule{}, c: Config{Gated: true, States: NewHostStates()}}
				got := s.replay(t, text)
				again = append(again, got)
				if diff := cmp.Diff(text, got); diff != "" && !*update {
					t.Errorf("came out differently (-want +got):\n%s", diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(again, "---\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// scenario is a machine and how its steps are let go.
type scenario struct {
	c     Config
	m     *Machine
	rules map[plan.ID]Rule
}

// replay writes a scenario again, with what the machine decides now.
func (s *scenario) replay(t *testing.T, text string) string {
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // the expectation: written anew
		}
		out.WriteString(line + "\n")
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" || s.setting(t, f) {
			continue
		}
		if s.m == nil {
			s.m = New(s.c)
		}
		if f[0] == "over" {
			s.m.Over()
			fmt.Fprintf(&out, "\t%+v\n\tfailed: %s; unreachable: %s\n", s.m.Balance(), names(s.c.Hosts, s.c.States.Failed),
				names(s.c.Hosts, s.c.States.Unreachable))
			continue
		}
		s.event(t, f)
		for _, d := range s.decide() {
			out.WriteString("\t" + d.String() + "\n")
		}
	}
	return out.String()
}

func names(hosts []string, which func(string) bool) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return !which(h) }), " ")
}

// decide is what follows, with an answer to each turn.
func (s *scenario) decide() []Decision {
	all := s.m.Proceed()
	for i := 0; i < len(all); i++ {
		if all[i].Kind == Turn {
			all = append(all, s.m.Answer(s.rules[all[i].Step])...)
		}
	}
	return all
}

// setting reads the lines about the batch: "hosts: a b", "plan: 1 [ 2 rescue 3 always 4 ] 5", "batch: free alone
// tagged max-fail=30", "rule 2: once shares limit=2 passing=a,b abort".
func (s *scenario) setting(t *testing.T, f []string) bool {
	switch {
	case f[0] == "hosts:":
		s.c.Hosts = f[1:]
	case f[0] == "plan:":
		words := f[1:]
		s.c.Blocks = plan.NewIndex(&plan.Plan{Blocks: []plan.Block{block(&words)}})
	case f[0] == "batch:":
		for _, w := range f[1:] {
			key, v, _ := strings.Cut(w, "=")
			n, _ := strconv.ParseFloat(v, 64)
			switch key {
			case "free":
				s.c.Free = true
			case "alone":
				s.c.Gated = false
			case "tagged":
				s.c.Tagged = true
			case "max-fail":
				s.c.MaxFail = &n
			default:
				t.Fatalf("bad batch: %s", w)
			}
		}
	case f[0] == "rule":
		var r Rule
		for _, w := range f[2:] {
			key, v, _ := strings.Cut(w, "=")
			switch key {
			case "once":
				r.Once = true
			case "shares":
				r.Shares = true
			case "limit":
				r.Limit, _ = strconv.Atoi(v)
			case "passing":
				r.Passing = strings.Split(v, ",")
			case "abort":
				r.Abort = true
			default:
				t.Fatalf("bad rule: %s", w)
			}
		}
		s.rules[plan.ID(strings.TrimSuffix(f[1], ":"))] = r
	default:
		return false
	}
	return true
}

// block reads steps up to the end of a block.
func block(words *[]string) plan.Block {
	var b plan.Block
	into := &b.Body
	for len(*words) > 0 {
		w := (*words)[0]
		*words = (*words)[1:]
		switch w {
		case "]":
			return b
		case "[":
			inner := block(words)
			*into = append(*into, plan.Node{Block: &inner})
		case "rescue":
			into = &b.Rescue
		case "always":
			into = &b.Always
		default:
			*into = append(*into, plan.Node{Step: &plan.Step{ID: plan.ID(w), Kind: plan.Task}})
		}
	}
	return b
}

// event reads "HOST,HOST enter | ahead STEP | at STEP | did STEP [WORD...] [next=STEP] | left [failed | unreachable]".
func (s *scenario) event(t *testing.T, f []string) {
	for _, host := range strings.Split(f[0], ",") {
		switch f[1] {
		case "enter":
			s.m.Enter(host)
		case "ahead":
			s.m.Ahead(plan.ID(f[2]))
		case "at":
			s.m.Stand(host, plan.ID(f[2]))
		case "did":
			s.m.Did(done(t, host, f[2:]))
		case "left":
			why := Ended
			if len(f) > 2 {
				why = map[string]HostState{"failed": Failed, "unreachable": Unreachable}[f[2]]
			}
			s.m.Leave(host, why)
		default:
			t.Fatalf("bad event: %v", f)
		}
	}
}

func done(t *testing.T, host string, f []string) Done {
	d := Done{Host: host, Step: plan.ID(f[0])}
	for _, w := range f[1:] {
		key, v, _ := strings.Cut(w, "=")
		switch key {
		case "failed":
			d.Came = Ill
		case "lost":
			d.Came = Lost
		case "cancelled":
			d.Came = Cancelled
		case "rescued":
			d.Rescued = true
		case "fatal":
			d.Fatal = true
		case "excused":
			d.Excused = true
		case "adopted":
			d.Adopted = true
		case "end_play":
			d.Meta = MetaEndPlay
		case "end_batch":
			d.Meta = MetaEndBatch
		case "clear_host_errors":
			d.Meta = MetaClearErrors
		case "next":
			d.Next = plan.ID(v)
		default:
			t.Fatalf("bad outcome: %s", w)
		}
	}
	return d
}
