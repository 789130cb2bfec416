package builtin

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type yumRepositoryArgs struct {
	Async           *bool       `arg:"async,until=2.22" doc:"Whether packages of it may be fetched at the same time as others."`
	Bandwidth       *string     `arg:"bandwidth" doc:"Most bytes a second."`
	BaseURL         []string    `arg:"baseurl" doc:"Addresses of the repository."`
	Cost            *string     `arg:"cost" doc:"Cost, which orders repositories with the same package."`
	Countme         *bool       `arg:"countme,since=2.18" doc:"Whether the host is counted."`
	DeltaMetadata   *string     `arg:"deltarpm_metadata_percentage,until=2.22" doc:"Most percent of their size that lists of deltas may have."`
	DeltaPercent    *string     `arg:"deltarpm_percentage" doc:"Most percent of its size that a package's delta may have."`
	Description     *string     `arg:"description" doc:"Name of the repository for people; needed unless it is removed."`
	Enabled         *bool       `arg:"enabled" doc:"Whether it is used."`
	EnableGroups    *bool       `arg:"enablegroups" doc:"Whether its groups are used."`
	Exclude         []string    `arg:"exclude" doc:"Packages not to take from it."`
	ExcludePkgs     []string    `arg:"excludepkgs,extra,until=2.19" doc:"The same, by the name that dnf has for it."`
	FailoverMethod  *string     `arg:"failovermethod,choices=roundrobin|priority" doc:"In which order addresses are tried."`
	File            *string     `arg:"file" doc:"File, without .repo; that of the id by itself."`
	GPGCAKey        *string     `arg:"gpgcakey,until=2.22" doc:"Address of the key that signs keys."`
	GPGCheck        *bool       `arg:"gpgcheck" doc:"Whether packages must be signed."`
	GPGKey          []string    `arg:"gpgkey" doc:"Addresses of keys."`
	ModuleHotfixes  *bool       `arg:"module_hotfixes" doc:"Whether module filtering is off."`
	HTTPCaching     *string     `arg:"http_caching,until=2.22,choices=all|packages|none" doc:"What caches may keep."`
	Include         *string     `arg:"include" doc:"Another file to read."`
	IncludePkgs     []string    `arg:"includepkgs" doc:"The only packages to take from it."`
	IPResolve       *string     `arg:"ip_resolve,choices=4|6|IPv4|IPv6|whatever" doc:"Which internet protocol."`
	KeepAlive       *bool       `arg:"keepalive,until=2.22" doc:"Whether connections are kept."`
	KeepCache       *string     `arg:"keepcache,until=2.20,choices=0|1" doc:"Whether packages are kept."`
	MetadataExpire  *string     `arg:"metadata_expire" doc:"How long lists count as fresh."`
	ExpireFilter    *string     `arg:"metadata_expire_filter,until=2.22,choices=never|read-only:past|read-only:present|read-only:future" doc:"For which commands old lists do."`
	MetaLink        *string     `arg:"metalink" doc:"Address of a metalink file."`
	MirrorList      *string     `arg:"mirrorlist" doc:"Address of a list of mirrors."`
	MirrorExpire    *string     `arg:"mirrorlist_expire,until=2.22" doc:"Seconds for which it counts as fresh."`
	Name            string      `arg:"name,required" doc:"Id of the repository."`
	Params          *value.Dict `arg:"params,until=2.16" doc:"Not supported any more."`
	Password        *string     `arg:"password,nolog" doc:"Password."`
	Priority        *string     `arg:"priority" doc:"Priority, 1 to 99."`
	Protect         *bool       `arg:"protect,until=2.22" doc:"Whether its packages are protected."`
	Proxy           *string     `arg:"proxy" doc:"Address of a proxy."`
	ProxyPassword   *string     `arg:"proxy_password,nolog" doc:"Password of the proxy."`
	ProxyUsername   *string     `arg:"proxy_username" doc:"Whom to log in as at the proxy."`
	RepoGPGCheck    *bool       `arg:"repo_gpgcheck" doc:"Whether lists must be signed."`
	ReposDir        string      `arg:"reposdir,type=path,default=/etc/yum.repos.d" doc:"Directory of the files."`
	Retries         *string     `arg:"retries" doc:"How often to try."`
	S3Enabled       *bool       `arg:"s3_enabled" doc:"Whether it lies in Amazon's S3."`
	SkipUnavailable *bool       `arg:"skip_if_unavailable" doc:"Whether the host goes on without it."`
	SSLCACert       *string     `arg:"sslcacert,alias=ca_cert" doc:"Authorities to trust."`
	SSLCheckPerms   *bool       `arg:"ssl_check_cert_permissions,until=2.22" doc:"Whether permissions of certificates are looked at."`
	SSLClientCert   *string     `arg:"sslclientcert,alias=client_cert" doc:"The client's certificate."`
	SSLClientKey    *string     `arg:"sslclientkey,alias=client_key" doc:"The client's key."`
	SSLVerify       *bool       `arg:"sslverify,alias=validate_certs" doc:"Whether certificates must be good."`
	State           string      `arg:"state,choices=present|absent,default=present" doc:"Whether it shall be there."`
	Throttle        *string     `arg:"throttle" doc:"Most bytes a second, or part of the bandwidth."`
	Timeout         *string     `arg:"timeout" doc:"Seconds to wait for a connection."`
	RepoIDVars      *string     `arg:"ui_repoid_vars,until=2.22" doc:"Variables to show with the id."`
	Username        *string     `arg:"username" doc:"Whom to log in as."`
	fsx.FileArgs
}

