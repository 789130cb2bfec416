package builtin

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/accounts"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

type userArgs struct {
	Name        string    `arg:"name,required,alias=user" doc:"The login name."`
	State       string    `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	UID         *int      `arg:"uid" doc:"Its number."`
	NonUnique   bool      `arg:"non_unique,default=no" doc:"Allow a uid that another user has."`
	Group       *string   `arg:"group" doc:"Its primary group."`
	Groups      *[]string `arg:"groups" doc:"The other groups that it is in."`
	Append      bool      `arg:"append,default=no" doc:"Add groups and take none away."`
	Comment     *string   `arg:"comment" doc:"The GECOS field."`
	Home        *string   `arg:"home,type=path" doc:"Its home directory."`
	Shell       *string   `arg:"shell" doc:"Its login shell."`
	Password    *string   `arg:"password,nolog" doc:"The hashed password."`
	UpdatePass  string    `arg:"update_password,default=always,choices=always|on_create" doc:"When to set the password."`
	Lock        *bool     `arg:"password_lock" doc:"Whether the password is locked."`
	ExpireMax   *int      `arg:"password_expire_max" doc:"Days after which the password must be changed."`
	ExpireMin   *int      `arg:"password_expire_min" doc:"Days before which it cannot be changed."`
	ExpireWarn  *int      `arg:"password_expire_warn,since=2.16" doc:"Days before that in which the user is warned."`
	Inactive    *int      `arg:"password_expire_account_disable,since=2.18" doc:"Days after which an account with such a password is closed; -1 is never."`
	Expires     *float64  `arg:"expires" doc:"When the account ends, in seconds of the epoch; negative is never."`
	LoginClass  *string   `arg:"login_class" doc:"For BSD; nothing here."`
	Hidden      *bool     `arg:"hidden" doc:"For macOS; nothing here."`
	SEUser      *string   `arg:"seuser" doc:"Its SELinux user."`
	Force       bool      `arg:"force,default=no" doc:"Remove although logged in; overwrite SSH keys."`
	Remove      bool      `arg:"remove,default=no" doc:"Remove its files too."`
	CreateHome  bool      `arg:"create_home,default=yes,alias=createhome" doc:"Make the home directory if it is missing."`
	MoveHome    bool      `arg:"move_home,default=no" doc:"Move the files when the home changes."`
	Skeleton    *string   `arg:"skeleton" doc:"Directory to fill a new home from."`
	Umask       *string   `arg:"umask" doc:"Umask for a new home."`
	System      bool      `arg:"system,default=no" doc:"Make it a system account."`
	UIDMin      *int      `arg:"uid_min,since=2.18" doc:"The least number that a new user gets, instead of that in login.defs."`
	UIDMax      *int      `arg:"uid_max,since=2.18" doc:"The greatest number that a new user gets, instead of that in login.defs."`
	Local       *bool     `arg:"local" doc:"Use the tools of libuser, which leave directories alone."`
	GenerateKey *bool     `arg:"generate_ssh_key" doc:"Make an SSH key."`
	KeyBits     int       `arg:"ssh_key_bits,default=0" doc:"Its size; 0 leaves it to ssh-keygen."`
	KeyType     string    `arg:"ssh_key_type,default=rsa" doc:"Its type."`
	KeyFile     *string   `arg:"ssh_key_file,type=path" doc:"Where, below the home if it is relative."`
	KeyComment  *string   `arg:"ssh_key_comment" doc:"Its comment."`
	Passphrase  *string   `arg:"ssh_key_passphrase,nolog" doc:"Its passphrase."`
	Profile     *string   `arg:"profile" doc:"For Solaris; nothing here."`
	Auth        *string   `arg:"authorization" doc:"For Solaris; nothing here."`
	Role        *string   `arg:"role" doc:"For Solaris; nothing here."`
}

// User is ansible.builtin.user.
var User = modules.Define("ansible.builtin.user", "Manages user accounts", runUser,
	modules.Operands("name"),
	modules.StartsInCheck("getent", "ssh-keygen"), modules.Is(modules.ChangesUsers),
	modules.From(dialect.ModuleOptions219, func(s *modules.Spec) { s.Param("shell").Type = "path" }),
	modules.From(dialect.OptionsGone221, func(s *modules.Spec) {
		s.Rules.If = []modules.RequiredIf{{Param: "append", Value: true, Names: []string{"groups"}}}
	}),
	modules.Documented(`- ansible.builtin.user: {name: deploy, uid: 1040, groups: [adm, docker], append: true, shell: /bin/bash}
- ansible.builtin.user: {name: gone, state: absent, remove: true}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The user."},
		modules.Return{Name: "uid", Type: "int", When: "the user is there", Doc: "Its id."},
		modules.Return{Name: "group", Type: "int", When: "the user is there", Doc: "Its primary group."},
		modules.Return{Name: "home", Type: "str", When: "the user is there", Doc: "Its directory."},
		modules.Return{Name: "shell", Type: "str", When: "the user is there", Doc: "Its shell."},
		modules.Return{Name: "ssh_public_key", Type: "str", When: "generate_ssh_key", Doc: "The key."},
	), modules.RunsPrograms)

