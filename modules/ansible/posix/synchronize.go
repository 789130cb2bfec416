package posix

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
	"hark/modules/treesync"
)

type synchronizeArgs struct {
	Src           string   `arg:"src,required" doc:"What is copied; of a directory ending in / what is in it. Relative to the playbook's or role's files on the controller."`
	Dest          string   `arg:"dest,required" doc:"Where it is copied to."`
	DestPort      *int     `arg:"dest_port" doc:"Port of ssh, where rsync goes over it."`
	Delete        bool     `arg:"delete,default=no" doc:"Delete what src does not have, in the end."`
	PrivateKey    *string  `arg:"private_key,type=path" doc:"Key for ssh, where rsync goes over it."`
	RsyncPath     *string  `arg:"rsync_path" doc:"The command that is rsync on the other host."`
	LocalRsync    string   `arg:"_local_rsync_path,hidden,type=path,default=rsync"`
	Password      *string  `arg:"_local_rsync_password,hidden,nolog"`
	Archive       bool     `arg:"archive,default=yes" doc:"Recursive, with links, perms, times, owner and group."`
	Checksum      bool     `arg:"checksum,default=no" doc:"Compare files by their content, and not by size and time."`
	Compress      bool     `arg:"compress,default=yes" doc:"Compress on the way; the agent's stream is in any case."`
	ExistingOnly  bool     `arg:"existing_only,default=no" doc:"Make nothing that is not there."`
	Dirs          bool     `arg:"dirs,default=no" doc:"Make directories without what is in them."`
	Recursive     *bool    `arg:"recursive" doc:"Go down into directories; default as archive."`
	Links         *bool    `arg:"links" doc:"Copy links as links; default as archive."`
	CopyLinks     bool     `arg:"copy_links,default=no" doc:"Copy what links lead to."`
	Perms         *bool    `arg:"perms" doc:"Keep modes; default as archive."`
	Times         *bool    `arg:"times" doc:"Keep modification times; default as archive."`
	Owner         *bool    `arg:"owner" doc:"Keep owners, where root writes; default as archive."`
	Group         *bool    `arg:"group" doc:"Keep groups; default as archive."`
	SetRemoteUser bool     `arg:"set_remote_user,default=yes" doc:"Name the user to ssh, where rsync goes over it."`
	RsyncTimeout  int      `arg:"rsync_timeout,default=0" doc:"Seconds without data until rsync gives up."`
	RsyncOpts     []string `arg:"rsync_opts,default=" doc:"Further options of rsync."`
	SSHArgs       *string  `arg:"ssh_args" doc:"Arguments for ssh, where rsync goes over it."`
	Multiplexing  bool     `arg:"ssh_connection_multiplexing,default=no" doc:"Let ssh share connections."`
	Partial       bool     `arg:"partial,default=no" doc:"Keep what arrived of a file when rsync is interrupted."`
	VerifyHost    bool     `arg:"verify_host,default=no" doc:"Let ssh verify the key of the other host."`
	DelayUpdates  bool     `arg:"delay_updates,default=yes" doc:"Put files in place at the end; honour .rsync-filter files."`
	Mode          string   `arg:"mode,default=push,choices=pull|push" doc:"push: src is on the controller, or where the task is delegated to; pull: dest is."`
	LinkDest      []string `arg:"link_dest" doc:"Directories to whose files hard links are made where they are the same."`
	UseSSHArgs    bool     `arg:"use_ssh_args,extra,default=no" doc:"Give ssh the arguments of the configuration, where rsync goes over it."`
	// Tree is the controller's side as JSON, if the controller and this host are the two sides.
	Tree *string `arg:"hark_tree,hidden"`
	// Place is where the controller takes what is pulled.
	Place string `arg:"hark_place,hidden"`
}

// Synchronize is ansible.posix.synchronize.
var Synchronize = modules.Define("ansible.posix.synchronize", "Copy directories as rsync does", runSynchronize,
	modules.StartsInCheck("rsync"), modules.Is(modules.AsksController|modules.ChangesController),
	modules.WithResolve(resolveSynchronize),
	modules.Documented(`- ansible.posix.synchronize: {src: site/, dest: /srv/www, delete: true, rsync_opts: ["--exclude=.git"]}
- ansible.posix.synchronize: {mode: pull, src: /var/log/app, dest: logs/}
- name: Copy within the host, by rsync
  ansible.posix.synchronize: {src: /srv/app/, dest: /srv/backup}
  delegate_to: "{{ inventory_hostname }}"
`,
		modules.Return{Name: "msg", Type: "str", When: "always", Doc: "What rsync tells of the changes, a line each."},
		modules.Return{Name: "rc", Type: "int", When: "always", Doc: "Exit code of rsync, 0 if all went well."},
		modules.Return{Name: "stdout_lines", Type: "list", When: "success", Doc: "The lines of msg."},
		modules.Return{Name: "cmd", Type: "str", When: "rsync was run", Doc: "The command."},
	), modules.RunsPrograms, modules.Programs("rsync_path", "rsync_opts", "ssh_args"))

