/*
 * The session protocol of hark (agent/wire/PROTOCOL.md) for the model checker spin. docs/model.md says what it shows,
 * what it leaves out, and which configurations are checked. `make model` checks them.
 *
 * One process takes one action after the other. Between two actions anything may happen that the guards allow.
 *
 * - Messages are never taken from the network: a message that was sent may arrive at any later time, any number of
 *   times, or never. So loss, delay, duplication and reordering are in every action.
 * - A tick is the end of an epoch: what a side put or granted before it is older than `fresh`, on both sides at once.
 * - An action is possible only if it changes something. So no execution goes on for ever, and where nothing is possible
 *   any more (`else`) the run must have ended.
 */
#ifndef C
#define C 1 /* controllers */
#endif
#ifndef H
#define H 2 /* hosts */
#endif
#ifndef S
#define S 3 /* steps of a play */
#endif
#ifndef T
#define T 1 /* plays, each of which opens every host once: turns */
#endif
#ifndef LIVES
#define LIVES 2 /* processes of an agent, one after the other */
#endif
#ifndef KILLS
#define KILLS 0 /* processes of agents that are killed */
#endif
#ifndef CUTS
#define CUTS 0 /* hosts that lose power */
#endif
#ifndef OLD
#define OLD 0 /* hosts whose disk is set back to an older copy when they lose power */
#endif
#ifndef RESTARTS
#define RESTARTS 0 /* agents that hand over to their next process */
#endif
#ifndef TICKS
#define TICKS 1 /* ends of an epoch, beside those that the controller waits for */
#endif
#ifndef LEASES
#define LEASES 0 /* leases that run out though the controller is there */
#endif
#ifndef GIVEUP
#define GIVEUP 0 /* hosts that the controller gives up though they may be there: they could not be heard */
#endif
#ifndef CRASHES
#define CRASHES 0 /* controllers that are killed; a Collector comes after them */
#endif
#ifndef GATED
#define GATED 1 /* linear play; 0 is a free one */
#endif
#ifndef MUT
#define MUT 0 /* the mistake that is made on purpose, see mutations.txt */
#endif

#define X (C * H)
#define HOST(x) ((x) % H)
#define CTL(x) ((x) / H)
#define BIT(n) (1 << (n))

/* Ends of a play, as its event Ended says them. */
#define FINISHED 1
#define UNKNOWN 2 /* interrupted; whether the step in hand was done is not known */
#define NOTBEGUN 3 /* interrupted; the step in hand was not begun */

/* The controller: link.host. Events of a turn: started k is 2k-1, done k is 2k, and Ended comes after the last. */
byte turn[X], life[X], seq[X], missing[X];
bool playing[X], opening[X], over[X];
bool until[X];    /* grants.until is not over */
byte deferred[X]; /* deferredAck: 1 of the question that the session waits for, 2 of an earlier one */
byte heard[X];    /* Advance.Heard: bit k for the Advance that lets step k go */
byte step[C];     /* the last step that was let go */
bool dead[C];     /* the controller was killed */
bool told_end[C]; /* End */
/* What the user was told of the turn. */
bool lost[X];
byte told[X], unknown[X]; /* steps: bit k */
/* The Collector. */
byte kept[X]; /* Config.Keep: the last event on disk */
bool kept_end[X], left[X], left_cut[X];

/* The agent: session, outbox, formerSession. */
#define NONE 0
#define PLAYING 1
#define IDLE 2   /* the play has ended */
#define FORMER 3 /* formerSession */
#define DISK 4   /* a log on the disk of a host whose agent does not run */
byte is[X], a_turn[X], a_life[X], a_seq[X], acked[X], go[X], end[X];
bool wanted[X]; /* isWanted */
bool began[X];  /* the module of the step in hand runs */
bool cut[X];    /* the host was restarted: the end of the log may be lost */
byte put_batch[X], put_renew[X], put_gate[X]; /* 0: none is on its way; 1: put in this epoch; 2: before it */
/* Answers on their way to those questions: 1 goes on, 2 over, 3 a Collector has taken the results. */
byte ans_batch[X], ans_seq[X], ans_renew[X], ans_go[X];
/* hosts */
bool up[H];
byte cur[H];  /* life of the newest process */
byte hand[H]; /* 1: told to stop with runs in hand, 2: the next process is there */
bool keeps[X]; /* the process that has handed over keeps the run */
byte journal[X]; /* nonces of turns */
bool tomb[X];

/* Messages that were sent. Openings: all turns up to turn[x]. */
byte acks[X]; /* lives that acknowledged the opening of this turn */
bool refused[X];
byte b_seq[X * (LIVES + 1)], b_turn[X * (LIVES + 1)], b_end[X * (LIVES + 1)]; /* batches by life */
byte old_seq[X]; /* the last batch of an earlier turn */
byte l_seq[X], l_turn[X], l_life[X], l_end[X]; /* batches of former sessions */
byte r_turn[X], r_life[X]; /* renewal of a former session */
bool r_sent[X], r_taken[X], r_cut[X];
bool pong[X]; /* an answer to a ping: the agent has no such session */

/* What was done on hosts in this turn: bit k. */
byte ran[X], done[X];

byte kills = KILLS, cuts = CUTS, olds = OLD, restarts = RESTARTS, leases = LEASES, ticks = TICKS, giveups = GIVEUP,
	crashes = CRASHES;
byte i; /* of loops; 0 between actions */

