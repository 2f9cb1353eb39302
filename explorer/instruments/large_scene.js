// The state of the Large batch page: what is looked at, the way there, and what the server is
// still at work on. The server keeps nothing that this description could not bring back.
(window.LossPrismInstruments ??= {}).large_scene = (root, channel, server) => {
  "use strict";
  const { h, say, worded, grouped } = LossPrism;
  const given = window.LossPrismData.large;
  const POLL_MS = 200;

  channel.told = ["state", "answer", "details", "cell", "problem"];
  channel.server = server;
  channel.asked = { source: { kind: "random", random: { ...given.first } }, loss: "cosent", parameters: {} };
  channel.window = null; // [top, bottom, left, right], or null for all
  channel.cell = null; // [row, column] of the matrix: the one that stays marked
  channel.past = [];
  channel.future = [];

  // ---- The address -------------------------------------------------------------------------

  const NUMBERS = Object.keys(given.random);

  function written() {
    const { source, loss, parameters } = channel.asked;
    const said = new URLSearchParams({ loss });
    for (const [name, value] of Object.entries(parameters)) said.set(`p.${name}`, value);
    if (source.kind === "random") {
      for (const [name, value] of Object.entries(source.random)) {
        if (value !== given.first[name]) said.set(name, value);
      }
    } else {
      said.set("source", source.kind);
      for (const name of ["file", "name", "encoder", "link"]) if (source[name]) said.set(name, source[name]);
      for (const [role, name] of Object.entries(source.columns ?? {})) said.set(`c.${role}`, name);
      if (typeof source.header === "boolean") said.set("header", source.header);
    }
    if (channel.window) said.set("window", channel.window.join("-"));
    if (channel.cell) said.set("cell", channel.cell.join("-"));
    return said.toString();
  }

  function ofKind(kind, text) {
    if (kind === "choice") return text;
    return kind === "switch" ? text === "true" : Number(text);
  }

  function read(text) {
    const said = new URLSearchParams(text);
    const under = (prefix) => Object.fromEntries([...said].filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]));
    const kind = said.get("source") ?? "random";
    const source = { kind };
    if (kind === "random") {
      source.random = { ...given.first };
      if (said.has("labels")) source.random.labels = said.get("labels");
      for (const name of NUMBERS) if (said.has(name)) source.random[name] = Number(said.get(name));
    } else {
      for (const name of ["file", "name", "encoder", "link"]) if (said.has(name)) source[name] = said.get(name);
      source.columns = under("c.");
      if (said.has("header")) source.header = said.get("header") === "true";
    }
    const loss = said.get("loss") ?? "cosent";
    const kinds = Object.fromEntries((given.losses[loss]?.parameters ?? []).map((p) => [p.name, p.kind]));
    const parameters = Object.fromEntries(Object.entries(under("p."))
      .map(([name, value]) => [name, ofKind(kinds[name], value)]));
    const numbers = (name) => (said.has(name) ? said.get(name).split("-").map(Number) : null);
    return { asked: { source, loss, parameters }, window: numbers("window"), cell: numbers("cell") };
  }

  // Another loss, other data or another part of the map begin a new entry of the browser's
  // history, so that its Back returns to the one before; a slider changes the entry it is in.
  const entryOf = ({ asked: { source, loss }, window }) => JSON.stringify([
    loss, window, source.kind, source.file, source.link, source.encoder, source.random?.pairs]);
  let address = "";
  let entry = null;
  let writing = 0;
  function remember(wait = 300) {
    clearTimeout(writing);
    if (!wait) write();
    else writing = setTimeout(write, wait);
  }

  function write() {
    address = written();
    const { past, future } = channel;
    const how = entry && entry !== entryOf(channel) ? "pushState" : "replaceState";
    entry = entryOf(channel);
    history[how]({ ...history.state, way: { past, future } }, "", LossPrism.addressOf(address));
  }

  function revisit() {
    const text = location.hash.slice(1);
    if (text === address && text) return;
    clearTimeout(writing);
    address = text;
    if (text) {
      const { past = [], future = [] } = history.state?.way ?? {};
      Object.assign(channel, read(text), { past: [...past], future: [...future] });
      entry = entryOf(channel);
    }
    channel.warn(null);
    channel.publish("state");
    channel.publish("cell");
    ask();
  }

  // ---- Changes -----------------------------------------------------------------------------

  // Another source, or a loss on other rows and columns, is looked at from the beginning.
  const places = ({ source, loss }) => JSON.stringify([source, given.losses[loss]?.wanted === "vectors" ? loss : given.losses[loss]?.wanted]);

  channel.change = (part) => {
    const before = places(channel.asked);
    channel.asked = { ...channel.asked, ...part };
    if (places(channel.asked) !== before) Object.assign(channel, { window: null, cell: null, past: [], future: [] });
    channel.warn(null);
    channel.publish("state");
    ask();
  };

  // What was wrong is not said of what is under way.
  channel.forgive = () => {
    channel.warn(null);
    if (channel.problem) channel.fail(null);
  };

  // The cell that stays marked, until another one is.
  channel.mark = (cell) => {
    channel.cell = cell;
    channel.publish("cell");
    remember();
  };

  // However fast they follow, each step is one of the browser's Back; of turns of the wheel, which
  // are `passing`, it is where they end.
  function go(next, passing = false) {
    channel.window = next;
    channel.publish("state");
    ask();
    if (!passing) remember(0);
  }
  channel.zoom = (next, passing) => {
    if (String(next) === String(channel.window)) return;
    channel.past.push(channel.window);
    channel.future = [];
    go(next, passing);
  };
  channel.back = () => {
    if (!channel.past.length) return;
    channel.future.push(channel.window);
    go(channel.past.pop());
  };
  channel.backTo = (place) => {
    if (place >= channel.past.length) return; // a way that led through other data
    const [target, ...later] = channel.past.splice(place);
    channel.future.push(channel.window, ...later.reverse());
    go(target);
  };
  channel.forward = () => {
    if (!channel.future.length) return;
    channel.past.push(channel.window);
    go(channel.future.pop());
  };

  // ---- Questions ---------------------------------------------------------------------------

  const call = async (name, request) => {
    try { return (await server[name](request)) ?? { error: LossPrism.GONE }; } catch { return { error: LossPrism.GONE }; }
  };
  const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

  let turn = 0;
  let shown = 0;
  let flying = 0;
  let waiting = false;
  let under = null; // what the server was last heard to be at work on
  // Work that is no longer asked for would only take the processor from what is. Another loss on
  // the same data still waits for these to be read and encoded.
  function dropOther(asked) {
    const differs = (part) => JSON.stringify(part(under.asked)) !== JSON.stringify(part(asked));
    if (!under || !differs(under.what === "terms" ? (all) => all : ({ source }) => source)) return;
    call("stop", under.asked);
    under = null;
  }

  // Two questions may be under way; an answer older than the last drawn one is dropped.
  async function ask() {
    remember();
    if (flying >= 2) { waiting = true; return; }
    waiting = false;
    flying += 1;
    const mine = (turn += 1);
    const { asked, window } = channel;
    dropOther(asked);
    const late = setTimeout(() => { if (mine > shown && !working) show({ what: "start", done: 0, total: 0 }); }, 300);
    const answer = await call("blocks", { ...asked, window });
    clearTimeout(late);
    flying -= 1;
    if (waiting) { ask(); return; }
    if (mine < turn && answer.working) return;
    if (mine <= shown) return;
    // Somebody else who waited for the same stopped it; asked for again, it goes on.
    if (answer.error?.key === "problem.large_cancelled") { ask(); return; }
    if (answer.working) {
      under = { asked, what: answer.working.what };
      show(answer.working);
      await wait(POLL_MS);
      if (mine === turn) ask();
      return;
    }
    shown = mine;
    under = null;
    take(answer, asked, window);
    show(null);
  }

  channel.ask = ask;
  channel.stop = async () => {
    turn += 1; // no further question about it
    shown = turn;
    show(null);
    await call("stop", channel.asked);
    channel.fail({ key: "problem.large_cancelled", values: {} });
  };

  function take(answer, asked, window) {
    if (answer.error) { channel.fail(answer.error); return; }
    if (channel.problem) channel.fail(null);
    const key = JSON.stringify(asked);
    const other = key !== channel.key;
    channel.key = key;
    channel.of = asked; // what the answer is about, while something else is asked for
    channel.answer = answer;
    // A window of very many pairs begins and ends with a block.
    if (channel.window && String(window) === String(channel.window)) widen(answer.window);
    document.body.classList.remove("lp-before");
    channel.publish("answer");
    channel.drawn = (channel.drawn ?? 0) + 1;
    if (other) learn(key, asked);
  }

  function widen(window) {
    const isWritten = entry === entryOf(channel);
    channel.window = window;
    if (!isWritten) return;
    entry = entryOf(channel);
    remember();
  }

  // Figures and tables come after the map. Where that takes a while, those still there are
  // another loss's, and it is said that theirs are being computed.
  let late = 0;
  async function learn(key, asked) {
    clearTimeout(late);
    late = setTimeout(() => {
      document.body.classList.add("lp-learning");
      channel.publish("learning");
    }, 250);
    let answer;
    do {
      answer = await call("details", asked);
      if (answer.working) await wait(POLL_MS);
    } while (answer.working && key === channel.key);
    if (key !== channel.key) return;
    clearTimeout(late);
    document.body.classList.remove("lp-learning");
    if (answer.error) { channel.fail(answer.error); return; }
    channel.details = answer;
    channel.publish("details");
  }

  // ---- What is under way, and what went wrong ----------------------------------------------

  const problem = h("div.lp-problem", { role: "alert", hidden: true });
  const words = h("span", { "aria-live": "polite" });
  const bar = h("progress");
  const stop = worded("button.lp-button", "ui.stop", { type: "button", id: "lp-stop", onclick: () => channel.stop() });
  const busy = h("div.lp-underway", { hidden: true }, words, bar, stop);
  root.append(problem, busy);

  let working = null;
  let begun = null; // when this stage was first heard of, and how far it was then
  function show(next) {
    working = next;
    if (working && channel.problem) channel.fail(null);
    judge();
    if (next?.what !== begun?.what) begun = next && { ...next, at: performance.now() };
    busy.hidden = !working;
    if (!working) return;
    const { what, done, total } = working;
    words.textContent = [
      say(`large.doing.${what}`),
      total && what !== "parsing" ? say("large.done", { done: grouped(done), total: grouped(total) }) : "",
      remaining(working),
      what === "encoding" ? say("large.kept") : "",
    ].filter(Boolean).join(" ");
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    bar.setAttribute("aria-label", words.textContent);
  }

  // Told once there is something to go by: some progress, over a few seconds.
  function remaining({ done, total }) {
    const seconds = (performance.now() - begun.at) / 1000;
    if (!total || done <= begun.done || seconds < 4) return "";
    const left = (seconds * (total - done)) / (done - begun.done);
    const [count, unit] = left < 90 ? [left, "seconds"] : left < 5400 ? [left / 60, "minutes"] : [left / 3600, "hours"];
    return say(`large.left.${unit}`, { count: Math.max(1, Math.round(count)) });
  }

  // What puts it right: as many pairs as the loss takes, the rest of what was stopped, or another
  // attempt where that may end better.
  const AGAIN = {
    "problem.large_cancelled": "large.go_on", "problem.internal": "ui.again", [LossPrism.GONE.key]: "ui.again",
  };
  function remedy() {
    const { source, loss } = channel.asked;
    const { key } = channel.problem;
    if (key.startsWith("problem.large_too_many") && source.kind === "random") {
      const most = given.losses[loss].most_drawn;
      return h("button.lp-button", {
        type: "button", onclick: () => channel.change({ source: { ...source, random: { ...source.random, pairs: most } } }),
      }, say("large.use_most", { most: grouped(most) }));
    }
    return AGAIN[key] && worded("button.lp-button", AGAIN[key], { type: "button", onclick: () => { channel.forgive(); ask(); } });
  }

  // What is in view may not be what is asked for.
  const isOther = () => Boolean(channel.of) && JSON.stringify(channel.of) !== JSON.stringify(channel.asked);
  const leftover = () => (isOther() ? say("large.leftover", {
    loss: LossPrism.titleOf(channel.of.loss), count: channel.answer.figures.pairs,
  }) : "");

  function judge() {
    document.body.classList.toggle("lp-stale", Boolean(channel.problem || (working && isOther())));
  }

  function complain() {
    const told = channel.problem ?? channel.notice;
    problem.hidden = !told;
    judge();
    if (!told) return;
    const more = channel.problem ? [leftover(), remedy()] : [];
    problem.replaceChildren(h("span", {}, say(told.key, told.values)), ...more.filter(Boolean).flatMap((part) => [" ", part]));
  }

  channel.on("problem", complain);
  channel.on("language", () => { complain(); show(working); });
  document.body.classList.add("lp-before");
  window.addEventListener("popstate", revisit);
  revisit();
};
