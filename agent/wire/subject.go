package wire

import "strings"

// Subjects of the protocol (PROTOCOL.md section 3). id is an agent's id, see IDOf; run is the id of a run. All are
// single tokens without dots and wildcards.

// Prefix is the first token of every subject.
const Prefix = "hark"

// HostSubject returns the subject on which the agent id receives messages of a kind.
func HostSubject(id string, k Kind) string { return Prefix + ".t.h." + id + "." + string(k) }

// RunSubject returns the subject on which all agents with a session of the run receive messages of a kind.
func RunSubject(run string, k Kind) string { return Prefix + ".t.r." + run + "." + string(k) }

// ToEach returns the subject on which agents receive messages of any kind for all of a run, if its controller publishes
// there (Opening.Each). It is one literal subject: a wildcard subscription costs the broker a look at each subject that
// it caches.
func ToEach(run string) string { return RunSubject(run, "each") }

// ToAll returns the subject on which all agents receive messages of a kind.
func ToAll(k Kind) string { return Prefix + ".t.all." + string(k) }

// Results returns the subject on which an agent publishes results of a run: kind is KindBatch, KindExecDone or KindEnd.
func Results(run, id string, k Kind) string {
	return Prefix + ".r." + run + "." + id + "." + string(k)
}

// ResultsOfRun returns a wildcard for all results of a run.
func ResultsOfRun(run string) string { return Prefix + ".r." + run + ".>" }

// Questions returns the subject of an agent's requests in a run: kind is KindAsk or KindRenew.
func Questions(id, run string, k Kind) string {
	return Prefix + ".q." + id + "." + run + "." + string(k)
}

// QuestionsOfRun returns a wildcard for all requests of a run.
func QuestionsOfRun(run string) string { return Prefix + ".q.*." + run + ".>" }

// Presence returns the subject on which an agent reports that it is there: kind is KindHello, KindBeat or KindBye.
func Presence(id string, k Kind) string { return Prefix + ".e." + id + "." + string(k) }

// PresenceOfAll returns a wildcard for the presence of all agents.
func PresenceOfAll(k Kind) string { return Prefix + ".e.*." + string(k) }

// JoinSubject is where agents ask to be enrolled.
const JoinSubject = Prefix + ".join"

// Credentials returns the subject on which the agent id asks for new credentials.
func Credentials(id string) string { return Prefix + ".c." + id }

// Registrar returns the subject of operators' requests to the registrar.
func Registrar(op string) string { return Prefix + ".b." + op }

// Record returns the subject of a part of a run's record: part is RecordBegin, RecordEnd, RecordNow or a number from 1.
// operator is the id of the operator's key. Each of the three may be the wildcard *.
func Record(operator, run, part string) string {
	return Prefix + ".h." + operator + "." + run + "." + part
}

// The parts of a record that are not numbered. RecordNow says where a running run stands; the next one replaces it.
const (
	RecordBegin = "begin"
	RecordEnd   = "end"
	RecordNow   = "now"
)

// RecordKeys returns the subject of the key of a week's records, closed for each reader.
func RecordKeys(operator, week string) string { return Record(operator, "keys", week) }

// RunStopSubject returns the subject on which the controller of a run receives the wish of its operator to stop it.
func RunStopSubject(operator, run string) string { return Prefix + ".s." + operator + "." + run }

// DutyStateSubject returns the subject of an agent's state under a duty. keeper is the id of its operator's key, agent
// the agent's id or DutyToken. Each may be the wildcard *.
func DutyStateSubject(keeper, duty, agent string) string {
	return Prefix + ".d." + keeper + "." + duty + "." + agent
}

// DutyToken takes the place of an agent in the subject of the duty itself.
const DutyToken = "duty"

// DutyKeysSubject returns the subject of the key of a keeper's week, closed for each reader. No duty's name begins
// with _.
func DutyKeysSubject(keeper, week string) string { return DutyStateSubject(keeper, "_keys", week) }