#define B(x, l) ((x) * (LIVES + 1) + (l))
#define LIVE(x) (is[x] == PLAYING || is[x] == IDLE)
/* serves: a process of the agent is there that handles messages of the run. */
#define SERVES(x) (up[HOST(x)] && (keeps[x] || hand[HOST(x)] != 1))
/* server is the life of that process. */
#define SERVER(x) (keeps[x] -> a_life[x] : cur[HOST(x)])
#define BOOTS(h) (cur[h] < LIVES)
#define GONE(h) (!up[h] && !BOOTS(h))
#define INHAND(x) (seq[x] / 2 + 1) /* the step of which the controller has not heard that it is done */
#define DOING(x) (a_seq[x] / 2 + 1)

/* MATCHES: members.match says current. */
#if MUT == 3
#define NOTOVER(x) true
#else
#define NOTOVER(x) !over[x]
#endif
#if MUT == 4
#define OWNS(x, l) true
#else
#define OWNS(x, l) (life[x] == 0 || life[x] == (l))
#endif
#define MATCHES(x, t, l) (NOTOVER(x) && (t) == turn[x] && OWNS(x, l))

/* tick ends the epoch of a host and its controller. */
inline tick(x) {
	if :: put_batch[x] == 1 -> put_batch[x] = 2 :: else fi;
	if :: put_renew[x] == 1 -> put_renew[x] = 2 :: else fi;
	if :: put_gate[x] == 1 -> put_gate[x] = 2 :: else fi;
	wanted[x] = 0; until[x] = 0
}

/* report tells the user that a host is unreachable, and of which steps it is not known whether they were done. */
inline report(x) {
	lost[x] = 1;
	if
	:: GATED && INHAND(x) <= step[CTL(x)] -> unknown[x] = unknown[x] | BIT(INHAND(x))
	:: GATED && INHAND(x) > step[CTL(x)]
	:: !GATED -> unknown[x] = unknown[x] | (BIT(S + 1) - BIT(INHAND(x)))
	fi
}

inline loseHost(x) { playing[x] = 0; over[x] = 1; report(x) }

/* drop removes a session and its log. */
inline drop(x) {
	is[x] = NONE; began[x] = 0; wanted[x] = 0; put_batch[x] = 0; put_renew[x] = 0; put_gate[x] = 0; ans_batch[x] = 0;
	ans_renew[x] = 0; ans_seq[x] = 0; ans_go[x] = 0; a_seq[x] = 0; a_turn[x] = 0; a_life[x] = 0; acked[x] = 0; go[x] = 0;
	end[x] = 0; keeps[x] = 0; cut[x] = 0
}

/* accounted: what was done was reported, or reported as unknown. */
#define ACCOUNTED(x) ((ran[x] & ~(told[x] | unknown[x])) == 0)

/* keepBatch is Config.Keep, or Collector.Take: events from the first that was not acknowledged up to n. */
inline keepBatch(x, n, e, alive) {
	if
	:: (MUT != 12 || !alive) && n > kept[x] ->
		if :: alive || kept[x] >= acked[x] || !LIVE(x) && is[x] != FORMER -> kept[x] = n :: else fi;
		if :: e != 0 -> kept_end[x] = 1 :: else fi
	:: else
	fi
}

/* deliver takes events up to n, of which the last ends the play if e says so. */
inline deliver(x, n, e) {
	i = seq[x] + 1;
	do
	:: i > n -> break
	:: i <= n && !(i == n && e != 0) ->
		if
		:: i % 2 == 0 -> assert(ran[x] & BIT(i / 2)); told[x] = told[x] | BIT(i / 2) /* reported done implies done */
		:: else
		fi;
		i++
	:: i == n && e != 0 ->
		playing[x] = 0;
		if
		:: e == FINISHED -> assert(told[x] == BIT(S + 1) - 2)
		:: e == UNKNOWN -> unknown[x] = unknown[x] | BIT((n + 1) / 2); lost[x] = 1
		:: e == NOTBEGUN -> assert(!(ran[x] & BIT((n + 1) / 2))); lost[x] = 1
		fi;
		i++
	od;
	i = 0;
	if :: n > seq[x] -> seq[x] = n :: else fi;
	keepBatch(x, n, e, true)
}

/* ---- the controller ---- */

#if H == 1
#define through(c, t) (!playing[c] && !opening[c])
#else
/* No host of the controller plays the turn, or they play the next one already. */
#define through(c, t) ((turn[c * H] > t || !playing[c * H] && !opening[c * H]) && \
	(turn[c * H + 1] > t || !playing[c * H + 1] && !opening[c * H + 1]))
#endif

/* Open is Hub.Start: a turn of a host. All hosts of a play are opened before any of it is waited for. */
inline Open(x) {
	d_step {
		!dead[CTL(x)] && !told_end[CTL(x)] && turn[x] < T && !opening[x] && !playing[x] &&
			(turn[x] == 0 || through(CTL(x), turn[x])) ->
		assert(turn[x] == 0 || ACCOUNTED(x));
		turn[x]++; life[x] = 0; seq[x] = 0; missing[x] = 0; playing[x] = 1; opening[x] = 1; over[x] = 0; deferred[x] = 0;
		heard[x] = 0; lost[x] = 0; told[x] = 0; unknown[x] = 0; kept[x] = 0; kept_end[x] = 0; acks[x] = 0; refused[x] = 0;
		ran[x] = 0; done[x] = 0; step[CTL(x)] = (GATED -> 1 : S);
		printf("@ open %d\n", x)
	}
}
/* Acked: the opening is acknowledged by a life, alone. */
inline Acked(x, l) {
	d_step {
		!dead[CTL(x)] && opening[x] && (acks[x] & BIT(l)) ->
		opening[x] = 0;
		if :: life[x] == 0 -> life[x] = l :: else fi;
		printf("@ acked %d\n", x)
	}
}

