// Package runner is one host walking its plan: blocks, rescue and always, conditions, loops, retries, handlers and
// includes, with the meaning that Ansible gives them. It owns the host's variables for the time of a play and renders
// every template of it. It knows no transport, no outbox and no workers: what it needs of the world are the funcs
// of Config.
//
// # Events
//
// A session emits, for every step in the order in which it does them:
//
//   - Started before the step, or the first item of its loop, executes. Skipped steps, includes and metas have none.
//     Name is the rendered name.
//   - Item after every item of a loop, skipped ones too, with the item's Outcome. Ansible does not show the items of
//     includes that were not skipped and did not fail.
//   - Retry after an attempt of until that did not hold and is followed by another; Outcome.Attempts and Retries are
//     set.
//   - Progress when a job is awaited from then on (async with poll), with Every, and at its end, when Text is "ok" or
//     "failed".
//     Outcome.Result is the job's status. Nothing is told in between.
//   - Output while a command runs, if Start.Follow wants it: lines of its stdout or stderr, as many as the rate allows.
//   - Notified for each handler that the step newly notified, before its Done: Text is the handler's name as shown.
//   - Broken when the run cannot go on for anybody: a handler that does not exist was notified, an included file
//     cannot be
//     parsed, a meta's condition cannot be judged. Text is Ansible's error; Ended follows.
//   - Warning for what Ansible prints as [WARNING]; Text is the message.
//   - Done when the step is finished. Name, Outcome and Next are set. If the step was adopted from another host
//     (Advance.Shared),
//     Outcome is that host's without Effects, and Adopted is set.
//   - AtGate when the session waits at a gate that no Done has named as Next.
//   - Ended once, with Fate, when the session has left the plan.
//
// Done is emitted when it is known where the host goes: Next is the gated step it stands at then, "" if it runs ahead
// or is at the end of the plan. Implicit metas (the flush between sections) and steps of a role that has run already
// emit nothing. Event.Seq is left to the receiver of Emit, which numbers all events of a session.
//
// # Outcomes
//
// Outcome.Result is plain JSON, as Ansible's callbacks get it: with the marks of package result as keys, with
// invocation, censored already if no_log holds. Outcome.Effects hold what the step did to the variables, uncensored:
// layer "facts" (ansible_facts without prefix), "include" (include_vars), "set" (set_fact, register,
// ansible_failed_task). A loop's Done has Loop set, its Result has results, msg and the like. Rescued says that the
// host goes to a rescue section.
//
// FailAll says that the step has any_errors_fatal or run_once and failed or was unreachable, and that this was not
// ignored; whether that fails the other hosts is for the controller to judge, which knows where they stand.
//
// A meta's Outcome has Meta set to its action and Status ok or skipped; Ansible counts neither. An include's Done has
// Included; each file of include_tasks counts as one ok, include_role as none. An include that the controller could
// not serve fails with reason (and no msg): for include_tasks Ansible shows that as failed and counts a failure even
// if a rescue follows; for include_role it prints the reason as an error, each text once, and counts nothing.
//
// # Asks
//
// Beside what wire says of them: AskMagic of "inventory" wants {inventory, magic}: the host's own layers anew, after
// add_host, group_by or refresh_inventory. AskMagic of template_vars names a template file in Names[1], and how it
// was written in Names[2]. AskVars without Names wants all variables. AskVars that names localhost, which the
// inventory need not have, may come back empty. An upload with Stat is answered with the sha1 of the file in Value.
//
// set_stats needs no ask: its result carries ansible_stats, which the controller reads. set_fact returns Facts;
// Marks.Cacheable puts them into the facts layer too. include_vars returns Facts, which go to the include layer. The
// value of a fact that set_fact hands back unchanged keeps its kind (unsafe text, order of a mapping).
package runner
