// What a server does on a live site, done in the browser: finding outputs, and going to a comparison.
// Data come as scripts, because a page that is opened from a disk may load scripts but may not fetch files.
(() => {
  const own = document.currentScript;
  const root = own.dataset.board === undefined ? "" : `${own.dataset.up}${own.dataset.board}/`;
  window.billboardsData ??= {};

  // Files are asked for once; whoever comes later waits for the same one.
  const loading = new Map();
  function load(name) {
    if (!loading.has(name)) {
      loading.set(
        name,
        new Promise((resolve, reject) => {
          const script = document.createElement("script");
          script.src = `${root}data/${name}.js`;
          script.onload = () => resolve(window.billboardsData[name]);
          script.onerror = () => reject(new Error(`${name} can't be read`));
          document.head.append(script);
        }),
      );
    }
    return loading.get(name);
  }

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function link(href, text) {
    if (!href) return element("span", text);
    const made = element("a", text);
    made.href = root + href.split("/").map(encodeURIComponent).join("/");
    return made;
  }

  // Comparisons: each pair is a page of its own.
  async function compare(form) {
    const values = new FormData(form);
    const [first, second] = ["of", "first", "second"].flatMap((word) => values.getAll(word));
    const note = form.querySelector("[role=status]") ?? form.appendChild(element("p", "", "small"));
    note.setAttribute("role", "status");
    if (first === second) {
      note.textContent = "Choose two different ones.";
      return;
    }
    const pairs = await load("pairs");
    const pair = pairs.find(([a, b]) => (a === first && b === second) || (a === second && b === first));
    if (pair) location.href = link(pair[2], "").href;
    else note.textContent = "This pair was not published. “billboards compare” computes it from the downloaded board.";
  }
  for (const form of document.querySelectorAll("form[data-compare]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      compare(form);
    });
  }

  // Outputs: found in all texts of the board.
  const PAGE = 25;
  const explorer = document.querySelector("form[data-explore]");

  function within(value, low, high) {
    if (low === null && high === null) return true;
    return value !== null && (low === null || value >= low) && (high === null || value <= high);
  }

  function asked() {
    const values = new FormData(explorer);
    const number = (name) => (values.get(name) ? Number(values.get(name)) : null);
    return {
      text: (values.get("text") ?? "").toLocaleLowerCase(),
      within: values.get("within") ?? "",
      judgment: values.get("judgment") ?? "",
      domain: values.get("domain") ?? "", document: values.get("document") ?? "", tag: values.get("tag") ?? "",
      versus: values.get("versus") || "people",
      generator: values.get("generator") ?? "",
      metric: values.get("metric") ?? "",
      low: number("low"), high: number("high"),
      peopleLow: number("people_low"), peopleHigh: number("people_high"),
      disputed: number("disputed"), sort: values.get("sort") ?? "instance",
    };
  }

  // In standard deviations, over the outputs that both have scored; higher is better in both.
  function apart(one, other) {
    const pairs = one.scores.flatMap((row, r) => row.map((value, k) => [value, other.scores[r][k]]));
    const both = pairs.filter(([a, b]) => a !== null && b !== null);
    if (both.length < 2) return one.scores.map((row) => row.map(() => null));
    const standard = (values, turned) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
      return (value) => (turned * (value - mean)) / (spread || 1);
    };
    const first = standard(both.map(([a]) => a), one.lower ? -1 : 1);
    const second = standard(both.map(([, b]) => b), other.lower ? -1 : 1);
    return one.scores.map((row, r) =>
      row.map((a, k) => (a === null || other.scores[r][k] === null ? null : first(a) - second(other.scores[r][k]))),
    );
  }

  function isInPart(instance, wish) {
    return (
      (!wish.domain || instance.domain === wish.domain) &&
      (!wish.document || instance.document === wish.document) &&
      (!wish.tag || instance.tags.includes(wish.tag))
    );
  }

  // Whether an instance has the text beside its outputs: in its id, its source or a reference.
  function isAround(instance, { text, within }) {
    const has = (value) => value.toLocaleLowerCase().includes(text);
    return (
      !text ||
      (within === "" && instance.id.toLocaleLowerCase() === text) ||
      (["", "source"].includes(within) && has(instance.input)) ||
      (["", "reference"].includes(within) && instance.references.some(has))
    );
  }

  function findOutputs(data, scored, wish) {
    const hits = [];
    const errors = new Set(data.errors.map(([r, k]) => `${r} ${k}`));
    const isJudged = {
      judged: (people) => people !== null,
      unjudged: (people) => people === null,
      errors: (_, r, k) => errors.has(`${r} ${k}`),
    }[wish.judgment] ?? (() => true);
    data.instances.forEach((instance, k) => {
      if (!isInPart(instance, wish)) return;
      const around = isAround(instance, wish);
      if (!around && !["", "output"].includes(wish.within)) return;
      data.rows.forEach(([name, , texts], r) => {
        if (texts[k] === null || (wish.generator && wish.generator !== name)) return;
        if (!around && !texts[k].toLocaleLowerCase().includes(wish.text)) return;
        const score = scored.scores[r][k];
        const people = scored.people ? scored.people[r][k] : null;
        const disagreement = scored.disagreement ? scored.disagreement[r][k] : null;
        if (!isJudged(people, r, k)) return;
        if (!within(score, wish.low, wish.high) || !within(people, wish.peopleLow, wish.peopleHigh)) return;
        if (wish.disputed !== null && !(Math.abs(disagreement ?? 0) >= wish.disputed)) return;
        if (["disagreement", "kinder", "harsher"].includes(wish.sort) && disagreement === null) return;
        hits.push({ k, r, score, people, disagreement });
      });
    });
    const turned = scored.lower ? -1 : 1;
    const key = {
      disagreement: (hit) => -Math.abs(hit.disagreement),
      kinder: (hit) => -hit.disagreement,
      harsher: (hit) => hit.disagreement,
      best: (hit) => (hit.score === null ? Infinity : -turned * hit.score),
      worst: (hit) => (hit.score === null ? Infinity : turned * hit.score),
    }[wish.sort] ?? ((hit) => hit.k);
    const keyed = hits.map((hit) => [key(hit), hit]);
    keyed.sort(([a, one], [b, other]) => (a < b ? -1 : a > b ? 1 : one.k - other.k || one.r - other.r));
    return keyed.map(([, hit]) => hit);
  }

  function number(value, digits, signed) {
    if (value === null) return "–";
    const text = value.toFixed(digits).replace("-", "−");
    return signed && value > 0 ? `+${text}` : text;
  }

  function marked(text, wanted, clipped) {
    const cell = element("td", null, "left words");
    const shown = text.slice(0, clipped), low = shown.toLocaleLowerCase();
    let from = 0;
    // Where lower case has another length, places would not fit; then nothing is marked.
    while (wanted && low.length === shown.length) {
      const at = low.indexOf(wanted, from);
      if (at < 0) break;
      cell.append(shown.slice(from, at), element("mark", shown.slice(at, at + wanted.length)));
      from = at + wanted.length;
    }
    cell.append(shown.slice(from) + (text.length > clipped ? "…" : ""));
    return cell;
  }

  function digitsOf(hits) {
    const most = Math.max(...hits.map((hit) => Math.abs(hit.score ?? 0)), 0);
    return most >= 10 ? 2 : most >= 1 ? 3 : 4;
  }

  function table(data, hits, wish, judged, compared) {
    const made = element("table", null, "stacked explorer");
    const head = made.createTHead().insertRow(), body = made.createTBody();
    const heads = [["instance", "left"], ["generator", "left"], ["output", "left"]];
    if (judged) heads.push(["people", ""]);
    heads.push([wish.metric, ""]);
    if (compared) heads.push(["disagreement", ""]);
    for (const [words, side] of heads) {
      const cell = element("th", words, side);
      cell.scope = "col";
      head.append(cell);
    }
    const digits = digitsOf(hits);
    for (const hit of hits) {
      const row = body.insertRow();
      const name = element("th", null, "left");
      name.scope = "row";
      const entry = name.appendChild(link(data.instances[hit.k].page, data.instances[hit.k].id));
      entry.dataset.entry = "";
      entry.append(element("span", ` of ${data.rows[hit.r][0]}`, "unseen"));
      const generator = element("td", null, "left");
      generator.append(link(data.rows[hit.r][1], data.rows[hit.r][0]));
      row.append(name, generator, marked(data.rows[hit.r][2][hit.k], wish.text, data.clipped));
      const figure = (words, value, places, signed) => {
        const cell = element("td", number(value, places, signed), value === null ? "missing" : "");
        cell.dataset.label = words;
        row.append(cell);
      };
      if (judged) figure("people", hit.people, 1);
      figure(wish.metric, hit.score, digits);
      if (compared) figure("disagreement", hit.disagreement, 2, true);
    }
    return made;
  }

  async function explore(page) {
    const status = document.getElementById("explored-status");
    status.textContent = "Searching …";
    const wish = asked();
    try {
      const data = await load("outputs");
      const scoresOf = (metric) => load(`scores-${Math.max(data.metrics.indexOf(metric), 0)}`);
      const scored = { ...(await scoresOf(wish.metric)) };
      if (wish.versus === wish.metric) {
        status.textContent = `${wish.metric} is held against itself; choose another metric, or people.`;
        document.getElementById("explored").replaceChildren();
        return;
      }
      if (data.metrics.includes(wish.versus)) scored.disagreement = apart(scored, await scoresOf(wish.versus));
      const compared = Boolean(scored.disagreement);
      const hits = findOutputs(data, scored, wish);
      const last = Math.max(1, Math.ceil(hits.length / PAGE));
      const at = Math.min(Math.max(page, 1), last);
      status.textContent = `${hits.length.toLocaleString("en")} output${hits.length === 1 ? "" : "s"}${wish.text ? ` with “${wish.text}”` : ""}.`;
      const shown = [table(data, hits.slice((at - 1) * PAGE, at * PAGE), wish, Boolean(scored.people), compared)];
      if (compared) {
        const { metric, versus } = wish;
        const words = `Disagreement is ${metric} minus ${versus}, both in standard deviations: above 0 ${metric} scores the output higher.`;
        shown.unshift(element("p", words, "faint small"));
      }
      const pager = element("nav", null, "pager");
      pager.setAttribute("aria-label", "Pages");
      const turn = (words, to) => {
        const button = element("button", words);
        button.type = "button";
        button.addEventListener("click", () => explore(to));
        pager.append(button);
      };
      if (at > 1) turn("← Previous", at - 1);
      pager.append(element("span", `Page ${at.toLocaleString("en")} of ${last.toLocaleString("en")}`));
      if (at < last) turn("Next →", at + 1);
      document.getElementById("explored").replaceChildren(...(hits.length ? [...shown, ...(last > 1 ? [pager] : [])] : []));
    } catch (error) {
      status.textContent = `This board can't be searched here: ${error.message}.`;
    }
  }

  // The list that was written with the page gives way to what is found.
  function beginExploring() {
    if (!document.getElementById("explored")) {
      const status = document.querySelector("main [role=status]");
      status.id = "explored-status";
      const place = element("div");
      place.id = "explored";
      // Beside the count stand the keys, which stay.
      const row = status.parentElement;
      let next = explorer.nextElementSibling;
      while (next) {
        const gone = next;
        next = next.nextElementSibling;
        if (gone !== row) gone.remove();
      }
      row.after(place);
    }
    explore(1);
  }
  explorer?.addEventListener("submit", (event) => {
    event.preventDefault();
    beginExploring();
  });

  for (const hidden of document.querySelectorAll("[data-for-scripts]")) hidden.hidden = false;
})();
