package link

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hark/agent/wire"
)

// A large fleet asks more at once than is remembered: what is still being answered is never taken for a new question.
func TestQuestionsInHandAreNotAnsweredTwice(t *testing.T) {
	s := newAnswers()
	inHand, fresh := s.get("in hand", wire.AskDelegate)
	if !fresh {
		t.Fatal("the first question is no new one")
	}
	for i := range remembered + 10 {
		q, _ := s.get(fmt.Sprint(i), wire.AskVars)
		s.answered(q)
	}
	if q, fresh := s.get("in hand", wire.AskDelegate); fresh || q != inHand {
		t.Error("a question in hand was forgotten")
	}
	if _, fresh := s.get(fmt.Sprint(remembered), wire.AskVars); fresh {
		t.Error("one of the last questions was forgotten")
	}
	if len(s.order) != remembered || len(s.by) != remembered+1 {
		t.Errorf("%d answers are remembered", len(s.order))
	}
}

func TestLargeAnswersAreForgottenSooner(t *testing.T) {
	s := newAnswers()
	piece := make([]byte, rememberedBytes/4)
	for i := range 10 {
		q, _ := s.get(fmt.Sprint(i), wire.AskTree)
		q.frame = piece
		s.answered(q)
	}
	if len(s.order) != 4 || s.held != rememberedBytes {
		t.Errorf("%d answers with %d bytes are remembered", len(s.order), s.held)
	}
}

// What an agent asks beyond its steps and their files is not even looked at: the controller evaluates what needs it.
func TestAgentsAskForNothingButTheirSteps(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	agent := b.agent("web1", w.registry(), op)
	asked := make(chan wire.AskKind, 100)
	c := b.controller(op, "r1", func(_ context.Context, a wire.Ask) wire.Answer {
		asked <- a.Kind
		return wire.Answer{}
	})
	c.begin(steps("0.0", true, "test.t.echo", "a"), "web1")
	c.until(wire.AtGate, 1)
	c.members.mu.Lock()
	mine := c.members.hosts["web1"].peer
	c.members.mu.Unlock()
	put := func(k wire.AskKind) wire.Answer {
		t.Helper()
		frame, err := c.codec.Pack(wire.Header{Kind: wire.KindAsk, Run: "r1", Nonce: wire.NewNonce()}, wire.Ask{Run: "r1", Host: "web1", Kind: k},
			wire.Packing{Key: &mine.hostKey, Seal: wire.SealHost})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := agent.bus.Request(t.Context(), wire.Questions(mine.id, "r1", wire.KindAsk), frame)
		if err != nil {
			t.Fatal(err)
		}
		f, err := wire.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		var out wire.Answer
		if err := f.Body(c.codec, wire.SealHost, wire.Keys{Host: &mine.hostKey}, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, k := range []wire.AskKind{
		wire.AskVars, wire.AskMagic, wire.AskLookup, wire.AskFile, wire.AskTree, wire.AskInclude, wire.AskDelegate, wire.AskPrompt, wire.AskVarsFile,
		wire.AskWhere, wire.AskInventory, wire.AskDebug, wire.AskPlugin, wire.AskAction, wire.AskReset, wire.AskPlace, "", "new",
	} {
		if a := put(k); !strings.HasPrefix(a.Err, "refused: ") {
			t.Errorf("%q is answered: %+v", k, a)
		}
	}
	for _, k := range []wire.AskKind{wire.AskStep, wire.AskOwn, wire.AskPlan, wire.AskBlob, wire.AskUpload} {
		put(k)
		if got := wait(t, asked); got != k {
			t.Errorf("%q reached the answers in place of %q", got, k)
		}
	}
	if len(asked) > 0 {
		t.Errorf("%q got through", <-asked)
	}
}
