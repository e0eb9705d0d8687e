// Drawing: SVG made of lines, areas, dots and words. Colours are the style sheet's variables, so that light, dark and
// print differ in one place only; sizes are pixels of the drawing.

const NS = document.querySelector("main svg").namespaceURI;
const SIZE = 12;

function el(name, attributes = {}, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const round = (value) => Math.round(value * 100) / 100;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const ruler = document.createElement("canvas").getContext("2d"), SANS = getComputedStyle(document.documentElement).getPropertyValue("--sans");
function widthOf(text, size = SIZE, weight = 400) {
  ruler.font = `${weight} ${size}px ${SANS}`;
  return ruler.measureText(text).width;
}

// A text that would be too wide, cut in its middle: names that begin alike must not look the same.
function fitted(text, width, size = SIZE) {
  if (widthOf(text, size) <= width) return text;
  const letters = [...text], cut = (kept) => `${letters.slice(0, kept - Math.floor(kept / 3)).join("").trimEnd()}…${letters.slice(letters.length - Math.floor(kept / 3)).join("").trimStart()}`;
  let kept = letters.length - 1;
  while (kept > 1 && widthOf(cut(kept), size) > width) kept--;
  return cut(kept);
}

// A text in lines of at most so many pixels, broken between words.
function wrapped(text, width, size = SIZE) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && widthOf(longer, size) <= width) lines[lines.length - 1] = longer; else lines.push(word);
  }
  return lines;
}

function words(x, y, text, more = {}) {
  const { size = SIZE, anchor = "start", fill = "var(--ink)", weight, ...others } = more;
  const made = el("text", { x: round(x), y: round(y), "font-size": size, "text-anchor": anchor, fill, "font-weight": weight, "dominant-baseline": "central", ...others }, text);
  return made;
}

const rule = (x1, y1, x2, y2, more = {}) => el("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), stroke: "var(--ink)", ...more });
const box = (x, y, width, height, more = {}) => el("rect", { x: round(x), y: round(y), width: round(Math.max(width, 0)), height: round(Math.max(height, 0)), ...more });
const dot = (x, y, more = {}) => el("circle", { cx: round(x), cy: round(y), r: 5.5, stroke: "var(--paper)", "stroke-width": 1.75, ...more });

// A line through points; with steps it goes across before it goes up; a point without a value is a gap.
function trace(xs, ys, step = false) {
  let path = "", open = false, last = null;
  for (let i = 0; i < xs.length; i++) {
    const x = round(xs[i]), y = round(ys[i]);
    if (!Number.isFinite(x) || !Number.isFinite(y)) { open = false; continue; }
    if (!open) path += `M${x} ${y}`;
    else if (step) path += (y === last ? `H${x}` : `H${x}V${y}`);
    else path += `L${x} ${y}`;
    open = true;
    last = y;
  }
  return path;
}

const line = (xs, ys, more = {}) => { const { step, ...others } = more;
  return el("path", { d: trace(xs, ys, step), fill: "none", stroke: "var(--ink)", "stroke-width": 2, "stroke-linejoin": "round", ...others }); };
function area(xs, lows, highs, more = {}) {
  const known = xs.map((_, i) => i).filter((i) => Number.isFinite(lows[i]) && Number.isFinite(highs[i])), back = [...known].reverse(), at = (values, rows) => rows.map((i) => values[i]);
  return el("path", { d: known.length ? trace(at(xs, known), at(highs, known)) + trace(at(xs, back), at(lows, back)).replace("M", "L") + "Z" : "", stroke: "none", ...more });
}

// Round numbers between two ends.
function ticksOf(low, high, count) {
  const span = (high - low) / Math.max(count, 1), unit = 10 ** Math.floor(Math.log10(span || 1));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * unit).find((size) => size >= span * 0.999) || unit;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}

const digits = (value) => String(Number(value.toPrecision(6))).replace("-", "\u2212");
const linear = (d0, d1, r0, r1) => (value) => r0 + (value - d0) / ((d1 - d0) || 1) * (r1 - r0);

// A panel: a part of a drawing with its own axes. `x` and `y`: {ends, ticks, texts, title, unit}; `along` bends the axis x.
function panel(into, frame, x, y) {
  const { left, right, top, bottom } = frame;
  const along = x.along || ((value) => value), straight = linear(...x.ends.map(along), left, right), px = (value) => straight(along(value)), py = linear(...y.ends, bottom, top);
  const xTicks = x.ticks || ticksOf(...x.ends, Math.max(2, Math.floor((right - left) / 90)));
  const yTicks = y.ticks || ticksOf(...y.ends, Math.max(3, Math.floor((bottom - top) / 40)));
  const grid = el("g", { stroke: "var(--line)" });
  for (const tick of yTicks) {
    grid.append(rule(left, py(tick), right, py(tick), { stroke: tick === 0 && y.zero ? "var(--muted)" : null }));
    into.append(words(left - 7, py(tick), y.texts ? y.texts[yTicks.indexOf(tick)] : digits(tick), { anchor: "end", size: 11, fill: "var(--muted)" }));
  }
  if (x.grid !== false) for (const tick of xTicks) grid.append(rule(px(tick), top, px(tick), bottom, { stroke: null }));
  into.prepend(grid);
  if (x.title !== undefined) {
    into.append(rule(left, bottom, right, bottom, { stroke: "var(--muted)" }));
    for (const tick of xTicks) {
      const text = x.texts ? x.texts[xTicks.indexOf(tick)] : digits(tick);
      into.append(words(Math.max(px(tick), widthOf(text, 11) / 2), bottom + (x.drop || 0) + 14, text, { anchor: "middle", size: 11, fill: "var(--muted)" }));
    }
    // Where its explanation has no room a title is its first word.
    const title = x.title && widthOf(x.title) > right ? x.title.split("   ")[0] : x.title;
    if (title) into.append(words((left + right) / 2, bottom + (x.drop || 0) + 34, title, { anchor: "middle", fill: "var(--muted)" }));
  }
  if (y.title) into.append(words(left - 7 - (y.wide || 34), (top + bottom) / 2, y.title, { anchor: "middle", fill: "var(--muted)",
    transform: `rotate(-90 ${round(left - 7 - (y.wide || 34))} ${round((top + bottom) / 2)})` }));
  return { px, py };
}

// Where labels stand so that none covers another: moved apart as little as needed, kept between two ends.
function apart(wanted, gap, low, high) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]), placed = [...wanted];
  order.forEach((i, n) => { placed[i] = Math.max(wanted[i], n ? placed[order[n - 1]] + gap : low); });
  let limit = high;
  for (const i of order.reverse()) { placed[i] = Math.min(placed[i], limit); limit = placed[i] - gap; }
  return placed;
}

// The labels of lines at their right ends, each in the line's colour with a short stroke to it.
function labels(into, x, entries, low, high, room) {
  const spots = apart(entries.map((entry) => entry.y), 14, low, high);
  entries.forEach((entry, i) => {
    if (Math.abs(spots[i] - entry.y) > 2) into.append(line([x + 1, x + 8], [entry.y, spots[i]], { stroke: entry.colour, "stroke-width": 0.75 }));
    into.append(words(x + 10, spots[i], fitted(entry.text, room - 12, 11.5), { size: 11.5, fill: entry.colour, weight: entry.strong ? 700 : 500, "data-label": entry.system }));
  });
}
