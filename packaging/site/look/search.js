// The search: all is in words.js, which is loaded when somebody first wants it.
(() => {
  const form = document.querySelector("form[role=search]"), input = form.querySelector("input"), list = form.querySelector("ol")
  const top = form.dataset.top
  form.hidden = false
  let loading
  const load = () => loading ??= new Promise((done, failed) => {
    const script = document.createElement("script")
    script.src = top + "words.js"
    script.onload = done
    script.onerror = failed
    document.head.append(script)
  })
  const count = (text, word) => text.toLowerCase().split(word).length - 1
  // score is 0 if a word is nowhere; words in names weigh more than those in the text.
  const score = (e, asked) => {
    let sum = 0
    for (const word of asked) {
      const n = 40 * count(e.h ?? e.p, word) + 8 * count(e.p, word) + Math.min(6, count(e.t, word))
      if (n === 0) return 0
      sum += n
    }
    return e.u.startsWith("modules/") || e.u.startsWith("decisions/") ? sum / 4 : sum
  }
  const around = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 60)
    return (at > 0 ? "… " : "") + text.slice(at, at + 170) + (at + 170 < text.length ? " …" : "")
  }
  const show = async () => {
    const asked = input.value.toLowerCase().split(/\s+/).filter(w => w.length > 1)
    await load()
    const found = asked.length === 0 ? [] : words.map(e => [score(e, asked), e]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 12)
    list.replaceChildren(...found.map(([, e]) => {
      const item = document.createElement("li"), link = document.createElement("a"), name = document.createElement("b"), text = document.createElement("span")
      link.href = top + e.u
      name.textContent = e.h ? e.p + " › " + e.h : e.p
      text.textContent = around(e.t, asked[0])
      link.append(name, text)
      item.append(link)
      return item
    }))
    if (found.length === 0 && asked.length > 0) list.textContent = "Nothing has all of these words."
    list.hidden = asked.length === 0
  }
  input.addEventListener("focus", load, {once: true})
  input.addEventListener("input", show)
  form.addEventListener("submit", e => {
    e.preventDefault()
    list.querySelector("a")?.click()
  })
  form.addEventListener("keydown", e => {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement)
    if (e.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus()
    else if (e.key === "ArrowUp") (links[at - 1] ?? input).focus()
    else if (e.key === "Escape") list.hidden = true
    else return
    e.preventDefault()
  })
  document.addEventListener("click", e => { if (!form.contains(e.target)) list.hidden = true })
  document.addEventListener("keydown", e => {
    if (e.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      e.preventDefault()
      input.focus()
    }
  })
})()