/* Refused: the agent says that it was opened before. */
inline Refused(x) {
	d_step {
		!dead[CTL(x)] && opening[x] && refused[x] -> opening[x] = 0;
		if :: playing[x] -> loseHost(x) :: else -> over[x] = 1 fi;
		printf("@ refused %d\n", x)
	}
}

/* OpenFails: no acknowledgement came. A session that was heard of has begun. */
inline OpenFails(x) {
	d_step {
		!dead[CTL(x)] && opening[x] && (GONE(HOST(x)) || giveups > 0) ->
		if :: GONE(HOST(x)) :: else -> giveups-- fi;
		opening[x] = 0;
		if
		:: life[x] != 0 && !over[x]
		:: else -> if :: playing[x] -> loseHost(x) :: else -> over[x] = 1 fi
		fi;
		printf("@ openfails %d\n", x)
	}
}

/* NobodyListens: nobody listens on the agent's subject. */
inline NobodyListens(x) {
	d_step {
		!dead[CTL(x)] && opening[x] && (GONE(HOST(x)) || giveups > 0) ->
		if :: GONE(HOST(x)) :: else -> giveups-- fi;
		opening[x] = 0; over[x] = 1;
#if MUT != 10
		if :: until[x] -> tick(x) :: else fi;
#endif
		if :: playing[x] -> loseHost(x) :: else fi;
		printf("@ nobody %d\n", x)
	}
}

/* ASKS: the session waits for the answer to a batch of that life. */
#define ASKS(x, l) (LIVE(x) && a_life[x] == (l) && put_batch[x] != 0 && ans_batch[x] == 0)

/* TakeBatch is takeBatch for a session; later: its answer is deferred. */
inline TakeBatch(x, l, later) {
	d_step {
		!dead[CTL(x)] && b_seq[B(x, l)] > 0 && MATCHES(x, b_turn[B(x, l)], l) &&
			(b_seq[B(x, l)] > seq[x] || ASKS(x, l) && deferred[x] != 1) &&
			(!later || GATED && ASKS(x, l) && b_seq[B(x, l)] > seq[x] && b_end[B(x, l)] == 0 && b_seq[B(x, l)] % 2 == 0) ->
		life[x] = l; until[x] = 1; deferred[x] = 0;
		deliver(x, b_seq[B(x, l)], b_end[B(x, l)]);
		if
		:: ASKS(x, l) && later -> deferred[x] = 1
		:: ASKS(x, l) && !later -> ans_batch[x] = 1; ans_seq[x] = seq[x]
		:: else
		fi;
		printf("@ batch %d %d\n", x, seq[x])
	}
}

/* TakeOld: a batch of an earlier turn, which must not count. */
inline TakeOld(x) {
	d_step {
		MUT == 5 && !dead[CTL(x)] && old_seq[x] > seq[x] && !over[x] && playing[x] -> deliver(x, old_seq[x], 0)
	}
}

/* RefuseBatch answers a batch that does not match with over. */
inline RefuseBatch(x) {
	d_step {
		!dead[CTL(x)] && ASKS(x, a_life[x]) && !MATCHES(x, a_turn[x], a_life[x]) -> ans_batch[x] = 2;
		printf("@ over %d\n", x)
	}
}

/* AnswerAlone: the answer to a batch was deferred for long enough. */
inline AnswerAlone(x) {
	d_step {
		!dead[CTL(x)] && deferred[x] != 0 && ASKS(x, life[x]) ->
		if :: deferred[x] == 1 -> ans_batch[x] = (over[x] -> 2 : 1); ans_seq[x] = seq[x] :: else fi;
		deferred[x] = 0;
		printf("@ alone %d\n", x)
	}
}

/* TakeRenew is takeRenew for a session. */
inline TakeRenew(x) {
	d_step {
		!dead[CTL(x)] && LIVE(x) && put_renew[x] != 0 && ans_renew[x] == 0 ->
		if
		:: MATCHES(x, a_turn[x], a_life[x]) -> life[x] = a_life[x];
#if MUT != 11
			until[x] = 1;
#endif
			ans_renew[x] = 1; ans_go[x] = step[CTL(x)]
		:: else -> ans_renew[x] = 2
		fi;
		printf("@ renew %d\n", x)
	}
}

/* TakeLeft is takeBatch for a former session. */
#define ISLEFT(x, t, l) (!over[x] && (t) == turn[x] && life[x] != (l))
inline TakeLeft(x) {
	d_step {
		!dead[CTL(x)] && l_seq[x] > seq[x] && ISLEFT(x, l_turn[x], l_life[x]) -> deliver(x, l_seq[x], l_end[x]);
		printf("@ left %d %d\n", x, seq[x])
	}
}

/* TakeLeave is takeRenew for a former session, with presenceMonitor.takeLeave. */
#define LEAVES(x) (ISLEFT(x, r_turn[x], r_life[x]) && playing[x] && !opening[x])
inline TakeLeave(x) {
	d_step {
		!dead[CTL(x)] && r_sent[x] && (!r_taken[x] || LEAVES(x)) -> r_taken[x] = 1;
		if :: LEAVES(x) -> loseHost(x) :: else fi;
		printf("@ leave %d\n", x)
	}
}

