package compile

import (
	"context"
	"slices"
	"strings"

	"hark/playbook/vars"
)

// reserved are names that keywords or functions of templates have.
const reserved = " action always any_errors_fatal args async async_val become become_exe become_flags become_method become_user block " +
	"changed_when check_mode collections connection cycler debugger delay delegate_facts delegate_to dict diff environment " +
	"fact_path failed_when force_handlers gather_facts gather_subset gather_timeout handlers hosts ignore_errors " +
	"ignore_unreachable joiner lipsum local_action lookup loop loop_control loop_with max_fail_percentage module_defaults " +
	"name namespace no_log notify now order poll port post_tasks pre_tasks q query range register remote_user rescue retries roles " +
	"run_once serial strategy tags tasks throttle timeout undef until vars_files vars_prompt when with_ "

// warnReserved warns of variables of the play that have a reserved name.
func (p *Play) warnReserved(ctx context.Context) {
	names := vars.NewScope(nil, p.shared(), vars.Step{}).Names(ctx)
	slices.Sort(names)
	for _, name := range names {
		if strings.Contains(reserved, " "+name+" ") {
			p.project.warn("Found variable using reserved name: %s", name)
		}
	}
}
