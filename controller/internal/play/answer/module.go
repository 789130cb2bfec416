package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"hark/agent/wire"
	"hark/modules/foreign"
	"hark/playbook/plan"
)

// moduleDir is the directory of an ask for the step's own module.
const moduleDir = foreign.SourceDir

// module names the pack of the step's module, which is not native. A host gets the module of its step and no other.
func (a *Answerer) module(step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if step.Foreign == nil || a.Pack == nil {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s runs no module of the controller", step.ID)}
	}
	raw, err := a.Pack(step)
	if err != nil {
		return wire.Answer{}, err
	}
	sum := sha256.Sum256(raw)
	f := plan.File{Path: step.Action, Size: int64(len(raw)), Digest: hex.EncodeToString(sum[:])}
	a.files.share(f.Digest, &blob{data: raw, hosts: map[string]bool{ask.Host: true}})
	return wire.Answer{File: &wire.Source{File: f}}, nil
}