/* ATGATE: the host stands before step k and has not been let go, or takes no part any more. */
#define ATGATE(x, k) (!playing[x] || !opening[x] && seq[x] == 2 * ((k) - 1))
#if MUT == 13
#define ALLAT(c, k) ATGATE(c * H, k)
#elif H == 1
#define ALLAT(c, k) ATGATE(c, k)
#else
#define ALLAT(c, k) (turn[c * H] == turn[c * H + 1] && ATGATE(c * H, k) && ATGATE(c * H + 1, k))
#endif
#if H == 1
#define SOMEPLAYS(c) playing[c]
#else
#define SOMEPLAYS(c) (playing[c * H] || playing[c * H + 1])
#endif

inline name(x, k) {
	if :: deferred[x] == 1 && playing[x] && !over[x] -> heard[x] = heard[x] | BIT(k); deferred[x] = 0 :: else fi
}

/* Advance is Hub.Advance: it lets the next step go. */
inline Advance(c) {
	d_step {
		GATED && !dead[c] && step[c] > 0 && step[c] < S && SOMEPLAYS(c) && ALLAT(c, step[c] + 1) -> step[c]++;
		name(c * H, step[c]);
#if H > 1
		name(c * H + 1, step[c]);
#endif
		printf("@ advance %d\n", c)
	}
}

/* GiveUp is presenceMonitor.lose: its agent has gone away. The host is reported by Settle. */
inline GiveUp(x) {
	d_step {
		!dead[CTL(x)] && playing[x] && !opening[x] && !over[x] && (GONE(HOST(x)) || giveups > 0) ->
		if :: GONE(HOST(x)) :: else -> giveups-- fi;
		over[x] = 1;
		printf("@ giveup %d\n", x)
	}
}

/* Settle: nothing can begin any more on a host that was given up. It is reported. */
inline Settle(x) {
	d_step {
		!dead[CTL(x)] && playing[x] && over[x] ->
#if MUT != 2
		if :: until[x] -> tick(x) :: else fi;
#endif
		loseHost(x);
		printf("@ settle %d\n", x)
	}
}

#define HAS(x) (LIVE(x) && a_life[x] == life[x] && a_turn[x] == turn[x])

/* Pong: the agent answers a ping, and does not have the session. */
inline Pong(x) {
	d_step {
		MUT != 14 && !dead[CTL(x)] && playing[x] && !over[x] && !pong[x] && missing[x] < 2 && SERVES(x) && !HAS(x) &&
			(life[x] != 0 || !opening[x]) -> pong[x] = 1;
		printf("@ pong %d\n", x)
	}
}

/* Compare is presenceMonitor.compare. */
inline Compare(x) {
	d_step {
		!dead[CTL(x)] && pong[x] && (MUT == 9 || !opening[x] || !playing[x]) -> pong[x] = 0;
		if
		:: playing[x] && !over[x] -> missing[x]++;
			if :: missing[x] >= (MUT == 9 -> 1 : 2) -> loseHost(x) :: else fi
		:: else
		fi;
		printf("@ compare %d\n", x)
	}
}

/* End is Hub.End. */
#if H == 1
#define ALLTHROUGH(c) (turn[c] == T && !playing[c] && !opening[c])
#else
#define ALLTHROUGH(c) (turn[c * H] == T && turn[c * H + 1] == T && !SOMEPLAYS(c) && !opening[c * H] && \
	!opening[c * H + 1])
#endif
inline End(c) {
	d_step { !dead[c] && !told_end[c] && ALLTHROUGH(c) -> told_end[c] = 1; printf("@ end %d\n", c) }
}

/* Crash kills the controller. */
inline Crash(c) {
	d_step { !dead[c] && !told_end[c] && crashes > 0 && step[c] > 0 -> dead[c] = 1; crashes--; printf("@ crash %d\n", c) }
}

/* ---- the Collector ---- */

inline CollectBatch(x, l) {
	d_step {
		/* Acked.Collected: nothing may begin on this answer. */
		dead[CTL(x)] && b_turn[B(x, l)] == turn[x] && (b_seq[B(x, l)] > kept[x] || ASKS(x, l)) ->
		keepBatch(x, b_seq[B(x, l)], b_end[B(x, l)], false);
		if :: ASKS(x, l) -> ans_batch[x] = (MUT == 19 -> 1 : 3); ans_seq[x] = b_seq[B(x, l)] :: else fi;
		printf("@ collect %d\n", x)
	}
}

inline CollectLeft(x) {
	d_step {
		dead[CTL(x)] && l_seq[x] > kept[x] && l_turn[x] == turn[x] -> keepBatch(x, l_seq[x], l_end[x], false);
		printf("@ collectleft %d\n", x)
	}
}

inline CollectLeave(x) {
	d_step {
		dead[CTL(x)] && r_sent[x] && !left[x] && (r_turn[x] == turn[x] || MUT != 16 && r_cut[x]) ->
		left[x] = 1; left_cut[x] = r_cut[x];
		printf("@ collectleave %d\n", x)
	}
}

/* UNSURE: the record says of a host that what it did last is not known: its play has no end on record. That an agent
   that was started again had the whole log is as good. */
