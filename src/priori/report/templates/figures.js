// The figures: what each draws, what moves with alpha, and the numbers behind it.
// draw(into, width) draws into a group and returns {height, move, point}: `move` returns what moves with alpha,
// `point(x, y)` what to say of a place in the drawing.

const percent = data.measure.percent, scale = percent ? 100 : 1, unit = percent ? " %" : "";
const count = data.systems.length, ranking = data.ranking, board = ranking && ranking.board;
const colour = (place) => place === state.found ? "var(--ink)" : data.matter.includes(place) ? `var(--c${data.matter.indexOf(place)})` : "var(--neutral)";
const seen = () => data.matter.filter((place) => state.shown[place] && place !== state.found);
const singled = () => state.found === null ? seen() : [...seen(), state.found];
const others = () => data.systems.map((_, place) => place).filter((place) => !data.matter.includes(place) && place !== state.found);
const measureTitle = data.measure.title + (percent ? " (%)" : "");
const better = data.measure.better ? "better \u2192" : "\u2190 better";
const nameOf = (place) => data.systems[place].short;
const number = (value) => value === "inf" ? Infinity : value === "-inf" ? -Infinity : value;
const shownValue = (value) => percent ? `${Number((100 * value).toPrecision(4))}\u00a0%` : String(Number(value.toPrecision(4)));
const figures = {};

// -- dots and intervals ---------------------------------------------------------------------------------------------

// One row for each system, from best to worst: its value, its interval, its ranks and letters.
function dotRows(into, width, systems, rowHeight) {
  const size = rowHeight < 20 ? 11 : 13, at = state.at, texts = data.live.dots[at].map((parts) => width < 460 ? parts.slice(0, 1) : parts);
  const nameRoom = clamp(Math.max(...systems.map((place) => widthOf(nameOf(place), size, 700))) * 1.12 + 8, 40, width * 0.3);
  const textRoom = Math.min(Math.max(...systems.map((place) => widthOf(texts[place].join("   "), size, 600))) + 14, width * 0.42);
  const left = nameRoom + 8, right = width - textRoom, top = 8, bottom = top + rowHeight * systems.length;
  const lows = systems.map((place) => (data.systems[place].lower || data.systems[place].value)[at] * scale);
  const highs = systems.map((place) => (data.systems[place].upper || data.systems[place].value)[at] * scale);
  const far = Math.max(...highs), near = Math.min(...lows), low = data.measure.fromZero ? 0 : near - 0.08 * (far - near || 1), end = far + 0.03 * (far - low || 1);
  const frame = panel(into, { left, right, top, bottom }, { ends: [low, end], title: "", ticks: ticksOf(low, end, Math.floor((right - left) / 80)) }, { ends: [systems.length, 0], ticks: [] });
  systems.forEach((place, row) => {
    const y = top + rowHeight * (row + 0.5), system = data.systems[place], found = place === state.found;
    const best = ranking ? ranking.possible[at][place] === "1" : row === 0;
    const own = found ? "var(--ink)" : data.many ? (best ? "var(--c0)" : "var(--neutral)") : colour(place);
    if (found) into.prepend(box(0, y - rowHeight / 2, width, rowHeight, { fill: "var(--shade)" }));
    into.append(words(left - 10, y, fitted(nameOf(place), row === 0 || found ? nameRoom * 0.9 : nameRoom, size), { anchor: "end", size, weight: found || row === 0 ? 700 : 400, "data-row": place }));
    if (system.lower) into.append(rule(frame.px(lows[row]), y, frame.px(highs[row]), y, { stroke: own, "stroke-width": rowHeight < 20 ? 2 : 3.5, "data-interval": place }));
    into.append(dot(frame.px(system.value[at] * scale), y, { fill: own, r: rowHeight < 20 ? 4 : 7, "data-dot": place, "data-value": system.value[at] }));
    const [value, ...more] = texts[place], told = words(Math.max(frame.px(highs[row]), frame.px(system.value[at] * scale)) + 11, y, value, { size, weight: row === 0 ? 700 : 400 });
    for (const text of more) told.append(el("tspan", { dx: 9, "font-weight": 400, "font-size": size - 1, fill: "var(--muted)" }, text));
    into.append(told);
  });
  return { height: bottom + 22, rows: systems, top, rowHeight };
}

