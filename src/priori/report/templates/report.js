// The page moves with one number, alpha. Every text was written beforehand, one per alpha; here they are only shown.
(async () => {
"use strict";

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const data = await unpack(document.getElementById("priori-data").textContent);
const root = document.documentElement;
const state = { at: data.at, pair: 0, found: null, shown: data.systems.map(() => true),
  bands: true, optimism: data.systems.length <= 3 };
const percent = data.measure.percent;
const scale = percent ? 100 : 1;
const unit = percent ? " %" : "";
const all = (selector) => [...document.querySelectorAll(selector)];
const plot = (id) => document.getElementById("plot-" + id);
const scaled = (values) => values.map((value) => value * scale);
const times100 = (values) => values.map((value) => value * 100);
// The plotting library reads some HTML in texts; a name is text.
const safe = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const number = (value) => value === "inf" ? Infinity : value === "-inf" ? -Infinity : value;

// -- how figures look -------------------------------------------------------------------------------------------

// Colours come from the style sheet, so that light, dark and print differ in one place only.
function theme() {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return { ink: of("ink"), muted: of("muted"), line: of("line"), shade: of("shade"), paper: of("paper"),
    neutral: of("neutral"), sans: of("sans"), accent: of("accent"), first: of("c0"), second: of("c1"),
    series: data.systems.map((_, place) => of(data.matter.includes(place) ? "c" + data.matter.indexOf(place) : "neutral")) };
}

function inLight(work) {
  root.classList.add("light");
  try { return work(theme()); } finally { root.classList.remove("light"); }
}

function see(colour, opacity) {
  const [, r, g, b] = /^#(..)(..)(..)$/.exec(colour);
  return `rgba(${parseInt(r, 16)},${parseInt(g, 16)},${parseInt(b, 16)},${opacity})`;
}

function axis(look, title, more) {
  return { title: { text: title, font: { size: 13, color: look.muted }, standoff: 8 }, color: look.muted, gridcolor: look.line,
    linecolor: look.muted, zeroline: false, tickfont: { size: 12, color: look.muted }, ticks: "", automargin: true,
    showline: true, fixedrange: coarse, ...more };
}

const coarse = matchMedia("(pointer: coarse)").matches;

function layout(look, more) {
  return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: look.sans, size: 12, color: look.ink },
    margin: { l: 8, r: 12, t: 10, b: 8 }, showlegend: false, dragmode: coarse ? false : "zoom",
    hoverlabel: { bgcolor: look.paper, bordercolor: look.muted, font: { family: look.sans, size: 12, color: look.ink }, namelength: 30 },
    ...more };
}

const line = (look, place, more) => ({ color: look.series[place], width: 2, ...more });
const cursor = (look, x, more) => ({ type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1,
  line: { color: look.ink, width: 1.25 }, ...more });
const dot = (look, place, x, y, more) => ({ type: "circle", xref: "x", yref: "y", xsizemode: "pixel", ysizemode: "pixel",
  xanchor: x, yanchor: y, x0: -6, x1: 6, y0: -6, y1: 6, fillcolor: place === state.found ? look.ink : look.series[place], line: { color: look.paper, width: 2 }, ...more });
// Those with a colour of their own, and of many systems the one that was found, are drawn one by one.
const places = () => data.matter.filter((place) => state.shown[place] && place !== state.found);
const singled = () => state.found === null ? places() : [...places(), state.found];
const common = (place) => ({ type: "scatter", mode: "lines", name: safe(data.systems[place].short), meta: place });

// The others are one thin grey line with gaps.
function rest(look, points) {
  const line = { x: [], y: [], text: [] };
  data.systems.forEach((system, place) => {
    if (data.matter.includes(place) || place === state.found) return;
    const [x, y] = points(system);
    line.x.push(...x, null);
    line.y.push(...y, null);
    for (let i = 0; i <= x.length; i++) line.text.push(safe(system.short));
  });
  return line.x.length ? [{ type: "scatter", mode: "lines", ...line, connectgaps: false, hovertemplate: "%{text}<extra></extra>",
    line: { color: see(look.neutral, 0.45), width: 0.8 } }] : [];
}

const stroke = (look, place) => place === state.found ? line(look, place, { color: look.ink, width: 3 }) : line(look, place);

// -- the figures: what they draw, and what moves with alpha -------------------------------------------------------

const figures = {};

