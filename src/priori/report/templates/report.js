// The page: figures put in their places, controls, links, and what can be taken away.

const plot = (id) => byId("plot-" + id);
const ids = Object.keys(figures).filter((id) => !figures[id].drawnBy && plot(id));
const made = {};

// -- drawing into the page ------------------------------------------------------------------------------------------

// All figures are drawn at once, so that links find their places; what moves is drawn again where it is near the window.
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

function render(id, width = plot(id).clientWidth) {
  const where = plot(id);
  if (!width || (made[id] && !near.has(id))) { spoil(id); return; }
  delete where.dataset.stale;
  const svg = where.querySelector("svg");
  made[id] = { ...drawInto(svg, id, width), width };
  svg.setAttribute("width", width);
  svg.setAttribute("height", Math.ceil(made[id].height));
}

const renderAll = () => ids.forEach((id) => render(id));

let waiting = false;
function moveFigures() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const first = ranked()[0];
    for (const id of ids) {
      if (!near.has(id) || !made[id]) spoil(id);
      else if (figures[id].redraws || (id === "epc" && made.leader !== first)) render(id, made[id].width);
      else if (made[id].move) made[id].moving.replaceChildren(...made[id].move());
    }
    made.leader = first;
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
  const at = state.at, screen = shownScreen(), card = shownCard();
  // The HTER counts both classes alike, whatever share the thousand are shown at.
  const half = data.measure.name === "hter" && state.share !== 50 && !state.own && !screen.broken ? `${screen.why ? "; " : ""}the headline is about equal numbers of ${data.kinds.positives[0]} and ${data.negatives}` : "";
  const texts = { alpha: alphaText(), at: data.live.alpha[at], weighing: weighingText(), headline: screen.headline, why: screen.why + half, ...card };
  for (const element of all("[data-text]")) if (element.dataset.text in texts) write(element, texts[element.dataset.text]);
  for (const element of all("[data-answer]")) write(element, data.live.answers[element.dataset.answer][at]);
  for (const table of all("table[data-moving]")) moveTable(table, data.live.tables[table.dataset.moving], at);
  const mark = byId("mark");
  mark.className = `mark mark-${(screen.mark || "none").replaceAll(" ", "-")}`;
  write(mark, screen.mark || "");
  mark.hidden = !screen.mark;
  byId("deploy").hidden = screen.broken;
  byId("deploy-number").hidden = byId("in-brackets").hidden = card.extreme;
  byId("uncut").hidden = !state.cut;
  for (const button of all("[data-share]")) button.setAttribute("aria-pressed", String(Number(button.dataset.share) === (state.own ? state.own.share : state.share)));
  all("[data-error]").forEach((element, i) => card.lines[i].forEach((text, part) => write(element.querySelector(`[data-part="${part}"]`), text)));
  byId("gravest").hidden = !screen.caution;
  if (screen.caution) screen.caution.forEach((text, part) => write(byId("gravest").querySelector(`[data-part="${part}"]`), text));
  slider.setAttribute("aria-valuetext", `${texts.weighing}, alpha ${texts.alpha}`);
  for (const input of all("[data-cut]")) moveCut(input);
}

// The card: what to deploy, or what another threshold would do.
function shownCard() {
  const place = state.cut ? state.cut.place : leader(), now = operating(place), screen = shownScreen(), extreme = /inf/.test(now.threshold);
  const rule = extreme ? (now.threshold === "inf" ? "reject every trial" : "accept every trial") : data.acceptance;
  return { advice: state.cut ? "Another threshold for" : screen.advice, system: nameOf(place), threshold: now.threshold, extreme, rule, range: state.cut ? "" : state.own ? "fixed in advance" : data.systems[place].card.range[state.at], promised: state.cut ? "Looked up on the test set: what it does in use may be worse." : state.own || place !== data.live.order[state.at][0] ? "" : screen.promised,
    lines: Object.entries(now.rates).map(([kind, rate]) => [data.kinds[kind][0], aboutText(rate), data.kinds[kind][1], intervalText(rate)]) };
}