// account is one user on its way to what was asked for.
type account struct {
	accounts.Database
	args  userArgs
	local bool
}

func runUser(ctx context.Context, env *modules.Env, a userArgs) (modules.Result, error) {
	u := &account{Database: accounts.Database{Ctx: ctx, Env: env}, args: a, local: a.Local != nil && *a.Local}
	if name := u.notForLocal(); name != "" {
		return modules.Fail("'%s' can not be used with 'local'", name)
	}
	if a.Groups == nil && a.Append && !env.Release.Has(dialect.OptionsGone221) {
		env.Warn(
			"'append' is set, but no 'groups' are specified. Use 'groups' for appending new groups.This will change to an " +
				"error in Ansible 2.14.")
	}
	if a.Password != nil && !looksHashed(*a.Password) {
		env.Warn(
			"The input password appears not to have been hashed. The 'password' argument must be encrypted for this module to " +
				"work properly.")
	}
	exists, err := u.exists()
	if err != nil {
		return modules.Result{}, err
	}
	if env.Check && exists != (a.State == "present") {
		return modules.Result{Changed: true}, nil
	}
	if a.State == "absent" {
		return u.remove(exists)
	}
	return u.present(exists)
}

// notForLocal names an argument that the tools of libuser do not have.
func (u *account) notForLocal() string {
	switch {
	case !u.local:
		return ""
	case u.args.Umask != nil:
		return "umask"
	case u.args.UIDMin != nil:
		return "uid_min"
	case u.args.UIDMax != nil:
		return "uid_max"
	}
	return ""
}

func (u *account) exists() (bool, error) {
	if u.local {
		return accounts.InFile(u.Env, accounts.PasswdFile, u.args.Name,
			"'local: true' specified and user '"+u.args.Name+"' was not found in "+accounts.PasswdFile+
				". The local user account may already exist if the local account database exists somewhere other than "+
				accounts.PasswdFile+".")
	}
	p, err := u.User(u.args.Name)
	return p != nil, err
}

func (u *account) remove(exists bool) (modules.Result, error) {
	data := value.DictOf("name", u.args.Name, "state", u.args.State)
	if !exists {
		data.Put("changed", modules.Here)
		return modules.Result{Data: data}, nil
	}
	argv := []string{kin(u.local, "userdel")}
	if u.args.Force && !u.local {
		argv = append(argv, "-f")
	}
	if u.args.Remove {
		argv = append(argv, "-r")
	}
	done, err := u.Run(append(argv, u.args.Name)...)
	if err != nil {
		return modules.Result{}, err
	}
	if done.Failed() {
		return u.failure(done)
	}
	data.Put("force", u.args.Force)
	data.Put("remove", u.args.Remove)
	data.Put("changed", modules.Here)
	done.Outcome(data)
	return modules.Result{Changed: true, Data: data}, nil
}

func (u *account) failure(r *accounts.Ran) (modules.Result, error) {
	return modules.Result{Failed: true, Msg: r.Stderr, Data: value.DictOf("name", u.args.Name, "rc", r.Rc)}, nil
}

func (u *account) present(exists bool) (modules.Result, error) {
	data := value.DictOf("name", u.args.Name, "state", u.args.State)
	var done *accounts.Ran
	var err error
	if exists {
		data.Put("append", u.args.Append)
		data.Put("move_home", u.args.MoveHome)
		done, err = u.modify()
	} else {
		data.Put("system", u.args.System)
		data.Put("create_home", u.args.CreateHome)
		done, err = u.create()
	}
	if err != nil {
		return modules.Result{}, err
	}
	if done.Failed() {
		return u.failure(done)
	}
	if u.args.Password != nil {
		data.Put("password", "NOT_LOGGING_PASSWORD")
	}
	data.Put("changed", modules.Here)
	res := modules.Result{Changed: done.Outcome(data), Data: data}
	return u.finish(res)
}