figures.epc = {
  draw(look) {
    const traces = rest(look, (system) => [data.alpha, scaled(system.value)]);
    for (const place of singled()) {
      const system = data.systems[place], edge = { ...common(place), x: data.alpha, hoverinfo: "skip", showlegend: false, line: { width: 0 } };
      if (system.lower && state.bands) {
        traces.push({ ...edge, y: scaled(system.lower) });
        traces.push({ ...edge, y: scaled(system.upper), fill: "tonexty", fillcolor: see(look.series[place], places().length > 3 ? 0.1 : 0.16) });
      }
    }
    for (const place of singled()) {
      const system = data.systems[place];
      if (state.optimism) traces.push({ ...common(place), x: data.alpha, y: scaled(system.best), line: { color: look.series[place], width: 1.25, dash: "dot" },
        hoverinfo: "skip", showlegend: false });
      traces.push({ ...common(place), x: data.alpha, y: scaled(system.value), line: stroke(look, place),
        hovertemplate: `%{y:.4~g}${unit}<extra>%{fullData.name}</extra>` });
    }
    return { traces, layout: layout(look, { hovermode: data.many ? "closest" : "x unified",
      xaxis: axis(look, "alpha", { range: [0, 1], hoverformat: ".3~f" }),
      yaxis: axis(look, data.measure.title + (percent ? " (%)" : ""), { rangemode: data.measure.fromZero ? "tozero" : "normal" }) }) };
  },
  moving(look) {
    const x = data.alpha[state.at];
    return [...regions(look), cursor(look, x), ...singled().map((place) => dot(look, place, x, data.systems[place].value[state.at] * scale))];
  },
  columns() {
    const rows = [["system", "alpha", "threshold", "dev_v1", "dev_v2", "v1", "v2", "value", "best", "lower", "upper", "tp", "fp", "tn", "fn"]];
    for (const system of data.systems) data.alpha.forEach((alpha, at) => rows.push([system.name, alpha, system.threshold[at],
      system.devV1[at], system.devV2[at], system.v1[at], system.v2[at], system.value[at], system.best[at],
      system.lower ? system.lower[at] : "", system.upper ? system.upper[at] : "",
      ...["tp", "fp", "tn", "fn"].map((kind) => system.counts[kind][at])]));
    return rows;
  },
};

function regions(look, more) {
  if (!data.pairs.length) return [];
  const step = 0.5 / (data.alpha.length - 1);
  return data.pairs[state.pair].regions.map(([low, high]) => ({ type: "rect", xref: "x", yref: "paper", layer: "below",
    x0: Math.max(low - step, 0), x1: Math.min(high + step, 1), y0: 0, y1: 1, fillcolor: look.shade, line: { width: 0 }, ...more }));
}

figures.difference = data.pairs.length ? {
  draw(look) {
    const pair = data.pairs[state.pair], x = data.alpha, two = pair.confidence !== null;
    const base = { type: "scatter", mode: "lines", x }, traces = [];
    if (pair.lower) {
      traces.push({ ...base, y: scaled(pair.lower), line: { width: 0 }, hoverinfo: "skip", showlegend: false });
      traces.push({ ...base, y: scaled(pair.upper), line: { width: 0 }, hoverinfo: "skip", showlegend: false, fill: "tonexty", fillcolor: see(look.neutral, 0.25) });
    }
    const drawn = (y, name, line) => traces.push({ ...base, y: scaled(y), name, line,
      hovertemplate: `%{y:+.3~f}${percent ? " points" : ""}<extra>${name}</extra>` });
    drawn(pair.difference, "difference", pair.expected ? { color: look.muted, width: 1, dash: "dot" } : { color: look.ink, width: 2 });
    if (pair.expected) drawn(pair.expected, "expected", { color: look.ink, width: 2 });
    if (two) traces.push({ ...base, y: times100(pair.confidence), yaxis: "y2", name: "confidence", line: { color: look.first, width: 2 },
      hovertemplate: "%{y:.1f} %<extra>confidence</extra>" });
    const more = two ? { yaxis2: axis(look, "confidence (%)", { domain: [0, 0.3], range: [0, 102], tickvals: [0, 50, 100 * data.level], anchor: "x" }) } : {};
    return { traces, layout: layout(look, { hovermode: "x unified",
      xaxis: axis(look, "alpha", { range: [0, 1], hoverformat: ".3~f", anchor: two ? "y2" : "y" }),
      yaxis: axis(look, "difference" + (percent ? " (points)" : ""), { domain: two ? [0.4, 1] : [0, 1], zeroline: true, zerolinecolor: look.muted, zerolinewidth: 1 }),
      ...more }) };
  },
  moving(look) {
    const pair = data.pairs[state.pair], x = data.alpha[state.at];
    const marks = [...regions(look), cursor(look, x), { ...dot(look, 0, x, (pair.expected || pair.difference)[state.at] * scale), fillcolor: look.ink }];
    if (pair.confidence) {
      marks.push({ type: "line", xref: "paper", yref: "y2", x0: 0, x1: 1, y0: 100 * data.level, y1: 100 * data.level, line: { color: look.muted, width: 1, dash: "dash" } });
      marks.push(dot(look, 0, x, 100 * pair.confidence[state.at], { yref: "y2", fillcolor: look.first }));
    }
    return marks;
  },
  columns() {
    const rows = [["a", "b", "alpha", "difference", "expected", "lower", "upper", "p_value", "significant", "confidence"]];
    for (const pair of data.pairs) data.alpha.forEach((alpha, at) => rows.push([data.systems[pair.a].name, data.systems[pair.b].name, alpha,
      pair.difference[at], ...["expected", "lower", "upper", "p_value", "significant", "confidence"].map((name) => pair[name] ? pair[name][at] : "")]));
    return rows;
  },
} : null;