// Cells are those of the alpha; rows stand as the ranking has them, or as a heading was asked to sort them.
const rowsIn = new Map(all("table[data-moving]").map((table) => [table, [...table.tBodies[0].rows]]));
function moveTable(table, live, at) {
  const rows = rowsIn.get(table), bySystem = new Map(rows.map((row) => [Number(row.dataset.system), row]));
  const order = live.systems.length ? live.systems[at].map((place) => bySystem.get(place)) : rows;
  live.cells[at].forEach((cells, r) => cells.forEach((text, c) => write(order[r].cells[c + 1], text)));
  if (live.systems.length) table.tBodies[0].append(...order);
  sortRows(table);
}

function move(at, own = null, remember = keep) {
  state.own = own;
  state.cut = null;
  state.at = clamp(at, 0, data.alpha.length - 1);
  slider.value = state.at;
  moveTexts();
  moveFigures();
  if (standings) drawStandings();
  if (find && state.found !== null) write(byId("found"), told(state.found));
  remember();
}

// Browsers allow a page some hundred addresses in half a minute; a drag passes more.
let keeping;
slider.addEventListener("input", () => move(Number(slider.value), null, () => { clearTimeout(keeping); keeping = setTimeout(keep, 100); }));

// One's own costs: the alpha at which the weighted error is the expected cost, up to a factor. The constant pieces of the
// curves have the thresholds at that very alpha; figures and tables stand at the nearest alpha of the slider.
function ownCosts(miss, alarm, share, visits = 1000) {
  const prior = share / 100, alpha = alarm * (1 - prior) / (alarm * (1 - prior) + miss * prior);
  return { miss, alarm, share, visits, prior, alpha, onGrid: share === 50 && Math.abs(data.alpha[nearest(alpha)] - alpha) < 1e-12 };
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

// The systems by what they cost at one's own costs and share, the cheapest first; null where the pieces are not known.
function ownOrder() {
  const { miss, alarm, prior } = state.own, order = ranked(), places = data.many ? order.slice(0, 1) : order;
  if (places.some((place) => !(data.systems[place].steps || {}).threshold)) return null;
  return places.map((place) => {
    const { far, frr } = data.systems[place].steps, row = pieceOf(data.systems[place].steps), shares = [prior * frr[row], (1 - prior) * far[row]];
    return { place, errors: shares[0] + shares[1], cost: miss * shares[0] + alarm * shares[1] };
  }).sort((a, b) => a.cost - b.cost);
}

// What the first screen says at one's own costs and share.
function ownScreen() {
  const { prior, share } = state.own, nearby = data.live.screen[state.at], found = ownOrder();
  if (!found || nearby.broken) return nearby;
  const [best, next] = found, name = nameOf(best.place), one = count === 1, where = `where ${Number(share.toPrecision(4))}\u00a0% are ${data.kinds.positives[0]}`;
  const constant = constantCosts(state.own), least = Math.min(...constant), all = constant[1] <= constant[0] ? "rejecting every trial" : "accepting every trial";
  // Where the costs may be as high as those of looking at no score, nothing is recommended; who are too few to settle it
  // at equal shares are too few at any.
  const { rates } = operating(best.place), cost = together(rates, prices(state.own)), useless = cost.lower >= least * (1 - 1e-9), doubtful = cost.upper >= least;
  const errors = `about ${inThousand(best.errors)} ${intervalText(together(rates, mixture()))} errors in 1,000`, { few } = nearby, untrusted = nearby.mark === "do not trust";
  const no = best.cost >= least ? [`${name} is no better here`, `None of the ${count} systems is better here`] : [`${name} may be no better`, `None of the ${count} systems is clearly better`];
  const worse = `${no[one ? 0 : 1]} than ${all}, at your costs and ${where}`, range = intervalText(together(rates, mixture())).slice(1, -1).replace(" to ", " and ");
  const headline = useless ? `${worse}: do not use ${one ? "it" : "them"}`
    : few ? `${one ? "Between" : `${name} costs least, with between`} ${range} errors in 1,000 ${where}: ${few}`
    : doubtful ? worse
    : `${name} ${one ? "makes" : "costs least, with"} ${errors} ${where}` + (next ? `; ${nameOf(next.place)}, next, has ${inThousand(next.errors)}` : "");
  const own = `at alpha = ${alphaText()}`, here = alphaText() === data.live.alpha[state.at] ? own : `${own}; figures, tests and tables are at the nearest, ${data.live.alpha[state.at]}`;
  return { ...nearby, headline, mark: untrusted ? nearby.mark : useless ? "do not use" : few ? "too few" : doubtful ? "not clear" : "your costs", advice: untrusted || few || doubtful ? "If you deploy" : "Deploy",
    why: untrusted ? nearby.why : doubtful && !useless && !few ? `${name} makes ${errors}, ${here}` : here };
}

// Where the best is hidden the answer is about those that are shown, of which nothing was tested.
function shownScreen() {
  if (state.own) return ownScreen();
  const screen = data.live.screen[state.at], shown = ranked(), [best, next] = shown;
  if (best === data.live.order[state.at][0]) return screen;
  const value = (place) => data.live.dots[state.at][place][0];
  return { ...screen, mark: `${shown.length} of ${count} shown`, advice: "If you deploy", why: `${nameOf(data.live.order[state.at][0])} is hidden; tests and tables are about all ${count} systems`,
    headline: `${shown.length > 1 ? `Of the ${shown.length} systems shown ` : ""}${nameOf(best)} ${next === undefined ? "has" : "comes first with"} ${data.measure.title} ${value(best)}${next === undefined ? "" : `; ${nameOf(next)}, next, has ${value(next)}`}` };
}

// -- another threshold: dragged along the scores, or by its slider -----------------------------------------------------

function cutAt(place, row) {
  state.cut = row === null ? null : { place, row };
  moveTexts();
  moveFigures();
}
function moveCut(input) {
  const place = Number(input.dataset.cut), now = operating(place), { places } = data.systems[place].card, range = [places[0], places.at(-1)];
  const nearestRow = places.reduce((best, cut, row) => Math.abs(cut - clamp(now.value, ...range)) < Math.abs(places[best] - clamp(now.value, ...range)) ? row : best, 0);
  if (Number(input.value) !== nearestRow) input.value = nearestRow;
  input.setAttribute("aria-valuetext", /inf/.test(now.threshold) ? "no threshold" : `threshold ${now.threshold}${now.dragged ? "" : ", fixed in advance"}`);
}
for (const input of all("[data-cut]")) input.addEventListener("input", () => cutAt(Number(input.dataset.cut), Number(input.value)));
for (const id of ids.filter((one) => one.startsWith("scores-"))) {
  const where = plot(id), place = Number(id.slice("scores-".length)), pull = (event) => cutAt(place, made[id].drag(event.clientX - where.getBoundingClientRect().left));
  where.addEventListener("pointerdown", (event) => { where.setPointerCapture(event.pointerId); pull(event); });
  where.addEventListener("pointermove", (event) => { if (where.hasPointerCapture(event.pointerId)) pull(event); });
}
byId("uncut").addEventListener("click", () => cutAt(null, null));

// -- a thousand: whose, and how many of them are positives ---------------------------------------------------------------

for (const button of all("[data-share]")) button.addEventListener("click", () => {
  const share = Number(button.dataset.share);
  // The share is one of one's own costs where they are given.
  if (state.own) { byId("prevalence").value = share; costs.dispatchEvent(new Event("input")); return; }
  shareOut(share);
  keep();
});
function shareOut(share) {
  state.share = share;
  moveTexts();
  moveFigures();
}
const who = byId("who");
if (who) who.addEventListener("change", () => { state.who = who.value === "" ? null : Number(who.value); state.cut = null; moveTexts(); moveFigures(); });

for (const button of all("[data-costs]")) button.addEventListener("click", () => priced(...button.dataset.costs.split(",").map(Number), 50));
const costs = byId("costs"), costFields = ["cost-fn", "cost-fp", "prevalence", "visits"].map(byId);
if (costs) costs.addEventListener("input", () => {
  const [miss, alarm, share, visits] = costFields.map((field) => Number(field.value));
  if (!(miss > 0 && alarm > 0 && share > 0 && share < 100 && visits > 0)) return write(byId("costs-say"), "costs and trials above 0, and a share between 0 and 100");
  priced(miss, alarm, share, visits);
  sayCosts(ownCosts(miss, alarm, share, visits));
});
const sayCosts = (own) => write(byId("costs-say"), `alpha = ${alphaDigits(own.alpha)}${state.own && !ownOrder() ? `; the nearest known here is ${data.live.alpha[state.at]}` : ""}. ${aDay(own)}`);
// What an error of each kind costs, times how many of all trials are of that kind.
const prices = (own) => Object.fromEntries(Object.entries(mixture(own.share)).map(([kind, share]) => [kind, share * (kind === "positives" ? own.miss : own.alarm)]));
// Errors and costs of a day with their intervals, and what it costs to look at no score.
function aDay(own) {
  const place = leader(), shares = mixture(own.share), { rates } = operating(place), times = (weights) => amounts(together(rates, Object.fromEntries(Object.entries(weights).map(([kind, weight]) => [kind, own.visits * weight]))));
  const [all, none] = constantCosts(own).map((cost) => amount(own.visits * cost));
  return `A day with ${nameOf(place)}: ${times(shares)} errors, at a cost of ${times(prices(own))}. Rejecting every trial costs ${none} a day, accepting every trial ${all}.`;
}
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

// One system is always shown: what stands alone cannot be hidden.
function lastStays() {
  const shown = all("[data-toggle]:checked");
  for (const box of all("[data-toggle]")) box.disabled = shown.length === 1 && box.checked;
}

for (const box of all("[data-toggle]")) {
  box.addEventListener("change", () => { show(Number(box.dataset.toggle), box.checked); lastStays(); state.cut = null; moveTexts(); renderAll(); keep(); });
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
  for (const row of all("#table-leaderboard tbody tr")) row.hidden = !!asked && place >= 0 && !names[Number(row.dataset.system)].includes(asked);
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
  const stops = all("tr.found"), stop = stops[visited++ % stops.length];
  stop.scrollIntoView({ block: "center" });
}

if (find) {
  find.addEventListener("input", seek);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.found !== null) visit();
    if (event.key === "Escape") { find.value = ""; seek(); }
  });
}

