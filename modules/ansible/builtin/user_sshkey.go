package builtin

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/accounts"
	"hark/modules/internal/fsx"
	"hark/modules/py/value"
)

// sshKey makes a key if there is none and sets the one that is there in res. A result means that the task failed.
func (u *account) sshKey(p *accounts.Passwd, res *modules.Result) (*modules.Result, error) {
	file, problem := u.keyFile(p)
	if problem != "" {
		return u.keyFailure(problem)
	}
	made, problem, err := u.makeKey(p, file)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		return u.keyFailure(problem)
	}
	res.Changed = res.Changed || made
	out, err := u.Env.Exec(u.Ctx, modules.Command{Argv: []string{"ssh-keygen", "-l", "-f", file}})
	if err != nil {
		return nil, err
	}
	res.Data.Put("ssh_fingerprint", strings.TrimSpace(string(out.Stdout)))
	if out.Rc != 0 {
		res.Data.Put("ssh_fingerprint", strings.TrimSpace(string(out.Stderr)))
	}
	res.Data.Put("ssh_key_file", file)
	res.Data.Put("ssh_public_key", nil)
	if public, err := os.ReadFile(file + ".pub"); err == nil {
		res.Data.Put("ssh_public_key", strings.TrimSpace(string(public)))
	}
	return nil, nil
}

func (u *account) keyFailure(why string) (*modules.Result, error) {
	return &modules.Result{Failed: true, Msg: why, Data: value.DictOf("name", u.args.Name, "rc", 1)}, nil
}

func (u *account) keyFile(p *accounts.Passwd) (file, problem string) {
	file = filepath.Join(".ssh", "id_"+u.args.KeyType)
	if u.args.KeyFile != nil {
		file = *u.args.KeyFile
	}
	if filepath.IsAbs(file) {
		return file, ""
	}
	if !fsx.IsDir(p.Home) && !u.Env.Check {
		return "", "User " + u.args.Name + " home directory does not exist"
	}
	return filepath.Join(p.Home, file), ""
}

// makeKey runs ssh-keygen unless a key is there; what stands in the way is a problem's text.
func (u *account) makeKey(p *accounts.Passwd, file string) (made bool, problem string, err error) {
	dir := filepath.Dir(file)
	if !fsx.IsDir(dir) {
		if u.Env.Check {
			return true, "", nil
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return false, "Failed to create " + dir + ": " + err.Error(), nil
		}
		// The home is the user's, who may put a link in the place of what is made there.
		if err := os.Lchown(dir, p.UID, p.GID); err != nil {
			return false, "Failed to create " + dir + ": " + err.Error(), nil
		}
	}
	for _, kind := range []string{"private", "public"} {
		path := file
		if kind == "public" {
			path += ".pub"
		}
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if !u.args.Force {
			u.Env.Warn(`Found existing ssh key %s file "%s", no force, so skipping ssh-keygen generation`, kind, path)
			return false, "", nil
		}
		u.Env.Warn(`Overwriting existing ssh key %s file "%s"`, kind, path)
		if !u.Env.Check {
			if err := os.Remove(path); err != nil {
				return false, err.Error(), nil
			}
		}
	}
	argv := []string{"ssh-keygen", "-t", u.args.KeyType}
	if u.args.KeyBits > 0 {
		argv = append(argv, "-b", itoa(u.args.KeyBits))
	}
	done, err := u.keygen(append(argv, "-C", u.keyComment(), "-f", file))
	if err != nil || done.Failed() || u.Env.Check {
		if done.Failed() {
			problem = done.Stderr
		}
		return err == nil && !done.Failed(), problem, err
	}
	for _, path := range []string{file, file + ".pub"} {
		if err := os.Lchown(path, p.UID, p.GID); err != nil {
			return false, err.Error(), nil
		}
	}
	return true, "", nil
}

func (u *account) keyComment() string {
	if u.args.KeyComment != nil {
		return *u.args.KeyComment
	}
	host, _ := os.Hostname()
	return "ansible-generated on " + host
}

// keygen runs ssh-keygen. A passphrase goes to it through an askpass program and the environment: arguments
// are for everyone to read.
func (u *account) keygen(argv []string) (*accounts.Ran, error) {
	if u.args.Passphrase == nil {
		return u.Run(append(argv, "-N", "")...)
	}
	if u.Env.Check {
		return &accounts.Ran{}, nil
	}
	dir, err := os.MkdirTemp("", "hark-askpass")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ask := filepath.Join(dir, "ask")
	if err := os.WriteFile(ask, []byte("#!/bin/sh\nprintf '%s\\n' \"$HARK_PASSPHRASE\"\n"), 0o700); err != nil {
		return nil, err
	}
	out, err := u.Env.Exec(u.Ctx, modules.Command{
		Argv: argv, Env: []string{"SSH_ASKPASS=" + ask, "SSH_ASKPASS_REQUIRE=force", "HARK_PASSPHRASE=" + *u.args.Passphrase},
	})
	return &accounts.Ran{Rc: out.Rc, Stdout: string(out.Stdout), Stderr: string(out.Stderr)}, err
}