figures.roc = {
  draw(look) {
    const traces = rest(look, (system) => [times100(system.roc.fpr), times100(system.roc.tpr)]);
    for (const place of singled()) traces.push({ ...common(place), x: times100(data.systems[place].roc.fpr), y: times100(data.systems[place].roc.tpr),
      line: stroke(look, place), hovertemplate: "FPR %{x:.3~g} %, TPR %{y:.4~g} %<extra>%{fullData.name}</extra>" });
    return { traces, layout: layout(look, { hovermode: "closest",
      xaxis: axis(look, "false positive rate (%)", { range: [-1, 101], constrain: "domain" }),
      yaxis: axis(look, "true positive rate (%)", { range: [-1, 101], scaleanchor: "x", constrain: "domain" }) }) };
  },
  moving: (look) => [{ type: "line", x0: 0, x1: 100, y0: 0, y1: 100, layer: "below", line: { color: look.muted, width: 1, dash: "dot" } },
    ...singled().map((place) => { const point = data.systems[place].rocPoint;
      return dot(look, place, 100 * point.fpr[state.at], 100 * point.tpr[state.at]); })],
  columns: () => [["system", "fpr", "tpr"], ...data.systems.flatMap((system) => system.roc.fpr.map((fpr, i) => [system.name, fpr, system.roc.tpr[i]]))],
};

const [detLow, detHigh] = data.det.range;
const inside = (value) => Math.min(Math.max(value, detLow), detHigh);

figures.det = {
  draw(look) {
    const traces = rest(look, (system) => [system.det.x, system.det.y]);
    for (const place of singled()) { const curve = data.systems[place].det; traces.push({ ...common(place), x: curve.x, y: curve.y,
      customdata: curve.fpr.map((fpr, i) => [100 * fpr, 100 * curve.fnr[i]]), line: stroke(look, place),
      hovertemplate: "FAR %{customdata[0]:.3~g} %, FRR %{customdata[1]:.3~g} %<extra>%{fullData.name}</extra>" }); }
    const ends = { range: data.det.range, tickvals: data.det.ticks, ticktext: data.det.texts, constrain: "domain" };
    return { traces, layout: layout(look, { hovermode: "closest", xaxis: axis(look, "false acceptance rate (%)", ends),
      yaxis: axis(look, "false rejection rate (%)", { ...ends, scaleanchor: "x" }) }) };
  },
  moving: (look) => [{ type: "line", x0: detLow, x1: detHigh, y0: detLow, y1: detHigh, layer: "below", line: { color: look.muted, width: 1, dash: "dot" } },
    ...singled().map((place) => { const point = data.systems[place].detPoint;
      return dot(look, place, inside(point.x[state.at]), inside(point.y[state.at])); })],
  columns: () => [["system", "fpr", "fnr"], ...data.systems.flatMap((system) => system.det.fpr.map((fpr, i) => [system.name, fpr, system.det.fnr[i]]))],
};

