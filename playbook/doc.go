// Package playbook is the language: YAML in, plans out. It holds no code; its sub-packages do the work. This page is
// the glossary of the terms in code; docs/design.md has those for users.
//
//	controller  one hark process, started by a person or a CI job, gone when the run is over; a keeper stays
//	agent       one hark-agent per host, resident under systemd
//	broker      the NATS server between them
//	run         one hark play or hark run; has an id
//	play, batch as in Ansible; a batch is the hosts of a play that go together (serial)
//	stage       a part of the hosts to which plays come before the others
//	plan        what the compiler makes of one play for one batch: numbered steps, plain data
//	step        a task, include, meta or flush in the plan; has an id and a place in play order
//	fragment    the steps that a dynamic include adds to a plan while it runs
//	session     an agent's side of one run on one host: its variables, its position
//	lockstep    the hosts of a batch go from step to step together; a round is one step that hosts are let go for
//	barrier     a step may not start until all hosts of the batch have come to it
//	advance     the broadcast that lets the hosts at a barrier go
//	evaluator   who evaluates a step: the agent of its host, or the controller
//	guard       conditions of a step of the controller's that its host may judge first
//	handout     the part of a plan and of variables that the agent of one host receives
//	hand over   a host says that it has reached a step, the controller does it
//	ask, answer what a session requests from the controller, and the reply
//	place       where on the controller the uploads of one call go
//	event       what an agent reports of a step: started, item done, done, retry, job progress
//	effect      what a finished step changed in its session's variables
//	mirror      the controller's copy of every host's variables
//	job         a background process supervised by an agent (async)
//	blob        content addressed by its sha256
//	ledger      the records of runs at the broker, sealed, signed and chained
//	reader      a public curve key whose holder may read an operator's records
//	roster      the hosts whose agents are known
//	duty        a play that hosts are held to, with when and how
//	keeper      a resident controller that carries out duties
//	slot, turn  the time in which each host of a duty has one turn: a run of its play
//	duty state  the state of a host under a duty: kept, drifted, mended, failed, absent, held, never
//	drift       what a check would change though nobody changed the duty
//	hold        leave a host alone until a time, with a reason
//	host state  the state of a host in a batch: running, finished, failed, unreachable, ended
package playbook