const ranked = () => data.live.order[state.at].filter((place) => state.shown[place]);

figures.dots = {
  title: () => `${data.measure.title}, ${data.levelText} interval`, redraws: true,
  draw(into, width) {
    const rows = ranked().slice(0, 8);
    return dotRows(into, width, rows, rows.length > 6 ? 30 : rows.length > 3 ? 40 : 58);
  },
  columns: () => [["alpha", "system", "value", "lower", "upper"], ...data.alpha.flatMap((alpha, at) => data.live.order[at].map((place) => {
    const system = data.systems[place];
    return [alpha, system.name, system.value[at], system.lower ? system.lower[at] : "", system.upper ? system.upper[at] : ""]; }))],
};

if (data.many) figures.standings = {
  title: () => `${data.measure.title}, from best to worst`, redraws: true, wide: true,
  draw: (into, width) => dotRows(into, width, ranked(), count > 30 ? 16 : 24),
  columns: () => figures.dots.columns(),
};

// -- the curve and the difference, on one axis ----------------------------------------------------------------------

function span(series) {
  const flat = series.flat().filter(Number.isFinite);
  return [Math.min(...flat), Math.max(...flat)];
}

// A little more than what is drawn, from zero where zero is the best there is.
function ends(low, high) {
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [data.measure.fromZero ? 0 : low - room, high + room];
}

// The constant pieces of a curve where they are known, else its values at the alphas of the slider.
const pieces = (system, name) => system.steps ? { x: [...system.steps.alpha, 1], y: [...system.steps[name], system.steps[name].at(-1)].map((v) => v * scale), step: true }
  : { x: data.alpha, y: system[name].map((v) => v * scale), step: false };

// Where along alpha the difference is significant with all alphas tested together, in the winner's colour.
function ribbon(into, px, y, pair) {
  if (!pair || !pair.throughout) return;
  const half = 0.5 / (data.alpha.length - 1), difference = pair.expected || pair.difference;
  into.append(box(px(0), y, px(1) - px(0), 7, { fill: "var(--shade)" }));
  data.alpha.forEach((alpha, at) => {
    if (!pair.throughout[at]) return;
    const winner = (difference[at] > 0) === data.measure.better ? pair.a : pair.b, low = Math.max(alpha - half, 0), high = Math.min(alpha + half, 1);
    into.append(box(px(low) - 0.3, y, px(high) - px(low) + 0.6, 7, { fill: colour(winner), "data-ribbon": winner, "data-alpha": alpha }));
  });
}