data.matter.forEach((place) => {
  const system = data.systems[place], edges = system.scores.edges, ends = [edges[0], edges[edges.length - 1]];
  const steps = (shares) => [...times100(shares), 100 * shares[shares.length - 1]];
  figures["scores-" + place] = {
    draw(look) {
      const base = { type: "scatter", mode: "lines", x: edges }, bars = { ...base, line: { shape: "hv", width: 1 }, fill: "tozeroy" };
      const thin = { ...base, hoverinfo: "skip", showlegend: false };
      const text = (name) => `%{y:.3~g} %<extra>${name}</extra>`;
      return { traces: [
        { ...bars, y: steps(system.scores.negatives), name: "negatives", line: { shape: "hv", width: 1, color: look.neutral }, fillcolor: see(look.neutral, 0.35), hovertemplate: text("negatives") },
        { ...bars, y: steps(system.scores.positives), name: "positives", line: { shape: "hv", width: 1, color: look.series[place] }, fillcolor: see(look.series[place], 0.35), hovertemplate: text("positives") },
        { ...thin, y: steps(system.scores.dev_negatives), line: { shape: "hv", width: 1, color: look.neutral, dash: "dot" } },
        { ...thin, y: steps(system.scores.dev_positives), line: { shape: "hv", width: 1, color: look.series[place], dash: "dot" } },
      ], layout: layout(look, { hovermode: "x unified", xaxis: axis(look, "score", { range: ends, hoverformat: ".4~g" }),
        yaxis: axis(look, "share (%)", { rangemode: "tozero", nticks: 5 }) }) };
    },
    moving(look) {
      // Accepting or rejecting all puts the line at an end of the scores.
      const threshold = Math.min(Math.max(number(system.threshold[state.at]), ends[0]), ends[1]);
      return [cursor(look, threshold, { line: { color: look.ink, width: 2 } })];
    },
    columns: () => [["from", "to", "negatives", "positives", "dev_negatives", "dev_positives"], ...system.scores.negatives.map((_, i) => [edges[i], edges[i + 1],
      ...["negatives", "positives", "dev_negatives", "dev_positives"].map((name) => system.scores[name][i])])],
  };
});

// -- many systems: who stands where, and who beats whom -----------------------------------------------------------

const ranking = data.ranking, board = ranking && ranking.board;
const count = data.systems.length;
const order = () => data.live.tables.leaderboard.systems[state.at].filter((place) => state.shown[place]);
const crowded = count > 60;  // no room for a name per row of a matrix
const band = (look, y, more) => ({ type: "rect", xref: "paper", yref: "y", layer: "below", x0: 0, x1: 1, y0: y - 0.5, y1: y + 0.5,
  fillcolor: see(look.accent, 0.16), line: { width: 0 }, ...more });
const bold = (place, text) => place === state.found ? `<b>${text}</b>` : text;

// Rows of names, the first on top; where there is no room for all, every tenth has its number, and the one found its name.
function rows(look, shown, more) {
  const kept = shown.map((place, row) => [place, row]).filter(([place, row]) => !more.crowded || row % 10 === 9 || place === state.found);
  return axis(look, "", { range: [shown.length - 0.5, -0.5], tickvals: kept.map(([, row]) => row), showgrid: false, fixedrange: true,
    ticktext: kept.map(([place, row]) => more.crowded && place !== state.found ? String(row + 1) : bold(place, safe(data.systems[place].short))),
    tickfont: { size: more.crowded ? 10 : 11.5, color: look.ink }, showline: false });
}