#if MUT == 16
#define UNSURE(x) (left[x] && (left_cut[x] || kept[x] % 2 == 1))
#else
#define UNSURE(x) (left_cut[x] || !kept_end[x] && !(left[x] && kept[x] % 2 == 0))
#endif
#define IN_RECORD(x, k) (!(ran[x] & BIT(k)) || kept[x] >= 2 * (k) || UNSURE(x))

/* CollectEnds: the agent answers that it has no session: the host has told everything. */
inline CollectEnds(x) {
	d_step {
		dead[CTL(x)] && turn[x] > 0 && SERVES(x) && !LIVE(x) && is[x] != FORMER && !pong[x] ->
		pong[x] = 1;
		assert(IN_RECORD(x, 1));
#if S > 1
		assert(IN_RECORD(x, 2));
#endif
#if S > 2
		assert(IN_RECORD(x, 3));
#endif
		printf("@ everything %d\n", x)
	}
}

/* ---- the agent ---- */

#if C == 2 && defined(SAME)
/* Two keepers play one slot: the nonces of their openings are the same. */
#define JOURNAL(x) (journal[HOST(x)] | journal[H + HOST(x)])
#else
#define JOURNAL(x) journal[x]
#endif

/* TakeOpening obeys the opening of turn t, or refuses it for a later one. */
inline TakeOpening(x, t) {
	d_step {
		SERVES(x) && t <= turn[x] && !(JOURNAL(x) & BIT(t)) ->
		journal[x] = journal[x] | BIT(t);
		if
		:: tomb[x] || LIVE(x) && t <= a_turn[x] -> if :: t == turn[x] -> refused[x] = 1 :: else fi
		:: else ->
			if
			:: LIVE(x) && a_turn[x] != 0 && b_turn[B(x, a_life[x])] == a_turn[x] -> old_seq[x] = b_seq[B(x, a_life[x])]
			:: else
			fi;
			i = SERVER(x); /* it stays in the process that keeps the run */
			if :: keeps[x] -> drop(x); keeps[x] = 1 :: else -> drop(x) fi;
			is[x] = PLAYING; a_turn[x] = t; a_life[x] = i;
			b_seq[B(x, i)] = 0; b_turn[B(x, i)] = t; b_end[B(x, i)] = 0;
			go[x] = (GATED -> 1 : S);
			if :: t == turn[x] -> acks[x] = acks[x] | BIT(i) :: else fi;
			i = 0
		fi;
		printf("@ takes %d\n", x)
	}
}

/* RefuseAgain: the opening comes again, and the session is no more. */
inline RefuseAgain(x) {
	d_step {
		SERVES(x) && opening[x] && !refused[x] && turn[x] > 0 && (JOURNAL(x) & BIT(turn[x])) &&
			!(LIVE(x) && a_turn[x] == turn[x]) -> refused[x] = 1;
		printf("@ refuses %d\n", x)
	}
}

/* Started emits the event that a step begins. */
inline Started(x) {
	d_step {
		is[x] == PLAYING && a_seq[x] % 2 == 0 && a_seq[x] < 2 * S && go[x] >= DOING(x) -> a_seq[x]++; put_gate[x] = 0
	}
}

/* Begin is mayBegin: the module starts. */
#if MUT == 1
#define MAYBEGIN(x) (wanted[x] || ans_batch[x] == 1)
#elif MUT == 7
#define MAYBEGIN(x) true
#else
#define MAYBEGIN(x) wanted[x]
#endif
inline Begin(x) {
	d_step {
		is[x] == PLAYING && a_seq[x] % 2 == 1 && !began[x] && MAYBEGIN(x) &&
			(!keeps[x] || hand[HOST(x)] == 2) ->
		printf("@ begin %d %d\n", x, DOING(x));
		began[x] = 1;
		assert(a_turn[x] == turn[x] && !lost[x]); /* nothing begins after a host was given up */
		assert(!(ran[x] & BIT(DOING(x)))); /* each task at most once */
#if C == 2 && defined(SAME)
		assert(!(ran[(x + H) % X] & BIT(DOING(x))) || turn[(x + H) % X] != turn[x]);
#endif
#if H == 2
		/* No host begins a step before the others of its batch have done the one before. */
		i = (x % 2 == 0 -> x + 1 : x - 1);
		assert(!GATED || DOING(x) == 1 || !playing[i] || (done[i] & BIT(DOING(x) - 1)));
		i = 0;
#endif
		ran[x] = ran[x] | BIT(DOING(x))
	}
}

/* Finish: the module ends, and its result is written. */
inline Finish(x) {
	d_step {
		is[x] == PLAYING && began[x] -> done[x] = done[x] | BIT(DOING(x)); began[x] = 0; a_seq[x]++
	}
}

inline Ended(x) {
	d_step { is[x] == PLAYING && a_seq[x] == 2 * S -> a_seq[x]++; end[x] = FINISHED; is[x] = IDLE }
}

