// A long table of several systems, split in the browser into the files that the form takes: one for each system and set.

const SYSTEM = /^(system|model|method|classifier|algorithm|detector)s?$/i;
const SET = /^(set|split|subset|part|partition|fold|protocol)$/i;
const TEST = /^(test|eval|evaluation)$/i;
const DEV = /^(dev|devel|development|val|valid|validation)$/i;

/** The text of a file, unpacked where it is packed. */
export function textOf(file) {
  const packed = /\.gz$/i.test(file.name);
  return new Response(packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file).text();
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

/** What a table looks like: its columns, and which of them say the system and the set; null for what is no such table. */
export function tableOf(text) {
  const lines = text.split(/\r?\n/).filter((line) => line && !line.startsWith("#"));
  const separator = ["\t", ";", ","].find((one) => lines[0]?.includes(one));
  if (!separator) return null;
  const columns = cellsOf(lines[0], separator);
  const [system, set] = [SYSTEM, SET].map((words) => columns.findIndex((name) => words.test(name)));
  return system < 0 || set < 0 ? null : { lines, separator, columns, system, set };
}

/** The values of a column, in the order in which they come. */
export const valuesOf = ({ lines, separator }, column) => [...new Set(lines.slice(1).map((line) => cellsOf(line, separator)[column] ?? ""))];

/** Which value of the set column is meant for which set. */
export function setsOf(values) {
  const dev = values.find((value) => DEV.test(value)) ?? values[0];
  return { dev, test: values.find((value) => TEST.test(value)) ?? values.find((value) => value !== dev) ?? dev };
}

const quoted = (cell) => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/** The files of each system, by its name; the two columns that told them apart are left out. */
export function splitTable({ lines, separator, columns }, system, set, sets) {
  const kept = columns.map((_, i) => i).filter((i) => i !== system && i !== set), header = kept.map((i) => quoted(columns[i])).join(",");
  const parts = new Map();
  for (const line of lines.slice(1)) {
    const cells = cellsOf(line, separator), part = cells[set] === sets.dev ? "dev" : cells[set] === sets.test ? "test" : null;
    if (!part) continue;
    if (!parts.has(cells[system])) parts.set(cells[system], { dev: [header], test: [header] });
    parts.get(cells[system])[part].push(kept.map((i) => quoted(cells[i] ?? "")).join(","));
  }
  return new Map([...parts].map(([name, { dev, test }]) => [name, Object.fromEntries(
    Object.entries({ dev, test }).map(([part, rows]) => [part, new File([rows.join("\n") + "\n"], `${name}-${part}.csv`, { type: "text/csv" })]))]));
}