for (const [id, name, drawn] of [["bands", "bands", "epc"], ["odds", "odds", "epc"], ["optimism", "optimism", "epc"], ["ztest", "ztest", "epc"]] ) {
  const box = byId(id);
  if (box) box.addEventListener("change", () => { state[name] = box.checked; render(drawn); });
}

const chooser = byId("pair");
function choosePair(pair) {
  state.pair = pair;
  if (chooser) chooser.value = pair;
  namePair();
  render("epc");
  if (figures.replicates) render("replicates");
}
// The words for those who do not see the figures name the pair that is drawn.
const spoken = new Map(["epc", "replicates"].filter(plot).map((id) => [id, plot(id).getAttribute("aria-label")]));
function namePair() {
  const pair = data.pairs[state.pair], first = data.pairs[data.pair];
  for (const [id, text] of spoken) plot(id).setAttribute("aria-label", !pair || pair === first ? text : `${text.split(` of ${nameOf(first.a)} minus`)[0]}: ${nameOf(pair.a)} minus ${nameOf(pair.b)}.`);
}
if (chooser) chooser.addEventListener("change", () => { choosePair(Number(chooser.value)); keep(); });

// -- tables: a heading sorts; of many systems a tick draws one in the curves -------------------------------------------

const sorting = new Map();
// The first number of a cell; what has none is sorted as text, after the numbers.
const keyOf = (cell) => { const text = cell.textContent.trim(), found = text.replace(/[\u2212−]/g, "-").replace(/,/g, "").match(/^<?-?\d+(\.\d+)?/); return found ? Number(found[0].replace("<", "")) : text.toLowerCase(); };
const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
function sortRows(table) {
  const asked = sorting.get(table);
  if (!asked) return;
  const body = table.tBodies[0], rows = [...body.rows].map((row) => [keyOf(row.cells[asked.column]), row]);
  body.append(...rows.sort(([a], [b]) => asked.turn * compare(a, b)).map(([, row]) => row));
}
for (const table of all(".numbers table")) if (table.tBodies[0].rows.length > 2) [...table.tHead.rows].at(-1).querySelectorAll("th").forEach((heading, column) => {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "sorts", textContent: heading.textContent });
  const term = heading.querySelector(".term");
  if (term) button.title = byId(term.getAttribute("aria-describedby")).textContent;
  heading.replaceChildren(button);
  button.addEventListener("click", () => {
    const before = sorting.get(table), turn = before && before.column === column ? -before.turn : 1;
    sorting.set(table, { column, turn });
    for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
    sortRows(table);
  });
});