// finish returns what the user is now and does what the account tools do not: a missing home, an SSH key, the
// ages of the password.
func (u *account) finish(res modules.Result) (modules.Result, error) {
	p, err := u.User(u.args.Name)
	if err != nil || p == nil {
		res.Failed, res.Msg = true, "failed to look up user name: "+u.args.Name
		return res, err
	}
	res.Data.Put("uid", p.UID)
	res.Data.Put("group", p.GID)
	res.Data.Put("comment", p.Gecos)
	res.Data.Put("home", p.Home)
	res.Data.Put("shell", p.Shell)
	if u.args.Groups != nil {
		res.Data.Put("groups", strings.Join(*u.args.Groups, ","))
	}
	home := p.Home
	if u.args.Home != nil {
		home = *u.args.Home
	}
	if _, err := os.Stat(home); err != nil && u.args.CreateHome {
		res.Changed = true
		if !u.Env.Check {
			if err := u.makeHome(home, p); err != nil {
				return modules.Result{}, err
			}
		}
	}
	if u.args.GenerateKey != nil && *u.args.GenerateKey {
		if failed, err := u.sshKey(p, &res); err != nil || failed != nil {
			return orFailure(failed, err)
		}
	}
	done, err := u.passwordAges()
	if err != nil {
		return modules.Result{}, err
	}
	if done.Failed() {
		return u.failure(done)
	}
	res.Changed = res.Changed || done != nil
	return res, nil
}

func orFailure(r *modules.Result, err error) (modules.Result, error) {
	if err != nil || r == nil {
		return modules.Result{}, err
	}
	return *r, nil
}

// passwordAges runs chage when the ages differ; nil means that they are as wanted.
func (u *account) passwordAges() (*accounts.Ran, error) {
	s := accounts.ShadowOf(u.args.Name)
	if s == nil {
		return nil, nil
	}
	argv := []string{"chage"}
	for _, age := range []struct {
		option string
		want   *int
		is     int
	}{{"-m", u.args.ExpireMin, s.Min}, {"-M", u.args.ExpireMax, s.Max}, {"-W", u.args.ExpireWarn, s.Warn}} {
		if age.want != nil && *age.want != age.is {
			argv = append(argv, age.option, itoa(*age.want))
		}
	}
	if len(argv) == 1 {
		return nil, nil
	}
	return u.Run(append(argv, u.args.Name)...)
}

// hashLengths are the sizes of the digest in crypt(3)'s formats: MD5, SHA-256, SHA-512.
var hashLengths = map[string]int{"1": 22, "5": 43, "6": 86}

var notInHash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-zA-Z0-9./=]`) })

// looksHashed reports whether a password may be a hash, or one of the marks that lock an account.
func looksHashed(password string) bool {
	if password == "" || password == "*" || password == "!" || password == "*************" {
		return true
	}
	fields := strings.Split(password, "$")
	if strings.ContainsAny(password, ":*!") || len(fields) < 3 {
		return false
	}
	digest := fields[len(fields)-1]
	want := hashLengths[fields[1]]
	return !notInHash().MatchString(digest) && (want == 0 || len(digest) == want)
}

// makeHome fills a new home from the skeleton and gives it to the user.
func (u *account) makeHome(path string, p *accounts.Passwd) error {
	skeleton := "/etc/skel"
	if u.args.Skeleton != nil {
		skeleton = *u.args.Skeleton
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(skeleton); err == nil && info.IsDir() {
		if err := copyTree(skeleton, path); err != nil {
			return err
		}
	}
	if mask, ok := loginUmask(); ok {
		if err := os.Chmod(path, os.FileMode(0o777&^mask)); err != nil {
			return err
		}
	}
	return filepath.WalkDir(path, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, p.UID, p.GID)
	})
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		dest := filepath.Join(to, rel)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, dest)
		case d.IsDir():
			return os.MkdirAll(dest, info.Mode().Perm())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(dest, text, info.Mode().Perm())
	})
}

var umaskLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^UMASK\s+([0-7]+)$`) })

// loginUmask returns the UMASK of /etc/login.defs.
func loginUmask() (uint32, bool) {
	text, _ := os.ReadFile("/etc/login.defs")
	m := umaskLine().FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	var mask uint32
	for _, digit := range m[1] {
		mask = mask*8 + uint32(digit-'0')
	}
	return mask, true
}

// days converts the seconds of expires to the days that the account files count in.
func days(seconds float64) int { return int(math.Floor(seconds / 86400)) }
