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
//   - Item after every item of a loop, skipped ones too, with the item's Outcome. Items of includes and of add_host and
//     group_by that Ansible does not show have none, except failed and skipped ones.
//   - Retry after an attempt of until that did not hold and is followed by another; Outcome.Attempts and Retries are set.
//   - Progress while a job is awaited (async with poll): Outcome.Result is the job's status. Text is "ok" or "failed" in the last one,
//     which is the job's end.
//   - Notified for each handler that the step newly notified, after Done of the step: Text is the handler's name as shown.
//   - Warning for what Ansible prints as [WARNING]; Text is the message.
//   - Done when the step is finished. Name, Outcome and Next are set. If the step was adopted from another host (Advance.Shared),
//     Outcome is that host's without Effects, and Adopted is set.
//   - AtGate when the session waits at a gate that no Done has told of as Next.
//   - Ended once, with Fate, when the session has left the plan.
//
// Done is emitted when it is known where the host goes: Next is the gated step it stands at then, "" if it runs ahead or is
// at the end of the plan. Implicit metas (the flush between sections) and steps of a role that has run already emit
// nothing. Event.Seq is left to the receiver of Emit, which numbers all events of a session.
//
// # Outcomes
//
// Outcome.Result is plain JSON, as Ansible's callbacks get it: with internal keys (_ansible_no_log, _ansible_item_label,
// _ansible_delegated_vars, ...), with invocation, censored already if no_log holds. Outcome.Effects hold what the step did to the variables,
// uncensored: layer "facts" (ansible_facts without prefix), "include" (include_vars), "set" (set_fact, register, ansible_failed_task).
// A loop's Done has Loop set, its Result has results, msg and the like. Rescued says that the host goes to a rescue section.
//
// # Asks of modules
//
// Env.Ask of session modules takes these kinds:
//
//   - "pause": text, seconds (float, 0 waits for the user), echo (bool). Answer: text (the user's input), start, stop (times as text).
//   - "vars_file": name, dir ("vars"), or names. Answer: path, vars (an opaque value to be returned in Facts as it is).
//   - "vars_dir": name and the options of include_vars. Answer: paths, each to be read by "vars_file".
//   - "job": id, mode (status, cleanup, cancel, list). Answer: the job's state with Ansible's keys. Offered to async_status also
//     when it runs for another host.
//   - "shown": text, printed to the user as a line of verbosity "level".
//
// add_host, group_by and set_stats need no ask: their results carry add_host, add_group and ansible_stats, which the controller reads.
// set_fact returns Facts; Data["_ansible_facts_cacheable"] true puts them into the facts layer too. include_vars returns Facts, which go to
// the include layer. The value of a fact that set_fact hands back unchanged keeps its kind (unsafe text, order of a mapping).
package runner
