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

  // Comparisons: two have a page of their own where it was published. All others are made here of the published scores,
  // and stand in the address behind #, so that they can be shared.
  const MOST = 6;
  const DIFFERENT = 8;

  const wordsOf = (names, by) => new URLSearchParams([...names.map((name) => ["of", name]), ...(by ? [["by", by]] : [])]);

  async function compare(form) {
    const values = new FormData(form);
    const names = ["of", "first", "second"].flatMap((word) => values.getAll(word)).map((name) => name.trim()).filter(Boolean);
    const note = form.querySelector("[role=status]") ?? form.appendChild(element("p", "", "small"));
    note.setAttribute("role", "status");
    note.textContent = "";
    if (new Set(names).size < names.length || names.length < 2) {
      note.textContent = "Choose two different ones, or more.";
      return;
    }
    const pairs = await load("pairs");
    const [first, second] = names;
    const pair = names.length === 2 && pairs.find(([a, b]) => (a === first && b === second) || (a === second && b === first));
    if (pair) location.href = link(pair[2], "").href;
    else location.href = `${link("compare.html", "").href}#${wordsOf(names)}`;
  }
  for (const form of document.querySelectorAll("form[data-compare]")) {
    const fields = [...form.querySelectorAll("div > [name=of]")];
    // Fields for more names than the page came with; an empty one names nobody.
    for (let k = fields.length; k > 1 && k < MOST; k += 1) {
      const copy = fields.at(-1).parentElement.cloneNode(true);
      const [label, field] = [copy.querySelector("label"), copy.querySelector("[name=of]")];
      label.textContent = label.textContent.replace(/\d+\s*$/, k + 1);
      field.id = label.htmlFor = field.id.replace(/\d+$/, k + 1);
      field.required = false;
      if (field.options && field.options[0].value !== "") field.prepend(new Option("–", ""));
      field.value = "";
      form.querySelector("button").parentElement.before(copy);
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      compare(form);
    });
  }

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  function pearson(pairs) {
    if (pairs.length < 2) return null;
    const [first, second] = [mean(pairs.map(([a]) => a)), mean(pairs.map(([, b]) => b))];
    const sum = (product) => pairs.reduce((total, pair) => total + product(pair), 0);
    const spread = Math.sqrt(sum(([a]) => (a - first) ** 2) * sum(([, b]) => (b - second) ** 2));
    return spread ? sum(([a, b]) => (a - first) * (b - second)) / spread : null;
  }

  function figures(title, heads, rows) {
    const made = element("table", null, "stacked");
    const caption = made.createCaption();
    caption.append(element("span", title));
    const head = made.createTHead().insertRow(), body = made.createTBody();
    heads.forEach((words, k) => {
      const cell = element("th", words, k ? "" : "left");
      cell.scope = "col";
      head.append(cell);
    });
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach((value, k) => {
        const cell = element("td", value instanceof Node ? null : value, [k ? "" : "left", value === "–" ? "missing" : ""].join(" ").trim());
        if (value instanceof Node) cell.append(value);
        cell.dataset.label = heads[k];
        line.append(cell);
      });
    }
    return made;
  }

  // Scores of every metric, one file after the other: a board may have many.
  async function everyScore(data, tell) {
    const scored = [];
    for (const [k, name] of data.metrics.entries()) {
      tell(`Reading the scores of ${name} (${k + 1} of ${data.metrics.length}) …`);
      scored.push({ name, ...(await load(`scores-${k}`)) });
    }
    return scored;
  }

  // Means on the instances that all of them have.
  function meansOf(scores, rows) {
    const shared = scores[0].map((_, k) => k).filter((k) => rows.every((r) => scores[r][k] !== null));
    return { n: shared.length, means: rows.map((r) => (shared.length ? mean(shared.map((k) => scores[r][k])) : null)) };
  }

  const placesOf = (values) => (values.some((value) => Math.abs(value ?? 0) >= 10) ? 2 : 3);

  function compareGenerators(data, scored, names, by) {
    const rows = names.map((name) => data.rows.findIndex(([row]) => row === name));
    const people = scored.find((each) => each.people)?.people;
    const every = [...(people ? [{ name: "people", scores: people, lower: false }] : []), ...scored];
    const lines = every.flatMap(({ name, scores, lower }) => {
      const { n, means } = meansOf(scores, rows);
      const places = placesOf(means);
      return n ? [[`${name}${lower ? " ↓" : ""}`, ...means.map((value) => number(value, places)), n.toLocaleString("en")]] : [];
    });
    const table = figures("Means on the instances that all have", ["score", ...names, "n"], lines);
    const chosen = every.find(({ name }) => name === by) ?? every[0];
    return [table, ...differentTexts(data, chosen, every, rows, names)];
  }

  // The instances on which the scores of the chosen ones lie furthest apart.
  function differentTexts(data, chosen, every, rows, names) {
    const spreads = data.instances.flatMap((_, k) => {
      const values = rows.map((r) => chosen.scores[r][k]);
      return values.includes(null) ? [] : [[Math.max(...values) - Math.min(...values), k]];
    });
    spreads.sort(([a, one], [b, other]) => b - a || one - other);
    const choice = element("form", null, "filters");
    const label = element("label", "decide by"), select = element("select");
    select.id = label.htmlFor = "by-here";
    for (const { name } of every) {
      const option = element("option", name);
      option.selected = name === chosen.name;
      select.append(option);
    }
    select.addEventListener("change", () => {
      location.hash = wordsOf(names, select.value);
    });
    const field = element("div");
    field.append(label, select);
    choice.append(field);
    const list = element("ul", null, "texts");
    for (const [, k] of spreads.slice(0, DIFFERENT)) {
      const item = element("li", null, "card"), head = element("h3");
      head.append(link(data.instances[k].page, data.instances[k].id));
      item.append(head);
      const places = placesOf(rows.map((r) => chosen.scores[r][k]));
      rows.forEach((r, place) => {
        const text = element("p");
        text.append(element("strong", `${names[place]} `), element("span", `${number(chosen.scores[r][k], places)} `, "faint small"));
        text.append((data.rows[r][2][k] ?? "").slice(0, data.clipped));
        item.append(text);
      });
      list.append(item);
    }
    return [element("h2", `Where they differ most by ${chosen.name}`), choice, list];
  }

  function compareMetrics(data, scored, compared, names) {
    const chosen = names.map((name) => scored[data.metrics.indexOf(name)]);
    const values = chosen.map(({ scores, lower }) => scores.flat().map((value) => (value === null ? null : lower ? -value : value)));
    const shared = values[0].map((_, k) => k).filter((k) => values.every((row) => row[k] !== null));
    const lines = names.map((name, a) => {
      const { page, rank, agreement, interval } = compared.metrics.find((metric) => metric.name === name);
      const range = interval ? `${number(interval[0], 3)} to ${number(interval[1], 3)}` : "–";
      const against = names.map((_, b) => (a === b ? "–" : number(pearson(shared.map((k) => [values[a][k], values[b][k]])), 3)));
      return [link(page, name), rank === null ? "–" : String(rank), number(agreement, 3), range, ...against];
    });
    const heads = ["metric", "rank", "agreement with people", "95% interval", ...names.map((name) => `with ${name}`)];
    const words =
      "Rank, agreement and interval are the board’s own. “With” is Pearson’s correlation of two metrics over the " +
      `${shared.length.toLocaleString("en")} outputs that all of them score; higher is better in all of them.`;
    return [figures("Metrics side by side", heads, lines), element("p", words, "small faint")];
  }

  async function pairLinks(names) {
    const pairs = (await load("pairs")).filter(([a, b]) => names.includes(a) && names.includes(b));
    if (!pairs.length) return [];
    const list = element("ul");
    for (const [a, b, page] of pairs) {
      const item = element("li");
      item.append(link(page, `${a} against ${b}`));
      list.append(item);
    }
    return [element("h2", "Every two, with tests of significance"), list];
  }

  async function compareHere() {
    const asked = new URLSearchParams(location.hash.slice(1)), names = asked.getAll("of").slice(0, MOST);
    const forms = [...document.querySelectorAll("form[data-compare]")];
    if (names.length < 2 || !forms.length || !location.pathname.endsWith("/compare.html")) return;
    const place = document.getElementById("compared") ?? element("section");
    place.id = "compared";
    forms.at(-1).after(place);
    const status = element("p");
    status.setAttribute("role", "status");
    place.replaceChildren(status);
    const tell = (words) => { status.textContent = words; };
    try {
      const [data, compared] = [await load("outputs"), await load("compared")];
      const areGenerators = names.every((name) => compared.generators.includes(name));
      if (!areGenerators && !names.every((name) => compared.metrics.some((metric) => metric.name === name))) {
        tell("Choose generators only, or metrics only, of this board.");
        return;
      }
      const scored = await everyScore(data, tell);
      const shown = areGenerators
        ? compareGenerators(data, scored, names, asked.get("by"))
        : compareMetrics(data, scored, compared, names);
      const title = element("h2", `${names.slice(0, -1).join(", ")} and ${names.at(-1)} compared`);
      const words = element("p", "Computed here, in your browser, from the published scores; differences are not tested.", "small faint");
      place.replaceChildren(title, words, ...shown, ...(await pairLinks(names)));
    } catch (error) {
      tell(`This board can't be compared here: ${error.message}.`);
    }
  }
  addEventListener("hashchange", compareHere);

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
  compareHere();
})();
