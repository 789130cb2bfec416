package enrol_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/trust"
)

// admitted is an operator with such rights.
func (o *office) admitted(name string, rights enrol.Rights) *enrol.Client {
	o.t.Helper()
	id := identity(o.t)
	token, err := o.authority.Admit(enrol.Operator{Key: id.Key, Name: name, Access: rights, By: "anna"})
	if err != nil {
		o.t.Fatal(err)
	}
	return &enrol.Client{Transport: o.bus.Connect(id.ID()), Operator: id, Access: token}
}

// told gives the registrar an advisory of the broker.
func (o *office) told(subject, key, token string) {
	o.t.Helper()
	t, err := wire.ParseToken(token)
	if err != nil {
		o.t.Fatal(err)
	}
	data, err := json.Marshal(map[string]wire.Client{"client": {Key: key, Token: token, Issuer: t.Issuer}})
	if err != nil {
		o.t.Fatal(err)
	}
	if err := o.bus.Connect("server").Publish(subject, data); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) operators() map[string]enrol.Operator {
	o.t.Helper()
	all, err := o.client.Operators(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	byKey := map[string]enrol.Operator{}
	for _, x := range all {
		byKey[x.Key] = x
	}
	return byKey
}

// Who has access is listed with when they were there, also who was admitted before there was a list.
func TestOperatorsAreListed(t *testing.T) {
	o := open(t)
	bela := o.admitted("bela", enrol.MayPlay)
	me := o.operators()[o.client.Operator.Key]
	if me.Access != enrol.MayManage || me.Reader != o.client.Operator.XKey || me.Seen.IsZero() {
		t.Errorf("who asks and was never listed: %+v", me)
	}
	if x := o.operators()[bela.Operator.Key]; x.Name != "bela" || x.Access != enrol.MayPlay || x.By != "anna" ||
		!x.Seen.IsZero() || x.Connected != 0 {
		t.Errorf("who was never there: %+v", x)
	}
	awaitOperator := func(what string, ok func(enrol.Operator) bool) {
		t.Helper()
		for until := time.Now().Add(20 * time.Second); !ok(o.operators()[bela.Operator.Key]); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s: %+v", what, o.operators()[bela.Operator.Key])
			}
		}
	}
	o.told(wire.ConnectSubject, bela.Operator.Key, bela.Access)
	o.told(wire.ConnectSubject, bela.Operator.Key, bela.Access)
	awaitOperator("connected twice", func(x enrol.Operator) bool { return x.Connected == 2 })
	o.told(wire.DisconnectSubject, bela.Operator.Key, bela.Access)
	o.told(wire.DisconnectSubject, bela.Operator.Key, bela.Access)
	awaitOperator("gone", func(x enrol.Operator) bool { return x.Connected == 0 && !x.Seen.IsZero() })
	agent := identity(t)
	token, err := o.authority.Agent(agent.Key)
	if err != nil {
		t.Fatal(err)
	}
	o.told(wire.ConnectSubject, agent.Key, token)
	if n := len(o.operators()); n != 2 {
		t.Errorf("%d operators, agents among them", n)
	}
}

// Only who manages agents expels, nobody expels themselves, agents are no operators; and whoever is expelled has no
// access, no tokens for agents, and cannot ask for anything.
func TestOperatorsAreExpelled(t *testing.T) {
	o := open(t)
	bela, carl := o.admitted("bela", enrol.MayManage), o.admitted("carl", enrol.MayPlay)
	o.now = time.Now() // credentials are void that were issued until then, by the machine's clock
	token, err := bela.MakeToken(t.Context(), enrol.Token{Uses: 3, Approve: true, Expires: o.now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := carl.Expel(t.Context(), "bela"); err == nil ||
		!strings.Contains(err.Error(), "may not let agents in or out") {
		t.Errorf("carl may expel: %v", err)
	}
	for what, want := range map[string]string{
		"nobody": `no operator "nobody" has access`, o.client.Operator.Key: "your own key", "": "no operator",
	} {
		if _, _, err := o.client.Expel(t.Context(), what); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("expel %q: %v", what, err)
		}
	}
	gone, withdrawn, err := o.client.Expel(t.Context(), "bela")
	if err != nil || gone.Key != bela.Operator.Key || withdrawn != 1 || gone.Reader != bela.Operator.XKey {
		t.Fatalf("%+v, %d tokens, %v", gone, withdrawn, err)
	}
	if o.published != 1 {
		t.Errorf("the servers were told %d times", o.published)
	}
	if _, err := bela.Operators(t.Context()); err == nil || !strings.Contains(err.Error(), "no access") {
		t.Errorf("bela is answered: %v", err)
	}
	if out, err := o.join(token, identity(t), "web1"); err == nil && out.JWT != "" {
		t.Error("an agent comes in on bela's word")
	}
	if _, is := o.operators()[bela.Operator.Key]; is {
		t.Error("bela is listed")
	}
	stranger := identity(t).Key // admitted by a version that kept no list, and never seen
	if _, _, err := o.client.Expel(t.Context(), stranger); err != nil {
		t.Error(err)
	}
}

// An operator's process outlives its credentials: they are renewed over its connection, kept in the record of brokers,
// and used by the next process.
func TestOperatorsOutliveTheirCredentials(t *testing.T) {
	data, home := filepath.Join(t.TempDir(), "data"), t.TempDir()
	authority, err := broker.OpenAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	authority.OperatorLife = 3 * time.Second
	url := serveBroker(t, data, authority)
	self, err := trust.Create(filepath.Join(home, "operator.nk"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := authority.Admit(enrol.Operator{Key: self.Key, Access: enrol.MayPlay})
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := trust.OpenBrokers(home)
	if err == nil {
		err = brokers.Put(trust.Access{URL: url, Token: first})
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &fleet.Dialer{
		Home: home, OperatorKey: filepath.Join(home, "operator.nk"), Timeout: 10 * time.Second, Logger: zerolog.Nop,
		Warn: func(string) {}, Say: func(string) {},
	}
	b, err := d.Dial(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	thief := nats.Config{URL: url, ID: self.ID(), Identity: self, JWT: first, Logger: zerolog.Nop()}
	for until := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		tr, err := nats.Dial(t.Context(), thief)
		if err != nil {
			break
		}
		_ = tr.Close()
		if time.Now().After(until) {
			t.Fatal("the first credentials are good for ever")
		}
	}
	for until := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) { // the broker cuts it, and it comes back
		if all, err := b.Registrar().Operators(context.Background()); err == nil && len(all) == 1 &&
			all[0].Key == self.Key {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the process has not outlived its credentials")
		}
	}
	next, err := d.Dial(t.Context(), "")
	if err != nil {
		t.Fatalf("the next process: %v", err)
	}
	_ = next.Close()
}
