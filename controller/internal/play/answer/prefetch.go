package answer

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/plan"
	"hark/playbook/vault"
)

// maxAhead is the largest file, in bytes, that travels with a plan or is named in it. A larger one is looked at when
// its step comes.
const maxAhead = 1 << 20

// Ahead reads files that steps name for plans, see compile.Config.Attach. Of cfg it uses Setting and Private.
func Ahead(cfg Config) func(path, written string, told bool) (compile.Attachment, bool) {
	a := &Answerer{Config: cfg}
	return func(path, written string, told bool) (compile.Attachment, bool) {
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxAhead || a.Private.holds(path) {
			return compile.Attachment{}, false
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) > maxAhead || vault.IsEncrypted(text[:min(len(text), 64)]) {
			return compile.Attachment{}, false
		}
		f := fileOf(text)
		f.Path, f.Mode = path, uint32(st.Mode().Perm())
		if told {
			about, err := a.aboutTemplate(path, written)
			if err != nil {
				return compile.Attachment{}, false
			}
			f.TemplateVars = plan.Dict{Dict: about}
		}
		return compile.Attachment{File: f, Text: text}, true
	}
}

// AheadModule names the packs of modules that are not native for plans, see compile.Config.AttachModule.
func AheadModule(pack func(s *plan.Step) ([]byte, error)) func(s *plan.Step) (plan.File, bool) {
	return func(s *plan.Step) (plan.File, bool) {
		raw, err := pack(s)
		if err != nil {
			return plan.File{}, false // said when the step is done
		}
		f := fileOf(raw)
		f.Path, f.Inline = s.Action, nil
		return f, true
	}
}

func fileOf(text []byte) plan.File {
	sum, sum1 := sha256.Sum256(text), sha1.Sum(text)
	f := plan.File{Digest: hex.EncodeToString(sum[:]), Sha1: hex.EncodeToString(sum1[:]), Size: int64(len(text))}
	if len(text) <= inlineSize {
		f.Inline = bytes.Clone(text)
	}
	return f
}

// handFiles makes the files that were sent ahead in a fragment available to the hosts of a batch.
func (a *Answerer) handFiles(f *plan.Fragment, b *batch) {
	step := func(s *plan.Step) {
		for _, file := range s.Files {
			if s.Foreign != nil {
				a.handModule(s, b)
			} else {
				a.files.shareAhead(file, b.Hosts)
			}
		}
	}
	plan.Walk(f.Blocks, step)
	for _, h := range f.Handlers {
		step(h.Step)
	}
}

// handModule makes the pack of a step's module available. One that cannot be packed now is said to be missing when it
// is pulled.
func (a *Answerer) handModule(s *plan.Step, b *batch) {
	if a.Pack == nil {
		return
	}
	raw, err := a.Pack(s)
	if err != nil {
		return
	}
	in := &blob{data: raw, hosts: map[string]bool{}}
	for _, h := range b.Hosts {
		in.hosts[h] = true
	}
	a.files.share(fileOf(raw).Digest, in)
}

// aboutTemplate returns what a template may ask of its file.
func (a *Answerer) aboutTemplate(path, written string) (*value.Dict, error) {
	answer, err := a.describe(path, written)
	if err != nil {
		return nil, err
	}
	d, _ := answer.Value.V.(*value.Dict)
	return d, nil
}
