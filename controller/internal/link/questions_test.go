package link

import (
	"context"
	"fmt"
	"testing"

	"hark/agent/wire"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
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

// What ssh is told on the controller's machine comes from sessions there alone.
func TestAgentsDoNotSayHowHostsAreReached(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	asked := make(chan wire.Call, 1)
	c := b.controller(op, "r1", func(_ context.Context, a wire.Ask) wire.Answer {
		if a.Kind == wire.AskDelegate {
			asked <- *a.Call
		}
		return wire.Answer{Result: []byte("{}")}
	})
	p := steps("0.0", false, "test.t.echo", "a")
	p.Blocks[0].Body[0].Step.DelegateTo = plan.Lit(value.Str("web2"))
	p.Blocks[0].Body[0].Step.Port = plan.Lit(value.Int(22))
	s := start(t, "r1", "web1", p)
	s.Reach = []string{"ansible_port"}
	if err := c.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if call := wait(t, asked); call.Module != "test.t.echo" || call.Reach != nil {
		t.Errorf("%+v", call)
	}
}
