package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// until with async_status waits for the end of the job, not for the next attempt: on this host, and on the one that
// the task is delegated to.
func TestAttemptsFollowTheEndOfTheJob(t *testing.T) {
	over := make(chan struct{})
	close(over)
	for name, keywords := range map[string]string{"here": "", "elsewhere": "    delegate_to: h2\n"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			looks := 0
			look := func() int {
				looks++
				return looks - 1
			}
			cfg := Config{Own: true,
				Modules: testModules(), Emit: func(wire.Event) {},
				Sleep: func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
				Jobs: Jobs{
					Status: func(context.Context, modules.JobQuery) (*value.Dict, error) {
						return value.DictOf("ansible_job_id", "j7", "finished", look()), nil
					},
					Over: func(string) <-chan struct{} { return over },
				},
				Ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
					switch {
					case a.Kind == wire.AskVars:
						return wire.Answer{Vars: map[string]plan.Dict{}}, nil
					case a.Call == nil:
						return wire.Answer{}, errors.New("nobody asks for this")
					case a.Call.Await == "j7" && a.Call.Patience == 600*time.Second:
						return wire.Answer{Result: []byte(`{"over": true}`)}, nil
					}
					return wire.Answer{Result: fmt.Appendf(nil, `{"ansible_job_id": "j7", "finished": %d}`, look())}, nil
				},
			}
			vars := wire.HostVars{Inventory: argsOf("inventory_hostname", "h1")}
			p := planOf(t, "tasks:\n  - async_status: {msg: j7}\n    register: r\n    until: r.finished == 1\n    delay: 600\n"+
				keywords)
			if err := New(cfg).Run(ctx, p, wire.Start{Run: "r", Host: "h1", Vars: vars}); err != nil || looks != 2 {
				t.Errorf("it looked %d times: %v", looks, err)
			}
		})
	}
}

// Where secrets are hidden jobs are called as the playbook has it, on this host and on another one: no agent knows what
// vaults hold.
func TestJobsHaveNoSecretsInTheirNames(t *testing.T) {
	for level, want := range map[plan.Level][]string{
		dialect.SecretsRedacted.Level(): {"run {{ pw }}", "probe"}, plan.Level219: {"run S3CRET", "S3CRET"},
	} {
		for where, host := range map[string]string{"here": "", "elsewhere": "h2"} {
			t.Run(string(level)+" "+where, func(t *testing.T) {
				var got []string
				cfg := Config{Own: true,
					Modules: testModules(), Emit: func(wire.Event) {},
					Jobs: Jobs{Start: func(_ context.Context, inv Invocation) (*value.Dict, error) {
						got = append(got, inv.Call.Task)
						return value.DictOf("started", 1, "finished", 0, "ansible_job_id", "j7"), nil
					}},
					Ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
						if a.Call == nil {
							return wire.Answer{Vars: map[string]plan.Dict{}}, nil
						}
						got = append(got, a.Call.Task)
						return wire.Answer{Result: []byte(`{"started": 1, "finished": 0, "ansible_job_id": "j7"}`)}, nil
					},
				}
				p := planOf(t, "tasks:\n  - {name: 'run {{ pw }}', probe: {}, async: 9, poll: 0}\n"+
					"  - {name: S3CRET, probe: {}, async: 9, poll: 0}\n")
				p.Version, p.Play.Level = plan.VersionOf(level), level
				p.Play.Vars = plan.Dict{Dict: value.DictOf("pw", value.OpenedVault("cipher", "S3CRET", nil))}
				for _, n := range p.Blocks[0].Body {
					n.Step.Sealed = n.Step.Name == "S3CRET"
					if host != "" {
						n.Step.DelegateTo = plan.Expr{V: value.Str(host)}
					}
				}
				vars := wire.HostVars{Inventory: argsOf("inventory_hostname", "h1")}
				err := New(cfg).Run(t.Context(), p, wire.Start{Run: "r", Host: "h1", Vars: vars})
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("the jobs are called %q, want %q (%v)", got, want, err)
				}
			})
		}
	}
}

// Items whose job cannot be started fail one by one, with the reason, as in Ansible; the others are begun and told, and
// all are in the variable.
func TestItemsWhoseJobCannotBeStartedFailOneByOne(t *testing.T) {
	for name, poll := range map[string]string{"not awaited": "0", "awaited": "1"} {
		t.Run(name, func(t *testing.T) {
			var items []string
			var last *wire.Outcome
			tries := 0
			cfg := Config{Own: true, Modules: testModules(),
				Emit: func(e wire.Event) {
					switch {
					case e.Kind == wire.Item:
						items = append(items, string(e.Outcome.Status))
					case e.Kind == wire.Done && e.Step == "1":
						last = e.Outcome
					case e.Kind == wire.Done:
						items = append(items, "then "+string(e.Outcome.Status))
					}
				},
				Jobs: Jobs{
					Start: func(context.Context, Invocation) (*value.Dict, error) {
						if tries++; tries%2 == 0 {
							return nil, &call.NoJobError{Err: errors.New("too many open files")}
						}
						return value.DictOf("failed", 0, "started", 1, "finished", 0, "ansible_job_id", fmt.Sprint("j", tries)),
							nil
					},
					Wait: func(context.Context, string, string) (*value.Dict, error) {
						return value.DictOf("finished", 1, "changed", true), nil
					},
				},
				Ask: func(context.Context, wire.Ask) (wire.Answer, error) {
					return wire.Answer{Vars: map[string]plan.Dict{}}, nil
				},
			}
			p := planOf(t, "tasks:\n  - probe: {}\n    async: 9\n    poll: "+poll+"\n    loop: [1, 2, 3, 4, 5]\n    register: r\n"+
				"    ignore_errors: true\n"+
				"  - probe: {}\n    when: r.results | map(attribute='failed') | list == [false, true, false, true, false] "+
				"and 'too many open files' in r.results[3].msg\n")
			vars := wire.HostVars{Inventory: argsOf("inventory_hostname", "h1")}
			err := New(cfg).Run(t.Context(), p, wire.Start{Run: "r", Host: "h1", Vars: vars})
			want := []string{"changed", "failed", "changed", "failed", "changed", "then ok"}
			if err != nil || !slices.Equal(items, want) || last == nil || last.Status != wire.StatusFailed {
				t.Errorf("%v, want %v; %+v, %v", items, want, last, err)
			}
		})
	}
}
