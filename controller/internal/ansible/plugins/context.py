"""Filters and tests that want to know the template that uses them (pass_context, pass_eval_context, pass_environment): each is run in a small one,
of Ansible's own where there is an Ansible, which knows the variables of the task. In a program it goes before serve.py."""


def wanted(function):
    """What of its template a filter or test is given before its arguments; None for most."""
    wants = getattr(function, "jinja_pass_arg", None)
    return wants and wants.name


def within(q, wants, function, args, kw):
    """Runs a filter or test in a template."""
    import jinja2
    came = []

    @jinja2.pass_context
    def run(template):
        about = {"context": template, "eval_context": template.eval_ctx, "environment": template.environment}
        try:
            came.append((function(about[wants], *args, **kw), None))
        except Exception as e:
            came.append((None, e))
        return ""

    render(q, context() if wants == "context" else {}, run)
    (result, error), = came
    if error:
        raise error
    return result


def render(q, variables, run):
    """Renders a template that calls a function."""
    try:
        from ansible.parsing.dataloader import DataLoader
        from ansible.template import Templar
    except ImportError:
        import jinja2
        jinja2.Environment().from_string("{{ run() }}").render(variables, run=run)
        return
    add_places(q.get("places") or [])
    loader = DataLoader()
    loader.set_basedir(q.get("basedir") or ".")
    with_hostvars(variables, hostvars, loader)
    templar = Templar(loader=loader, variables=variables)
    environment_of(templar).globals["hark_run"] = run
    templar.template(trusted("{{ hark_run() }}"))
