"""Changes and lists packages with the library of dnf 4, for the module ansible.builtin.dnf of hark.

The request is a global variable; the answer goes to standard output as JSON. The Python is that of dnf itself. Standard
error has what dnf, its plug-ins and the scripts of packages print.

The request:

    names        the packages that the task names
    files        paths of packages among them, and of those that were fetched from an address
    state        present, latest or absent; "" for lists and for a refresh of the caches
    list         what to list, or null
    check        whether nothing is to be changed
    by_query     whether specs are judged as ansible-core 2.19 does, with dnf's own queries
    options      the arguments of the task, by their names

The answer has result, the fields of the task's result, and warnings; or missing, why the library cannot be loaded.
"""

import json
import os


class Done(Exception):
    """The result is known."""

    def __init__(self, **result):
        super().__init__()
        self.result = result


def refuse(msg, **more):
    """End with a failure."""
    raise Done(failed=True, msg=msg, **more)


class Work:
    """One request."""

    def __init__(self, dnf, request):
        self.dnf = dnf
        self.request = request
        self.options = request["options"]
        self.by_query = request["by_query"]
        self.warnings = []
        self.results = []
        self.failures = []
        self.trouble = ""
        self.base = None
        self.modules = None

    # The configuration.

    def open(self):
        """Read the configuration, the repositories and what is installed."""
        dnf, options = self.dnf, self.options
        base = self.base = dnf.Base()
        self.configure(base.conf)
        base.setup_loggers()
        base.init_plugins(set(options["disable_plugin"]), set(options["enable_plugin"]))
        base.pre_configure_plugins()
        base.read_all_repos()
        for pattern in options["disablerepo"]:
            for repo in base.repos.get_matching(pattern):
                repo.disable()
        for pattern in options["enablerepo"]:
            for repo in base.repos.get_matching(pattern):
                repo.enable()
        if self.by_query and options["disable_gpg_check"]:
            for repo in base.repos.iter_enabled():
                repo.gpgcheck = repo.repo_gpgcheck = False
        base.configure_plugins()
        try:
            if options["update_cache"]:
                base.update_cache()
            base.fill_sack(load_system_repo="auto")
        except dnf.exceptions.RepoError as error:
            refuse(str(error), results=[], rc=1)
        kinds = [kind for kind in ("bugfix", "security") if options[kind]]
        if kinds:
            base.add_security_filters("eq", types=kinds)

    def configure(self, conf):
        """Apply the arguments that are settings of dnf."""
        options = self.options
        if options["conf_file"]:
            conf.config_file_path = options["conf_file"]
        conf.read()
        conf.debuglevel = 0
        conf.assumeyes = True
        conf.gpgcheck = conf.localpkg_gpgcheck = not options["disable_gpg_check"]
        conf.sslverify = options["sslverify"]
        conf.installroot = options["installroot"]
        conf.substitutions.update_from_etc(options["installroot"])
        if options["exclude"]:
            conf.exclude = list(conf.exclude) + options["exclude"]
        ignored = options["disable_excludes"]
        if ignored and ignored not in conf.disable_excludes:
            conf.disable_excludes = list(conf.disable_excludes) + [ignored]
        if options["releasever"] is not None:
            conf.substitutions["releasever"] = options["releasever"]
        if conf.substitutions.get("releasever") is None:
            self.warnings.append(
                'Unable to detect release version (use "releasever" option to specify release version)')
            conf.substitutions["releasever"] = ""
        if self.by_query:
            for directory in ("cachedir", "logdir", "persistdir"):
                conf.prepend_installroot(directory)
        if options["skip_broken"]:
            conf.strict = False
        if options["nobest"] is not None and (self.by_query or options["nobest"]):
            conf.best = not options["nobest"]
        elif options["best"] is not None:
            conf.best = options["best"]
        if options["download_only"]:
            conf.downloadonly = True
            if options["download_dir"]:
                conf.destdir = options["download_dir"]
        if options["cacheonly"]:
            conf.cacheonly = True
        conf.clean_requirements_on_remove = options["autoremove"]
        conf.install_weak_deps = options["install_weak_deps"]

    # Lists.

    def list(self, what):
        """Return packages or repositories."""
        if what in ("repos", "repositories"):
            return [{"repoid": repo.id, "state": "enabled"} for repo in self.base.repos.iter_enabled()]
        query = self.base.sack.query()
        if what == "installed":
            found = query.installed()
        elif what in ("updates", "upgrades"):
            found = query.upgrades()
        elif what == "available":
            found = query.available()
        else:
            found = self.dnf.subject.Subject(what).get_best_query(self.base.sack)
        return [described(package) for package in found]

    # What a spec means.

    def named(self, spec):
        """Return the fields of a query that a spec has for ansible-core 2.14: its name, or all that a file name has."""
        rest, arch = spec, None
        head, _, tail = spec.rpartition(".")
        if head and tail in known_arches(self.base.sack):
            rest, arch = head, tail
        fields = numbered(rest)
        if fields is None:
            fields = {"name": rest}
        if arch:
            fields["arch"] = arch
        return fields

    def is_installed(self, spec):
        installed = self.base.sack.query().installed()
        if self.by_query:
            return bool(self.dnf.subject.Subject(spec).get_best_query(sack=self.base.sack).installed())
        return bool(installed.filter(**self.named(spec)))

    def is_newer(self, spec):
        """Report whether a newer version is installed than the one that a spec names."""
        installed = self.base.sack.query().installed()
        if self.by_query:
            found = self.dnf.subject.Subject(spec).get_best_solution(self.base.sack)
            nevra, query = found["nevra"], found["query"]
            if not query or not nevra or nevra.has_just_name():
                return False
            there = installed.filter(name=nevra.name)
            return bool(there) and there[0].evr_gt(query[0])
        fields = self.named(spec[:-4] if spec.endswith(".rpm") else spec)
        if "version" not in fields:
            return False
        there = installed.filter(name=fields["name"]).run()
        return bool(there) and self.older(fields, there[0])

    def older(self, fields, package):
        return self.dnf.rpm.rpm.labelCompare(
            (str(package.epoch), package.version, package.release),
            (str(fields["epoch"]), fields["version"], fields["release"])) > 0

    # What is to be done.

    def mark(self, spec, upgrade):
        """Take a package into the transaction."""
        dnf, base = self.dnf, self.base
        try:
            if self.by_query and dnf.util.is_glob_pattern(spec):
                if upgrade:
                    try:
                        base.upgrade(spec)
                    except dnf.exceptions.PackagesNotInstalledError:
                        pass
                base.install(spec, strict=base.conf.strict)
            elif self.is_newer(spec):
                if self.options["allow_downgrade"]:
                    base.install(spec, strict=base.conf.strict)
            elif self.is_installed(spec):
                if upgrade:
                    base.upgrade(spec)
            else:
                base.install(spec, strict=base.conf.strict)
        except dnf.exceptions.MarkingError as error:
            none = "No package %s available." % spec
            if self.by_query and not base.conf.strict:
                self.results.append(none)
                return
            self.trouble += none
            self.fail(spec, error)
        except dnf.exceptions.DepsolveError as error:
            self.trouble += "Depsolve Error occurred for package %s." % spec
            self.fail(spec, error)
        except dnf.exceptions.Error as error:
            if not self.by_query and "already installed" in str(error):
                return
            self.trouble += "Unknown Error occurred for package %s." % spec
            self.fail(spec, error)

    def fail(self, spec, error):
        """Note that a spec of a package cannot be had."""
        text = " ".join((spec, str(error)))
        if "no package matched" in text or "No match for argument:" in text:
            text = "No package %s available." % spec
        self.failures.append(text)

    def only_update(self, specs):
        """Upgrade what is installed, and say what is not."""
        for spec in specs:
            if self.is_installed(spec):
                try:
                    self.base.upgrade(spec)
                except Exception as error:  # whatever the solver raises is said in one way
                    refuse("Error occurred attempting update_only operation: %s" % error, results=[], rc=1)
            else:
                self.results.append("Packages providing %s not installed due to update_only specified" % spec)

    def take_files(self, files):
        """Take packages that are files into the transaction."""
        base = self.base
        try:
            packages = base.add_remote_rpms(list(files))
            if not self.by_query:
                packages = sorted(packages, reverse=True)
        except Exception as error:  # at 2.14 Ansible shows a traceback here
            refuse("Error occurred attempting remote rpm operation: %s" % error, results=[], rc=1)
        for package in packages:
            try:
                if self.options["update_only"]:
                    if self.file_is_installed(package):
                        base.package_upgrade(package)
                elif self.options["allow_downgrade"] or not self.file_is_older(package):
                    base.package_install(package, strict=base.conf.strict)
            except Exception as error:
                refuse("Error occurred attempting remote rpm operation: %s" % error, results=[], rc=1)
        self.results += ["Installed %s" % path for path in files]

    def file_is_installed(self, package):
        return self.is_installed(full_name(package))

    def file_is_older(self, package):
        if not self.by_query:
            return self.is_newer(full_name(package))
        there = sorted(self.base.sack.query().installed().filter(name=package.name, arch=package.arch))
        return bool(there) and there[-1].evr_gt(package)

    def sort_names(self):
        """Return the names of the request as packages, groups, environments and modules."""
        dnf, base, options = self.dnf, self.base, self.options
        packages, groups, environments, modules = [], [], [], []
        comps = False
        for name in self.request["names"]:
            if name.startswith("/"):
                packages += self.owner(name)
            elif name.startswith("@") or "/" in name:
                if not comps:
                    base.read_comps()
                    comps = True
                group = name[1:].strip()
                if self.modules and self.modules._get_modules(group)[0]:
                    modules.append(group)
                else:
                    groups.append(group)
            else:
                packages.append(name)
        known = []
        for pattern in groups:
            group = base.comps.group_by_pattern(pattern)
            environment = None if group else base.comps.environment_by_pattern(pattern)
            if group:
                known.append(group.id)
            elif environment:
                environments.append(environment.id)
            else:
                refuse("No group %s available." % pattern, results=[])
        return packages, known, environments, modules

    def owner(self, path):
        """Return the specs of the package that has a file."""
        query = self.base.sack.query()
        if self.by_query:
            there = query.filter(provides=path, file=path).installed().run()
            if there:
                return [there[0].name]
            return [] if self.options["update_only"] else [path]
        query = query.available()
        found = query.filter(file=path).union(query.filter(provides=path)).run()
        return [found[0].name] if found else []

    def stream_is_enabled(self, spec):
        """Report whether a module of the distribution, or the stream that the spec names, is enabled."""
        _, parsed = self.modules._get_modules(spec)
        enabled = self.base._moduleContainer.getEnabledStream(parsed.name)
        return bool(enabled) and (not parsed.stream or parsed.stream in enabled)

    def each(self, items, action, *missing):
        """Do an action for each group, environment or module. Errors are failures, but for those in missing."""
        for item in items:
            try:
                action(item)
            except missing:
                pass
            except self.dnf.exceptions.Error as error:
                self.failures.append(" ".join((item, str(error))))

    def bring(self, upgrade):
        """Plan what state present, or latest, wants."""
        packages, groups, environments, modules = self.sort_names()
        self.take_files(self.request["files"])
        self.each(modules, self.upgrade_module if upgrade else self.install_module)
        self.each(groups, self.upgrade_group if upgrade else self.install_group)
        self.each(environments, self.upgrade_environment if upgrade else self.install_environment)
        if self.options["update_only"]:
            self.only_update(packages)
            return
        if upgrade and not self.by_query:
            self.base.conf.best = not self.options["nobest"]
        for spec in packages:
            self.mark(spec, upgrade)

    def install_module(self, spec):
        if not self.stream_is_enabled(spec):
            self.results.append("Module %s installed." % spec)
        self.modules.install([spec])
        self.modules.enable([spec])

    def upgrade_module(self, spec):
        if self.stream_is_enabled(spec):
            self.results.append("Module %s upgraded." % spec)
        self.modules.upgrade([spec])

    def install_group(self, group):
        try:
            count = self.base.group_install(group, self.dnf.const.GROUP_PACKAGE_TYPES)
        except self.dnf.exceptions.DepsolveError:
            self.end("Depsolve Error occurred attempting to install group: %s" % group)
        self.results.append("Group %s %s." % (group, "installed" if count else "already installed"))

    def upgrade_group(self, group):
        try:
            self.base.group_upgrade(group)
            self.results.append("Group %s upgraded." % group)
        except self.dnf.exceptions.CompsError:
            if not self.options["update_only"]:
                count = self.base.group_install(group, self.dnf.const.GROUP_PACKAGE_TYPES)
                self.results.append("Group %s %s." % (group, "installed" if count else "already installed"))

    def install_environment(self, environment):
        try:
            self.base.environment_install(environment, self.dnf.const.GROUP_PACKAGE_TYPES)
        except self.dnf.exceptions.DepsolveError:
            self.end("Depsolve Error occurred attempting to install environment: %s" % environment)

    def upgrade_environment(self, environment):
        try:
            try:
                self.base.environment_upgrade(environment)
            except self.dnf.exceptions.CompsError:
                self.base.environment_install(environment, self.dnf.const.GROUP_PACKAGE_TYPES)
        except self.dnf.exceptions.DepsolveError:
            self.trouble = "Depsolve Error occurred attempting to install environment: %s" % environment

    def remove(self):
        """Plan what state absent wants."""
        packages, groups, environments, modules = self.sort_names()
        if self.request["files"]:
            refuse("Cannot remove paths -- please specify package name.", results=[])
        self.each(modules, self.remove_module)
        self.each(groups, self.base.group_remove, self.dnf.exceptions.CompsError, AttributeError)
        self.each(environments, self.base.environment_remove, self.dnf.exceptions.CompsError)
        for spec in packages:
            self.remove_package(spec)
        if self.options["autoremove"]:
            self.base.autoremove()

    def remove_module(self, spec):
        if self.stream_is_enabled(spec):
            self.results.append("Module %s removed." % spec)
        self.modules.remove([spec])
        self.modules.disable([spec])
        self.modules.reset([spec])

    def remove_package(self, spec):
        if self.by_query or "*" in spec:
            try:
                self.base.remove(spec)
            except self.dnf.exceptions.MarkingError as error:
                self.results.append(
                    "%s: %s" % (error.value, spec) if self.by_query else "%s is not installed" % spec)
            return
        found = self.dnf.subject.Subject(spec).get_best_query(sack=self.base.sack).installed().run()
        for package in found:
            self.base.remove(str(package))

    # The transaction.

    def end(self, msg):
        """End with the failures so far."""
        refuse(msg, failures=self.failures, rc=1, results=[])

    def finish(self):
        """Solve the transaction, and do it unless in check mode."""
        dnf, base = self.dnf, self.base
        try:
            erase = self.options["allowerasing"] or self.request["state"] == "absent"
            if not base.resolve(allow_erasing=erase):
                self.end_failed()
                raise Done(changed=False, msg="Nothing to do", rc=0, results=self.results)
            coming, going = base.transaction.install_set, base.transaction.remove_set
            word = "Downloaded" if self.options["download_only"] else "Installed"
            self.results += ["%s: %s" % (word, package) for package in sorted(coming)]
            self.results += ["Removed: %s" % package for package in sorted(going)]
            self.end_failed()
            if self.request["check"]:
                self.done("Check mode: No changes made, but would have if not in check mode")
            self.download(coming)
            if not self.options["disable_gpg_check"]:
                self.verify(coming)
            if self.options["download_only"]:
                self.done("")
            number = base.do_transaction()
            if number is not None:
                past = base.history.old([number])[0]
                if past.return_code:
                    self.failures.append(past.output())
            self.end_failed()
            self.done("")
        except dnf.exceptions.DepsolveError as error:
            self.end("Depsolve Error occurred: %s" % error)
        except dnf.exceptions.Error as error:
            if not self.by_query and "already installed" in str(error):
                self.results.append("Package already installed: %s" % error)
                raise Done(changed=False, msg="", rc=0, results=self.results) from error
            self.end("Unknown Error occurred: %s" % error)

    def end_failed(self):
        if self.failures:
            self.end("Failed to install some of the specified packages")

    def done(self, msg):
        raise Done(changed=True, msg=msg, rc=0, results=self.results)

    def download(self, packages):
        base = self.base
        if self.options["download_only"] and self.options["download_dir"]:
            self.dnf.util.ensure_dir(base.conf.destdir)
            base.repos.all().pkgdir = base.conf.destdir
        try:
            base.download_packages(packages)
        except self.dnf.exceptions.DownloadError as error:
            msg = "Failed to download packages: %s" % error
            if self.by_query:
                self.end(msg)
            refuse(msg, results=[])

    def verify(self, packages):
        """Check signatures, which dnf's library leaves to its caller."""
        for package in packages:
            good, words = self.base._sig_check_pkg(package)
            if good == 1:  # the key may be one that the repository names
                try:
                    self.base._get_key_for_package(package)
                    continue
                except self.dnf.exceptions.Error:
                    pass
            if good != 0:
                refuse("Failed to validate GPG signature for %s: %s" % (package, words))

    def run(self):
        self.open()
        what = self.request["list"]
        if what is not None:
            raise Done(msg="", results=self.list(what))
        state = self.request["state"]
        if not state:
            raise Done(changed=False, msg="Cache updated", rc=0, results=[])
        if self.dnf.base.WITH_MODULES:
            self.modules = self.dnf.module.module_base.ModuleBase(self.base)
        if self.request["names"] == ["*"] and not self.request["files"] and state == "latest":
            try:
                self.base.upgrade_all()
            except self.dnf.exceptions.DepsolveError:
                self.end("Depsolve Error occurred attempting to upgrade all packages")
        elif state == "absent":
            self.remove()
        else:
            self.bring(state == "latest")
        self.finish()


