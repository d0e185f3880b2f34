// Charts that can be pointed at. The page has a picture of each; when one comes into view its specification and, once,
// the libraries that draw it are fetched, and the picture makes room. Whatever fails leaves the picture in its place.
// The libraries interpret expressions instead of compiling them, so that the page's content policy stays as it is.

const files = document.getElementById("living").dataset.files.split(" ");
const ZOOM = "zoomed";
const MOST_SVG = 1500; // marks; more of them are drawn on a canvas
let loading;

function load(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${address} can't be loaded`));
    document.head.append(script);
  });
}

// A published page has no third file: from a disk no module can be loaded, and no policy asks for the interpreter.
function libraries() {
  loading ??= load(files[0])
    .then(() => load(files[1]))
    .then(() => (files[2] ? import(files[2]) : null));
  return loading;
}

// The specification, and the address that links of its points are relative to. On a published page both themes lie in
// one script, because a page that is opened from a disk may load scripts but may not fetch files.
async function specificationOf(figure, theme) {
  const asked = figure.dataset.chart;
  if (figure.dataset.name !== undefined) {
    const drawn = () => window.billboardsData?.[figure.dataset.name];
    if (!drawn()) await load(asked);
    const { datasets, [theme]: specification } = structuredClone(drawn());
    return [datasets ? { ...specification, datasets } : specification, new URL(asked, location.href)];
  }
  const address = `${asked}${asked.includes("?") ? "&" : "?"}theme=${theme}`;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return [await answer.json(), location.href];
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// One tooltip for all charts; its place is set through the DOM, which the content policy allows.
const tip = document.createElement("div");
tip.className = "chart-tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);

function showTip(handler, event, item, value) {
  if (value === null || value === undefined || value === "") {
    tip.hidden = true;
    return;
  }
  const lines = typeof value === "object" ? Object.entries(value) : [["", String(value)]];
  tip.replaceChildren(
    ...lines.map(([name, text], k) => {
      const line = document.createElement("div");
      const what = document.createElement(k === 0 ? "strong" : "span");
      what.textContent = k === 0 ? String(text) : `${name} ${text}`;
      line.append(what);
      return line;
    }),
  );
  if (item?.datum?.href_) {
    const hint = document.createElement("div");
    hint.className = "faint";
    hint.textContent = "Click to open";
    tip.append(hint);
  }
  tip.hidden = false;
  const room = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - room.width - 8);
  const below = event.clientY + 16 + room.height < innerHeight;
  tip.style.left = `${Math.max(left, 4) + scrollX}px`;
  tip.style.top = `${(below ? event.clientY + 16 : event.clientY - room.height - 10) + scrollY}px`;
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") tip.hidden = true;
});

function countPoints(specification) {
  const sets = [specification, ...(specification.layer ?? [])].map((part) => part.data?.values?.length ?? 0);
  return Math.max(...sets, ...Object.values(specification.datasets ?? {}).map((set) => set.length));
}

// The signals that hold what is in sight along each axis, by the name of its scale.
function zoomSignals(specification) {
  const layer = [specification, ...(specification.layer ?? [])].find((part) => part.params?.some((p) => p.name === ZOOM));
  return (specification.usermeta?.zooms ?? []).map((axis) => [axis, `${ZOOM}_${layer.encoding[axis].field}`]);
}

function zoomBy(view, signals, factor) {
  for (const [axis, signal] of signals) {
    if (factor === null) {
      view.signal(signal, null);
      continue;
    }
    const [low, high] = view.scale(axis).domain();
    const middle = (low + high) / 2;
    view.signal(signal, [middle + (low - middle) * factor, middle + (high - middle) * factor]);
  }
  view.runAsync();
}

function zoomButtons(figure, view, signals) {
  figure.querySelector(".zoom")?.remove();
  if (!signals.length) return;
  const group = document.createElement("span");
  group.className = "zoom";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Zoom");
  for (const [text, label, factor] of [
    ["+", "Zoom in", 0.7],
    ["−", "Zoom out", 1 / 0.7],
    ["Reset", "Reset the zoom", null],
  ]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = `${label}. Or drag to move, and Ctrl and the wheel to zoom`;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => zoomBy(view, signals, factor));
    group.append(button);
  }
  figure.querySelector("figcaption").after(group);
}

async function draw(figure) {
  const theme = isDark() ? "dark" : "light";
  const [[specification, base], interpreter] = await Promise.all([specificationOf(figure, theme), libraries()]);
  const { vega, vegaLite } = globalThis;
  const runtime = vega.parse(vegaLite.compile(specification).spec, null, { ast: interpreter !== null });
  const place = document.createElement("div");
  place.className = "plot";
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", figure.querySelector("img").alt);
  const picture = figure.querySelector("picture");
  figure.querySelector(".plot")?.remove();
  picture.before(place);
  const view = new vega.View(runtime, {
    ...(interpreter === null ? {} : { expr: interpreter.expressionInterpreter }),
    renderer: countPoints(specification) > MOST_SVG ? "canvas" : "svg",
    container: place,
    hover: true,
    tooltip: showTip,
    logLevel: vega.Error,
  });
  view.addEventListener("click", (event, item) => {
    if (!item?.datum?.href_) return;
    const target = new URL(item.datum.href_, base).href;
    if (event.metaKey || event.ctrlKey) open(target, "_blank", "noopener");
    else location.assign(target);
  });
  view.addEventListener("mousemove", (event, item) => {
    place.classList.toggle("leads", Boolean(item?.datum?.href_));
  });
  await view.runAsync();
  // The place has the description; what is inside would be read out mark by mark.
  place.querySelector("svg, canvas")?.setAttribute("aria-hidden", "true");
  picture.hidden = true;
  // On a phone a chart with long names is wider than the page: it is moved sideways, by the keyboard too.
  if (place.scrollWidth > place.clientWidth + 1) {
    place.classList.add("wide");
    place.tabIndex = 0;
  }
  zoomButtons(figure, view, zoomSignals(specification));
  figure.dataset.drawn = theme;
}

function drawOrLeave(figure) {
  draw(figure).catch((error) => {
    figure.querySelector(".plot")?.remove();
    figure.querySelector("picture").hidden = false;
    figure.dataset.drawn = "picture";
    console.info(`The chart stays a picture: ${error.message}`);
  });
}

const seen = new IntersectionObserver(
  (entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      seen.unobserve(entry.target);
      drawOrLeave(entry.target);
    }
  },
  { rootMargin: "200px" },
);
for (const figure of document.querySelectorAll("figure[data-chart]")) seen.observe(figure);

function drawAgain() {
  tip.hidden = true;
  for (const figure of document.querySelectorAll("figure[data-drawn]")) drawOrLeave(figure);
}
new MutationObserver(drawAgain).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
