// The page: figures put in their places, controls, links, and what can be taken away.

const plot = (id) => byId("plot-" + id);
const ids = Object.keys(figures).filter((id) => !figures[id].drawnBy && plot(id));
const made = {};

// -- drawing into the page ------------------------------------------------------------------------------------------

// A figure is drawn when it comes near the window, so that the page opens at once.
const near = new Set();
const spoil = (id) => { plot(id).dataset.stale = ""; };
ids.forEach(spoil);

function drawInto(svg, id, width) {
  const base = el("g"), moving = el("g"), drawn = figures[id].draw(base, width);
  svg.replaceChildren(base, moving);
  svg.setAttribute("viewBox", `0 0 ${width} ${Math.ceil(drawn.height)}`);
  if (drawn.move) moving.replaceChildren(...drawn.move());
  return { ...drawn, moving };
}

function render(id) {
  const where = plot(id), width = where.clientWidth;
  if (!width || !near.has(id)) { spoil(id); return; }
  delete where.dataset.stale;
  const svg = where.querySelector("svg");
  made[id] = { ...drawInto(svg, id, width), width };
  svg.setAttribute("width", width);
  svg.setAttribute("height", Math.ceil(made[id].height));
}

const renderAll = () => ids.forEach(render);

let waiting = false;
function moveFigures() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const leader = ranked()[0];
    for (const id of ids) {
      if (!near.has(id) || !made[id]) spoil(id);
      else if (figures[id].redraws || (id === "epc" && made.leader !== leader)) render(id);
      else if (made[id].move) made[id].moving.replaceChildren(...made[id].move());
    }
    made.leader = leader;
  });
}

// What is pointed at: a line of words beside the pointer, and in the curves the system itself.
const tip = byId("tip");
function pointAt(id, event) {
  const where = plot(id), edge = where.getBoundingClientRect(), drawn = made[id];
  if (!drawn || !drawn.point) return null;
  return drawn.point(event.clientX - edge.left, event.clientY - edge.top);
}