#define GONEHAND(h) !BOOTS(h)
/* Lease: the lease runs out, or nothing was started after a hand-over; the step in hand is finished first. */
inline Lease(x) {
	d_step {
		is[x] == PLAYING && (!began[x] || MUT == 18) &&
			(dead[CTL(x)] || leases > 0 || hand[HOST(x)] == 1 && GONEHAND(HOST(x))) ->
		if :: dead[CTL(x)] || hand[HOST(x)] == 1 && GONEHAND(HOST(x)) :: else -> leases-- fi;
		a_seq[x]++; end[x] = NOTBEGUN; is[x] = IDLE; began[x] = 0;
		printf("@ lease %d\n", x)
	}
}
/* Send puts a batch: outbox.takeOff. */
inline Send(x) {
	d_step {
		LIVE(x) && a_seq[x] > acked[x] &&
			(put_batch[x] != 1 || b_seq[B(x, a_life[x])] < a_seq[x]) && (put_batch[x] == 0 || ans_batch[x] == 0) ->
		put_batch[x] = 1; ans_batch[x] = 0; ans_seq[x] = 0;
		if :: put_gate[x] == 0 && a_seq[x] % 2 == 0 && end[x] == 0 -> put_gate[x] = 1 :: else fi;
		if :: deferred[x] == 1 -> deferred[x] = 2 :: else fi;
		b_seq[B(x, a_life[x])] = a_seq[x]; b_turn[B(x, a_life[x])] = a_turn[x]; b_end[B(x, a_life[x])] = end[x]
	}
}

/* GotBatch is the answer to a batch. */
inline GotBatch(x) {
	d_step {
		LIVE(x) && ans_batch[x] != 0 ->
		if
		:: ans_batch[x] == 2 -> drop(x)
		:: else ->
			if :: ans_batch[x] == 1 && (put_batch[x] == 1 || MUT == 8) -> wanted[x] = 1 :: else fi;
			if :: ans_seq[x] > acked[x] -> acked[x] = ans_seq[x] :: else fi;
			put_batch[x] = 0; ans_batch[x] = 0; ans_seq[x] = 0
		fi
	}
}

/* Renew asks for a word, or for an Advance that is missing. Those that would change nothing are left out. */
inline Renew(x) {
	d_step {
		LIVE(x) && put_renew[x] != 1 && !(put_renew[x] == 2 && ans_renew[x] != 0) &&
			(is[x] == PLAYING || a_turn[x] != turn[x] || over[x]) &&
			(!wanted[x] || go[x] < step[CTL(x)]) && (!dead[CTL(x)]) ->
		put_renew[x] = 1; ans_renew[x] = 0; ans_go[x] = 0
	}
}

inline GotRenew(x) {
	d_step {
		LIVE(x) && ans_renew[x] != 0 ->
		if
		:: ans_renew[x] == 2 -> drop(x)
		:: else ->
			if :: ans_renew[x] == 1 && (put_renew[x] == 1 || MUT == 8) -> wanted[x] = 1 :: else fi;
			if :: ans_go[x] > go[x] -> go[x] = ans_go[x] :: else fi;
			put_renew[x] = 0; ans_renew[x] = 0; ans_go[x] = 0
		fi
	}
}

/* GotAdvance takes the next Advance, which answers the batch that reported the gate if it names the session. */
inline GotAdvance(x) {
	d_step {
		GATED && is[x] == PLAYING && a_turn[x] == turn[x] && go[x] < step[CTL(x)] -> go[x]++;
		if
		:: (heard[x] & BIT(go[x])) && a_seq[x] == 2 * (go[x] - 1) && put_gate[x] != 0 ->
			if :: put_gate[x] == 1 || MUT == 15 -> wanted[x] = 1 :: else fi;
			acked[x] = a_seq[x]; put_batch[x] = 0; ans_batch[x] = 0; ans_seq[x] = 0
		:: else
		fi;
		printf("@ go %d %d\n", x, go[x])
	}
}

/* TakeEnd drops the session when the run has ended. */
inline TakeEnd(x) {
	d_step {
		told_end[CTL(x)] && SERVES(x) && (LIVE(x) || is[x] == FORMER || !tomb[x]) -> drop(x); tomb[x] = 1;
		printf("@ ends %d\n", x)
	}
}

/* Dead: a session without controller has told all. */
inline Dead(x) {
	d_step { is[x] == IDLE && dead[CTL(x)] && acked[x] == a_seq[x] -> drop(x) }
}

/* SendLeft and SayLeft are formerSession.run. */
inline SendLeft(x) {
	d_step {
		is[x] == FORMER && acked[x] < a_seq[x] &&
			!(l_seq[x] == a_seq[x] && l_turn[x] == a_turn[x] && l_life[x] == a_life[x]) ->
		l_seq[x] = a_seq[x]; l_turn[x] = a_turn[x]; l_life[x] = a_life[x]; l_end[x] = end[x]
	}
}

inline GotLeft(x) {
	d_step {
		is[x] == FORMER && acked[x] < a_seq[x] && l_seq[x] == a_seq[x] && l_turn[x] == a_turn[x] && l_life[x] == a_life[x] &&
			(dead[CTL(x)] && (l_turn[x] != turn[x] || kept[x] >= a_seq[x]) ||
			!dead[CTL(x)] && (!ISLEFT(x, l_turn[x], l_life[x]) || seq[x] >= a_seq[x])) ->
		if
		:: !dead[CTL(x)] && !ISLEFT(x, l_turn[x], l_life[x]) -> drop(x)
		:: else -> acked[x] = a_seq[x]
		fi
	}
}

inline SayLeft(x) {
	d_step {
		is[x] == FORMER && acked[x] == a_seq[x] && !(r_sent[x] && r_turn[x] == a_turn[x] && r_life[x] == a_life[x]) ->
		r_sent[x] = 1; r_taken[x] = 0; r_turn[x] = a_turn[x]; r_life[x] = a_life[x]; r_cut[x] = cut[x]
	}
}

