"""Runs vars plug-ins for serve.py. In a program it goes before that file."""
vars_found = None  # those under host_group_vars and those over it


def vars_plugins(q, path, kind, names, enabled, default, stage):
    """What vars plug-ins give groups or hosts for a directory: under and over the files of variables there, which hark reads itself.

    None if no plug-in runs at the stage; default is run_vars_plugins.
    """
    global vars_found
    try:
        from ansible.inventory.group import Group
        from ansible.inventory.host import Host
        from ansible.parsing.dataloader import DataLoader
        from ansible.utils.vars import combine_vars
        from ansible.vars.plugins import get_plugin_vars
    except ImportError:
        return bare_vars(q["dirs"], path, kind, names, enabled) if stage != "inventory" else None
    if vars_found is None:
        vars_found = find_vars_plugins(q.get("dirs") or [], enabled)
    found = [[p for p in plugins if vars_stage(p, default, stage)] for plugins in vars_found]
    if not any(found):
        return None
    loader = DataLoader()
    loader.set_basedir(q.get("basedir") or ".")
    entities = [(Group if kind == "group_vars" else Host)(name) for name in names]
    out = []
    for plugins in found:
        data = {}
        for plugin in plugins:
            data = combine_vars(data, get_plugin_vars(loader, plugin, path, entities))
        out.append(data)
    return out


def find_vars_plugins(dirs, enabled):
    """Chooses vars plug-ins as Ansible does."""
    from ansible.plugins.loader import vars_loader
    from ansible.utils.collection_loader import AnsibleCollectionRef
    from ansible.utils.display import Display
    for directory in dirs:
        vars_loader.add_directory(directory)
    under, over = [], []
    for plugin in vars_loader.all():
        if plugin.ansible_name != "ansible.builtin.host_group_vars" and vars_wanted(plugin, enabled, Display()):
            under.append(plugin)
    for name in enabled:
        plugin = vars_loader.get(name) if AnsibleCollectionRef.is_valid_fqcr(name) else None
        if plugin is None or plugin.ansible_name.startswith("ansible.builtin."):
            continue
        if hasattr(plugin, "REQUIRES_ENABLED") or hasattr(plugin, "REQUIRES_WHITELIST"):
            Display().warning("Vars plugins in collections must be enabled to be loaded, REQUIRES_ENABLED is not supported. "
                              "This should be removed from the plugin %s." % plugin.ansible_name)
        over.append(plugin)
    return under, over


def vars_wanted(plugin, enabled, display):
    """Tells whether a plug-in that lies in a directory runs."""
    needs = getattr(plugin, "REQUIRES_ENABLED", None)
    if needs is None and hasattr(plugin, "REQUIRES_WHITELIST"):
        display.deprecated("The VarsModule class variable 'REQUIRES_WHITELIST' is deprecated. Use 'REQUIRES_ENABLED' instead.", version="2.18")
        needs = plugin.REQUIRES_WHITELIST
    return not needs or plugin._load_name in enabled


def vars_stage(plugin, default, stage):
    """Tells whether a plug-in runs at a stage, by its own setting or by that for all."""
    own = plugin.get_option("stage") if hasattr(plugin, "get_option") and plugin.has_option("stage") else None
    if own is not None:
        return own in ("all", stage)
    return stage != {"demand": "inventory", "start": "task"}[default]


def bare_vars(dirs, path, kind, names, enabled):
    """The same where there is no Ansible: plug-ins in directories, all at the stage of tasks."""
    global vars_found
    from ansible.inventory.group import Group
    from ansible.inventory.host import Host
    from ansible.utils.display import Display
    if vars_found is None:
        vars_found = []
        for file in [f for d in dirs for f in files_of(d)]:
            plugin = module_of("vars", file).VarsModule()
            plugin._load_name = os.path.basename(file)[:-len(".py")]
            if vars_wanted(plugin, enabled, Display()):
                vars_found.append(plugin)
    data = {}
    for plugin in vars_found:
        data.update(plugin.get_vars(None, path, [(Group if kind == "group_vars" else Host)(name) for name in names]))
    return [data, {}]