figures.epc = {
  title: () => `Expected Performance Curve: ${data.measure.title}`, wide: true,
  draw(into, width) {
    const pair = data.pairs[state.pair], narrow = width < 520, room = narrow ? 74 : clamp(Math.max(...singled().map((place) => widthOf(nameOf(place), 11.5, 700)), ...(pair ? [pair.a, pair.b] : []).map((place) => widthOf(`${nameOf(place)} better`, 10.5))) + 16, 60, 170);
    const left = 54, right = width - room, pointed = state.pointed ?? singled()[0], low = [], top = 14;
    const leader = ranked()[0] ?? pointed, banded = new Set(state.bands ? [leader, state.pointed, state.found].filter((place) => place !== null && place !== undefined) : []);
    const drawn = singled().map((place) => [place, pieces(data.systems[place], "value")]);
    low.push(...drawn.map(([, curve]) => curve.y));
    for (const place of banded) if (data.systems[place].lower) low.push(data.systems[place].lower.map((v) => v * scale), data.systems[place].upper.map((v) => v * scale));
    if (data.many) low.push(...others().map((place) => data.systems[place].value.map((v) => v * scale)));
    const tall = narrow ? 230 : 290, frame = { left, right, top, bottom: top + tall };
    const upper = panel(into, frame, { ends: [0, 1], title: pair ? undefined : data.alphaTitle, drop: pair ? 0 : 0 }, { ends: ends(...span(low)), title: measureTitle });
    for (const place of others()) into.append(line(data.alpha.map(upper.px), data.systems[place].value.map((v) => upper.py(v * scale)), { stroke: "var(--neutral)", "stroke-width": 0.7, "stroke-opacity": 0.5, "data-grey": place }));
    for (const place of banded) { const system = data.systems[place]; if (!system.lower) continue;
      into.append(area(data.alpha.map(upper.px), system.lower.map((v) => upper.py(v * scale)), system.upper.map((v) => upper.py(v * scale)), { fill: colour(place), "fill-opacity": 0.16, "data-band": place })); }
    for (const [place, curve] of drawn) {
      const strong = place === leader || place === state.pointed || place === state.found, xs = curve.x.map(upper.px);
      if (state.optimism) { const best = pieces(data.systems[place], "best"); into.append(line(best.x.map(upper.px), best.y.map(upper.py), { step: best.step, stroke: colour(place), "stroke-width": 1.1, "stroke-dasharray": "2 3", "data-optimism": place })); }
      into.append(line(xs, curve.y.map(upper.py), { step: curve.step, stroke: colour(place), "stroke-width": strong ? 2.4 : 1.3, "data-line": place }));
    }
    labels(into, right, drawn.map(([place, curve]) => ({ y: upper.py(curve.y.at(-1)), text: nameOf(place), colour: colour(place), strong: place === leader, system: place })), top + 4, top + tall - 4, room);
    const below = pair ? differencePanel(into, { left, right, top: top + tall + 30, room }, pair) : { bottom: frame.bottom, moving: () => [] };
    const height = below.bottom + 44;
    return { height,
      move: () => { const x = upper.px(data.alpha[state.at]);
        return [rule(x, top, x, below.bottom, { "data-cursor": data.alpha[state.at] }),
          ...singled().map((place) => dot(x, upper.py(data.systems[place].value[state.at] * scale), { fill: colour(place), "data-dot": place, "data-alpha": data.alpha[state.at], "data-value": data.systems[place].value[state.at] })), ...below.moving(x)]; },
      point(x, y) {
        if (x < left || x > right) return null;
        const at = nearest(linear(left, right, 0, 1)(x)), places = data.many ? data.systems.map((_, place) => place) : singled();
        const closest = places.reduce((best, place) => Math.abs(upper.py(data.systems[place].value[at] * scale) - y) < Math.abs(upper.py(data.systems[best].value[at] * scale) - y) ? place : best, places[0]);
        const listed = data.many ? [closest] : [...singled()].sort((a, b) => (data.measure.better ? -1 : 1) * (data.systems[a].value[at] - data.systems[b].value[at]));
        return { at, system: y < frame.bottom && data.matter.includes(closest) ? closest : null,
          lines: [`alpha ${data.live.alpha[at]}`, ...listed.map((place) => `${nameOf(place)}: ${shownValue(data.systems[place].value[at])}`), ...(pair && y > frame.bottom ? [`difference ${shownValue((pair.expected || pair.difference)[at])}`] : [])] };
      } };
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

function differencePanel(into, { left, right, top, room }, pair) {
  const scaled = (values) => values.map((value) => value * scale), shown = pair.expected || pair.difference, tall = 130;
  const [low, high] = span([scaled(shown), scaled(pair.difference), ...(pair.lower ? [scaled(pair.lower), scaled(pair.upper)] : []), [0]]), space = 0.08 * (high - low || 1);
  const test = state.ztest && pair.confidence, bottom = top + tall, foot = test ? bottom + 76 : bottom;
  const x = { ends: [0, 1], title: test ? undefined : data.alphaTitle, drop: 12 };
  const frame = panel(into, { left, right, top, bottom }, x, { ends: [low - space, high + space], title: percent ? "points" : "difference", zero: true });
  into.append(words(left, top - 10, fitted(`${nameOf(pair.a)} minus ${nameOf(pair.b)}`, right - left - 90), { size: 11.5, weight: 600, "data-pair": `${pair.a}-${pair.b}` }));
  if (pair.lower) into.append(area(data.alpha.map(frame.px), scaled(pair.lower).map(frame.py), scaled(pair.upper).map(frame.py), { fill: "var(--neutral)", "fill-opacity": 0.28 }));
  if (pair.expected) into.append(line(data.alpha.map(frame.px), scaled(pair.difference).map(frame.py), { stroke: "var(--muted)", "stroke-width": 1, "stroke-dasharray": "2 3" }));
  into.append(line(data.alpha.map(frame.px), scaled(shown).map(frame.py), { "data-difference": "" }));
  const ahead = (place, y) => words(right + 10, y, `${fitted(nameOf(place), room - 12 - widthOf(" better", 10.5), 10.5)} better`, { size: 10.5, fill: colour(place) });
  into.append(ahead(data.measure.better ? pair.a : pair.b, top + 10), ahead(data.measure.better ? pair.b : pair.a, bottom - 10));
  ribbon(into, frame.px, bottom + 3, pair);
  const moving = [];
  let lower = null;
  if (test) {
    lower = panel(into, { left, right, top: bottom + 24, bottom: foot }, { ends: [0, 1], title: data.alphaTitle }, { ends: [0, 100], ticks: [0, 50, 100], title: "z-test %" });
    into.append(line(data.alpha.map(lower.px), pair.confidence.map((v) => lower.py(100 * v)), { stroke: "var(--c0)", "data-ztest": "" }));
    into.append(rule(left, lower.py(100 * data.level), right, lower.py(100 * data.level), { stroke: "var(--muted)", "stroke-dasharray": "4 3" }));
  }
  return { bottom: foot + (test ? 0 : 10), moving: (at) => [dot(at, frame.py(shown[state.at] * scale), { fill: "var(--ink)", "data-difference-dot": shown[state.at] }),
    ...(lower ? [dot(at, lower.py(100 * pair.confidence[state.at]), { fill: "var(--c0)" })] : [])] };
}

if (data.pairs.length) figures.difference = {
  drawnBy: "epc",
  columns() {
    const rows = [["a", "b", "alpha", "difference", "expected", "lower", "upper", "p_value", "significant", "confidence"]];
    for (const pair of data.pairs) data.alpha.forEach((alpha, at) => rows.push([data.systems[pair.a].name, data.systems[pair.b].name, alpha,
      pair.difference[at], ...["expected", "lower", "upper", "p_value", "significant", "confidence"].map((name) => pair[name] ? pair[name][at] : "")]));
    return rows;
  },
};

// The replicates of the difference at the alpha of the slider: Figure 6 of the 2005 paper.
if (data.pairs.some((pair) => pair.spread)) figures.replicates = {
  title: () => "Replicates of the difference", redraws: true,
  draw(into, width) {
    const pair = data.pairs[state.pair], { low, high, counts } = pair.spread, at = state.at, bars = counts[at], step = (high[at] - low[at]) / bars.length;
    const from = Math.min(low[at], 0) * scale, to = Math.max(high[at], 0) * scale, frame = { left: 54, right: width - 12, top: 22, bottom: 190 };
    const all = bars.reduce((sum, count) => sum + count, 0), most = 100 * Math.max(...bars) / all;
    const { px, py } = panel(into, frame, { ends: [from, to], title: percent ? "difference (points)" : "difference", grid: false }, { ends: [0, most * 1.05], title: "replicates (%)" });
    into.append(words(frame.left, 8, fitted(`${nameOf(pair.a)} minus ${nameOf(pair.b)}`, width - 70), { size: 11.5, weight: 600 }));
    bars.forEach((count, bar) => { const x = px((low[at] + bar * step) * scale), top = py(100 * count / all);
      into.append(el("rect", { x: round(x), y: round(top), width: round(Math.max(px((low[at] + (bar + 1) * step) * scale) - x - 0.5, 0.5)), height: round(frame.bottom - top), fill: "var(--neutral)", "fill-opacity": 0.55, "data-bar": count })); });
    for (const end of [pair.lower[at], pair.upper[at]]) into.append(rule(px(clamp(end * scale, from, to)), frame.top, px(clamp(end * scale, from, to)), frame.bottom, { stroke: "var(--ink)", "stroke-width": 2, "data-end": end }));
    into.append(rule(px(0), frame.top, px(0), frame.bottom, { stroke: "var(--ink)", "stroke-dasharray": "4 3" }));
    return { height: 236, point(x) {
      const bar = bars.findIndex((_, i) => px((low[at] + (i + 1) * step) * scale) >= x);
      return bar < 0 || x < px(low[at] * scale) ? null : { lines: [`${digits((low[at] + bar * step) * scale)} to ${digits((low[at] + (bar + 1) * step) * scale)}`, `${bars[bar].toLocaleString("en")} of ${all.toLocaleString("en")} replicates`] }; } };
  },
  columns() {
    const rows = [["a", "b", "alpha", "from", "to", "replicates"]];
    for (const pair of data.pairs) data.alpha.forEach((alpha, at) => { const { low, high, counts } = pair.spread, step = (high[at] - low[at]) / counts[at].length;
      counts[at].forEach((count, bar) => rows.push([data.systems[pair.a].name, data.systems[pair.b].name, alpha, low[at] + bar * step, low[at] + (bar + 1) * step, count])); });
    return rows;
  },
};

// -- many systems: one small curve each -----------------------------------------------------------------------------

if (data.many) figures.multiples = {
  title: () => `${data.measure.title} along alpha, one panel for each system`, wide: true, redraws: true,
  draw(into, width) {
    const shown = ranked().slice(0, state.allMultiples ? count : 24), across = Math.max(2, Math.floor(width / 150)), w = width / across, h = 92;
    const reach = ends(...span(data.systems.map((system) => system.value.map((v) => v * scale)))), first = data.systems[ranked()[0]];
    shown.forEach((place, i) => {
      const x0 = (i % across) * w + 4, y0 = Math.floor(i / across) * h + 18, px = linear(0, 1, x0, x0 + w - 16), py = linear(...reach, y0 + h - 28, y0), system = data.systems[place];
      into.append(box(x0, y0, w - 16, h - 28, { fill: "none", stroke: "var(--line)" }));
      into.append(words(x0, y0 - 8, fitted(`${i + 1}  ${nameOf(place)}`, w - 18, 11), { size: 11, weight: place === state.found ? 700 : 400 }));
      if (i) into.append(line(data.alpha.map(px), first.value.map((v) => py(v * scale)), { stroke: "var(--neutral)", "stroke-width": 1 }));
      if (system.lower) into.append(area(data.alpha.map(px), system.lower.map((v) => py(v * scale)), system.upper.map((v) => py(v * scale)), { fill: "var(--c0)", "fill-opacity": 0.14 }));
      into.append(line(data.alpha.map(px), system.value.map((v) => py(v * scale)), { stroke: place === state.found ? "var(--ink)" : "var(--c0)", "stroke-width": 1.5, "data-panel": place }));
      into.append(dot(px(data.alpha[state.at]), py(system.value[state.at] * scale), { r: 3, "stroke-width": 1, fill: "var(--ink)" }));
    });
    return { height: Math.ceil(shown.length / across) * h + 8 };
  },
  columns: () => figures.epc.columns(),
};

// -- a posteriori ---------------------------------------------------------------------------------------------------

function square(into, width, { ends: both, ticks, texts, xTitle, yTitle, curveOf, pointOf, say }) {
  const left = 56, top = 12, side = Math.min(width - left - 16, 430), frame = { left, right: left + side, top, bottom: top + side };
  const { px, py } = panel(into, frame, { ends: both, ticks, texts, title: xTitle }, { ends: both, ticks, texts, title: yTitle });
  const clip = `clip-${Math.random().toString(36).slice(2)}`;
  into.append(el("clipPath", { id: clip }, box(left, top, side, side)));
  const inside = el("g", { "clip-path": `url(#${clip})` }), at = (values, along) => values.map(along);
  inside.append(rule(px(both[0]), py(both[0]), px(both[1]), py(both[1]), { stroke: "var(--muted)", "stroke-dasharray": "2 3" }));
  for (const place of others()) { const [x, y] = curveOf(data.systems[place]); inside.append(line(at(x, px), at(y, py), { stroke: "var(--neutral)", "stroke-width": 0.7, "stroke-opacity": 0.5, "data-grey": place })); }
  const drawn = singled().map((place) => { const [x, y] = curveOf(data.systems[place]); return [place, at(x, px), at(y, py)]; });
  for (const [place, x, y] of drawn) inside.append(line(x, y, { stroke: colour(place), "stroke-width": place === state.pointed ? 3 : 1.8, "data-line": place }));
  into.append(inside);
  const keys = drawn.map(([place]) => place);
  const corner = xTitle.includes("positive") ? top + side - 16 * keys.length - 6 : top + 12;
  keys.forEach((place, row) => { const y = corner + 16 * row, text = fitted(nameOf(place), side * 0.4, 11.5);
    into.append(rule(frame.right - 24, y, frame.right - 8, y, { stroke: colour(place), "stroke-width": 3 }), words(frame.right - 30, y, text, { anchor: "end", size: 11.5, "paint-order": "stroke", stroke: "var(--paper)", "stroke-width": 3 })); });
  return { height: frame.bottom + 46,
    move: () => singled().map((place) => { const [x, y] = pointOf(data.systems[place], state.at);
      return dot(px(clamp(x, ...both)), py(clamp(y, ...both)), { fill: colour(place), "data-dot": place, "data-x": x, "data-y": y }); }),
    point(x, y) {
      let best = null;
      for (const [place, xs, ys] of drawn) xs.forEach((one, i) => { const d = (one - x) ** 2 + (ys[i] - y) ** 2; if (!best || d < best.d) best = { d, place, i }; });
      return best && best.d < 900 ? { system: best.place, lines: [nameOf(best.place), say(data.systems[best.place], best.i)] } : null;
    } };
}

figures.roc = {
  title: () => "ROC (a posteriori)",
  draw: (into, width) => square(into, width, { ends: [0, 100], ticks: [0, 20, 40, 60, 80, 100], xTitle: "false positive rate (%)", yTitle: "true positive rate (%)",
    curveOf: (system) => [system.roc.fpr.map((v) => 100 * v), system.roc.tpr.map((v) => 100 * v)],
    pointOf: (system, at) => [100 * system.rocPoint.fpr[at], 100 * system.rocPoint.tpr[at]],
    say: (system, i) => `FPR ${shownRate(system.roc.fpr[i])}, TPR ${shownRate(system.roc.tpr[i])}` }),
  columns: () => [["system", "fpr", "tpr"], ...data.systems.flatMap((system) => system.roc.fpr.map((fpr, i) => [system.name, fpr, system.roc.tpr[i]]))],
};
const shownRate = (value) => `${Number((100 * value).toPrecision(3))}\u00a0%`;

figures.det = {
  title: () => "DET (a posteriori)",
  draw: (into, width) => square(into, width, { ends: data.det.range, ticks: data.det.ticks, texts: data.det.texts, xTitle: "false acceptance rate (%)", yTitle: "false rejection rate (%)",
    curveOf: (system) => [system.det.x, system.det.y], pointOf: (system, at) => [system.detPoint.x[at], system.detPoint.y[at]],
    say: (system, i) => `FAR ${shownRate(system.det.fpr[i])}, FRR ${shownRate(system.det.fnr[i])}` }),
  columns: () => [["system", "fpr", "fnr"], ...data.systems.flatMap((system) => system.det.fpr.map((fpr, i) => [system.name, fpr, system.det.fnr[i]]))],
};

// -- scores ---------------------------------------------------------------------------------------------------------

data.matter.forEach((place) => {
  const system = data.systems[place], edges = system.scores.edges, range = [edges[0], edges.at(-1)];
  const steps = (shares) => [...shares, shares.at(-1)].map((v) => 100 * v);
  figures["scores-" + place] = {
    title: () => `Scores of ${nameOf(place)}`,
    draw(into, width) {
      const all = ["negatives", "positives", "dev_negatives", "dev_positives"], high = Math.max(...all.flatMap((name) => steps(system.scores[name])));
      const frame = { left: 46, right: width - 8, top: 20, bottom: 170 }, { px, py } = panel(into, frame, { ends: range, title: "score", grid: false }, { ends: [0, high * 1.05], title: "share (%)", wide: 26 });
      const shape = (name, own) => { const y = steps(system.scores[name]).map(py), d = trace(edges.map(px), y, true);
        into.append(el("path", { d: `M${round(px(edges[0]))} ${py(0)}L${d.slice(1)}V${py(0)}Z`, fill: own, "fill-opacity": 0.3 }), el("path", { d, fill: "none", stroke: own, "stroke-width": 1.2 })); };
      shape("negatives", "var(--neutral)");
      shape("positives", colour(place));
      for (const [name, own] of [["dev_negatives", "var(--muted)"], ["dev_positives", colour(place)]]) into.append(line(edges.map(px), steps(system.scores[name]).map(py), { step: true, stroke: own, "stroke-width": 1, "stroke-dasharray": "2 2" }));
      into.append(words(frame.left, 8, "negatives", { size: 11, fill: "var(--muted)" }), words(frame.right, 8, "positives", { size: 11, anchor: "end", fill: colour(place) }));
      return { height: 214, move() {
        // Accepting or rejecting all puts the line at an end of the scores.
        const threshold = clamp(number(system.threshold[state.at]), ...range), x = px(threshold);
        return [rule(x, frame.top - 4, x, frame.bottom, { "stroke-width": 2, "data-threshold": threshold })]; },
      point(x) { const bin = edges.findIndex((edge, i) => i < edges.length - 1 && px(edges[i + 1]) >= x);
        return bin < 0 || x < frame.left ? null : { lines: [`${digits(edges[bin])} to ${digits(edges[bin + 1])}`, `negatives ${shownRate(system.scores.negatives[bin])}`, `positives ${shownRate(system.scores.positives[bin])}`] }; } };
    },
    columns: () => [["from", "to", "negatives", "positives", "dev_negatives", "dev_positives"], ...system.scores.negatives.map((_, i) => [edges[i], edges[i + 1],
      ...["negatives", "positives", "dev_negatives", "dev_positives"].map((name) => system.scores[name][i])])],
  };
});

// -- many systems: who beats whom, and both rankings ----------------------------------------------------------------

const crowded = count > 60;  // no room for a name per row of a matrix
// Pairs come in the order AB, AC, ..., BC, ...
const pairAt = (a, b) => a * count - a * (a + 1) / 2 + b - a - 1;
const verdictOf = (letters, a, b) => { const letter = a < b ? letters[pairAt(a, b)] : letters[pairAt(b, a)];
  return letter === "." ? 0 : (letter === "a") === (a < b) ? 1 : -1; };

// Cells of one colour in one path: a matrix of thousands of cells stays a few elements.
function cells(into, width, shown, columns, colourOf, topTitle) {
  const room = crowded ? 34 : clamp(Math.max(...shown.map((place) => widthOf(nameOf(place), 11))) + 8, 40, width * 0.3), left = room, top = 40;
  const size = Math.min((width - left - 4) / columns, crowded ? 6.5 : columns > 12 ? 22 : 34), gap = size > 8 ? 1 : 0, paths = {};
  shown.forEach((place, row) => { for (let column = 0; column < columns; column++) { const own = colourOf(place, row, column);
    if (own) paths[own] = (paths[own] || "") + `M${round(left + column * size)} ${round(top + row * size)}h${round(size - gap)}v${round(size - gap)}h${round(gap - size)}z`; } });
  for (const [own, d] of Object.entries(paths)) { const [fill, opacity] = own.split("/"); into.append(el("path", { d, fill, "fill-opacity": opacity, "data-cells": own })); }
  shown.forEach((place, row) => { if (crowded && place !== state.found && row % 10 !== 9) return;
    into.append(words(left - 6, top + (row + 0.5) * size, crowded && place !== state.found ? String(row + 1) : fitted(nameOf(place), room - 8, 11), { anchor: "end", size: 11, weight: place === state.found ? 700 : 400, "data-row": place })); });
  for (let column = 0; column < columns; column++) if (columns <= 12 || (column + 1) % (columns > 60 ? 20 : 5) === 0) into.append(words(left + (column + 0.5) * size, top - 10, String(column + 1), { anchor: "middle", size: 11, fill: "var(--muted)" }));
  into.append(words(left + columns * size / 2, 10, topTitle, { anchor: "middle", size: 11.5, fill: "var(--muted)" }));
  const marked = shown.indexOf(state.found);
  if (marked >= 0) into.append(box(left, top + marked * size, columns * size, size, { fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, "data-found": state.found }));
  const at = (x, y) => [Math.floor((y - top) / size), Math.floor((x - left) / size)];
  return { height: top + shown.length * size + 8, at };
}

if (ranking && ranking.beats) figures.matrix = {
  title: () => "Every two systems", redraws: true, wide: true,
  draw(into, width) {
    const shown = ranked(), letters = ranking.beats[state.at], says = { 1: "is significantly better than", 0: "cannot be distinguished from", "-1": "is significantly worse than" };
    const own = { 1: "var(--c0)/1", 0: "var(--shade)/1", "-1": "var(--c1)/1" };
    const made = cells(into, width, shown, shown.length, (a, row, column) => row === column ? null : own[verdictOf(letters, a, shown[column])], "place of the other system");
    return { height: made.height, point(x, y) { const [row, column] = made.at(x, y), a = shown[row], b = shown[column];
      return a === undefined || b === undefined || a === b ? null : { lines: [`${nameOf(a)} ${says[verdictOf(letters, a, b)]} ${nameOf(b)}`] }; } };
  },
  columns: () => [["alpha", "better", "worse"], ...data.alpha.flatMap((alpha, at) => data.systems.flatMap((a, i) => data.systems.slice(i + 1).map((b, j) => {
    const verdict = verdictOf(ranking.beats[at], i, i + 1 + j);
    return verdict ? (verdict > 0 ? [alpha, a.name, b.name] : [alpha, b.name, a.name]) : null;
  }).filter(Boolean)))],
};

if (board) figures.ranks = {
  title: () => "How often each rank", fixed: true,
  draw(into, width) {
    const most = Math.max(...board.probability.flat());
    const made = cells(into, width, board.systems, board.systems.length, (place, row, column) => { const share = board.probability[row][column];
      return share < 0.005 ? null : `var(--c0)/${Math.max(0.12, Math.round(10 * Math.sqrt(share / most)) / 10)}`; }, "rank");
    return { height: made.height, point(x, y) { const [row, column] = made.at(x, y), place = board.systems[row];
      return place === undefined || board.probability[row][column] === undefined ? null : { lines: [`${nameOf(place)}: rank ${column + 1} in ${(100 * board.probability[row][column]).toFixed(1)} % of draws`] }; } };
  },
  columns: () => [["system", ...board.probability.map((_, rank) => `rank_${rank + 1}`)], ...board.systems.map((place, row) => [data.systems[place].name, ...board.probability[row]])],
};

if (board) figures.slopes = {
  title: () => `By ${board.against} on the test set, and in advance`, fixed: true,
  draw(into, width) {
    const top = 34, height = Math.max(120, board.height), ranks = Math.max(count, ...board.at.before, ...board.at.after), first = Math.min(1, ...board.at.before, ...board.at.after);
    const y = linear(first - 0.5, ranks + 0.5, top, top + height), room = width * 0.3, x0 = room, x1 = width - room;
    into.append(words(x0, 12, `by ${board.against}, a posteriori`, { anchor: "middle", size: 11.5, fill: "var(--muted)" }), words(x1, 12, "fixed in advance", { anchor: "middle", size: 11.5, fill: "var(--muted)" }));
    const kind = (row) => board.systems[row] === state.found ? "found" : !board.significant[row] ? "others" : board.gain[row] > 0 ? "gains" : "losses";
    const own = { others: "var(--neutral)", gains: "var(--c0)", losses: "var(--c1)", found: "var(--ink)" };
    const rows = [...board.systems.keys()].sort((a, b) => (kind(a) === "others" ? 0 : 1) - (kind(b) === "others" ? 0 : 1));
    for (const row of rows) into.append(rule(x0, y(board.before[row]), x1, y(board.after[row]), { stroke: own[kind(row)], "stroke-width": kind(row) === "others" ? 1 : 2.4, "data-slope": kind(row) }),
      ...[[x0, board.before], [x1, board.after]].map(([x, side]) => dot(x, y(side[row]), { r: 2.5, "stroke-width": 0, fill: own[kind(row)] })));
    const named = [...new Set([...board.named, ...board.systems.keys()].filter((row, i) => i < board.named.length || board.systems[row] === state.found))];
    for (const [side, x, anchor] of [["before", x0 - 8, "end"], ["after", x1 + 8, "start"]]) named.forEach((row) => {
      const spot = board.named.includes(row) ? board.at[side][board.named.indexOf(row)] : board[side][row], name = fitted(nameOf(board.systems[row]), room - 36, 11);
      into.append(words(x, y(spot), side === "before" ? `${name}  ${board[side][row]}` : `${board[side][row]}  ${name}`, { anchor, size: 11, weight: board.systems[row] === state.found ? 700 : 400 })); });
    return { height: top + height + 12 };
  },
  columns: () => [["system", "rank_a_posteriori", "rank_in_advance", "gain", "more_than_chance"], ...board.systems.map((place, row) =>
    [data.systems[place].name, board.before[row], board.after[row], board.gain[row], board.significant[row]])],
};
