package wire

import "strings"

// Subjects of the protocol (PROTOCOL.md section 2). id is an agent's id, see IDOf; run is the id of a run.
// All are single tokens: they hold neither dots nor wildcards.

// Prefix is the first token of every subject.
const Prefix = "hark"

// ToHost is where the agent id takes messages of a kind.
func ToHost(id string, k Kind) string { return Prefix + ".t.h." + id + "." + string(k) }

// ToRun is where all agents with a session of the run take messages of a kind.
func ToRun(run string, k Kind) string { return Prefix + ".t.r." + run + "." + string(k) }

// ToEach is where agents take what is sent to all of a run, of whatever kind, if its controller sends it there
// (Opening.Each). It is one literal subject: a subscription with a wildcard costs the broker a look at each subject
// that it has in mind.
func ToEach(run string) string { return ToRun(run, "each") }

// ToAll is where all agents take messages of a kind.
func ToAll(k Kind) string { return Prefix + ".t.all." + string(k) }

// Results is where an agent sends what came of a run: kind is KindBatch or KindExecDone.
func Results(run, id string, k Kind) string {
	return Prefix + ".r." + run + "." + id + "." + string(k)
}

// ResultsOfRun takes all results of a run.
func ResultsOfRun(run string) string { return Prefix + ".r." + run + ".>" }

// Questions is where an agent puts its requests of a run: kind is KindAsk or KindRenew.
func Questions(id, run string, k Kind) string {
	return Prefix + ".q." + id + "." + run + "." + string(k)
}

// QuestionsOfRun takes all requests of a run.
func QuestionsOfRun(run string) string { return Prefix + ".q.*." + run + ".>" }

// Presence is where an agent says that it is there: kind is KindHello, KindBeat or KindBye.
func Presence(id string, k Kind) string { return Prefix + ".e." + id + "." + string(k) }

// PresenceOfAll takes the presence of all agents.
func PresenceOfAll(k Kind) string { return Prefix + ".e.*." + string(k) }

// JoinSubject is where agents ask to be enrolled.
const JoinSubject = Prefix + ".join"

// Credentials is where the agent id asks for new credentials.
func Credentials(id string) string { return Prefix + ".c." + id }

// Registrar is where operators put requests to the one who enrols agents.
func Registrar(op string) string { return Prefix + ".b." + op }

// Record is where a controller puts what is told of a run: part is RecordBegin, RecordEnd, RecordNow or a number from
// 1. operator is the id of the operator's key; with * for one of the three it is the parts of several.
func Record(operator, run, part string) string {
	return Prefix + ".h." + operator + "." + run + "." + part
}

// The parts of a record that are not numbered. RecordNow says where a run stands that is under way, and is replaced
// by the next.
const (
	RecordBegin = "begin"
	RecordEnd   = "end"
	RecordNow   = "now"
)

// RecordKeys is where an operator puts the key of a week's records, closed for each reader.
func RecordKeys(operator, week string) string { return Record(operator, "keys", week) }

// Stops is where the controller of a run takes that its operator wants it stopped.
func Stops(operator, run string) string { return Prefix + ".s." + operator + "." + run }

// Standing is where a keeper puts how an agent stands under a duty. keeper is the id of its operator's key, agent the
// agent's or StandingDuty; with * it is those of several.
func Standing(keeper, duty, agent string) string {
	return Prefix + ".d." + keeper + "." + duty + "." + agent
}

// StandingDuty is in place of an agent where a keeper puts what it says of the duty itself.
const StandingDuty = "duty"

// StandingKeys is where a keeper puts the key of a week's words, closed for each reader. No duty's name begins with _.
func StandingKeys(keeper, week string) string { return Standing(keeper, "_keys", week) }

// StandingSelf is in place of a duty where a keeper puts what it says of itself.
const StandingSelf = "_keeper"

// Facts is where an operator puts what was gathered of an agent's host. operator is the id of his key, agent the
// agent's; with * it is those of several.
func Facts(operator, agent string) string { return Prefix + ".f." + operator + "." + agent }

// FactsKeys is where an operator puts the key of a week's facts, closed for each reader.
func FactsKeys(operator, week string) string { return Facts(operator, "keys") + "." + week }