for (const id of ids) {
  plot(id).addEventListener("pointermove", (event) => {
    const said = pointAt(id, event);
    tip.hidden = !said;
    if (!said) return;
    tip.replaceChildren(...said.lines.map((text) => { const part = document.createElement("div"); part.textContent = text; return part; }));
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 10, 4)}px`;
    if (said.system !== undefined) point(said.system);
  });
  plot(id).addEventListener("pointerleave", () => { tip.hidden = true; point(null); });
}
if (plot("epc")) plot("epc").addEventListener("click", (event) => { const said = pointAt("epc", event); if (said && said.at !== undefined) move(said.at); });

function point(place) {
  if (state.pointed === place) return;
  state.pointed = place;
  for (const id of ["epc", "roc", "det"]) if (figures[id]) render(id);
}

// -- moving -----------------------------------------------------------------------------------------------------------

const slider = byId("alpha");
function write(element, text) { if (element && element.textContent !== text) element.textContent = text; }

function moveTexts() {
  const at = state.at, screen = shownScreen();
  const texts = { alpha: alphaText(), at: data.live.alpha[at], weighing: weighingText(), headline: screen.headline, why: screen.why, advice: screen.advice, system: screen.name, rule: screen.rule, threshold: screen.threshold };
  for (const element of all("[data-text]")) if (element.dataset.text in texts) write(element, texts[element.dataset.text]);
  for (const element of all("[data-answer]")) write(element, data.live.answers[element.dataset.answer][at]);
  for (const table of all("table[data-moving]")) moveTable(table, data.live.tables[table.dataset.moving], at);
  const mark = byId("mark");
  mark.className = `mark mark-${(screen.mark || "none").replaceAll(" ", "-")}`;
  write(mark, screen.mark || "");
  mark.hidden = !screen.mark;
  byId("deploy").hidden = screen.broken;
  byId("deploy-number").hidden = byId("in-brackets").hidden = screen.extreme;
  all("[data-error]").forEach((element, i) => screen.lines[i].forEach((text, part) => write(element.querySelector(`[data-part="${part}"]`), text)));
  byId("gravest").hidden = !screen.caution;
  if (screen.caution) screen.caution.forEach((text, part) => write(byId("gravest").querySelector(`[data-part="${part}"]`), text));
  slider.setAttribute("aria-valuetext", `${texts.weighing}, alpha ${texts.alpha}`);
}

function moveTable(table, live, at) {
  const body = table.tBodies[0];
  if (live.systems.length) {
    const rows = new Map([...body.rows].map((row) => [Number(row.dataset.system), row]));
    body.append(...live.systems[at].map((place) => rows.get(place)));
  }
  live.cells[at].forEach((cells, r) => cells.forEach((text, c) => write(body.rows[r].cells[c + 1], text)));
}

function move(at, own = null) {
  state.own = own;
  state.at = clamp(at, 0, data.alpha.length - 1);
  slider.value = state.at;
  moveTexts();
  moveFigures();
  if (find && state.found !== null) write(byId("found"), told(state.found));
  keep();
}

slider.addEventListener("input", () => move(Number(slider.value)));

// One's own costs: the alpha at which the weighted error is the expected cost, up to a factor. The constant pieces of the
// curves have the thresholds at that very alpha; figures and tables stand at the nearest alpha of the slider.
function ownCosts(miss, alarm, share) {
  const prior = share / 100, alpha = alarm * (1 - prior) / (alarm * (1 - prior) + miss * prior);
  return { miss, alarm, share, prior, alpha, onGrid: share === 50 && Math.abs(data.alpha[nearest(alpha)] - alpha) < 1e-12 };
}
function priced(...typed) {
  const own = ownCosts(...typed);
  move(nearest(own.alpha), own.onGrid ? null : own);
  return own.alpha;
}

// As many digits as tell an alpha from 0 and from 1.
const alphaDigits = (alpha) => String(Number(alpha.toFixed(clamp(1 - Math.floor(Math.log10(Math.min(alpha, 1 - alpha))), 4, 15))));
const alphaText = () => state.own ? alphaDigits(state.own.alpha) : data.live.alpha[state.at];
function weighingText() {
  if (!state.own) return data.live.weighing[state.at];
  const { alpha } = state.own, heavy = alpha > 0.5 ? ["FAR", "FRR"] : ["FRR", "FAR"], times = Math.max(alpha, 1 - alpha) / Math.min(alpha, 1 - alpha);
  return Math.abs(times - 1) < 1e-9 ? "At equal costs" : `With ${heavy[0]} weighed ${Number(times.toPrecision(3)).toLocaleString("en")} times ${heavy[1]}`;
}

const inThousand = (rate) => { const many = 1000 * rate; return many >= 9.95 || many === 0 ? many.toFixed(0) : many >= 0.95 ? many.toFixed(1) : String(Number(many.toPrecision(2))); };

// What the first screen says at one's own costs and share; null where the pieces of a curve are not known.
function ownScreen() {
  const { miss, alarm, prior, share, alpha } = state.own, nearby = data.live.screen[state.at], order = data.live.order[state.at];
  const places = data.many ? order.slice(0, 1) : order, found = [];
  for (const place of places) {
    const steps = data.systems[place].steps;
    if (!steps || !steps.threshold) return null;
    const piece = steps.alpha.findLastIndex((start) => start <= alpha + 1e-12), far = steps.far[piece], frr = steps.frr[piece];
    const errors = prior * frr + (1 - prior) * far;
    // The interval of a weighted sum of two rates, by their distances to their own bounds (Zou and Donner 2008).
    const reach = (end) => Math.hypot(prior * (steps["frr_" + end][piece] - frr), (1 - prior) * (steps["far_" + end][piece] - far));
    const between = steps.far_lower ? ` (${inThousand(Math.max(errors - reach("lower"), 0))} to ${inThousand(errors + reach("upper"))})` : "";
    found.push({ place, threshold: steps.threshold[piece], lines: steps.lines[piece], errors, between, cost: miss * prior * frr + alarm * (1 - prior) * far });
  }
  found.sort((a, b) => a.cost - b.cost);
  const [best, next] = found, name = nameOf(best.place), extreme = /inf/.test(best.threshold), one = data.systems.length === 1;
  const doNothing = Math.min(miss * prior, alarm * (1 - prior)), nothing = miss * prior < alarm * (1 - prior) ? "rejecting every trial" : "accepting every trial";
  const useless = best.cost >= doNothing * (1 - 1e-12), where = `where ${Number(share.toPrecision(4))}\u00a0% are ${data.positives}`;
  const headline = useless ? `${one ? `${name} does` : "No system does"} no better here than ${nothing}: the best choice is not to use ${one ? "it" : "them"}`
    : one ? `${name} makes about ${inThousand(best.errors)}${best.between} errors in 1,000 ${where}`
    : `${name} costs least, with about ${inThousand(best.errors)}${best.between} errors in 1,000 ${where}` + (next ? `; ${nameOf(next.place)}, next, has ${inThousand(next.errors)}` : "");
  const trusted = nearby.mark === "do not trust";
  return { ...nearby, headline, name, extreme, threshold: best.threshold, rule: !extreme ? "accept when the score is greater than" : best.threshold === "inf" ? "reject every trial" : "accept every trial",
    mark: trusted ? nearby.mark : useless ? "do not use" : "your costs", advice: trusted || useless ? "If you deploy" : "Deploy",
    why: trusted ? nearby.why : `at alpha = ${alphaText()}; figures, tests and tables are at the nearest, ${data.live.alpha[state.at]}`,
    lines: nearby.lines.map(([who, , fate], i) => [who, best.lines[i][0], fate, best.lines[i][1]]) };
}
const shownScreen = () => state.own && ownScreen() || data.live.screen[state.at];

for (const button of all("[data-costs]")) button.addEventListener("click", () => priced(...button.dataset.costs.split(",").map(Number), 50));
const costs = byId("costs"), costFields = ["cost-fn", "cost-fp", "prevalence"].map(byId);
if (costs) costs.addEventListener("input", () => {
  const [miss, alarm, share] = costFields.map((field) => Number(field.value));
  if (!(miss > 0 && alarm > 0 && share > 0 && share < 100)) return write(byId("costs-say"), "costs above 0 and a share between 0 and 100");
  const alpha = priced(miss, alarm, share);
  write(byId("costs-say"), `alpha = ${alphaDigits(alpha)}${state.own && !ownScreen() ? `; the nearest known here is ${data.live.alpha[state.at]}` : ""}`);
});
// What pops up goes away with Escape, and the focus back to what opened it.
addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector(".pop[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});

// A limit on one rate: the numbers for each limit were computed beforehand.
const limit = byId("limit");
if (limit) limit.addEventListener("change", () => { all("[data-limit]").forEach((row) => { row.hidden = row.dataset.limit !== limit.value; }); keep(); });

// -- choosing -----------------------------------------------------------------------------------------------------------

function show(place, visible) {
  state.shown[place] = visible;
  for (const row of all(`tr[data-system="${place}"]`)) row.hidden = !visible;
  const scores = plot("scores-" + place);
  if (scores) scores.closest("figure").hidden = !visible;
}

for (const box of all("[data-toggle]")) {
  box.addEventListener("change", () => { show(Number(box.dataset.toggle), box.checked); renderAll(); keep(); });
  box.addEventListener("focus", () => point(Number(box.dataset.toggle)));
  box.addEventListener("blur", () => point(null));
}

// Find a system by a part of its name: it is marked in every figure and table; Enter goes to where it is, one place after another.
const find = byId("find");
let visited = 0;
function seek() {
  const asked = find.value.trim().toLowerCase(), names = data.systems.map((system) => system.name.toLowerCase());
  const exact = names.indexOf(asked), some = names.findIndex((name) => name.startsWith(asked)), any = names.findIndex((name) => name.includes(asked));
  const place = !asked ? -1 : [exact, some, any].find((one) => one >= 0) ?? -1;
  visited = 0;
  mark(place < 0 ? null : place);
  write(byId("found"), !asked ? "" : place < 0 ? "no system of that name" : told(place));
}

function told(place) {
  const matching = data.systems.filter((system) => system.name.toLowerCase().includes(find.value.trim().toLowerCase())).length - 1;
  return [`${nameOf(place)}: ${data.live.dots[state.at][place].join(", ")}`, matching > 0 ? `${matching} more match` : "", "Enter: go there"].filter(Boolean).join(" \u00b7 ");
}

function mark(place) {
  if (place === state.found) return;
  state.found = place;
  for (const row of all("tr[data-system]")) row.classList.toggle("found", Number(row.dataset.system) === place);
  renderAll();
}

function visit() {
  const stops = [...(plot("standings") ? [plot("standings")] : []), ...all("tr.found")], stop = stops[visited++ % stops.length];
  if (!stop.matches(".plot")) return stop.scrollIntoView({ block: "center" });
  const into = ranked().indexOf(state.found) / ranked().length * stop.clientHeight;
  scrollTo({ top: scrollY + stop.getBoundingClientRect().top + into - innerHeight / 2 });
}

if (find) {
  find.addEventListener("input", seek);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.found !== null) visit();
    if (event.key === "Escape") { find.value = ""; seek(); }
  });
}

for (const [id, name, drawn] of [["bands", "bands", "epc"], ["optimism", "optimism", "epc"], ["ztest", "ztest", "epc"], ["all-multiples", "allMultiples", "multiples"]]) {
  const box = byId(id);
  if (box) box.addEventListener("change", () => { state[name] = box.checked; render(drawn); });
}

const chooser = byId("pair");
function choosePair(pair) {
  state.pair = pair;
  if (chooser) chooser.value = pair;
  render("epc");
  if (figures.replicates) render("replicates");
}
if (chooser) chooser.addEventListener("change", () => { choosePair(Number(chooser.value)); keep(); });

// -- a link that keeps what was chosen ----------------------------------------------------------------------------------

function keep() {
  const hidden = state.shown.map((one, place) => one ? null : place).filter((place) => place !== null), pair = data.pairs[state.pair];
  const own = state.own && [state.own.miss, state.own.alarm, state.own.share].join("_");
  const parts = { alpha: alphaText(), ...(own ? { costs: own } : {}), ...(pair && state.pair !== data.pair ? { pair: `${pair.a}-${pair.b}` } : {}), ...(hidden.length ? { hide: hidden.join(".") } : {}), ...(limit && limit.value !== limit.querySelector("[selected]").value ? { limit: limit.value } : {}) };
  const kept = "#" + new URLSearchParams(parts);
  if (location.hash !== kept) history.replaceState(null, "", kept);
}

function restore() {
  if (!location.hash.includes("=")) return;
  const asked = new URLSearchParams(location.hash.slice(1)), alpha = Number(asked.get("alpha"));
  if (asked.has("alpha") && Number.isFinite(alpha)) state.at = nearest(alpha);
  const own = (asked.get("costs") || "").split("_").map(Number);
  if (costs && own.length === 3 && own.every((one) => one > 0) && own[2] < 100) {
    state.own = ownCosts(...own);
    state.at = nearest(state.own.alpha);
    costFields.forEach((field, i) => { field.value = own[i]; });
  } else state.own = null;
  slider.value = state.at;
  const hidden = (asked.get("hide") || "").split(".").filter(Boolean).map(Number);
  for (const box of all("[data-toggle]")) { const place = Number(box.dataset.toggle); box.checked = !hidden.includes(place); show(place, box.checked); }
  const pair = data.pairs.findIndex((one) => `${one.a}-${one.b}` === asked.get("pair"));
  state.pair = pair >= 0 ? pair : data.pair;
  if (chooser) chooser.value = state.pair;
  if (limit && [...limit.options].some((one) => one.value === asked.get("limit"))) { limit.value = asked.get("limit"); limit.dispatchEvent(new Event("change")); }
}
addEventListener("hashchange", () => { if (location.hash.includes("=")) { restore(); moveTexts(); renderAll(); } });

// -- taking away ----------------------------------------------------------------------------------------------------------

let clearing;
function say(text) {
  write(byId("status"), text);
  clearTimeout(clearing);
  clearing = setTimeout(() => write(byId("status"), ""), 2500);
}

function save(content, type, name) {
  const link = document.createElement("a"), address = URL.createObjectURL(new Blob([content], { type }));
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(`Saved ${name}`);
}

function quoted(value) {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

const csv = (rows) => rows.map((row) => row.map(quoted).join(",") + "\n").join("");
const cellsOf = (table) => [...table.rows].filter((row) => !row.hidden && !row.classList.contains("groups"))
  .map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\u00a0/g, " ").trim()));

// The headings over several columns go before the words they stand over.
function rowsOf(table) {
  const rows = cellsOf(table), groups = table.querySelector(".groups");
  if (groups) {
    const over = [...groups.cells].flatMap((cell) => Array(cell.colSpan).fill(cell.textContent.trim().toLowerCase()));
    rows[0] = rows[0].map((text, i) => `${over[i] || ""} ${text}`.trim());
  }
  return rows;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say("Copied");
}

// A figure for a paper: light, on white, as wide as one column (88 mm) or two (180 mm), with its title and measure.
function forPaper(id) {
  const [width, wide] = figures[id].wide ? [760, 180] : [420, 88], svg = el("svg", { xmlns: NS, "font-family": "Arial, Helvetica, sans-serif" });
  const drawn = drawInto(svg, id, width), height = Math.ceil(drawn.height) + 34;
  svg.prepend(box(0, -34, width, height, { fill: "#ffffff" }), words(8, -20, fitted(figures[id].title(), width - 16, 14), { size: 14, weight: 700 }),
    words(8, -5, fitted(`${data.measure.title}, alpha = ${data.live.alpha[figures[id].fixed ? data.at : state.at]}`, width - 16, 11), { size: 11, fill: "var(--muted)" }));
  for (const [name, value] of Object.entries({ viewBox: `0 -34 ${width} ${height}`, width: `${wide}mm`, height: `${round(wide * height / width)}mm` })) svg.setAttribute(name, value);
  root.classList.add("light");
  const style = getComputedStyle(root), text = new XMLSerializer().serializeToString(svg).replace(/var\(--([\w-]+)\)/g, (_, name) => style.getPropertyValue("--" + name).trim());
  root.classList.remove("light");
  return { text, wide, tall: wide * height / width };
}

async function picture({ text, wide, tall }) {
  const image = new Image(), canvas = document.createElement("canvas"), dots = 300 / 25.4;
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  [canvas.width, canvas.height] = [Math.round(wide * dots), Math.round(tall * dots)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// The browser's own printer makes the PDF: a page of the figure's size with nothing else on it.
function printAlone({ text, wide, tall }) {
  const sheet = new CSSStyleSheet(), alone = byId("alone");
  sheet.replaceSync(`@page { size: ${wide}mm ${Math.ceil(tall) + 1}mm; margin: 0; }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  alone.replaceChildren(new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
  root.classList.add("figure-alone");
  addEventListener("afterprint", () => { root.classList.remove("figure-alone"); alone.replaceChildren();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet); }, { once: true });
  print();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { svg, png, pdf, csv: figure, copy: copied, table, copyCommand, copyThreshold, copyLink } = button.dataset;
  if (svg) save(forPaper(svg).text, "image/svg+xml", `${svg}.svg`);
  if (png) save(await picture(forPaper(png)), "image/png", `${png}.png`);
  if (pdf) printAlone(forPaper(pdf));
  if (figure) save(csv(figures[figure].columns()), "text/csv", `${figure}.csv`);
  if (table) save(csv(rowsOf(byId("table-" + table))), "text/csv", `${table}.csv`);
  if (copied) copy(rowsOf(byId("table-" + copied)).map((row) => row.join("\t")).join("\n"));
  if (copyCommand !== undefined) copy(byId("command").textContent);
  if (copyThreshold !== undefined) copy(shownScreen().threshold);
  if (copyLink !== undefined) { keep(); copy(location.href); }
});