// resolveSynchronize decides who the two sides are: rsync does it where both are of one host or speak ssh with each
// other, the agent where they are its host and the controller.
func resolveSynchronize(ctx context.Context, env *modules.Env, args *value.Dict) error {
	src, dest := textOf(args, "src"), textOf(args, "dest")
	if !modules.IsGiven(args, "src") || !modules.IsGiven(args, "dest") {
		return tool.Fail(nil, "synchronize requires both src and dest parameters are set")
	}
	args.Delete(value.Str("use_ssh_args"))
	pull := args.Text("mode") == "pull"
	address, _, err := env.Var(ctx, "ansible_host")
	if err != nil {
		return err
	}
	itself := env.Delegate != "" && (env.Delegate == env.Host || env.Delegate == shown(address))
	switch {
	case env.Delegate == "" && env.Local, itself:
		for name, path := range map[string]string{"src": src, "dest": dest} {
			if path, err = onController(ctx, env, path); err != nil {
				return err
			}
			args.Put(name, path)
		}
		return nil
	case env.Delegate != "":
		return overSSH(ctx, env, args, pull)
	case strings.HasPrefix(src, "rsync://") || strings.HasPrefix(dest, "rsync://"):
		return tool.Fail(nil,
			"synchronize cannot speak with an rsync daemon from the controller: delegate the task to localhost")
	}
	return withController(ctx, env, args, pull)
}

func textOf(args *value.Dict, name string) string { return shown(modules.Argument(args, name)) }

// shown returns a value as text, "" for none.
func shown(v value.Value) string {
	if v == nil || value.IsNone(v) {
		return ""
	}
	return modules.Str(v)
}

// onController returns a path as the controller names it: also where rsync runs on a host, relative paths are the
// controller's, as in Ansible. Addresses and absolute paths stay.
func onController(ctx context.Context, env *modules.Env, path string) (string, error) {
	if strings.Contains(path, ":") || strings.HasPrefix(path, "/") {
		return path, nil
	}
	tree, err := env.Tree(ctx, path, treesync.Query{Place: true})
	if err != nil {
		return "", err
	}
	return tree.Path, nil
}

// overSSH makes the arguments with which rsync on the host that the task is delegated to reaches the task's own.
func overSSH(ctx context.Context, env *modules.Env, args *value.Dict, pull bool) error {
	vars := map[string]string{}
	for _, name := range []string{"ansible_host", "ansible_port", "ansible_user", "ansible_ssh_pass", "ansible_password",
		"ansible_ssh_private_key_file"} {
		v, _, err := env.Var(ctx, name)
		if err != nil {
			return err
		}
		vars[name] = shown(v)
	}
	host := vars["ansible_host"]
	if host == "" {
		host = env.Host
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	user := vars["ansible_user"]
	if set, err := modules.Bool(modules.Argument(args, "set_remote_user")); modules.IsGiven(args, "set_remote_user") &&
		err == nil && !set {
		user = ""
	}
	if user != "" {
		host = user + "@" + host
	}
	near, far := "src", "dest"
	if pull {
		near, far = far, near
	}
	path, err := onController(ctx, env, textOf(args, near))
	if err != nil {
		return err
	}
	args.Put(near, path)
	if path := textOf(args, far); !strings.HasPrefix(path, "rsync://") {
		args.Put(far, host+":"+path)
	}
	set := func(name, v string) {
		if !modules.IsGiven(args, name) && v != "" {
			args.Put(name, v)
		}
	}
	set("dest_port", vars["ansible_port"])
	set("private_key", vars["ansible_ssh_private_key_file"])
	set("_local_rsync_password", vars["ansible_ssh_pass"])
	set("_local_rsync_password", vars["ansible_password"])
	return nil
}

var decodeSynchronize = modules.Decoder[synchronizeArgs](modules.Rules{})

// withController lists the controller's side and gives it to the host. Of the side that is written only what src may
// become is listed.
func withController(ctx context.Context, env *modules.Env, args *value.Dict, pull bool) error {
	a, err := decodeSynchronize("ansible.posix.synchronize", args, modules.Reading{Release: env.Release})
	if err != nil {
		return err
	}
	o, err := a.options()
	if err != nil {
		return err
	}
	name, q := a.Src, treesync.Query{Options: o, Digests: true}
	if pull {
		name, q = strings.TrimRight(a.Dest, "/")+"/", treesync.Query{Options: treesync.Options{Recursive: true},
			Digests: o.Checksum}
		if base := filepath.Base(a.Src); !strings.HasSuffix(a.Src, "/") && base != "." && base != "/" {
			base = quotePattern(base)
			q.Rules = []string{"+ /" + base, "+ /" + base + "/**", "+ /" + quotePattern(filepath.Base(a.Dest)), "- *"}
		}
	}
	tree, err := env.Tree(ctx, name, q)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	args.Put("hark_tree", string(raw))
	if !pull {
		return nil
	}
	place, err := env.Place(ctx, modules.Place{Root: filepath.Clean(tree.Path), Archive: true, Options: o})
	if err == nil {
		args.Put("hark_place", place)
	}
	return err
}

// quotePattern makes a pattern that a name matches and nothing else.
func quotePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

func runSynchronize(ctx context.Context, env *modules.Env, a synchronizeArgs) (modules.Result, error) {
	if a.Tree == nil {
		return (&rsyncRun{ctx: ctx, env: env, args: a}).run()
	}
	var tree treesync.Tree
	if err := json.Unmarshal([]byte(*a.Tree), &tree); err != nil {
		return modules.Result{}, err
	}
	o, err := a.options()
	if err != nil {
		return modules.Result{}, err
	}
	if path := modules.Text(a.RsyncPath); path != "" && path != "rsync" && !(path == "sudo rsync" && os.Geteuid() == 0) {
		return modules.Fail("rsync_path %q has no meaning between the controller and an agent: use become", path)
	}
	if len(a.LinkDest) > 0 {
		return modules.Fail("link_dest cannot be had between the controller and an agent")
	}
	t := &transfer{ctx: ctx, env: env, args: a, options: o, far: &tree}
	if a.Mode == "pull" {
		return t.pull()
	}
	return t.push()
}

// linesOf returns the lines of an output without the empty ones.
func linesOf(out string) []any {
	return slices.DeleteFunc(modules.Lines(out), func(l any) bool { return l == "" })
}