// YumRepository is ansible.builtin.yum_repository.
var YumRepository = modules.Define("ansible.builtin.yum_repository", "Add or remove YUM repositories", runYumRepository,
	modules.Is(modules.ReadsInCheck),
	modules.From(dialect.ModuleOptions219, func(s *modules.Spec) {
		s.Param("exclude").Aliases = []string{"excludepkgs"}
		s.Rules.If = []modules.RequiredIf{
			{Param: "state", Value: "present", Names: []string{"baseurl", "mirrorlist", "metalink"}, Any: true},
			{Param: "state", Value: "present", Names: []string{"description"}},
		}
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.yum_repository:
    name: epel
    description: EPEL YUM repo
    baseurl: https://download.example.org/pub/epel/$releasever/$basearch/
    gpgcheck: true
- ansible.builtin.yum_repository: {name: epel, state: absent}
`
		m.Returns = []modules.Return{
			{Name: "repo", Type: "str", When: "always", Doc: "Id of the repository."},
			{Name: "state", Type: "str", When: "always", Doc: "Whether it is there."},
			{Name: "diff", Type: "dict", When: "always", Doc: "The file before and after."},
		}
	}), modules.RunsPrograms)

// options returns those of the repository in its file.
func (a *yumRepositoryArgs) options() map[string]string {
	out := map[string]string{}
	for name, v := range map[string]*bool{
		"async": a.Async, "countme": a.Countme, "enabled": a.Enabled, "enablegroups": a.EnableGroups, "gpgcheck": a.GPGCheck,
		"module_hotfixes": a.ModuleHotfixes, "keepalive": a.KeepAlive, "protect": a.Protect, "repo_gpgcheck": a.RepoGPGCheck,
		"s3_enabled": a.S3Enabled, "skip_if_unavailable": a.SkipUnavailable, "ssl_check_cert_permissions": a.SSLCheckPerms,
		"sslverify": a.SSLVerify,
	} {
		if v != nil {
			out[name] = map[bool]string{true: "1", false: "0"}[*v]
		}
	}
	for name, v := range map[string]*string{
		"bandwidth": a.Bandwidth, "cost": a.Cost, "deltarpm_metadata_percentage": a.DeltaMetadata,
		"deltarpm_percentage": a.DeltaPercent,
		"name":                a.Description, "failovermethod": a.FailoverMethod, "gpgcakey": a.GPGCAKey,
		"http_caching": a.HTTPCaching,
		"include":      a.Include,
		"ip_resolve":   a.IPResolve, "keepcache": a.KeepCache, "metadata_expire": a.MetadataExpire,
		"metadata_expire_filter": a.ExpireFilter,
		"metalink":               a.MetaLink, "mirrorlist": a.MirrorList, "mirrorlist_expire": a.MirrorExpire,
		"password": a.Password,
		"priority": a.Priority, "proxy": a.Proxy, "proxy_password": a.ProxyPassword, "proxy_username": a.ProxyUsername,
		"retries":   a.Retries,
		"sslcacert": a.SSLCACert, "sslclientcert": a.SSLClientCert, "sslclientkey": a.SSLClientKey, "throttle": a.Throttle,
		"timeout":        a.Timeout,
		"ui_repoid_vars": a.RepoIDVars, "username": a.Username,
	} {
		if v != nil {
			out[name] = *v
		}
	}
	for name, v := range map[string][]string{"exclude": slices.Concat(a.Exclude, a.ExcludePkgs),
		"includepkgs": a.IncludePkgs} {
		if v != nil {
			out[name] = strings.Join(v, " ")
		}
	}
	for name, v := range map[string][]string{"baseurl": a.BaseURL, "gpgkey": a.GPGKey} {
		if v != nil {
			out[name] = strings.Join(v, "\n")
		}
	}
	return out
}

func runYumRepository(_ context.Context, env *modules.Env, a yumRepositoryArgs) (modules.Result, error) {
	if a.Params.Len() > 0 {
		return modules.Fail(
			"The params option to yum_repository was removed in Ansible 2.5 since it circumvents Ansible's option handling")
	}
	if a.State == "present" {
		switch {
		case a.BaseURL == nil && a.MetaLink == nil && a.MirrorList == nil:
			return modules.Fail("Parameter 'baseurl', 'metalink' or 'mirrorlist' is required.")
		case a.Description == nil:
			return modules.Fail("Parameter 'description' is required.")
		}
	}
	if !fsx.IsDir(a.ReposDir) {
		return modules.Fail("Repo directory '%s' does not exist.", a.ReposDir)
	}
	name := a.Name
	if a.File != nil {
		name = *a.File
	}
	dest := filepath.Join(a.ReposDir, name+".repo")
	file, err := readRepoFile(dest)
	if err != nil {
		return modules.Result{}, err
	}
	before := file.dump()
	file.remove(a.Name)
	if a.State == "present" {
		file.sections = append(file.sections, repoSection{name: a.Name, options: a.options()})
	}
	after := file.dump()
	res := modules.Result{
		Changed: before != after, Data: value.DictOf("repo", a.Name, "state", a.State),
		Diff: []modules.Diff{{Raw: value.DictOf("before_header", dest, "before", before, "after_header", dest, "after",
			after)}},
	}
	if res.Changed && !env.Check {
		if err := file.save(dest, &a.FileArgs); err != nil {
			return modules.Result{}, err
		}
	}
	if fsx.IsFile(dest) {
		did, err := a.For(dest, false).Apply(env.Check, nil)
		if err != nil {
			return modules.Result{}, err
		}
		res.Changed = res.Changed || did
	}
	return res, nil
}

// repoFile is a file of repositories as Python's configparser reads and writes it: comments are lost, names of
// options are in small letters.
type repoFile struct{ sections []repoSection }

type repoSection struct {
	name    string
	options map[string]string
	order   []string // of the options in the file; those of a section that is made here are sorted
}

func readRepoFile(path string) (*repoFile, error) {
	f := &repoFile{}
	raw, err := os.ReadFile(path)
	if err != nil {
		if os.IsNotExist(err) {
			return f, nil
		}
		return nil, tool.Fail(nil, "cannot read %s: %s", path, oserr.Path(err, path))
	}
	key := ""
	for _, line := range strings.Split(string(raw), "\n") {
		text := strings.TrimSpace(line)
		last := len(f.sections) - 1
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case line[0] == ' ' || line[0] == '\t':
			if key != "" && last >= 0 {
				f.sections[last].options[key] += "\n" + text
			}
		case text[0] == '[' && strings.Contains(text, "]"):
			f.sections = append(f.sections,
				repoSection{name: text[1:strings.IndexByte(text, ']')], options: map[string]string{}})
			key = ""
		case last >= 0:
			at := strings.IndexAny(text, "=:")
			if at < 0 {
				return nil, tool.Fail(nil, "cannot read %s: there is no = in the line %q", path, text)
			}
			key = strings.ToLower(strings.TrimSpace(text[:at]))
			f.sections[last].order = append(f.sections[last].order, key)
			f.sections[last].options[key] = strings.TrimSpace(text[at+1:])
		default: // it would be lost
			return nil, tool.Fail(nil, "cannot read %s: there is no section above the line %q", path, text)
		}
	}
	return f, nil
}

func (f *repoFile) remove(name string) {
	f.sections = slices.DeleteFunc(f.sections, func(s repoSection) bool { return s.name == name })
}

// dump returns the content for comparison, all of it sorted.
func (f *repoFile) dump() string {
	sorted := slices.Clone(f.sections)
	slices.SortFunc(sorted, func(a, b repoSection) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	for _, s := range sorted {
		b.WriteString("[" + s.name + "]\n")
		for _, key := range slices.Sorted(maps.Keys(s.options)) {
			b.WriteString(key + " = " + s.options[key] + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// save writes the file, or removes it when nothing is left in it.
func (f *repoFile) save(path string, a *fsx.FileArgs) error {
	if len(f.sections) == 0 {
		if err := os.Remove(path); err != nil {
			return tool.Fail(value.DictOf("details", oserr.Path(err, path)), "Cannot remove empty repo file %s.", path)
		}
		return nil
	}
	var b strings.Builder
	for _, s := range f.sections {
		b.WriteString("[" + s.name + "]\n")
		order := s.order
		if order == nil {
			order = slices.Sorted(maps.Keys(s.options))
		}
		for _, key := range order {
			b.WriteString(key + " = " + strings.ReplaceAll(s.options[key], "\n", "\n\t") + "\n")
		}
		b.WriteString("\n")
	}
	if err := a.WriteFile(path, []byte(b.String())); err != nil {
		return tool.Fail(value.DictOf("details", err.Error()), "Problems handling file %s.", path)
	}
	return nil
}