/* SaidLeft: the renewal was answered. */
inline SaidLeft(x) {
	d_step {
		is[x] == FORMER && r_sent[x] && r_turn[x] == a_turn[x] && r_life[x] == a_life[x] &&
			(r_taken[x] || dead[CTL(x)] && (left[x] || r_turn[x] != turn[x])) -> drop(x)
	}
}

/* ---- what may happen to a host ---- */

inline stop(x, off) {
	if
	:: is[x] == PLAYING || is[x] == IDLE || is[x] == FORMER ->
		is[x] = DISK; began[x] = 0; wanted[x] = 0; put_batch[x] = 0; put_renew[x] = 0; put_gate[x] = 0; ans_batch[x] = 0;
		ans_renew[x] = 0; ans_seq[x] = 0; ans_go[x] = 0; go[x] = 0; keeps[x] = 0;
		if :: off -> cut[x] = 1 :: else fi;
		if :: MUT == 6 -> journal[x] = 0 :: else fi
	:: is[x] == DISK && off -> cut[x] = 1
	:: else
	fi
}

#if X == 1
#define STOP(h, off) stop(0, off)
#define OFDISK(h) (is[0] == DISK)
#elif X == 2 && H == 2
#define STOP(h, off) stop(h, off)
#define OFDISK(h) (is[h] == DISK)
#elif X == 2
#define STOP(h, off) stop(0, off); stop(1, off)
#else
#define STOP(h, off) stop(h, off); stop(h + 2, off)
#endif

/* Kill ends every process of an agent. What was written is there. */
inline Kill(h) {
	d_step { up[h] && kills > 0 -> kills--; up[h] = 0; hand[h] = 0; STOP(h, false); printf("@ kill %d\n", h) }
}

/* Cut: the host loses power, and with it the ends of its logs: Tear. */
inline Cut(h) {
	d_step { up[h] && cuts > 0 -> cuts--; up[h] = 0; hand[h] = 0; STOP(h, true); printf("@ cut %d\n", h) }
}

inline Tear(x) {
	d_step {
		!up[HOST(x)] && is[x] == DISK && cut[x] && a_turn[x] > 0 ->
		end[x] = 0;
		if
		:: a_seq[x] > 0 -> a_seq[x]--; if :: acked[x] > a_seq[x] -> acked[x] = a_seq[x] :: else fi
		:: else -> a_turn[x] = 0 /* the line of the plan */
		fi
	}
}

/* SetBack: the disk is an older copy, which knows nothing of the run. */
inline SetBack(x) {
	d_step {
		!up[HOST(x)] && olds > 0 && (is[x] == DISK || journal[x] != 0) -> olds--; journal[x] = 0; drop(x);
		printf("@ setback %d\n", x)
	}
}

inline recover(x) {
	if
	:: is[x] == DISK && end[x] != 0 && acked[x] == a_seq[x] && !cut[x] -> drop(x)
	:: is[x] == DISK && !(end[x] != 0 && acked[x] == a_seq[x] && !cut[x]) -> is[x] = FORMER; a_life[x] = cur[HOST(x)]
	:: else
	fi
}

#if X == 1
#define RECOVER(h) recover(0)
#define KEEPING(h) keeps[0]
#elif X == 2 && H == 2
#define RECOVER(h) recover(h)
#define KEEPING(h) keeps[h]
#elif X == 2
#define RECOVER(h) recover(0); recover(1)
#define KEEPING(h) (keeps[0] || keeps[1])
#else
#define RECOVER(h) recover(h); recover(h + 2)
#define KEEPING(h) (keeps[h] || keeps[h + 2])
#endif

/* Boot starts an agent on what the disk holds. */
inline Boot(h) {
	d_step { !up[h] && BOOTS(h) -> up[h] = 1; cur[h]++; RECOVER(h); printf("@ boot %d\n", h) }
}

inline keep(x) { if :: LIVE(x) -> keeps[x] = 1 :: else fi }
#if X == 1
#define KEEP(h) keep(0)
#define INHANDS(h) LIVE(0)
#elif X == 2 && H == 2
#define KEEP(h) keep(h)
#define INHANDS(h) LIVE(h)
#elif X == 2
#define KEEP(h) keep(0); keep(1)
#define INHANDS(h) (LIVE(0) || LIVE(1))
#else
#define KEEP(h) keep(h); keep(h + 2)
#define INHANDS(h) (LIVE(h) || LIVE(h + 2))
#endif

/* HandOver: the agent is told to stop with runs in hand. Follow: its next process is there. */
inline HandOver(h) {
	d_step {
		up[h] && hand[h] == 0 && restarts > 0 && BOOTS(h) && INHANDS(h) -> restarts--; hand[h] = 1; KEEP(h);
		printf("@ handover %d\n", h)
	}
}

inline Follow(h) {
	d_step {
		up[h] && hand[h] == 1 && BOOTS(h) -> hand[h] = 2; cur[h]++;
#if MUT == 17
		/* it takes over the log of a session that its predecessor plays */
		r_sent[h] = 1; r_turn[h] = a_turn[h]; r_life[h] = cur[h];
#endif
		printf("@ follow %d\n", h)
	}
}

/* PlayedOut: what was kept is over. */
inline PlayedOut(h) {
	d_step { hand[h] != 0 && !KEEPING(h) -> if :: hand[h] == 1 -> up[h] = 0 :: else fi; hand[h] = 0 }
}