// KeeperToken takes the place of a duty in the subject of the keeper's report of itself.
const KeeperToken = "_keeper"

// Facts returns the subject of the facts of an agent's host. operator is the id of the operator's key, agent the
// agent's. Each may be the wildcard *.
func Facts(operator, agent string) string { return Prefix + ".f." + operator + "." + agent }

// FactsKeys returns the subject of the key of a week's facts, closed for each reader.
func FactsKeys(operator, week string) string { return Facts(operator, "keys") + "." + week }

// FilePiece returns the subject of piece n of a file for the hosts of a run, see BlobLocation. Each argument may be the
// wildcard *.
func FilePiece(operator, token, n string) string {
	return Prefix + ".x." + operator + "." + token + "." + n
}

// ReadPiece returns the subject of a direct get of a piece at a subject of FilePiece; > is all of them.
func ReadPiece(subject string) string { return "$JS.API.DIRECT.GET." + FilesStream + "." + subject }

// Keeper returns the subject on which a keeper receives operators' requests.
func Keeper(keeper string) string { return Prefix + ".k." + keeper }

// EventSubject returns the subject on which a keeper, or the controller of a run, publishes changes in clear, as
// CloudEvents. operator is the id of the operator's key, kind what it is about (duty, keeper, run), what the change.
// Each may be the wildcard *.
func EventSubject(operator, kind, what string) string {
	return Prefix + ".events." + operator + "." + kind + "." + what
}

// DisconnectSubject is the subject of connections that the broker has lost, if the account imports these advisories of
// the servers.
const DisconnectSubject = Prefix + ".gone"

// ConnectSubject is the subject of connections that the broker has let in, from the same advisories.
const ConnectSubject = Prefix + ".came"

// Inbox returns the prefix of the subjects on which a client receives replies. With one prefix for all, every client
// could read the replies to every other.
func Inbox(id string) string { return "_I." + id }

// OwnReply reports whether a reply subject belongs to the agent id. The broker does not check reply subjects: a
// responder must, or a request could make it publish to any subject.
func OwnReply(reply, id string) bool {
	return strings.HasPrefix(reply, Inbox(id)+".") && !strings.ContainsAny(reply, "*> ")
}

// SubjectID returns the agent's id in a subject of Results, Questions or Presence, "" for any other.
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

// SubjectKind returns the last token of a subject.
func SubjectKind(subject string) Kind {
	return Kind(subject[strings.LastIndexByte(subject, '.')+1:])
}

// Kind is what a message is: the last token of its subject and the kind in its envelope.
type Kind string

// The kinds of messages. To agents:
const (
	KindPlan      Kind = "plan" // Opening
	KindAdvance   Kind = "go"
	KindCancel    Kind = "cancel"
	KindEnd       Kind = "end"
	KindExec      Kind = "exec"
	KindPing      Kind = "ping"  // answered with Alive
	KindTrust     Kind = "trust" // Trust, answered with Trusted
	KindHold      Kind = "hold"  // HoldChange, answered with HoldChanged
	KindClock     Kind = "clock" // the operator's time, in the header; answered with Ack
	KindFleetSize Kind = "fleet" // FleetSize, to all, from the registrar
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

// KindPiece is the kind of a piece of a file, at FilePiece.
const KindPiece Kind = "piece"

// KindFacts is the kind of facts, at Facts; controller/internal/fleet/factcache has the body.
const KindFacts Kind = "facts"

// Of keepers:
const (
	KindDutyState  Kind = "duty_state" // at DutyStateSubject; controller/internal/duties/dutystate has the body
	KindKeeperAsk  Kind = "keep"       // from an operator; the answer is in clear
	KindDefinition Kind = "duty"       // at DutyStateSubject, of the duty itself
	KindReport     Kind = "keeper"     // at DutyStateSubject, of the keeper itself
)

// KindManage is the kind of an operator's request to the registrar.
const KindManage Kind = "manage"

// KindAnswer is the kind of an answer to a request.
const KindAnswer Kind = "answer"
