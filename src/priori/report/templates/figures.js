// The figures: what each draws, what moves with alpha, and the numbers behind it.
// draw(into, width) draws into a group and returns {height, move, point}: `move` returns what moves with alpha,
// `point(x, y)` what to say of a place in the drawing.

const percent = data.measure.percent, scale = percent ? 100 : 1, unit = percent ? " %" : "";
const count = data.systems.length, ranking = data.ranking, board = ranking && ranking.board;
const coloured = () => [...data.matter, ...state.pins];
const colour = (place) => place === state.found ? "var(--ink)" : coloured().includes(place) ? `var(--c${coloured().indexOf(place)})` : "var(--neutral)";
const seen = () => coloured().filter((place) => state.shown[place] && place !== state.found);
const singled = () => state.found === null ? seen() : [...seen(), state.found];
const others = () => data.systems.map((_, place) => place).filter((place) => !coloured().includes(place) && place !== state.found);
const measureTitle = data.measure.title + (percent ? " (%)" : "");
const better = data.measure.better ? "better \u2192" : "\u2190 better";
const nameOf = (place) => data.systems[place].short;
const shownValue = (value) => percent ? `${Number((100 * value).toPrecision(4))}\u00a0%` : String(Number(value.toPrecision(4)));
const figures = {};
// What a figure shows now, for those who do not see it.
const speak = (id, text) => document.getElementById("plot-" + id).setAttribute("aria-label", text);

// -- dots and intervals ---------------------------------------------------------------------------------------------

// One row for each system, from best to worst: its value, its interval, its ranks and letters; and beside them, where
// there is room, what the development set promised of each kind of trials and what the test set kept.
function dotRows(into, width, systems, rowHeight) {
  const size = 13, at = state.at, texts = data.live.dots[at].map((parts) => (width < 460 ? parts.slice(0, 1) : parts).filter(Boolean));
  const kinds = Object.keys(data.kinds), asked = Math.max(...kinds.map((kind) => Math.max(widthOf(data.kinds[kind][0], 11.5, 600), widthOf(`${data.kinds[kind][1]} (%)`, 11)))) + 22;
  const wide = clamp(asked, 96, kinds.length > 2 ? 110 : 150), beside = width >= 640 ? kinds.length * wide : 0;
  const nameRoom = clamp(Math.max(...systems.map((place) => widthOf(nameOf(place), size, 700))) * 1.12 + 8, 40, width * 0.24);
  const left = nameRoom + 8, top = beside ? 38 : 8, bottom = top + rowHeight * systems.length;
  const lows = systems.map((place) => (data.systems[place].lower || data.systems[place].value)[at] * scale);
  const highs = systems.map((place) => (data.systems[place].upper || data.systems[place].value)[at] * scale);
  const far = Math.max(...highs), near = Math.min(...lows), low = data.measure.fromZero ? 0 : near - 0.08 * (far - near || 1), end = far + 0.03 * (far - low || 1);
  // As wide as leaves room for every text behind its own interval.
  const room = systems.map((place, row) => (width - beside - widthOf(texts[place].join("   "), size, 600) - 24 - left) * (end - low) / Math.max(highs[row] - low, 0.05 * (end - low)));
  const right = left + clamp(Math.min(...room), 60, width - beside - left - 14);
  const frame = panel(into, { left, right, top, bottom }, { ends: [low, end], title: "", ticks: ticksOf(low, end, Math.max(2, Math.floor((right - left) / 70))) }, { ends: [systems.length, 0], ticks: [] });
  if (beside) into.append(words(left, 9, measureTitle, { size: 11.5, weight: 600, fill: "var(--muted)" }));
  const rowAt = (row) => top + rowHeight * (row + 0.5);
  const ownOf = (place, row) => place === state.found ? "var(--ink)" : data.many ? ((ranking ? ranking.possible[at][place] === "1" : row === 0) ? "var(--c0)" : "var(--neutral)") : colour(place);
  systems.forEach((place, row) => {
    const y = rowAt(row), system = data.systems[place], found = place === state.found, own = ownOf(place, row);
    if (found) into.prepend(box(0, y - rowHeight / 2, width, rowHeight, { fill: "var(--shade)" }));
    into.append(words(left - 10, y, fitted(nameOf(place), row === 0 || found ? nameRoom * 0.9 : nameRoom, size), { anchor: "end", size, weight: found || row === 0 ? 700 : 400, "data-row": place }));
    if (system.lower) into.append(rule(frame.px(lows[row]), y, frame.px(highs[row]), y, { stroke: own, "stroke-width": 3.5, "stroke-linecap": "round", "data-interval": place }));
    into.append(el("circle", { cx: round(frame.px(system.value[at] * scale)), cy: round(y), r: 6, fill: own, "data-dot": place, "data-value": system.value[at] }));
    const [value, ...more] = texts[place], told = words(Math.max(frame.px(highs[row]), frame.px(system.value[at] * scale)) + 11, y, value, { size, weight: row === 0 ? 700 : 400 });
    for (const text of more) told.append(el("tspan", { dx: 9, "font-weight": 400, "font-size": size - 1, fill: "var(--muted)" }, text));
    into.append(told);
  });
  if (beside) kinds.forEach((kind, i) => keptPanel(into, { left: width - beside + i * wide + 12, right: width - beside + (i + 1) * wide - 10, top, bottom }, kind, systems, rowAt, ownOf));
  return { height: bottom + 22 };
}