if (ranking) figures.dots = {
  moves: true,
  height: () => 52 + order().length * (count > 30 ? 16 : 24),
  draw(look) {
    const shown = order(), traces = [], texts = ranking.dots[state.at], could = ranking.possible[state.at];
    for (const best of [false, true]) {
      const chosen = shown.map((place, row) => [data.systems[place], row, place]).filter(([, , place]) => (could[place] === "1") === best);
      if (!chosen.length) continue;
      const x = chosen.map(([system]) => system.value[state.at] * scale), y = chosen.map(([, row]) => row), colour = best ? look.first : look.neutral;
      const reach = (side) => chosen.map(([system], i) => system[side] ? Math.abs(system[side][state.at] * scale - x[i]) : 0);
      traces.push({ type: "scatter", mode: "markers", x, y, meta: best ? "possible" : "others", marker: { color: colour, size: count > 30 ? 7 : 10 },
        error_x: { type: "data", symmetric: false, array: reach("upper"), arrayminus: reach("lower"), color: colour, thickness: count > 30 ? 1.5 : 2.5, width: 0 },
        text: chosen.map(([system, , place]) => `${safe(system.short)}: ${texts[place]}`), hovertemplate: "%{text}<extra></extra>" });
    }
    const ends = shown.map((place) => { const system = data.systems[place]; return Math.max(...[system.value, system.upper || system.value].map((values) => values[state.at])) * scale; });
    traces.push({ type: "scatter", mode: "text", x: ends, y: shown.map((_, row) => row), text: shown.map((place) => bold(place, "  " + texts[place])),
      textposition: "middle right", textfont: { size: count > 30 ? 11 : 12, color: look.ink }, hoverinfo: "skip", cliponaxis: false });
    const low = Math.min(...shown.map((place) => (data.systems[place].lower || data.systems[place].value)[state.at])) * scale, high = Math.max(...ends);
    const start = data.measure.fromZero ? 0 : low - 0.05 * (high - low);
    return { traces, layout: layout(look, { hovermode: "closest", yaxis: rows(look, shown, { crowded: false }),
      xaxis: axis(look, data.measure.title + (percent ? " (%)" : "") + (data.measure.better ? " \u2192 better" : " \u2190 better"), { range: [start, high + 0.24 * (high - start)], side: "top", fixedrange: true }) }) };
  },
  moving: (look) => state.found === null ? [] : [band(look, order().indexOf(state.found))],
  columns() {
    const names = [...document.querySelectorAll("#table-leaderboard thead th")].map((cell) => cell.textContent.trim().toLowerCase());
    return [["alpha", ...names], ...data.alpha.flatMap((alpha, at) => data.live.tables.leaderboard.systems[at].map((place, row) =>
      [alpha, data.systems[place].name, ...data.live.tables.leaderboard.cells[at][row].map((text) => text.replace(/\u00a0/g, " "))]))];
  },
};

// Pairs come in the order AB, AC, ..., BC, ...
const pairAt = (a, b) => a * count - a * (a + 1) / 2 + b - a - 1;
const verdictOf = (letters, a, b) => { const letter = a < b ? letters[pairAt(a, b)] : letters[pairAt(b, a)];
  return letter === "." ? 0 : (letter === "a") === (a < b) ? 1 : -1; };

function heat(look, shown, z, text, colorscale, more) {
  return { type: "heatmap", z, text, x: z[0].map((_, column) => column + 1), y: shown.map((_, row) => row), colorscale, showscale: false,
    xgap: crowded ? 0 : 1, ygap: crowded ? 0 : 1, hovertemplate: "%{text}<extra></extra>", ...more };
}

const across = { range: [0.5, count + 0.5], dtick: count > 60 ? 20 : count > 12 ? 5 : 1, tick0: 0, showgrid: false, showline: false, side: "top", fixedrange: true };
const square = { height: () => Math.min(Math.max(260, 60 + count * (crowded ? 5.5 : 15)), 760) };

if (ranking && ranking.beats) figures.matrix = {
  ...square, moves: true,
  draw(look) {
    const shown = order(), letters = ranking.beats[state.at], says = { 1: "is significantly better than", 0: "cannot be told from", "-1": "is significantly worse than" };
    const z = shown.map((a) => shown.map((b) => a === b ? null : verdictOf(letters, a, b)));
    const text = shown.map((a, row) => shown.map((b, column) => a === b ? "" : `${safe(data.systems[a].short)} ${says[z[row][column]]} ${safe(data.systems[b].short)}`));
    return { traces: [heat(look, shown, z, text, [[0, look.second], [0.5, look.shade], [1, look.first]], { zmin: -1, zmax: 1 })],
      layout: layout(look, { hovermode: "closest", yaxis: rows(look, shown, { crowded }),
        xaxis: axis(look, "place of the other system", across) }) };
  },
  moving(look) {
    const row = order().indexOf(state.found), edge = { fillcolor: "rgba(0,0,0,0)", line: { color: look.ink, width: 1.5 }, layer: "above" };
    return row < 0 ? [] : [band(look, row, edge), { ...band(look, 0, edge), xref: "x", yref: "paper", x0: row + 0.5, x1: row + 1.5, y0: 0, y1: 1 }];
  },
  columns: () => [["alpha", "better", "worse"], ...data.alpha.flatMap((alpha, at) => data.systems.flatMap((a, i) => data.systems.slice(i + 1).map((b, j) => {
    const verdict = verdictOf(ranking.beats[at], i, i + 1 + j);
    return verdict ? (verdict > 0 ? [alpha, a.name, b.name] : [alpha, b.name, a.name]) : null;
  }).filter(Boolean)))],
};