// The leaderboard of many: each row has its interval on a common axis, and its curve beside that of the best.
const standings = data.many && byId("table-leaderboard");
function drawStandings() {
  const reach = span(data.systems.flatMap(({ value, lower, upper }) => [value, lower || value, upper || value]).map((values) => [values[state.at]])), low = data.measure.fromZero ? 0 : reach[0], px = linear(low, reach[1], 4, 156);
  const all_ = span(data.systems.map(({ value }) => value)), across = linear(0, 1, 2, 88), up = linear(data.measure.fromZero ? 0 : all_[0], all_[1], 20, 2), best = data.systems[ranked()[0]], thin = data.alpha.map((_, i) => i).filter((i) => i % Math.ceil(data.alpha.length / 34) === 0);
  for (const row of standings.tBodies[0].rows) {
    const place = Number(row.dataset.system), { value, lower, upper } = data.systems[place], at = state.at, could = !ranking || ranking.possible[at][place] === "1", own = state.pins.includes(place) ? colour(place) : could ? "var(--c0)" : "var(--neutral)";
    row.classList.toggle("could", !!ranking && could);
    const curveOf = (values, stroke) => line(thin.map((i) => across(data.alpha[i])), thin.map((i) => up(values[i])), { stroke, "stroke-width": 1.2 });
    row.querySelector("[data-range]").replaceChildren(...(lower ? [rule(px(lower[at]), 11, px(upper[at]), 11, { stroke: own, "stroke-width": 2.5 })] : []), el("circle", { cx: round(px(value[at])), cy: 11, r: 3.5, fill: own, "data-dot": place }));
    row.querySelector("[data-curve]").replaceChildren(curveOf(best.value, "var(--line)"), curveOf(value, own), el("circle", { cx: round(across(data.alpha[at])), cy: round(up(value[at])), r: 2, fill: own }));
  }
}
if (standings) {
  const cellOf = (tag, text, ...children) => { const cell = document.createElement(tag); cell.append(text, ...children); return cell; };
  [...standings.tHead.rows].at(-1).append(cellOf("th", data.measure.title), cellOf("th", "Along alpha"));
  for (const row of standings.tBodies[0].rows) {
    const place = Number(row.dataset.system), tick = document.createElement("input");
    Object.assign(tick, { type: "checkbox", autocomplete: "off" });
    tick.setAttribute("aria-label", `Draw ${nameOf(place)} in the curves`);
    tick.checked = tick.disabled = data.matter.includes(place);
    tick.addEventListener("change", () => {
      state.pins = tick.checked ? [...state.pins, place] : state.pins.filter((one) => one !== place);
      for (const other of standings.querySelectorAll("tbody input")) other.disabled = !other.checked && state.pins.length >= 3 || data.matter.includes(Number(other.closest("tr").dataset.system));
      drawStandings();
      renderAll();
    });
    row.cells[0].prepend(tick, " ");
    row.append(cellOf("td", "", el("svg", { width: 160, height: 22, "data-range": "", "aria-hidden": "true" })), cellOf("td", "", el("svg", { width: 90, height: 22, "data-curve": "", "aria-hidden": "true" })));
  }
}