def numbered(text):
    """Return name, epoch, version and release of a text that has all of name-[epoch:]version-release."""
    pieces = text.rsplit("-", 2)
    if len(pieces) < 3 or not pieces[0]:
        return None
    name, version, release = pieces
    epoch, colon, after = version.partition(":")
    if colon and (not epoch or epoch.isdigit()):
        version = after
    else:
        epoch = ""
    if not version.split(".")[0].isdigit():
        return None
    before, colon, after = name.partition(":")
    if colon:
        epoch, name = epoch or before, after
    return {"name": name, "epoch": int(epoch or 0), "version": version, "release": release}


def known_arches(sack):
    return set(sack.list_arches()) | {
        "noarch", "aarch64", "armv7hl", "i386", "i486", "i586", "i686", "ppc64le", "s390x", "x86_64", "riscv64"}


def full_name(package):
    return "%s:%s-%s-%s.%s" % (package.epoch, package.name, package.version, package.release, package.arch)


def described(package):
    name = full_name(package)
    return {
        "name": package.name, "arch": package.arch, "epoch": str(package.epoch), "version": package.version,
        "release": package.release, "repo": package.repoid, "envra": name, "nevra": name,
        "yumstate": "installed" if package.installtime else "available",
    }


def answer(request):
    try:
        import dnf
        import dnf.const
        import dnf.exceptions
        import dnf.module.module_base
        import dnf.package
        import dnf.rpm
        import dnf.subject
        import dnf.util
    except ImportError as error:
        return {"missing": str(error)}
    work = Work(dnf, request)
    try:
        work.run()
    except Done as end:
        result = end.result
    except dnf.exceptions.RepoError as error:
        msg = "Failed to synchronize repodata: %s" % error
        result = {"failed": True, "changed": False, "msg": msg, "rc": 1, "results": []}
    finally:
        if work.base is not None:
            work.base.close()
    return {"result": result, "warnings": work.warnings}


def main(request):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reply = answer(request)
    json.dump(reply, out)
    out.close()


main(request)  # which the caller has read, with this text in it