// Promised (a ring, the development set) and kept (a dot, the test set), and in grey what chance allows.
function keptPanel(into, frame, kind, systems, rowAt, ownOf) {
  const at = state.at, known = systems.map((place) => data.systems[place].card || data.systems[place].kept).map((card) => card && card.promises[kind] && { ...rowOf(card.promises, at)[kind], kept: card.rates[kind].rate[at] });
  const high = 100 * Math.max(...known.filter(Boolean).flatMap(({ rate, upper, kept }) => [rate, upper, kept]), 0.001) * 1.04, [who, fate] = data.kinds[kind];
  const { px } = panel(into, frame, { ends: [0, high], title: "", ticks: ticksOf(0, high, 2) }, { ends: [systems.length, 0], ticks: [] });
  into.append(words(frame.left, 9, fitted(who, (frame.right - frame.left + 16) * 0.93, 11.5), { size: 11.5, weight: 600, fill: "var(--muted)" }), words(frame.left, 24, fitted(`${fate} (%)`, frame.right - frame.left + 16, 11), { size: 11, fill: "var(--muted)" }));
  known.forEach((one, row) => {
    if (!one) return;
    const y = rowAt(row), own = ownOf(systems[row], row), beyond = one.kept < one.lower || one.kept > one.upper, mark = beyond ? "var(--warn)" : own;
    into.append(box(px(100 * one.lower), y - 7, px(100 * one.upper) - px(100 * one.lower), 14, { fill: "var(--shade)", rx: 3 }),
      rule(px(100 * one.rate), y, px(100 * one.kept), y, { stroke: mark, "stroke-width": beyond ? 3 : 2 }),
      el("circle", { cx: round(px(100 * one.rate)), cy: round(y), r: 4, fill: "var(--paper)", stroke: mark, "stroke-width": 1.75, "data-promised": one.rate }),
      el("circle", { cx: round(px(100 * one.kept)), cy: round(y), r: 4.5, fill: mark, "data-kept": one.kept, "data-beyond": beyond || null }));
  });
}

const ranked = () => data.live.order[state.at].filter((place) => state.shown[place]);
// The best of those shown, by one's own costs where they are given.
const leader = () => state.own && ownOrder() ? ownOrder()[0].place : ranked()[0];

figures.dots = {
  title: () => `${data.measure.title}, ${data.levelText} interval`, redraws: true,
  draw(into, width) {
    const rows = ranked().slice(0, 8), told = (place) => `${nameOf(place)} ${data.live.dots[state.at][place].filter(Boolean).join(", ")}`;
    speak("dots", `Dot chart: ${figures.dots.title()}, from best to worst, at alpha = ${data.live.alpha[state.at]}: ${rows.map(told).join("; ")}.`);
    return dotRows(into, width, rows, rows.length > 6 ? 30 : rows.length > 3 || root.classList.contains("printing") ? 40 : width < 640 || rows.length > 2 ? 62 : 90);
  },
  columns: () => [["alpha", "system", "value", "lower", "upper"], ...data.alpha.flatMap((alpha, at) => data.live.order[at].map((place) => {
    const system = data.systems[place];
    return [alpha, system.name, system.value[at], system.lower ? system.lower[at] : "", system.upper ? system.upper[at] : ""]; }))],
};

// -- a thousand -----------------------------------------------------------------------------------------------------