// Trials that went wrong: only those asked for, and the one pointed at marked in the scores.
for (const filter of all("[data-filter]")) filter.addEventListener("input", () => {
  for (const row of filter.closest("section").querySelectorAll("tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(filter.value.trim().toLowerCase());
});
for (const part of all("[data-errors-of]")) for (const table of part.querySelectorAll("table")) {
  const column = [...table.tHead.rows].at(-1).cells.length - 2, mark = (score) => { state.marked = score === null ? null : { place: Number(part.dataset.errorsOf), score }; moveFigures(); };
  for (const row of table.tBodies[0].rows) for (const [name, score] of [["pointerenter", Number(row.cells[column].textContent)], ["pointerleave", null]]) row.addEventListener(name, () => mark(score));
}

// -- a link that keeps what was chosen ----------------------------------------------------------------------------------

function keep() {
  const hidden = state.shown.map((one, place) => one ? null : place).filter((place) => place !== null), pair = data.pairs[state.pair];
  const own = state.own && [state.own.miss, state.own.alarm, state.own.share, state.own.visits].join("_");
  const parts = { alpha: alphaText(), ...(own ? { costs: own } : {}), ...(state.share !== data.share ? { share: state.share } : {}), ...(pair && state.pair !== data.pair ? { pair: `${pair.a}-${pair.b}` } : {}), ...(hidden.length ? { hide: hidden.join(".") } : {}), ...(limit && limit.value !== limit.querySelector("[selected]").value ? { limit: limit.value } : {}) };
  const kept = "#" + new URLSearchParams(parts);
  if (location.hash !== kept) history.replaceState(null, "", kept);
}

function restore() {
  if (!location.hash.includes("=")) return;
  const asked = new URLSearchParams(location.hash.slice(1)), alpha = Number(asked.get("alpha"));
  if (asked.has("alpha") && Number.isFinite(alpha)) state.at = nearest(alpha);
  const own = (asked.get("costs") || "").split("_").map(Number);
  if (costs && own.length >= 3 && own.every((one) => one > 0) && own[2] < 100) {
    state.own = ownCosts(...own);
    state.at = nearest(state.own.alpha);
    costFields.forEach((field, i) => { field.value = own[i] ?? field.value; });
    sayCosts(state.own);
  } else state.own = null;
  slider.value = state.at;
  const share = Number(asked.get("share"));
  shareOut(share > 0 && share < 100 ? share : data.share);
  const hidden = (asked.get("hide") || "").split(".").filter(Boolean).map(Number);
  for (const box of all("[data-toggle]")) { const place = Number(box.dataset.toggle); box.checked = !hidden.includes(place); show(place, box.checked); }
  if (!all("[data-toggle]:checked").length) for (const box of all("[data-toggle]")) { box.checked = true; show(Number(box.dataset.toggle), true); }
  lastStays();
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

// The buttons of figures and tables: without a script they would do nothing.
function button(text, label, name, value) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: text });
  made.setAttribute("aria-label", label);
  made.dataset[name] = value;
  return made;
}
for (const id of ids) {
  const head = plot(id).closest("figure").querySelector(".figure-head"), title = head.querySelector("h2, h3").firstChild.textContent.trim(), menu = document.createElement("details"), opens = document.createElement("summary"), choices = document.createElement("div");
  opens.textContent = "save";
  opens.setAttribute("aria-label", `Save ${title}`);
  const tables = [id, ...Object.keys(figures).filter((other) => figures[other].drawnBy === id)];
  choices.append(...["png", "svg", "pdf"].map((kind) => button(kind.toUpperCase(), `${kind === "pdf" ? "Print" : "Download"} ${title} as ${kind.toUpperCase()}`, kind, id)),
    ...tables.map((one) => button(one === id ? "CSV" : `CSV (${one})`, `Download the data of ${title} as CSV: ${one}`, "csv", one)));
  menu.className = "pop tools";
  menu.append(opens, choices);
  head.append(menu);
}
for (const table of all(".numbers table")) {
  const head = table.closest(".numbers").querySelector(".figure-head"), title = head.querySelector("h3").firstChild.textContent.trim(), id = table.id.slice("table-".length), tools = document.createElement("div");
  tools.className = "tools";
  tools.append(button("Copy", `Copy the table ${title}`, "copy", id), button("CSV", `Download the table ${title} as CSV`, "table", id));
  head.append(tools);
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
  if (copyThreshold !== undefined) copy(shownCard().threshold);
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
if (standings) drawStandings();
const watch = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
  const id = target.id.slice("plot-".length);
  if (!isIntersecting) { near.delete(id); return; }
  near.add(id);
  if ("stale" in target.dataset) render(id);
}), { rootMargin: "600px" });
renderAll();
ids.forEach((id) => watch.observe(plot(id)));
// The browser looked for the place of a link before there were figures.
if (location.hash.length > 1 && !location.hash.includes("=")) { const target = byId(decodeURIComponent(location.hash.slice(1))); if (target) target.scrollIntoView({ behavior: "instant" }); }
new ResizeObserver(() => { for (const id of ids) if (made[id] && made[id].width !== plot(id).clientWidth) render(id); }).observe(byId("main"));
addEventListener("beforeprint", () => { ids.forEach((id) => near.add(id)); root.classList.add("light", "printing"); renderAll(); });
addEventListener("afterprint", () => { root.classList.remove("light", "printing"); renderAll(); });
root.dataset.ready = "true";