/* KillFormer kills the process that has handed over: the next one takes over its logs. */
inline killFormer(x) {
	if :: keeps[x] -> stop(x, false); recover(x) :: else fi
}
#if X == 1
#define KILLFORMER(h) killFormer(0)
#elif X == 2 && H == 2
#define KILLFORMER(h) killFormer(h)
#elif X == 2
#define KILLFORMER(h) killFormer(0); killFormer(1)
#else
#define KILLFORMER(h) killFormer(h); killFormer(h + 2)
#endif
inline KillFormer(h) {
	d_step { up[h] && hand[h] == 2 && kills > 0 -> kills--; KILLFORMER(h); hand[h] = 0; printf("@ killformer %d\n", h) }
}

inline Tick(x) {
	d_step {
		ticks > 0 && (put_batch[x] == 1 || put_renew[x] == 1 || put_gate[x] == 1 || wanted[x] || until[x]) -> ticks--;
		tick(x); printf("@ tick %d\n", x)
	}
}

/* atEnd: nothing can happen any more. Every run has ended, and what was done is told. */
inline atEnd(x) {
	assert(dead[CTL(x)] || turn[x] == T && !playing[x] && !opening[x]); /* every run ends */
	assert(dead[CTL(x)] || ACCOUNTED(x)); /* done implies reported or reported unknown */
	assert(dead[CTL(x)] || is[x] == NONE || GONE(HOST(x))) /* no agent keeps a session */
}

#if X == 1
#define ALLX(F) :: F(0)
#define ALLXL(F, l) :: F(0, l)
#define ALLXLB(F, l, b) :: F(0, l, b)
#elif X == 2
#define ALLX(F) :: F(0) :: F(1)
#define ALLXL(F, l) :: F(0, l) :: F(1, l)
#define ALLXLB(F, l, b) :: F(0, l, b) :: F(1, l, b)
#else
#define ALLX(F) :: F(0) :: F(1) :: F(2) :: F(3)
#define ALLXL(F, l) :: F(0, l) :: F(1, l) :: F(2, l) :: F(3, l)
#define ALLXLB(F, l, b) :: F(0, l, b) :: F(1, l, b) :: F(2, l, b) :: F(3, l, b)
#endif
#if H == 1
#define ALLH(F) :: F(0)
#else
#define ALLH(F) :: F(0) :: F(1)
#endif
#if C == 1
#define ALLC(F) :: F(0)
#else
#define ALLC(F) :: F(0) :: F(1)
#endif

init {
	d_step {
		up[0] = 1; cur[0] = 1;
#if H > 1
		up[1] = 1; cur[1] = 1;
#endif
	}
	do
	ALLX(Open)
	ALLXL(Acked, 1)
	ALLXLB(TakeBatch, 1, false)
	ALLXLB(TakeBatch, 1, true)
#if CRASHES > 0
	ALLXL(CollectBatch, 1)
#endif
#if LIVES > 1
	ALLXL(Acked, 2)
	ALLXLB(TakeBatch, 2, false)
	ALLXLB(TakeBatch, 2, true)
#if CRASHES > 0
	ALLXL(CollectBatch, 2)
#endif
#endif
#if LIVES > 2
	ALLXL(Acked, 3)
	ALLXLB(TakeBatch, 3, false)
	ALLXLB(TakeBatch, 3, true)
#if CRASHES > 0
	ALLXL(CollectBatch, 3)
#endif
#endif
	ALLX(Refused)
	ALLX(OpenFails)
	ALLX(NobodyListens)
	ALLX(TakeOld)
	ALLX(RefuseBatch)
	ALLX(AnswerAlone)
	ALLX(TakeRenew)
	ALLX(TakeLeft)
	ALLX(TakeLeave)
	ALLC(Advance)
	ALLX(GiveUp)
	ALLX(Settle)
	ALLX(Pong)
	ALLX(Compare)
	ALLC(End)
#if CRASHES > 0
	ALLC(Crash)
	ALLX(CollectLeft)
	ALLX(CollectLeave)
	ALLX(CollectEnds)
	ALLX(Dead)
#endif
	ALLXL(TakeOpening, 1)
#if T > 1
	ALLXL(TakeOpening, 2)
#endif
	ALLX(RefuseAgain)
	ALLX(Started)
	ALLX(Begin)
	ALLX(Finish)
	ALLX(Ended)
	ALLX(Lease)
	ALLX(Send)
	ALLX(GotBatch)
	ALLX(Renew)
	ALLX(GotRenew)
	ALLX(GotAdvance)
	ALLX(TakeEnd)
	ALLX(SendLeft)
	ALLX(GotLeft)
	ALLX(SayLeft)
	ALLX(SaidLeft)
	ALLH(Boot)
#if KILLS > 0
	ALLH(Kill)
	ALLH(KillFormer)
#endif
#if CUTS > 0
	ALLH(Cut)
	ALLX(Tear)
#if OLD > 0
	ALLX(SetBack)
#endif
#endif
#if RESTARTS > 0
	ALLH(HandOver)
	ALLH(Follow)
	ALLH(PlayedOut)
#endif
	ALLX(Tick)
	:: else -> break
	od;
	skip;
	d_step {
		printf("@ settled\n");
		atEnd(0);
#if X > 1
		atEnd(1);
#endif
#if X > 2
		atEnd(2); atEnd(3)
#endif
	}
}