// A dot for each of a thousand, kind by kind, coloured by what happens to them; pale as far as the interval goes.
const fates = { positives: "var(--c0)", negatives: "var(--c1)", attacks: "var(--c3)" };
const shownPlace = () => state.cut ? state.cut.place : state.who ?? leader();
figures.people = {
  title: () => `What happens to 1,000: ${nameOf(shownPlace())}`, redraws: true, wide: true,
  draw(into, width) {
    const place = shownPlace(), now = operating(place), shares = mixture(), kinds = Object.keys(now.rates), gap = width < 500 ? 8 : 22;
    const counts = kinds.map((kind) => Math.round(1000 * shares[kind])), rows = width < 500 ? 32 : width > 900 ? 16 : 20, columns = counts.map((n) => Math.ceil(n / rows));
    const step = Math.min((width - gap * (kinds.length - 1)) / columns.reduce((sum, n) => sum + n, 0), width > 900 ? 17.5 : 15), down = Math.min(step, 11), top = 20;
    let x = step / 2, free = 0;
    kinds.forEach((kind, i) => {
      const n = counts[i], { rate, upper } = now.rates[kind], sure = Math.round(n * rate), may = Math.ceil(n * upper - 1e-9), parts = { sure: "", may: "", fine: "" };
      for (let dot = 0; dot < n; dot++) parts[dot < sure ? "sure" : dot < may ? "may" : "fine"] += `M${round(x + step * Math.floor(dot / rows))} ${round(top + down * (0.5 + dot % rows))}h0`;
      const look = { sure: [fates[kind], 1], may: [fates[kind], 0.42], fine: ["var(--dot)", 1] };
      for (const [part, d] of Object.entries(parts)) if (d) into.append(el("path", { d, stroke: look[part][0], "stroke-opacity": look[part][1], "stroke-width": round(down * 0.66), "stroke-linecap": "round", [`data-${part}`]: { sure, may: may - sure, fine: n - may }[part] }));
      if (n) {
        const from = Math.max(x - step / 2, free), size = width < 500 ? 11 : 12, said = fitted(`${n.toLocaleString("en")} ${data.kinds[kind][0]}`, (width - from) * 0.93, size);
        into.append(words(from, 6, said, { size, weight: 600 }));
        free = from + widthOf(said, size, 600) + 10;
      }
      x += step * columns[i] + (n ? gap : 0);
    });
    let y = top + down * rows + 14, from = 0;
    const legend = [...kinds.map((kind) => { const n = shares[kind], { rate, lower, upper } = now.rates[kind], share = { rate: n * rate, lower: n * lower, upper: n * upper };
      return [fates[kind], 1, `${aboutText(share)} ${data.kinds[kind].join(" ")} ${intervalText(share)}`]; }), ["var(--muted)", 0.42, "pale: may be, at worst"]];
    for (const [fill, opacity, text] of legend) {
      const wide = widthOf(text, 12) + 34;
      if (from && from + wide > width) { from = 0; y += 18; }
      const [first, ...more] = wrapped(text, width - 15, 12), told = words(from + 15, y, first, { "data-fate": text });
      into.append(el("circle", { cx: from + 5, cy: y, r: 4.5, fill, "fill-opacity": opacity }), told);
      for (const part of more) { y += 16; told.append(el("tspan", { x: 15, dy: 16 }, part)); }
      from += wide;
    }
    // Where the mean of both rates is what the page is about, its interval is the one that the page has for it.
    const system = data.systems[place], plain = state.share === 50 && !state.own && !now.dragged && data.measure.name === "hter" && system.lower;
    const [own, joint] = [plain && { rate: system.value[state.at], lower: system.lower[state.at], upper: system.upper[state.at] }, together(now.rates, shares)];
    // Few users show nothing of those unlike them, for whom the bounds of both rates allow.
    const errors = !plain ? joint : data.users > 1 && data.live.screen[state.at].few ? { ...own, lower: Math.min(own.lower, joint.lower), upper: Math.max(own.upper, joint.upper) } : own;
    const all = `${errors.lower === errors.upper ? "" : "About "}${inThousand(errors.rate)} errors in all ${intervalText(errors)}${count > 1 ? `, by ${nameOf(place)}` : ""}${now.dragged ? `, accepting ${data.scored === "distance" ? "below" : "above"} ${now.threshold}` : ""}`;
    into.append(words(0, y + 20, all, { weight: 600, "data-errors": errors.rate }));
    speak("people", `A thousand dots: ${kinds.map((kind, i) => `${counts[i]} ${data.kinds[kind][0]}`).join(", ")}; ${legend.slice(0, -1).map(([, , text]) => text.trim()).join(", ")}. ${all}.`);
    return { height: y + 32 };
  },
  columns: () => [["kind", "alpha", "rate", "lower", "upper"], ...Object.entries(data.systems[shownPlace()].card.rates).flatMap(([kind, { rate, lower, upper }]) => data.alpha.map((alpha, at) => [data.kinds[kind][0], alpha, rate[at], lower[at], upper[at]]))],
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

// alpha itself, or log(alpha / (1 - alpha)), cut where the ends would be infinitely far away.
const ODDS = Math.log(199);
const alphaAxis = () => state.odds ? { ends: [0, 1], ticks: [0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99], along: (alpha) => clamp(Math.log(alpha / (1 - alpha)), -ODDS, ODDS) } : { ends: [0, 1] };

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
    const upper = panel(into, frame, { ...alphaAxis(), title: pair ? undefined : data.alphaTitle }, { ends: ends(...span(low)), title: measureTitle });
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
        const far = data.alpha.map((alpha) => Math.abs(upper.px(alpha) - x)), at = far.indexOf(Math.min(...far)), places = data.many ? data.systems.map((_, place) => place) : singled();
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
  const scaled = (values) => values.map((value) => value === null ? NaN : value * scale), shown = pair.expected || pair.difference, tall = 130;
  const [low, high] = span([scaled(shown), scaled(pair.difference), ...(pair.lower ? [scaled(pair.lower), scaled(pair.upper)] : []), [0]]), space = 0.08 * (high - low || 1);
  const test = state.ztest && pair.confidence, bottom = top + tall, foot = test ? bottom + 76 : bottom;
  const x = { ...alphaAxis(), title: test ? undefined : data.alphaTitle, drop: 12 };
  const frame = panel(into, { left, right, top, bottom }, x, { ends: [low - space, high + space], title: percent ? "points" : "difference", zero: true });
  into.append(words(left, top - 10, fitted(`${nameOf(pair.a)} minus ${nameOf(pair.b)}`, right - left - 90), { size: 11.5, weight: 600, "data-pair": `${pair.a}-${pair.b}` }));
  if (pair.lower) into.append(area(data.alpha.map(frame.px), scaled(pair.lower).map(frame.py), scaled(pair.upper).map(frame.py), { fill: "var(--neutral)", "fill-opacity": 0.28 }));
  if (pair.expected) into.append(line(data.alpha.map(frame.px), scaled(pair.difference).map(frame.py), { stroke: "var(--muted)", "stroke-width": 1, "stroke-dasharray": "2 3" }));
  into.append(line(data.alpha.map(frame.px), scaled(shown).map(frame.py), { "data-difference": "" }));
  // Where there is no room names would be cut until they are the same.
  const cut = [pair.a, pair.b].map((place) => fitted(nameOf(place), room - 12 - widthOf(" better", 10.5), 10.5)), told = cut.every((name) => [...name].length > 4 || !name.includes("…"));
  const calls = (place) => told && cut[0] !== cut[1] ? cut[place === pair.a ? 0 : 1] : place === pair.a ? "1st" : "2nd";
  const ahead = (place, y) => words(right + 10, y, `${calls(place)} better`, { size: 10.5, fill: colour(place) });
  into.append(ahead(data.measure.better ? pair.a : pair.b, top + 10), ahead(data.measure.better ? pair.b : pair.a, bottom - 10));
  ribbon(into, frame.px, bottom + 3, pair);
  const moving = [];
  let lower = null;
  if (test) {
    lower = panel(into, { left, right, top: bottom + 24, bottom: foot }, { ...alphaAxis(), title: data.alphaTitle }, { ends: [0, 100], ticks: [0, 50, 100], title: "z-test %" });
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
    const pair = data.pairs[state.pair];
    if (!pair.spread) {
      into.append(words(0, 20, `Of so many systems the replicates are kept for pairs with ${fitted(nameOf(data.live.order[data.at][0]), width / 2)} only.`, { size: 11.5 }));
      return { height: 40 };
    }
    const { low, high, counts } = pair.spread, at = state.at, bars = counts[at], step = (high[at] - low[at]) / bars.length;
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
    for (const pair of data.pairs) if (pair.spread) data.alpha.forEach((alpha, at) => { const { low, high, counts } = pair.spread, step = (high[at] - low[at]) / counts[at].length;
      counts[at].forEach((count, bar) => rows.push([data.systems[pair.a].name, data.systems[pair.b].name, alpha, low[at] + bar * step, low[at] + (bar + 1) * step, count])); });
    return rows;
  },
};