if (board) figures.ranks = {
  ...square,
  draw(look) {
    const shown = board.systems, most = Math.max(...board.probability.flat());
    const text = shown.map((place, row) => board.probability[row].map((share, rank) => `${safe(data.systems[place].short)}: rank ${rank + 1} in ${(100 * share).toFixed(1)} % of draws`));
    return { traces: [heat(look, shown, board.probability, text, [[0, look.paper], [0.01, see(look.first, 0.18)], [0.1, see(look.first, 0.5)], [0.4, see(look.first, 0.8)], [1, look.first]], { zmin: 0, zmax: most })],
      layout: layout(look, { hovermode: "closest", yaxis: rows(look, shown, { crowded }),
        xaxis: axis(look, "rank", { ...across, showline: true }) }) };
  },
  moving: (look) => state.found === null ? [] : [band(look, board.systems.indexOf(state.found), { fillcolor: "rgba(0,0,0,0)", line: { color: look.ink, width: 1 }, layer: "above" })],
  columns: () => [["system", ...board.probability.map((_, rank) => `rank_${rank + 1}`)], ...board.systems.map((place, row) => [data.systems[place].name, ...board.probability[row]])],
};

if (board) figures.slopes = {
  height: () => Math.max(260, 60 + board.height),
  draw(look) {
    const kinds = { others: [], gains: [], losses: [], found: [] };
    board.systems.forEach((place, row) => kinds[place === state.found ? "found" : !board.significant[row] ? "others" : board.gain[row] > 0 ? "gains" : "losses"].push(row));
    const colour = { others: see(look.neutral, 0.7), gains: look.first, losses: look.second, found: look.ink };
    const traces = Object.entries(kinds).filter(([, chosen]) => chosen.length).map(([kind, chosen]) => ({ type: "scatter", mode: "lines+markers", meta: kind,
      x: chosen.flatMap(() => [0, 1, null]), y: chosen.flatMap((row) => [board.before[row], board.after[row], null]),
      text: chosen.flatMap((row) => Array(3).fill(`${safe(data.systems[board.systems[row]].short)}: ${board.before[row]} by ${board.against}, ${board.after[row]} in advance`)),
      hovertemplate: "%{text}<extra></extra>", line: { color: colour[kind], width: kind === "others" ? 0.9 : kind === "found" ? 3 : 2 }, marker: { size: 4, color: colour[kind] } }));
    const named = [...board.named, ...board.systems.keys()].filter((row, i, all) => (i < board.named.length || board.systems[row] === state.found) && all.indexOf(row) === i);
    for (const [side, x, position] of [["before", 0, "middle left"], ["after", 1, "middle right"]]) {
      const at = (row) => board.named.includes(row) ? board.at[side][board.named.indexOf(row)] : board[side][row];
      traces.push({ type: "scatter", mode: "text", hoverinfo: "skip", cliponaxis: false, textposition: position, x: named.map(() => x ? 1.02 : -0.02), y: named.map(at),
        textfont: { size: 11, color: look.ink }, text: named.map((row) => bold(board.systems[row], x ? `${board[side][row]}  ${label(row)}` : `${label(row)}  ${board[side][row]}`)) });
    }
    return { traces, layout: layout(look, { hovermode: "closest",
      xaxis: axis(look, "", { range: [-1.1, 2.1], tickvals: [0, 1], ticktext: [`by ${board.against}, a posteriori`, "fixed in advance"], side: "top", showgrid: false, showline: false, fixedrange: true }),
      yaxis: axis(look, "", { range: [Math.max(count, ...board.at.before, ...board.at.after) + 1.5, Math.min(1, ...board.at.before, ...board.at.after) - 1.5], visible: false, fixedrange: true }) }) };
  },
  moving: () => [],
  columns: () => [["system", "rank_a_posteriori", "rank_in_advance", "gain", "more_than_chance"], ...board.systems.map((place, row) =>
    [data.systems[place].name, board.before[row], board.after[row], board.gain[row], board.significant[row]])],
};
const label = (row) => safe(data.systems[board.systems[row]].short.slice(0, 30));

const ids = Object.keys(figures).filter((id) => figures[id]);
const CONFIG = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: "reset", showTips: false, plotlyServerURL: "" };