// FilePiece is where a controller puts a piece of a file for the hosts of a run, see Shelf: n is its number. With *
// for one of the three it is those of several.
func FilePiece(operator, token, n string) string {
	return Prefix + ".x." + operator + "." + token + "." + n
}

// ReadPiece is where the broker is asked for what lies at a subject of FilePiece; > is all of them.
func ReadPiece(subject string) string { return "$JS.API.DIRECT.GET." + FilesStream + "." + subject }

// Keeper is where a keeper takes what operators ask of it.
func Keeper(keeper string) string { return Prefix + ".k." + keeper }

// EventSubject is where a keeper, or the controller of a run, tells in clear that something has changed, as a
// document of CloudEvents. operator is the id of the operator's key, kind what it is about (duty, keeper, run), what
// the change; with * it is those of several.
func EventSubject(operator, kind, what string) string {
	return Prefix + ".events." + operator + "." + kind + "." + what
}

// DisconnectSubject is where a controller hears of connections that the broker has lost, if its account is told (the
// servers' own advisories).
const DisconnectSubject = Prefix + ".gone"

// Inbox is the prefix of the subjects on which a client takes replies. With one prefix for all, every client could
// read the replies to every other.
func Inbox(id string) string { return "_I." + id }

// OwnReply reports whether a reply subject belongs to the agent id. The broker does not check reply subjects: a
// responder must, or a request could make it publish to any subject.
func OwnReply(reply, id string) bool {
	return strings.HasPrefix(reply, Inbox(id)+".") && !strings.ContainsAny(reply, "*> ")
}

// SubjectID is the agent's id in a subject of Results, Questions or Presence, "" if it is none of these.
func SubjectID(subject string) string {
	t := strings.Split(subject, ".")
	if len(t) < 4 || t[0] != Prefix {
		return ""
	}
	switch t[1] {
	case "r":
		return t[3]
	case "q", "e":
		return t[2]
	}
	return ""
}

// SubjectKind is the last token of a subject.
func SubjectKind(subject string) Kind {
	return Kind(subject[strings.LastIndexByte(subject, '.')+1:])
}

// Kind is what a message is: the last token of its subject and the kind in its envelope.
type Kind string

// The kinds of messages. To agents:
const (
	KindPlan    Kind = "plan" // Opening
	KindAdvance Kind = "go"
	KindCancel  Kind = "cancel"
	KindEnd     Kind = "end"
	KindExec    Kind = "exec"
	KindPing    Kind = "ping"  // answered with Alive
	KindTrust   Kind = "trust" // Trust, answered with Trusted
	KindHold    Kind = "hold"  // HoldChange, answered with HoldChanged
	KindClock   Kind = "clock" // the operator's time, in the header; answered with Ack
	KindCrowd   Kind = "crowd" // Crowd, to all, from the registrar
)

// From agents:
const (
	KindBatch    Kind = "res"  // Batch, answered with Acked
	KindExecDone Kind = "done" // ExecDone, answered with Acked
	KindAsk      Kind = "ask"
	KindRenew    Kind = "renew" // Renew, answered with Renewed
	KindHello    Kind = "hello"
	KindBeat     Kind = "hb"
	KindBye      Kind = "bye"
	KindJoin     Kind = "join"   // Join, answered with Joined
	KindRights   Kind = "rights" // Rights, answered with Joined
)

// Of records, which stay at the broker, and to the controller of a run:
const (
	KindRecord Kind = "record"
	KindKeys   Kind = "keys" // RecordKeys
	KindStop   Kind = "stop" // Stop, answered with Ack
)

// KindPiece is at FilePiece; the body is a piece of a file.
const KindPiece Kind = "piece"

// KindFacts is at Facts; the body is of controller/internal/fleet/factcache.
const KindFacts Kind = "facts"

// Of keepers:
const (
	KindStanding   Kind = "standing" // at Standing; the body is of controller/internal/duties/dutystate
	KindKeeperAsk  Kind = "keep"     // an operator's, answered in clear
	KindDefinition Kind = "duty"     // at Standing, of the duty itself
	KindReport     Kind = "keeper"   // at StandingReport
)

// KindManage is the kind of an operator's request to the registrar.
const KindManage Kind = "manage"

// KindAnswer is the kind of what a request is answered with.
const KindAnswer Kind = "answer"
