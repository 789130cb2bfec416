package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hark/controller/internal/enrol"
)

// standing says of an agent that is not connected, by the registrar's book, why it cannot be, and what to do about it; "" if it may connect.
func standing(x enrol.Agent, now time.Time) string {
	switch {
	case x.State == enrol.Pending:
		return fmt.Sprintf("waits for approval since %s: `hark agents approve %s`", x.At.Local().Format(time.DateTime), x.Name)
	case x.State == enrol.Revoked:
		return fmt.Sprintf("was revoked on %s by %s: `hark agents approve %s` lets it in again", x.At.Local().Format(time.DateTime), x.By, x.Name)
	case x.Expired(now):
		return fmt.Sprintf("was away until its credentials expired on %s: enrol it again, with `hark bootstrap` or `hark-agent join`", x.Expires.Local().Format(time.DateTime))
	}
	return ""
}

// standings asks the registrar once how it stands with agents that are not connected.
func (b *brokerLink) standings() func(ctx context.Context, name, key string) string {
	var once sync.Once
	var book []enrol.Agent
	return func(ctx context.Context, name, key string) string {
		once.Do(func() { book, _ = b.enrolled(ctx) }) // without the book there is nothing to say
		i := slices.IndexFunc(book, func(x enrol.Agent) bool { return key != "" && x.Key == key || key == "" && x.Name == name })
		if i < 0 {
			return ""
		}
		return standing(book[i], time.Now())
	}
}