// Of many systems a figure is drawn when it comes near the window, so that the page opens at once.
const near = new Set(data.many ? [] : ids), stale = new Set();

function render(id, look = theme()) {
  const where = plot(id);
  if (!where.clientWidth) return;
  if (!near.has(id)) { stale.add(id); return; }
  stale.delete(id);
  if (figures[id].height) where.style.height = `${figures[id].height()}px`;
  const { traces, layout: made } = figures[id].draw(look);
  Plotly.react(where, traces, { ...made, width: where.clientWidth, height: where.clientHeight, shapes: figures[id].moving(look) }, CONFIG);
}

const renderAll = () => { const look = theme(); ids.forEach((id) => render(id, look)); };

// -- moving -------------------------------------------------------------------------------------------------------

const slider = document.getElementById("alpha");
const names = { alpha: data.live.alpha, weighing: data.live.weighing };

function write(element, text) { if (element.textContent !== text) element.textContent = text; }

function moveTexts() {
  const at = state.at;
  for (const element of all("[data-text]")) if (names[element.dataset.text]) write(element, names[element.dataset.text][at]);
  for (const element of all("[data-answer]")) write(element, data.live.answers[element.dataset.answer][at]);
  for (const table of all("table[data-moving]")) moveTable(table, data.live.tables[table.dataset.moving], at);
  slider.setAttribute("aria-valuetext", `alpha ${data.live.alpha[at]}: ${data.live.weighing[at]}`);
}

function moveTable(table, live, at) {
  const body = table.tBodies[0];
  if (live.systems.length) {
    const rows = new Map([...body.rows].map((row) => [Number(row.dataset.system), row]));
    body.append(...live.systems[at].map((place) => rows.get(place)));
  }
  live.cells[at].forEach((cells, r) => cells.forEach((text, c) => write(body.rows[r].cells[c + 1], text)));
}

let waiting = false;
function moveFigures() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const look = theme();
    for (const id of ids) if (!near.has(id)) stale.add(id); else if (plot(id).clientWidth && plot(id).data) figures[id].moves ? render(id, look) : Plotly.relayout(plot(id), { shapes: figures[id].moving(look) });
  });
}

function move(at) {
  state.at = Math.min(Math.max(at, 0), data.alpha.length - 1);
  slider.value = state.at;
  moveTexts();
  moveFigures();
  if (find && state.found !== null) write(document.getElementById("found"), told(state.found));
}

slider.addEventListener("input", () => move(Number(slider.value)));

function nearest(alpha) {
  return data.alpha.reduce((best, one, at) => Math.abs(one - alpha) < Math.abs(data.alpha[best] - alpha) ? at : best, 0);
}

// -- choosing -----------------------------------------------------------------------------------------------------

for (const box of all("[data-toggle]")) box.addEventListener("change", () => {
  const place = Number(box.dataset.toggle);
  state.shown[place] = box.checked;
  for (const row of all(`tr[data-system="${place}"]`)) row.hidden = !box.checked;
  plot("scores-" + place).closest("figure").hidden = !box.checked;
  renderAll();
});

// Find a system by a part of its name: it is marked in every figure and table; Enter goes to where it is, one place after another.
const find = document.getElementById("find");
let visited = 0;
function seek() {
  const asked = find.value.trim().toLowerCase(), names = data.systems.map((system) => system.name.toLowerCase());
  const exact = names.indexOf(asked), some = names.findIndex((name) => name.startsWith(asked)), any = names.findIndex((name) => name.includes(asked));
  const place = !asked ? -1 : [exact, some, any].find((one) => one >= 0) ?? -1;
  visited = 0;
  mark(place < 0 ? null : place);
  write(document.getElementById("found"), !asked ? "" : place < 0 ? "no system of that name" : told(place));
}

function told(place) {
  const others = data.systems.filter((system) => system.name.toLowerCase().includes(find.value.trim().toLowerCase())).length - 1;
  return [`${data.systems[place].short}: ${ranking ? ranking.dots[state.at][place] : ""}`, others > 0 ? `${others} more match` : "", "Enter: go there"].filter(Boolean).join(" \u00b7 ");
}

function mark(place) {
  if (place === state.found) return;
  state.found = place;
  for (const row of all("tr[data-system]")) row.classList.toggle("found", Number(row.dataset.system) === place);
  for (const id of ["dots", "slopes", "ranks", "matrix", "epc", "roc", "det"]) if (figures[id]) render(id);
}

