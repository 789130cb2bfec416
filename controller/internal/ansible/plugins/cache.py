"""Keeps facts with a cache plug-in, for serve.py. In a program it goes before that file."""
caches = {}  # by name


def cache(q, op, host, facts):
    """Opens the cache, or loads, stores or forgets the facts of a host in it; None stands for no facts."""
    plugin = caches.get(q["full"]) or open_cache(q["full"], q.get("dirs") or [])
    if op == "store":
        plugin.set(host, facts)
    elif op == "forget" and plugin.contains(host):
        plugin.delete(host)
    elif op == "load" and plugin.contains(host):
        try:
            return plugin.get(host)
        except KeyError:
            pass
    return None


def open_cache(name, dirs):
    try:
        from ansible.plugins.loader import cache_loader
    except ImportError:
        raise RuntimeError("the fact cache %s is written in Python and needs ansible-core on this machine" % name)
    for directory in dirs:
        cache_loader.add_directory(directory)
    plugin = cache_loader.get(name)
    if plugin is None:
        raise RuntimeError("Unable to load the facts cache plugin (%s)." % name)
    caches[name] = plugin
    return plugin
