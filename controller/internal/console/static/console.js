// What pages do beside being read: live lines, keys, times as people say them. Everything else is there without it.
'use strict';
(() => {
  const $ = (q, in_ = document) => in_.querySelector(q);
  const all = (q, in_ = document) => [...in_.querySelectorAll(q)];
  const body = document.body;
  const output = $('#output');
  let following = false, over = false;

  // Times.
  const ago = (t) => {
    const s = (Date.now() - t) / 1000;
    if (s < -86400) return '';
    if (s < -3600) return `in ${Math.floor(-s / 3600)} h`;
    if (s < -60) return `in ${Math.floor(-s / 60)} min`;
    if (s < -10) return `in ${Math.floor(-s)} s`;
    if (s < 10) return 'now';
    if (s < 60) return `${Math.floor(s)} s ago`;
    if (s < 3600) return `${Math.floor(s / 60)} min ago`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
    return '';
  };
  const times = (in_ = document) => {
    for (const x of all('time[datetime]', in_)) {
      x.dataset.at ??= x.textContent;
      x.textContent = ago(Date.parse(x.dateTime)) || x.dataset.at;
    }
  };

  // An address with a fragment opens what it names, and what that is in.
  const select = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const x = id && document.getElementById(id);
    if (!x) return;
    for (let d = x; d; d = d.parentElement) if (d.tagName === 'DETAILS') d.open = true;
    x.scrollIntoView({ block: 'center' });
    following = false;
    pressed();
  };

  const rows = () => all('.task > summary, .rows tbody tr, .l:target').filter((x) => x.offsetParent !== null);
  let at = -1;
  const here = () => $('.here');
  const go = (x) => {
    if (!x) return;
    here()?.classList.remove('here');
    const row = x.closest('.task, tr, .group') || x;
    row.classList.add('here');
    const focus = x.matches('summary') ? x : $('a[href]', x);
    focus?.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
  };
  const step = (by) => {
    const list = rows();
    at = list.findIndex((x) => x.closest('.here'));
    go(list[Math.min(list.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by))]);
  };
  let bad = -1;
  const failure = (by) => {
    const list = all('.group.failed, .group.unreachable, tr.failed, tr.unreachable, tr.lost');
    if (!list.length) return;
    bad = (bad + by + list.length) % list.length;
    for (let d = list[bad]; d; d = d.parentElement) if (d.tagName === 'DETAILS') d.open = true;
    go(list[bad]);
    list[bad].scrollIntoView({ block: 'center' });
    if (list[bad].id) history.replaceState(null, '', '#' + list[bad].id);
  };
  const openAll = (open) => { for (const d of all('details.task')) d.open = open; };

  // Following stops when somebody scrolls up.
  const pressed = () => { for (const b of all('[data-act=follow]')) b.setAttribute('aria-pressed', following); };
  const toEnd = () => { if (following) window.scrollTo(0, document.documentElement.scrollHeight); };
  const follow = (on) => { following = on; pressed(); toEnd(); };
  let scrolled = window.scrollY;
  window.addEventListener('scroll', () => {
    if (following && window.scrollY < scrolled - 4) follow(false);
    scrolled = window.scrollY;
  }, { passive: true });

  const act = {
    expand: () => openAll(true), collapse: () => openAll(false), failure: () => failure(1), follow: () => follow(!following),
    wrap: (b) => { const off = output.classList.toggle('nowrap'); b.setAttribute('aria-pressed', !off); },
  };
  const keys = {
    j: () => step(1), k: () => step(-1), n: () => failure(1), p: () => failure(-1), e: act.expand, c: act.collapse, f: act.follow,
    '/': () => ($('#search') || $('#find')).focus(), r: () => { location.href = '/runs'; }, h: () => { location.href = '/hosts'; },
    '?': () => $('#keys').showModal(),
    Enter: () => { const a = $('.here a[href]'); if (a && here().tagName === 'TR') a.click(); },
  };
  document.addEventListener('keydown', (e) => {
    const typing = e.target.closest('input, select, textarea');
    if (e.key === 'Escape' && typing) return e.target.blur();
    if (typing || e.ctrlKey || e.metaKey || e.altKey || $('dialog[open]') || !keys[e.key]) return;
    if (e.key === 'Enter' && e.target !== body && !e.target.closest('tr')) return;
    e.preventDefault();
    keys[e.key]();
  });
  document.addEventListener('click', (e) => {
    const b = e.target.closest('button');
    if (b?.dataset.act) act[b.dataset.act](b);
    if (b?.dataset.copy) navigator.clipboard?.writeText(b.dataset.copy).then(() => { b.textContent = 'Copied'; });
  });
  for (const b of all('button[hidden]')) b.hidden = false;

  // Live: pieces of the page as the server makes them, each with the number of the line after which it is true. After a break the server is told the last
  // number that was taken, so that nothing comes twice and nothing is missing.
  const parse = (html) => { const t = document.createElement('template'); t.innerHTML = html; return t.content; };
  const place = (piece) => {
    const made = parse(piece.html), now = document.getElementById(piece.id);
    times(made);
    if (!now) { document.getElementById(piece.into)?.append(made); return; }
    if (piece.inner) { now.replaceChildren(made); return; }
    const next = made.firstElementChild;
    if (now.dataset.touched) { next.open = now.open; next.dataset.touched = '1'; }
    if (now.classList.contains('here')) next.classList.add('here');
    const focused = now.contains(document.activeElement) && document.activeElement.tagName === 'SUMMARY';
    now.replaceWith(next);
    if (focused) $('summary', next)?.focus({ preventScroll: true });
  };
  const mostLines = 6000;
  const append = (text) => {
    output.append(parse(text));
    while (output.childElementCount > mostLines) output.firstElementChild.remove();
  };
  const say = (text, cls) => {
    const x = $('#live');
    x.hidden = false; x.textContent = text; x.className = 'live ' + cls;
  };
  let last = null, source = null;
  const connect = () => {
    const url = new URL(body.dataset.live, location.href);
    if (last !== null) url.searchParams.set('after', last);
    source = new EventSource(url);
    source.onopen = () => say('live', '');
    const took = (e) => { if (e.lastEventId) last = e.lastEventId; };
    source.addEventListener('pieces', (e) => { took(e); for (const p of JSON.parse(e.data)) place(p); toEnd(); });
    source.addEventListener('lines', (e) => { took(e); append(JSON.parse(e.data)); toEnd(); });
    source.addEventListener('over', () => { over = true; source.close(); say('ended', 'over'); });
    source.onerror = () => {
      if (over) return;
      say('the console is away', 'away');
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1500);
    };
  };
  document.addEventListener('click', (e) => {
    const d = e.target.closest('details.task > summary')?.parentElement;
    if (d) d.dataset.touched = '1';
  });

  document.documentElement.classList.remove('no-js');
  times();
  setInterval(times, 10000);
  window.addEventListener('hashchange', select);
  if (body.dataset.live) { following = !!output && !location.hash; pressed(); connect(); toEnd(); }
  select();
})();