function visit() {
  const rowsOfIt = all("tr.found"), stops = [...(ranking ? [plot("dots")] : []), ...rowsOfIt];
  const stop = stops[visited++ % stops.length];
  if (!stop.matches(".plot")) return stop.scrollIntoView({ block: "center" });
  const into = order().indexOf(state.found) / order().length * stop.clientHeight;
  scrollTo({ top: scrollY + stop.getBoundingClientRect().top + into - innerHeight / 2 });
}

if (find) {
  find.addEventListener("input", seek);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.found !== null) visit();
    if (event.key === "Escape") { find.value = ""; seek(); }
  });
}

for (const name of ["bands", "optimism"]) {
  const box = document.getElementById(name);
  if (box) box.addEventListener("change", () => { state[name] = box.checked; render("epc"); });
}

const chooser = document.getElementById("pair");
if (chooser) chooser.addEventListener("change", () => {
  state.pair = Number(chooser.value);
  const pair = data.pairs[state.pair];
  for (const element of all('[data-text="pair"]')) element.textContent = `${data.systems[pair.a].short} minus ${data.systems[pair.b].short}`;
  render("epc");
  render("difference");
});

// -- taking away --------------------------------------------------------------------------------------------------

let clearing;
function say(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => { status.textContent = ""; }, 2500);
}

function save(text, type, name) {
  const link = document.createElement("a"), address = URL.createObjectURL(new Blob([text], { type }));
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
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

// A figure for a paper: light, on white, with a legend, whatever the page looks like now.
async function download(id) {
  const where = plot(id), made = inLight((look) => {
    const { traces, layout: plain } = figures[id].draw(look);
    return { data: traces, layout: { ...plain, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", shapes: figures[id].moving(look),
      showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom" } } };
  });
  const size = { width: Math.max(where.clientWidth, 480), height: Math.max(where.clientHeight, 320) + 40 };
  const address = await Plotly.toImage({ ...made, layout: { ...made.layout, ...size } }, { format: "svg", ...size });
  save(decodeURIComponent(address.slice(address.indexOf(",") + 1)), "image/svg+xml", `${id}.svg`);
  say(`Saved ${id}.svg`);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { svg, csv: figure, copy: copied, table, copyCommand } = button.dataset;
  if (svg) download(svg);
  if (figure) { save(csv(figures[figure].columns()), "text/csv", `${figure}.csv`); say(`Saved ${figure}.csv`); }
  if (table) { save(csv(rowsOf(document.getElementById("table-" + table))), "text/csv", `${table}.csv`); say(`Saved ${table}.csv`); }
  if (copied) copy(rowsOf(document.getElementById("table-" + copied)).map((row) => row.join("\t")).join("\n"));
  if (copyCommand !== undefined) copy(document.getElementById("command").textContent);
});

// -- beginning, and following the window ----------------------------------------------------------------------------

// One figure at a time, the first at once: the slider answers before the last is drawn.
moveTexts();
const clicks = (id) => { if (["epc", "difference"].includes(id)) plot(id).on("plotly_click", (event) => move(nearest(event.points[0].x))); };
if (data.many) {
  for (const id of ids) {
    stale.add(id);
    if (figures[id].height) plot(id).style.height = `${figures[id].height()}px`;  // so that what is below does not move
  }
  const watch = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    const id = target.id.slice("plot-".length), fresh = !target.data;
    if (!isIntersecting) { near.delete(id); return; }
    near.add(id);
    if (stale.has(id)) render(id);
    if (fresh) clicks(id);
  }), { rootMargin: "400px" });
  ids.forEach((id) => watch.observe(plot(id)));
} else for (const id of ids) {
  render(id);
  clicks(id);
  await new Promise((done) => setTimeout(done));
}
const widths = new Map(ids.map((id) => [id, plot(id).clientWidth]));
new ResizeObserver(() => {
  for (const id of ids) if (widths.get(id) !== plot(id).clientWidth) { widths.set(id, plot(id).clientWidth); render(id); }
}).observe(document.getElementById("main"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renderAll);
addEventListener("beforeprint", () => { ids.forEach((id) => near.add(id)); root.classList.add("light", "printing"); renderAll(); });
addEventListener("afterprint", () => { root.classList.remove("light", "printing"); renderAll(); });
root.dataset.ready = "true";
})();
