package runner

import (
	"context"
	"fmt"
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// walked is a plan of steps, which a session walks again and again.
func walked(b *testing.B, steps int, change func(s *plan.Step)) {
	p := &plan.Plan{Version: plan.Version, Play: plan.Play{ID: "p"}}
	block := plan.Block{}
	for i := range steps {
		args := value.NewDict()
		args.Set("n", value.SourceText("{{ number }}"))
		s := &plan.Step{
			ID: plan.ID(fmt.Sprint(i + 1)), Kind: plan.Task, Name: "step {{ number }}", Action: "ansible.builtin.probe",
			Written: "probe", Args: plan.Dict{Dict: args},
			When: []plan.Expr{plan.Lit(value.SourceText("number == 1"))}, Evaluator: plan.Agent,
		}
		change(s)
		block.Body = append(block.Body, plan.Node{Step: s})
	}
	p.Blocks = []plan.Block{block}
	vars := value.NewDict()
	vars.Set("number", value.Int(1))
	start := wire.Start{Host: "h1", Play: "p", Vars: wire.HostVars{Inventory: plan.Dict{Dict: vars}}}
	done := 0
	s := New(Config{Modules: testModules(), Engine: templar.NewEngine(), Own: true,
		Emit: func(e wire.Event) {
			if e.Kind == wire.Done {
				done++
			}
		},
		Ask: func(context.Context, wire.Ask) (wire.Answer, error) { return wire.Answer{}, nil },
	})
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Run(context.Background(), p, start); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if done != b.N*steps {
		b.Errorf("%d steps were done in %d walks of %d", done, b.N, steps)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*steps), "µs/step")
}

func BenchmarkTasks(b *testing.B) {
	walked(b, 100, func(s *plan.Step) {
		s.Register, s.ChangedWhen = "out", []plan.Expr{plan.Lit(value.SourceText("out.n == number"))}
	})
}

func BenchmarkSkipped(b *testing.B) {
	walked(b, 100, func(s *plan.Step) { s.When = []plan.Expr{plan.Lit(value.SourceText("number == 2"))} })
}

func BenchmarkLoop(b *testing.B) {
	items := value.NewList()
	for i := range 100 {
		items.Items = append(items.Items, value.Int(i))
	}
	walked(b, 1, func(s *plan.Step) { s.Register, s.Loop = "out", &plan.Loop{Over: plan.Lit(items)} })
}
