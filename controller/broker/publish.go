package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
)

// publishLimit is how long servers may take to learn of a changed account.
const publishLimit = 10 * time.Second

// Publish tells the servers what hark's account is now: revoked users are cut off. connect opens a connection with
// the given options to any of them.
func Publish(ctx context.Context, a *Authority, connect func(...nats.Option) (*nats.Conn, error)) error {
	key, token, err := a.Account()
	if err != nil {
		return err
	}
	self, err := wire.NewIdentity()
	if err != nil {
		return err
	}
	system, err := a.System(self.Key)
	if err != nil {
		return err
	}
	conn, err := connect(nats.Name("hark registrar"), nats.UserJWT(func() (string, error) { return system, nil },
		self.Sign))
	if err != nil {
		return fmt.Errorf("cannot reach the servers' own account: %w", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, publishLimit)
	defer cancel()
	reply, err := conn.RequestWithContext(ctx, "$SYS.REQ.ACCOUNT."+key+".CLAIMS.UPDATE", []byte(token))
	if err != nil {
		return fmt.Errorf("the servers do not take the changed account: %w", err)
	}
	var answer struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err == nil && answer.Error != nil {
		return fmt.Errorf("the servers do not take the changed account: %s", answer.Error.Description)
	}
	return nil
}