// -- the glossary: on hover, on focus, and away with Escape ---------------------------------------------------------------

function define(term) {
  const edge = term.getBoundingClientRect();
  tip.textContent = byId(term.getAttribute("aria-describedby")).textContent;
  tip.hidden = false;
  tip.style.left = `${clamp(edge.left, 8, Math.max(8, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${edge.bottom + 6}px`;
}
for (const term of all(".term")) {
  for (const name of ["pointerenter", "focus"]) term.addEventListener(name, () => define(term));
  for (const name of ["pointerleave", "blur"]) term.addEventListener(name, () => { tip.hidden = true; });
}
addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

// -- beginning, and following the window ----------------------------------------------------------------------------------

restore();
moveTexts();
const watch = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
  const id = target.id.slice("plot-".length);
  if (!isIntersecting) { near.delete(id); return; }
  near.add(id);
  if ("stale" in target.dataset) render(id);
}), { rootMargin: "600px" });
ids.forEach((id) => watch.observe(plot(id)));
near.add("dots");
render("dots");
new ResizeObserver(() => { for (const id of ids) if (made[id] && made[id].width !== plot(id).clientWidth) render(id); }).observe(byId("main"));
addEventListener("beforeprint", () => { ids.forEach((id) => near.add(id)); root.classList.add("light", "printing"); renderAll(); });
addEventListener("afterprint", () => { root.classList.remove("light", "printing"); renderAll(); });
root.dataset.ready = "true";
