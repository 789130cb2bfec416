package link

import (
	"fmt"
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