// -- a posteriori ---------------------------------------------------------------------------------------------------

function square(into, width, { ends: both, ticks, texts, xTitle, yTitle, curveOf, pointOf, say }) {
  const left = 56, top = 12, side = Math.min(width - left - 16, 430), frame = { left, right: left + side, top, bottom: top + side };
  const { px, py } = panel(into, frame, { ends: both, ticks, texts, title: xTitle }, { ends: both, ticks, texts, title: yTitle });
  const clip = `clip-${xTitle.split(" ")[1]}`;
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
    move: () => singled().map((place) => { const [x, y] = pointOf(data.systems[place], state.at, operating(place));
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
    pointOf: (system, at, now) => now && now.dragged && !data.kinds.attacks ? [100 * now.rates.negatives.rate, 100 - 100 * now.rates.positives.rate] : [100 * system.rocPoint.fpr[at], 100 * system.rocPoint.tpr[at]],
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
  const system = data.systems[place], edges = system.scores.edges, range = [edges[0], edges.at(-1)], kept = data.systems[place].card;
  const steps = (shares) => [...shares, shares.at(-1)].map((v) => 100 * v);
  figures["scores-" + place] = {
    title: () => `Scores of ${nameOf(place)}`,
    draw(into, width) {
      const all = ["negatives", "positives", "dev_negatives", "dev_positives"], low = count === 1, right = count === 1 ? width - 2 : width - 8;
      // A bin that stands out, such as scores far out, must not flatten the others.
      const tall = all.flatMap((name) => system.scores[name].map((v) => 100 * v)).sort((a, b) => b - a), high = Math.min(tall[0], 2.2 * tall[Math.min(6, tall.length - 1)] || tall[0]);
      const frame = { left: low ? 2 : 46, right, top: low ? 26 : 38, bottom: low ? 94 : 182 }, y = { ends: [0, high * 1.05] };
      const { px, py } = panel(into, frame, { ends: range, title: "", grid: false }, low ? { ...y, ticks: [] } : { ...y, title: "share (%)", wide: 26 });
      const top = (v) => Math.max(py(v), frame.top), shape = (name, own) => { const heights = steps(system.scores[name]).map(top), d = trace(edges.map(px), heights, true);
        into.append(el("path", { d: `M${round(px(edges[0]))} ${round(py(0))}L${d.slice(1)}V${round(py(0))}Z`, fill: own, "fill-opacity": 0.3 }), el("path", { d, fill: "none", stroke: own, "stroke-width": 1.2 })); };
      shape("negatives", low ? "var(--c1)" : "var(--neutral)");
      shape("positives", colour(place));
      for (const [name, own] of [["dev_negatives", low ? "var(--c1)" : "var(--muted)"], ["dev_positives", colour(place)]]) into.append(line(edges.map(px), steps(system.scores[name]).map(top), { step: true, stroke: own, "stroke-width": 1, "stroke-dasharray": "2 2" }));
      if (!low) into.append(words(frame.left - 8, frame.bottom + 14, data.scored, { anchor: "end", size: 11, fill: "var(--muted)" }));
      // How sure the threshold is: a bar for each of its ranges under the axis, with its name where there is room.
      const named = Object.keys(kept.ranges), barAt = (row) => frame.bottom + 32 + 14 * row, barsEnd = named.length ? barAt(named.length - 1) + 8 : frame.bottom + 24;
      const rangeAt = (name) => kept.ranges[name].map((side) => side[state.at]), known = (name) => rangeAt(name).every((side) => side !== null);
      const bars = (names) => {
        const all = names.map((name) => { const [from, to] = rangeAt(name).map((side) => px(clamp(number(side), ...range))); return { name, from, to, told: data.ranges[name], y: barAt(named.indexOf(name)) }; });
        const wide = (text) => widthOf(text, 10.5), fits = (form, roomOf) => all.every((one) => wide(one.told[form]) <= roomOf(one));
        const after = ({ to }) => width - to - 9, before = ({ from }) => from - 9, long = fits(1, after), side = fits(0, after) ? 1 : fits(0, before) ? -1 : 0;
        return all.map((one) => {
          const { name, from, to, told, y } = one, behind = side ? side > 0 : after(one) >= before(one), text = fitted(told[long ? 1 : 0], (behind ? after : before)(one), 10.5);
          return [box(from, y - 3, Math.max(to - from, 2), 6, { rx: 3, fill: "var(--neutral)", "fill-opacity": 0.75, "data-range": name }),
            words(behind ? to + 7 : from - 7, y, text, { size: 10.5, anchor: behind ? "start" : "end", fill: "var(--muted)", "paint-order": "stroke", stroke: "var(--paper)", "stroke-width": 3 })];
        });
      };
      return { height: barsEnd, frame, move() {
        // Accepting or rejecting all puts the line at an end of the scores.
        const now = operating(place), threshold = clamp(now.value, ...range), x = px(threshold), made = [], best = clamp(number(kept.best[state.at]), ...range);
        const drawn = bars(named.filter(known));
        made.push(...drawn.map(([shape]) => shape), ...(drawn.length ? [rule(x, frame.bottom + 24, x, barsEnd, { "stroke-width": 1.2, "stroke-opacity": 0.6 })] : []), ...drawn.map(([, told]) => told));
        made.push(rule(px(best), frame.top, px(best), frame.bottom, { "stroke-dasharray": "2 3", "stroke-opacity": 0.8, "data-ghost": best }), rule(x, frame.top - 6, x, frame.bottom, { "stroke-width": 2, "data-threshold": threshold }),
          el("circle", { cx: round(x), cy: frame.top - 8, r: 6, fill: "var(--ink)", "data-handle": place }));
        const text = now.dragged ? `${now.threshold}: what another threshold would do` : root.classList.contains("printing") ? "" : "drag it", rightwards = x < (frame.left + frame.right) * 0.55;
        made.push(words(rightwards ? x + 11 : x - 11, frame.top - 8, text, { size: 11, anchor: rightwards ? "start" : "end", fill: "var(--muted)", "paint-order": "stroke", stroke: "var(--paper)", "stroke-width": 3 }));
        const said = "dotted line: best on the test set, which nobody could have known";
        if (low && width > 600) made.push(words(width / 2, 6, said, { size: 10.5, anchor: "middle", fill: "var(--muted)" }));
        made.push(words(frame.left, low ? 8 : 6, data.negatives, { size: 11, fill: low ? "var(--c1)" : "var(--muted)" }), words(frame.right - (low ? 42 : 0), low ? 8 : 6, data.kinds.positives[0], { size: 11, anchor: "end", fill: colour(place) }));
        if (state.marked && state.marked.place === place) { const spot = px(clamp(state.marked.score, ...range)); made.push(el("path", { d: `M${round(spot)} ${frame.bottom - 2}l-5 -10h10z`, fill: "var(--warn)", "data-marked": state.marked.score })); }
        return made; },
      drag: (x) => { const target = linear(frame.left, frame.right, ...range)(x); return kept.places.reduce((best, cut, row) => Math.abs(cut - target) < Math.abs(kept.places[best] - target) ? row : best, 0); },
      point(x, y) {
        const name = named[Math.round((y - barAt(0)) / 14)];
        if (name && known(name) && y > barAt(0) - 7) return { lines: [`${data.ranges[name][1]}: ${rangeAt(name).map((side) => /inf/.test(side) ? side : digits(number(side))).join(" to ")}`] };
        const bin = edges.findIndex((edge, i) => i < edges.length - 1 && px(edges[i + 1]) >= x);
        return bin < 0 || x < frame.left ? null : { lines: [`${digits(edges[bin])} to ${digits(edges[bin + 1])}`, `${data.negatives}: ${shownRate(system.scores.negatives[bin])}`, `${data.kinds.positives[0]}: ${shownRate(system.scores.positives[bin])}`] }; } };
    },
    columns: () => [["from", "to", "negatives", "positives", "dev_negatives", "dev_positives"], ...system.scores.negatives.map((_, i) => [edges[i], edges[i + 1],
      ...["negatives", "positives", "dev_negatives", "dev_positives"].map((name) => system.scores[name][i])])],
  };
  if (Object.keys(kept.ranges).length) figures["thresholds-" + place] = {
    drawnBy: "scores-" + place,
    columns: () => [["alpha", "threshold", ...Object.keys(kept.ranges).flatMap((name) => [`${name}_lower`, `${name}_upper`])],
      ...data.alpha.map((alpha, at) => [alpha, kept.threshold[at], ...Object.values(kept.ranges).flatMap((sides) => sides.map((side) => side[at]))])],
  };
});

// -- three systems or more: both rankings, and how often each rank ---------------------------------------------------

if (board) figures.ranks = {
  title: () => "How often each rank", fixed: true,
  draw(into, width) {
    const most = Math.max(...board.probability.flat()), left = clamp(Math.max(...board.systems.map((place) => widthOf(nameOf(place), 11))) + 8, 40, width * 0.3), top = 40, size = Math.min((width - left - 4) / board.systems.length, 34);
    const inCell = (share, row, column) => words(left + (column + 0.5) * size, top + (row + 0.5) * size, String(Math.round(100 * share)), { anchor: "middle", size: 10.5, fill: Math.sqrt(share / most) > 0.55 ? "var(--paper)" : "var(--ink)" });
    board.systems.forEach((place, row) => {
      into.append(words(left - 6, top + (row + 0.5) * size, fitted(nameOf(place), left - 8, 11), { anchor: "end", size: 11, "data-row": place }), words(left + (row + 0.5) * size, top - 10, String(row + 1), { anchor: "middle", size: 11, fill: "var(--muted)" }));
      board.probability[row].forEach((share, column) => { if (share >= 0.005) into.append(box(left + column * size, top + row * size, size - 1, size - 1, { fill: "var(--c0)", "fill-opacity": Math.max(0.12, Math.sqrt(share / most)) }), ...(size >= 20 ? [inCell(share, row, column)] : [])); });
    });
    into.append(words(left + board.systems.length * size / 2, 10, "rank", { anchor: "middle", size: 11.5, fill: "var(--muted)" }));
    return { height: top + board.systems.length * size + 8, point(x, y) { const row = Math.floor((y - top) / size), column = Math.floor((x - left) / size), share = board.probability[row] && board.probability[row][column];
      return share === undefined ? null : { lines: [`${nameOf(board.systems[row])}: rank ${column + 1} in ${(100 * share).toFixed(1)} % of draws`] }; } };
  },
  columns: () => [["system", ...board.probability.map((_, rank) => `rank_${rank + 1}`)], ...board.systems.map((place, row) => [data.systems[place].name, ...board.probability[row]])],
};

if (board) figures.slopes = {
  title: () => `By ${board.against} on the test set, and in advance`, fixed: true,
  draw(into, width) {
    const top = 40, height = 30 * count, y = linear(0.5, count + 0.5, top, top + height), room = width * 0.3, x0 = room, x1 = width - room;
    into.append(words(x0, 12, `by ${board.against}, a posteriori`, { anchor: "middle", size: 11.5, fill: "var(--muted)" }), words(x1, 12, "fixed in advance", { anchor: "middle", size: 11.5, fill: "var(--muted)" }));
    // Equals share a rank; their names stand apart.
    const spots = Object.fromEntries(["before", "after"].map((side) => [side, apart(board[side].map(y), 14, top, top + height)]));
    board.systems.forEach((place, row) => {
      const kind = !board.significant[row] ? "others" : board.gain[row] > 0 ? "gains" : "losses", own = { others: "var(--neutral)", gains: "var(--c0)", losses: "var(--c1)" }[kind];
      into.append(rule(x0, y(board.before[row]), x1, y(board.after[row]), { stroke: own, "stroke-width": kind === "others" ? 1 : 2.4, "data-slope": kind }));
      for (const [side, x, anchor] of [["before", x0, "end"], ["after", x1, "start"]]) {
        const name = fitted(nameOf(place), room - 36, 11), text = side === "before" ? `${name}  ${board[side][row]}` : `${board[side][row]}  ${name}`;
        into.append(dot(x, y(board[side][row]), { r: 2.5, "stroke-width": 0, fill: own }), words(side === "before" ? x - 8 : x + 8, spots[side][row], text, { anchor, size: 11 }));
      }
    });
    return { height: top + height + 12 };
  },
  columns: () => [["system", "rank_a_posteriori", "rank_in_advance", "gain", "more_than_chance"], ...board.systems.map((place, row) =>
    [data.systems[place].name, board.before[row], board.after[row], board.gain[row], board.significant[row]])],
};

// -- what only some data have: kinds of trials on one scale, people, attacks -------------------------------------------

// Errors in 1,000 with their intervals, a row each, on a scale of powers of ten; a rate of 0 stands at its end.
const sections = data.sections;
if (sections.card) figures.card = {
  title: () => `Errors in 1,000: ${sections.card.system}`, fixed: true, wide: true,
  draw(into, width) {
    const rows = sections.card.rows, many = rows.flatMap(({ rate, lower, upper }) => [rate, lower, upper].map((value) => 1000 * value)).filter((value) => value > 0);
    const low = 10 ** Math.floor(Math.log10(Math.min(...many, 1000))), high = Math.max(...many, 10 * low), step = 25, top = 4;
    const left = clamp(Math.max(...rows.map(({ name }) => widthOf(name, 11.5, 600))) + 14, 60, width * 0.4), bottom = top + step * rows.length;
    const powers = Array.from({ length: 12 }, (_, power) => low * 10 ** power), tight = (width - left) / Math.log10(high / low) < 130;
    const ticks = powers.flatMap((power) => tight ? [power] : [power, 2 * power, 5 * power]).filter((tick) => tick <= high * 1.001);
    const { px, py } = panel(into, { left, right: width - 12, top, bottom }, { ends: [low, high], along: Math.log10, ticks, texts: ticks.map((tick) => Number(tick.toPrecision(1)).toLocaleString("en", { maximumFractionDigits: 9 })), title: "errors in 1,000" }, { ends: [rows.length, 0], ticks: [] });
    rows.forEach(({ name, whole, worst, rate, lower, upper }, row) => {
      const y = py(row + 0.5), own = worst ? "var(--warn)" : whole ? "var(--ink)" : "var(--neutral)", at = (value) => px(Math.max(1000 * value, low));
      into.append(words(left - 10, y, fitted(name, left - 12, 11.5), { anchor: "end", size: 11.5, weight: whole || worst ? 600 : 400, fill: worst ? own : undefined }),
        rule(at(lower), y, at(upper), y, { stroke: own, "stroke-width": whole ? 4 : 2.5, "stroke-linecap": "round" }), dot(at(rate), y, { fill: own, "data-rate": rate }));
    });
    return { height: bottom + 46, point(x, y) {
      const row = rows[Math.floor((y - top) / step)];
      return row ? { lines: [row.name, `${inThousand(row.rate)} in 1,000 (${between(row.lower, row.upper)})`] } : null; } };
  },
  columns: () => [["trials", "rate", "lower", "upper", "worst"], ...sections.card.rows.map(({ name, rate, lower, upper, worst }) => [name, rate, lower, upper, worst])],
};

// The names of lines above a panel, each after a stroke in its colour.
function keyOfLines(into, left, y, entries) {
  let x = left;
  for (const [text, stroke, dashes] of entries) {
    into.append(rule(x, y, x + 16, y, { stroke, "stroke-width": 2.5, "stroke-dasharray": dashes }), words(x + 21, y, text, { size: 11.5 }));
    x += widthOf(text, 11.5) + 38;
  }
}

// The error rates of people with their intervals, the highest lower bound first.
if (sections.users) figures.users = {
  title: () => `Who makes the errors: ${sections.users.system}`, fixed: true,
  draw(into, width) {
    const roles = sections.users.roles, most = Math.max(...roles.map(({ place }) => place.at(-1))), high = Math.max(...roles.flatMap(({ upper }) => upper));
    const frame = { left: 54, right: width - 12, top: 28, bottom: 258 }, colourOf = (row) => `var(--c${row})`;
    const { px, py } = panel(into, frame, { ends: [0.5, most + 0.5], title: `${sections.users.people}, the highest lower bound first` }, { ends: [0, 105 * high], title: "rate (%)" });
    roles.forEach(({ place, rate, lower, upper, overall }, row) => {
      const x = [0.5, ...place.map((one) => one + 0.5)].map(px), steps = (values) => [values[0], ...values].map((value) => py(100 * value));
      into.append(area(x, steps(lower), steps(upper), { fill: colourOf(row), "fill-opacity": 0.14 }), line(x, steps(rate), { stroke: colourOf(row), "data-role": row }),
        rule(frame.left, py(100 * overall), frame.right, py(100 * overall), { stroke: colourOf(row), "stroke-dasharray": "2 3" }));
    });
    keyOfLines(into, frame.left, 10, roles.map(({ name }, row) => [name, colourOf(row)]));
    return { height: frame.bottom + 46 };
  },
  columns: () => [["rates", "place", "rate", "lower", "upper"], ...sections.users.roles.flatMap(({ name, place, rate, lower, upper }) => place.map((one, i) => [name, one, rate[i], lower[i], upper[i]]))],
};

// Error rates against the share of attacks (EPSC).
if (sections.attacks) figures.epsc = {
  title: () => "Expected Performance and Spoofability Curve", fixed: true, wide: true,
  draw(into, width) {
    const systems = sections.attacks, room = width < 520 ? 74 : 150, frame = { left: 54, right: width - room, top: 28, bottom: 268 };
    const high = 100 * Math.max(...systems.flatMap(({ value, iapmr, upper }) => [...value, ...iapmr, ...(upper || [])]));
    const { px, py } = panel(into, frame, { ends: [0, 1], title: "omega, the share of attacks" }, { ends: [0, high * 1.05], title: "on the test set (%)" }), at = (values) => values.map((value) => py(100 * value));
    for (const { place, omega, value, iapmr, lower, upper } of systems) {
      const x = omega.map(px), stroke = colour(place);
      if (lower) into.append(area(x, at(lower), at(upper), { fill: stroke, "fill-opacity": 0.14 }));
      into.append(line(x, at(iapmr), { stroke, "stroke-width": 1.2, "stroke-dasharray": "5 3" }), line(x, at(value), { stroke, "data-line": place }));
    }
    keyOfLines(into, frame.left, 10, [["HTER_omega", "var(--ink)"], ["IAPMR", "var(--ink)", "5 3"]]);
    labels(into, frame.right, systems.map(({ place, value }) => ({ y: py(100 * value.at(-1)), text: nameOf(place), colour: colour(place), system: place })), frame.top + 4, frame.bottom - 4, room);
    return { height: frame.bottom + 46 };
  },
  columns: () => [["system", "omega", "hter_omega", "iapmr", "lower", "upper"], ...sections.attacks.flatMap(({ place, omega, value, iapmr, lower, upper }) => omega.map((share, i) => [data.systems[place].name, share, value[i], iapmr[i], lower ? lower[i] : "", upper ? upper[i] : ""]))],
};
