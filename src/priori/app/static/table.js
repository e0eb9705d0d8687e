// A table of several systems or of both sets, split in the browser into the files that the form takes: one for each
// system and set.

const SYSTEM = /^(system|model|method|classifier|algorithm|detector)s?$/i;
const SET = /^(set|split|subset|part|partition|fold|protocol)$/i;
const TEST = /^(test|eval|evaluation)$/i;
const DEV = /^(dev|devel|development|val|valid|validation)$/i;
/** Columns that are no scores, although they may hold numbers. */
const OTHERS = /^(label|user|probe_user|trial|dataset|group|attack|time|weight|id|row|index|age)?$/i;
/** Stands for no column: the systems are the columns of scores; the sets are halves at random. */
export const NONE = -1;

/** The most letters of a table that are looked at in the browser: a packed one may be a hundred times its size. */
const MOST = 4e7;

/** The text of a file, unpacked where it is packed; an error where it is too long to be looked at here. */
export async function textOf(file) {
  const stream = /\.gz$/i.test(file.name) ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const parts = [], reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let length = 0, part; !(part = await reader.read()).done; parts.push(part.value)) {
    length += part.value.length;
    if (length > MOST) { await reader.cancel(); throw new RangeError("too long to be looked at here"); }
  }
  return parts.join("");
}

/** The cells of a line: a cell in quotes may hold the separator. */
export function cellsOf(line, separator) {
  if (!line.includes('"')) return line.split(separator).map((cell) => cell.trim());
  const cells = [""];
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '"' && quoted && line[i + 1] === '"') cells[cells.length - 1] += line[i++];
    else if (line[i] === '"') quoted = !quoted;
    else if (line[i] === separator && !quoted) cells.push("");
    else cells[cells.length - 1] += line[i];
  }
  return cells.map((cell) => cell.trim());
}

/**
 * What a table with a header looks like: its columns, which of them say the system and the set, and which hold scores;
 * null for what is no such table.
 */
export function tableOf(text) {
  const lines = text.split(/\r?\n/).filter((line) => line && !line.startsWith("#"));
  const separator = ["\t", ";", ","].find((one) => lines[0]?.includes(one));
  if (!separator) return null;
  const columns = cellsOf(lines[0], separator);
  const at = (words) => columns.findIndex((name) => words.test(name));
  const rows = lines.slice(1, 20).map((line) => cellsOf(line, separator)), score = at(/^score$/i);
  const holdsNumbers = (i) => rows.some((cells) => cells[i]) && rows.every((cells) => !cells[i] || Number.isFinite(Number(cells[i])));
  const others = columns.map((_, i) => i).filter((i) => ![SET, SYSTEM, OTHERS].some((words) => words.test(columns[i])) && holdsNumbers(i));
  const scores = score < 0 ? others : [score];
  if (!scores.length || (at(/^label$/i) < 0 && at(/^probe_user$/i) < 0)) return null;
  return { lines, separator, columns, system: at(SYSTEM), set: at(SET), scores };
}

/** The values of a column, in the order in which they come. */
export const valuesOf = ({ lines, separator }, column) => [...new Set(lines.slice(1).map((line) => cellsOf(line, separator)[column] ?? ""))];

/** Which value of the set column is meant for which set. */
export function setsOf(values) {
  const dev = values.find((value) => DEV.test(value)) ?? values[0];
  return { dev, test: values.find((value) => TEST.test(value)) ?? values.find((value) => value !== dev) ?? dev };
}

const quoted = (cell) => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/**
 * Which half the trials of every user, or trial, are in: at random, the same each time. Without users each label is
 * halved, and trials of the same name stay together.
 */
function halves({ columns }, rows) {
  const at = (name) => columns.findIndex((column) => column.toLowerCase() === name), user = at("user"), trial = at("trial"), label = at("label");
  const unitOf = (cells, row) => user >= 0 ? cells[user] : trial >= 0 ? cells[trial] : row;
  const units = new Map(rows.map((cells, row) => [unitOf(cells, row), user >= 0 ? "" : cells[label]]));
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647);
  const first = new Set();
  for (const stratum of new Set(units.values())) {
    const order = [...units.keys()].filter((unit) => units.get(unit) === stratum).map((unit) => [random(), unit]).sort((a, b) => a[0] - b[0]);
    for (const [, unit] of order.slice(0, Math.ceil(order.length / 2))) first.add(unit);
  }
  return (cells, row) => first.has(unitOf(cells, row)) ? "dev" : "test";
}

/** The files of each system, by its name or the name given; the columns that told them apart are left out. */
export function splitTable(table, system, set, sets, name) {
  const { lines, separator, columns, scores } = table, wide = system === NONE && scores.length > 1, parts = new Map();
  const rows = lines.slice(1).map((line) => cellsOf(line, separator));
  const common = columns.map((_, i) => i).filter((i) => i !== system && i !== set && !(wide && scores.includes(i)));
  const partOf = set === NONE ? halves(table, rows) : (cells) => cells[set] === sets.dev ? "dev" : cells[set] === sets.test ? "test" : null;
  rows.forEach((cells, row) => {
    const part = partOf(cells, row);
    if (!part) return;
    for (const score of wide ? scores : [NONE]) {
      const of = wide ? columns[score] : system === NONE ? name : cells[system];
      const header = [...(wide ? ["score"] : []), ...common.map((i) => quoted(columns[i]))].join(",");
      if (!parts.has(of)) parts.set(of, { dev: [header], test: [header] });
      parts.get(of)[part].push([...(wide ? [score] : []), ...common].map((i) => quoted(cells[i] ?? "")).join(","));
    }
  });
  return new Map([...parts].map(([name, { dev, test }]) => [name, Object.fromEntries(
    Object.entries({ dev, test }).map(([part, rows]) => [part, new File([rows.join("\n") + "\n"], `${name}-${part}.csv`, { type: "text/csv" })]))]));
}
