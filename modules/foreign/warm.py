# A Python that stays, so that modules need not wait for one to start: it forks a child for each call.
#
#   the first process   has imported ansible.module_utils.basic
#     └ one per pack    has imported what the module imports, too; forked when a pack is first used
#         └ one per call   runs the module, and is a process like any other: it may do with itself what it likes; from the third on forked ahead of its call
#
# Both kinds of servers take orders from a socket: JSON, with file descriptors. They end when nobody holds the other end.
# fd 3 is the socket of the first process, fd 4 the first pack. Package foreign of hark is the other side.
import atexit
import gc
import importlib
import importlib.util
import json
import os
import random
import select
import signal
import site
import socket
import struct
import sys
import types


PATIENCE = 30  # seconds; by then the other side has given up
LIBRARY = os.path.dirname(os.__file__) + '/'


def path_of(fd):
    # An interpreter that the module starts in its own place (respawn_module) must be able to read it, too.
    return '/proc/%d/fd/%d' % (os.getpid(), fd)


def receive(control):
    room = struct.calcsize('3i')
    data, extra, _, _ = control.recvmsg(1 << 20, socket.CMSG_SPACE(room))
    fds = []
    for _, _, raw in extra:
        fds += struct.unpack('%di' % (len(raw) // 4), raw)
    for fd in fds:
        os.set_inheritable(fd, False)  # what a module leaves running shall not hold the pack
    return (json.loads(data.decode()) if data else None), fds


def send(control, **words):
    try:
        control.send(json.dumps(words).encode())
    except OSError:
        pass  # nobody is there to hear of it


def mark(path):
    try:
        at = os.stat(path)
        return at.st_ino, at.st_size, at.st_mtime_ns
    except OSError:
        return None


def source(path):
    """What tells that a file was replaced: of Python's own library, the directory, since these come with a package and are never written in place."""
    inside = path.startswith(LIBRARY) and '-packages' not in path
    return os.path.dirname(path) if inside else path


def world():
    """Tells the state of all files that this process has taken its knowledge from, and of the places where libraries come to be."""
    files = [getattr(m, '__file__', None) for m in list(sys.modules.values())]
    paths = set(source(f) for f in files if f and not f.startswith('/proc/'))
    paths.update(p for p in sys.path if not p.startswith('/proc/'))
    paths.update([sys.executable, site.getusersitepackages(), '/etc/localtime', '/etc/nsswitch.conf'])
    return dict((p, mark(p)) for p in paths)


class Spare(object):
    """A child that is there before its order: a fork takes longer than many modules. It knows what its parent knew, who sees to it that this still holds."""

    def __init__(self):
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self.line, theirs = theirs, self.line
        theirs.close()

    def give(self, order, fds):
        """Gives the child its order, and its pid; 0 if it has gone."""
        try:
            self.line.sendmsg([json.dumps(order).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack('%di' % len(fds), *fds))])
        except OSError:
            self.end()
            return 0
        self.line.close()
        return self.pid

    def take(self):
        """Waits in the child for its order. There is none if the parent ends."""
        order, fds = receive(self.line)
        if order is None:
            os._exit(0)
        self.line.close()
        return order, fds

    def end(self):
        self.line.close()
        os.waitpid(self.pid, 0)


def serve(control, ahead=False):
    """Has a child for each order, and tells how they end; ahead has the next one forked before its order comes, once a second one came. It returns in the
    children, with the order and what else they shall keep: to free it would take them a good part of a call."""
    signal.alarm(0)
    wake, waker = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)

    def born():
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for fd in (wake, waker):
            os.close(fd)
        control.close()

    children, spare, orders = {}, None, 0
    gc.collect()
    if hasattr(gc, 'freeze'):
        gc.freeze()
    known = world()
    send(control, ready=True)
    listening = True
    while listening or children:
        ready = select.select([wake, control] if listening else [wake], [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
        for pid in list(children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                send(control, id=children.pop(pid), status=status)
        if control not in ready:
            continue
        order, fds = receive(control)
        if order is None:
            listening = False
        elif any(mark(p) != m for p, m in known.items()):
            send(control, id=order['id'], stale=True)
        else:
            pid = spare.give(order, fds) if spare else 0
            pid, spare = pid or os.fork(), None
            if pid == 0:
                born()
                return order, fds, known
            children[pid] = order['id']
            send(control, id=order['id'], pid=pid)
            orders += 1
        for fd in fds:
            os.close(fd)
        if ahead and listening and orders > 1 and spare is None:  # not before: it would hold the streams of the call
            try:
                spare = Spare()
            except OSError:
                continue  # there is no room for one: the next call forks its own, or says so
            if spare.pid == 0:
                born()
                order, fds = spare.take()
                return order, fds, known
    if spare:
        spare.end()
    os._exit(0)


def move(old, new):
    """Has packages look for the rest of themselves in another pack."""
    for m in list(sys.modules.values()):
        if isinstance(getattr(m, '__path__', None), list):
            m.__path__ = [new + p[len(old):] if p.startswith(old) else p for p in m.__path__]
    sys.path[0] = new


def forget():
    """Has the next import look at the directories of libraries anew. A pack never changes, and to read it again would take longer than most modules."""
    known = sys.path_importer_cache
    packs = dict((p, known.pop(p)) for p in list(known) if p.startswith('/proc/'))
    importlib.invalidate_caches()
    known.update(packs)


def learn(names):
    """Imports what a module is going to. What cannot be imported here can neither there, and that is for the module to say."""
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            pass


def program(entry):
    spec = importlib.util.find_spec(entry)
    return spec, spec.loader.get_code(entry)


def teller():
    """What tells of an exception, which is a part of ansible-core since 2.19; None before that."""
    try:
        from ansible.module_utils._internal._ansiballz._loader import _handle_exception as tell
    except ImportError:
        return None
    return tell


def run(code, module, tell):
    """Runs a module and gives its return code; tell is what tells of its exceptions."""
    try:
        try:
            exec(code, module.__dict__)
            if tell:
                raise RuntimeError('New-style module did not handle its own exit.')
        except Exception as e:
            if not tell:
                raise
            tell(e, 'legacy')
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            return (e.code or 0) & 0xff
        sys.stderr.write('%s\n' % e.code)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    print('{"msg": "New-style module did not handle its own exit", "failed": true}')
    return 1


def end(status, module):
    """Ends the process as an interpreter ends, but for taking down all that it shares with its parent, which is slow."""
    if 'threading' in sys.modules:
        sys.modules['threading']._shutdown()
    atexit._run_exitfuncs()
    module.__dict__.clear()
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(status)


# name_secrets and TELLS_SECRETS are written here, see process.go


def main():
    signal.alarm(PATIENCE)  # an import that never ends shall not outlive everybody
    pack = path_of(4)
    sys.path[:] = [pack] + [p for p in sys.path if p]
    from ansible.module_utils import basic
    basic._ANSIBLE_ARGS = b'{}'  # an import that looks for arguments must not wait for them

    order, fds, _ = serve(socket.socket(fileno=3))
    signal.alarm(PATIENCE)
    control = socket.socket(fileno=fds[0])
    os.environ.clear()
    os.environ.update(order['env'])
    old, pack = pack, path_of(fds[1])
    move(old, pack)
    os.close(4)
    learn(order['names'])
    entry, tell = order['entry'], teller()
    try:
        spec, code = program(entry)
    except BaseException:
        os._exit(1)  # it is told by a Python that is started for the one call
    forget()  # the children have nothing to forget: nothing is imported from here on
    if len(os.listdir('/proc/self/task')) > 1:
        os._exit(1)  # a library has started threads, which no child would have

    call, streams, _ = serve(control, ahead=True)
    os.setsid()
    for n, fd in enumerate(streams):
        os.dup2(fd, n)
        os.close(fd)
    os.chdir(call['dir'])
    if sys.version_info < (3, 7):
        random.seed()  # later ones do it when they fork
    basic._ANSIBLE_ARGS = sys.stdin.buffer.read()
    if basic._ANSIBLE_ARGS.startswith(TELLS_SECRETS):
        name_secrets(basic)
    if hasattr(basic, '_ANSIBLE_PROFILE'):
        basic._ANSIBLE_PROFILE = 'legacy'
    sys.argv = [spec.origin]
    module = types.ModuleType('__main__')
    module.__dict__.update(__spec__=spec, __file__=spec.origin, __loader__=spec.loader, __package__=spec.parent,
                           _module_fqn=entry, _modlib_path=pack)
    sys.modules['__main__'] = module
    end(run(code, module, tell), module)


main()
