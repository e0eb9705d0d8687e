// The form, live: systems come and go, files are dropped, progress is shown, complaints stand next to their fields.

import { NONE, setsOf, splitTable, tableOf, textOf, cellsOf, valuesOf } from "./table.js";

const form = document.getElementById("app-form");
const part = (id) => document.getElementById(`app-${id}`);
const inputFor = (field) => document.getElementById(`in-${field}`);
const bytes = (size) =>
  size >= 1e6 ? `${+(size / 1e6).toPrecision(3)} MB` : size >= 1e3 ? `${+(size / 1e3).toPrecision(3)} kB` : `${size} bytes`;

/** The address that this page is of, which is not always the one shown: people go back before a script has come. */
let here = form?.dataset.job ? `/jobs/${form.dataset.job}` : "/";

/** Files that the server already has, by field: they are not sent again. */
const sent = new Map();

// -- complaints ----------------------------------------------------------------------------------------

function complain(errors) {
  for (const place of form.querySelectorAll(".app-error")) {
    const field = place.id.slice("app-error-".length);
    const input = inputFor(field);
    place.textContent = errors[field] ?? "";
    place.hidden = !errors[field];
    if (input?.matches("input, select")) {
      if (errors[field]) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }
  const unplaced = Object.entries(errors).filter(([field]) => !part(`error-${field}`)).map(([, text]) => text);
  if (unplaced.length) {
    const whole = part("error-form");
    whole.textContent = [whole.textContent, ...unplaced].filter(Boolean).join(" ");
    whole.hidden = false;
  }
  openNamed();
  // By their sizes, which only the server knows.
  for (const one of systems()) if (errors[`test-${one.dataset.key}`]?.endsWith("exchange the two files")) offerExchange(one, "");
  const first = form.querySelector("[aria-invalid]");
  if (!first) return;
  for (let around = first.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  first.focus();
}

/** Open the panels of the fields that a complaint names: nobody finds a field in a closed one. */
function openNamed() {
  const said = [...form.querySelectorAll(".app-error:not([hidden])")].map((place) => place.textContent).join(" ");
  for (const label of form.querySelectorAll("details label")) if (said.includes(`'${label.textContent}'`)) label.closest("details").open = true;
}

function note(notes) {
  for (const place of form.querySelectorAll(".app-note")) {
    const text = notes[place.id.slice("app-note-".length)];
    place.textContent = text ?? "";
    place.hidden = !text;
  }
}

// -- systems -------------------------------------------------------------------------------------------

/** Keys are never used twice: a new system must not inherit the files of one that was removed. */
let nextKey = 0;
const systems = () => [...form.querySelectorAll(".app-system")];

function renumber() {
  systems().forEach((system, index) => {
    for (const number of system.querySelectorAll(".app-number")) number.textContent = index + 1;
    system.querySelector("input[type=text]").placeholder = `System ${index + 1}`;
    system.querySelector(".app-remove").hidden = systems().length < 2;
  });
  part("add").disabled = systems().length >= Number(form.dataset.systems);
}

function addSystem() {
  if (systems().length >= Number(form.dataset.systems)) return null;
  const key = nextKey++;
  const fresh = part("system-template").content.cloneNode(true);
  for (const element of fresh.querySelectorAll("*")) {
    for (const attribute of [...element.attributes]) {
      if (attribute.value.includes("KEY")) element.setAttribute(attribute.name, attribute.value.replaceAll("KEY", key));
    }
  }
  part("systems").append(fresh);
  renumber();
  return systems().at(-1);
}

function removeSystem(system) {
  const index = systems().indexOf(system);
  for (const input of system.querySelectorAll("input[type=file]")) sent.delete(input.name);
  system.remove();
  renumber();
  (systems()[Math.min(index, systems().length - 1)]?.querySelector("input") ?? part("add")).focus();
}

// -- files ---------------------------------------------------------------------------------------------

const SET = /(?:^|[^a-z])(dev|devel|development|val|valid|validation|test|eval|evaluation)(?![a-z])/i;

function nameAndSet(file) {
  const stem = file.name.replace(/\.gz$/i, "").replace(/\.[a-z0-9]{1,8}$/i, "");
  const found = SET.exec(stem);
  if (!found) return { name: stem };
  const name = stem.replace(SET, " ").replace(/^[\s._-]+|[\s._-]+$/g, "").replace(/\s+/g, " ");
  return { name, set: /^(test|eval)/i.test(found[1]) ? "test" : "dev" };
}

function give(input, file) {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  input.files = transfer.files;
  for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind, { bubbles: true }));
}

const inputOf = (system, set) => inputFor(`${set}-${system.dataset.key}`);
const nameOf = (system) => inputFor(`name-${system.dataset.key}`);
const isFree = (input) => !input.files.length && part(`kept-${input.name}`).hidden;

/**
 * Take files: one of several systems or of both sets is looked at first, and one that does not tell which set it is,
 * where no other is waiting for its set, is asked about; all others go to their places.
 */
async function take(files) {
  const [only] = files;
  if (files.length > 1) return distribute(files);
  const readable = /\.(csv|tsv|txt)(\.gz)?$/i.test(only.name) && only.size <= Number(form.dataset.upload);
  const table = readable ? await textOf(only).then(tableOf, () => null) : null;
  const several = table && (table.set !== NONE || table.system !== NONE || table.scores.length > 1);
  const waiting = systems().some((one) => isFree(inputOf(one, "dev")) !== isFree(inputOf(one, "test")));
  if (several || !(nameAndSet(only).set || waiting)) preview(only, table);
  else distribute(files);
}

const made = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

/** How many columns of a table can be chosen from, and how many of them are shown. */
const CHOICES = 200, COLUMNS = 12;

/** Show how a table would be split, to be set right and agreed to; what cannot be split is only asked about. */
function preview(file, table) {
  const place = part("table"), column = { system: table?.system, set: table?.set }, stem = nameAndSet(file).name;
  const valuesIn = (index) => index === NONE ? [] : valuesOf(table, index);
  let sets = table && setsOf(valuesIn(column.set));
  const button = (text, given) => {
    const element = made("button", { type: "button", textContent: text });
    element.addEventListener("click", () => { close(); given(); });
    return element;
  };
  const chooser = (label, entries, chosen, change) => {
    const select = made("select", {}, ...entries.map(([value, text]) => made("option", { value, textContent: text, selected: value === chosen })));
    select.addEventListener("change", () => { change(select.value); draw(); });
    return made("label", {}, `${label} `, select);
  };
  const columns = table?.columns.slice(0, CHOICES).map((name, i) => [String(i), name || `column ${i + 1}`]);
  const title = (text) => made("h3", { id: "app-table-title", textContent: `${file.name}: ${text}` });
  const roles = (it) => [["development", "dev"], ["test", "test"]].flatMap(([word, set]) => [" ", button(`${it} is the ${word} set`, () => distribute([file], set))]);
  function draw() {
    const values = valuesIn(column.set).slice(0, 50).map((value) => [value, value || "(empty)"]), found = splitTable(table, column.system, column.set, sets, stem);
    const rows = [table.columns, ...table.lines.slice(1, 5).map((line) => cellsOf(line, table.separator))].map((cells) => cells.length > COLUMNS ? [...cells.slice(0, COLUMNS), "…"] : cells), number = `${found.size} system${found.size === 1 ? "" : "s"}`;
    const yes = button(`Yes, take ${number}`, () => accept(found));
    yes.className = "app-yes";
    const inColumns = table.scores.length > 1 ? `the columns ${table.scores.map((i) => table.columns[i]).join(", ")}`.slice(0, 60) : "there is only one";
    place.replaceChildren(
      title(`${found.size > 1 ? "several systems" : "both sets"} in one table. Is this right?`),
      made("div", { className: "app-row" }, chooser("System", [[String(NONE), inColumns], ...columns], String(column.system), (value) => { column.system = Number(value); }),
        chooser("Set", [[String(NONE), "divide in halves at random, users together"], ...columns], String(column.set), (value) => { column.set = Number(value); sets = setsOf(valuesIn(column.set)); }),
        ...(column.set === NONE ? [] : [chooser("Development is", values, sets.dev, (value) => { sets.dev = value; }), chooser("Test is", values, sets.test, (value) => { sets.test = value; })])),
      made("p", { textContent: `${number}: ${[...found.keys()].slice(0, 8).join(", ")}${found.size > 8 ? ", …" : ""}` }),
      made("div", { className: "app-scroll" }, made("table", {}, ...rows.map((cells, row) => made("tr", {}, ...cells.map((cell) => made(row ? "td" : "th", { textContent: cell })))))),
      made("p", {}, yes, ...roles("No, it")));
  }
  const close = () => { place.hidden = true; place.replaceChildren(); };
  if (table) draw();
  else place.replaceChildren(title("which set is it? Thresholds are chosen on one file and judged on another."), made("p", {}, ...roles("It")));
  place.hidden = false;
  place.focus();
}

function accept(found) {
  if (found.size > Number(form.dataset.systems)) return complain({ form: `at most ${form.dataset.systems} systems are taken at a time` });
  for (const [name, files] of found) {
    const system = systems().find((one) => nameOf(one).value === "" && ["dev", "test"].every((set) => isFree(inputOf(one, set)))) ?? addSystem();
    if (!system) return complain({ form: `at most ${form.dataset.systems} systems are taken at a time` });
    nameOf(system).value = name;
    for (const set of ["dev", "test"]) give(inputOf(system, set), files[set]);
  }
}

/** Say where a file's name tells another set than its field, with a button that exchanges the two. */
function checkSets(system) {
  const [dev, test] = ["dev", "test"].map((set) => inputOf(system, set)), told = [dev, test].map((input) => input.files[0] && nameAndSet(input.files[0]).set);
  const old = system.querySelector(".app-swap");
  old?.remove();
  if ((told[0] !== "test" && told[1] !== "dev") || system.dataset.exchanged) return;
  if (told[0] === told[1] || !dev.files[0] || !test.files[0]) return;
  offerExchange(system, "By their names these files are exchanged: development scores stand as test scores. ");
}

function offerExchange(system, why) {
  const [dev, test] = ["dev", "test"].map((set) => inputOf(system, set));
  if (!dev.files[0] || !test.files[0]) return;
  system.querySelector(".app-swap")?.remove();
  const button = made("button", { type: "button", textContent: "Exchange them" });
  button.addEventListener("click", () => { const [first, second] = [dev.files[0], test.files[0]]; system.dataset.exchanged = "yes"; give(dev, second); give(test, first); });
  system.append(made("p", { className: "app-note app-swap", role: "status" }, why, button));
}

/** On a page of scores that look reversed: a button that reads them the other way round and computes again. */
function offerMending() {
  const caution = document.querySelector('[data-caution="reversed-scores"]'), box = inputFor("lower_is_better");
  if (!caution || !box || inputFor("example").value) return;
  const button = made("button", { type: "button", textContent: box.checked ? "Compute again with higher scores as better" : "Compute again with lower scores as better" });
  button.addEventListener("click", () => { box.checked = !box.checked; part("change").open = true; form.requestSubmit(); });
  caution.append(" ", button);
}

/** Give many files their places: in the set given, or by name where it says so, else the next free one. */
function distribute(files, given = null) {
  for (const file of files) {
    const { name, set = given } = nameAndSet(file);
    const sets = set ? [set] : ["dev", "test"];
    let system = set && name ? systems().find((one) => nameOf(one).value === name && isFree(inputOf(one, set))) : null;
    system ??= systems().find(
      (one) => (!set || !name || nameOf(one).value === "") && sets.some((each) => isFree(inputOf(one, each))),
    );
    system ??= addSystem();
    if (!system) return complain({ form: `at most ${form.dataset.systems} systems are taken at a time` });
    if (set && name && nameOf(system).value === "") nameOf(system).value = name;
    give(inputOf(system, sets.find((each) => isFree(inputOf(system, each)))), file);
  }
}

function dropTarget(event) {
  return event.target.closest?.("[data-drop], #app-drop-all");
}

function onDrag(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  // A file dropped beside a target must not replace the page.
  event.preventDefault();
  const target = dropTarget(event);
  event.dataTransfer.dropEffect = target ? "copy" : "none";
  for (const old of form.querySelectorAll(".app-over")) if (old !== target) old.classList.remove("app-over");
  target?.classList.add("app-over");
}

function onDrop(event) {
  if (!event.dataTransfer?.files.length) return;
  event.preventDefault();
  for (const old of form.querySelectorAll(".app-over")) old.classList.remove("app-over");
  const target = dropTarget(event);
  if (!target) return;
  const files = [...event.dataTransfer.files];
  if (target.dataset.drop && files.length === 1) give(inputFor(target.dataset.drop), files[0]);
  else take(files);
}

// -- sending -------------------------------------------------------------------------------------------

function content() {
  const data = new FormData(form);
  const files = new Map();
  for (const [name, value] of [...data.entries()]) {
    if (!(value instanceof File)) continue;
    const chosen = inputFor(name).files[0];
    if (!chosen || sent.get(name) === chosen || inputFor("example").value) data.delete(name);
    else files.set(name, chosen);
  }
  const total = [...files.values()].reduce((sum, file) => sum + file.size, 0);
  return { data, files, total };
}

/** What is missing, so that it can be told without a round trip. */
function missing() {
  const errors = {};
  if (inputFor("example").value) return errors;
  const started = (one) => nameOf(one).value.trim() || !isFree(inputOf(one, "dev")) || !isFree(inputOf(one, "test"));
  const given = systems().filter(started);
  for (const one of given.length ? given : systems().slice(0, 1)) {
    for (const [set, word] of [["dev", "development"], ["test", "test"]]) {
      const input = inputOf(one, set);
      if (isFree(input)) errors[input.name] = `choose a file with ${word} scores`;
    }
  }
  return errors;
}

function send(data, address) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.responseType = "json";
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-Priori-Key", form.elements.csrf.value);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.loaded < event.total) progress("Uploading", event.loaded, event.total);
    };
    request.onload = () => resolve({ status: request.status, answer: request.response });
    request.onerror = () => resolve({ status: 0, answer: null });
    request.onabort = () => resolve({ status: -1, answer: null });
    sending = request;
    request.send(data);
  });
}

let sending = null;

/**
 * Ask for a new key, and tell whether that may help: a server that was started again knows neither our key nor our
 * analysis, and an analysis may have been deleted. The files in the form's fields are still at hand.
 */
async function renew(isGone) {
  const before = form.elements.csrf.value;
  try {
    const page = new DOMParser().parseFromString(await (await fetch("/", { cache: "no-store" })).text(), "text/html");
    form.elements.csrf.value = page.querySelector("input[name=csrf]")?.value ?? before;
  } catch {
    return false;
  }
  if (!isGone) return form.elements.csrf.value !== before;
  sent.clear();
  form.action = "/jobs";
  form.dataset.job = "";
  for (const kept of form.querySelectorAll(".app-kept")) kept.hidden = true;
  part("compute").textContent = "Compute";
  return true;
}

async function submit(event) {
  event.preventDefault();
  await compute(true);
}

async function compute(mayRenew) {
  const wrong = missing();
  if (Object.keys(wrong).length) return complain(wrong);
  const { data, files, total } = content();
  complain({});
  note({});
  const most = Number(form.dataset.upload);
  if (total > most) return complain({ form: `the files have ${bytes(total)} together; the limit is ${bytes(most)}` });
  progress(files.size ? "Uploading" : "Starting", 0, 0);
  busy(true);
  const { status, answer } = await send(data, form.action);
  sending = null;
  if (status === 202 && answer) {
    for (const [name, file] of files) sent.set(name, file);
    form.dataset.job = answer.job;
    form.action = answer.address;
    if (location.pathname !== answer.address) history.pushState(null, "", answer.address);
    here = location.pathname;
    return follow(answer.address);
  }
  if (mayRenew && [0, 403, 404].includes(status) && (await renew(status === 404))) {
    if (!Object.keys(missing()).length) return compute(false);
    busy(false);
    return complain({ ...missing(), form: "the server no longer has this analysis and its files; choose the files again" });
  }
  busy(false);
  if (status === -1) return complain({ form: "cancelled" });
  complain(answer?.errors ?? { form: "the server does not answer: it was stopped, or it refused the upload" });
}

// -- progress ------------------------------------------------------------------------------------------

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function busy(on) {
  part("progress").hidden = !on;
  part("cancel").hidden = !on;
  part("compute").disabled = on;
  form.setAttribute("aria-busy", String(on));
  if (on) part("progress").scrollIntoView({ block: "nearest", behavior: "instant" });
}

let said = "";

function progress(stage, done, total) {
  const bar = part("progress-bar");
  if (total > 0) bar.value = done / total;
  else bar.removeAttribute("value");
  const text = total > 1 ? `${stage}: ${Math.floor((100 * done) / total)} %` : `${stage} …`;
  part("progress-text").textContent = text;
  // Read aloud when the stage changes, not at every per cent.
  if (stage !== said) part("progress-said").textContent = said = stage;
}

async function follow(address) {
  busy(true);
  for (let pause = 150; ; pause = Math.min(pause * 1.2, 1000)) {
    let status;
    try {
      const response = await fetch(`${address}/status`, { headers: { Accept: "application/json" }, cache: "no-store" });
      if (response.status === 404) return lost("this analysis has been deleted");
      if (!response.ok) throw new Error(response.status);
      status = await response.json();
    } catch {
      return lost("the server does not answer: it was stopped");
    }
    note(status.notes);
    if (status.state === "done") return show(address);
    if (status.state === "failed" || status.state === "cancelled") {
      busy(false);
      part("compute").textContent = "Compute again";
      return complain(status.state === "failed" ? status.errors : { form: "cancelled" });
    }
    if (status.state === "waiting") progress(`Waiting, ${status.position - 1} before you`, 0, 0);
    else progress(status.stage || "Starting", status.done, status.total);
    await wait(pause);
  }
}

/** Show the result, from its top: the verdict comes first. */
function show(address) {
  history.scrollRestoration = "manual";
  if (location.pathname === address) location.reload();
  else location.assign(address);
}

/** Show what the address says, where this page is of another; a form refused without a script stands at /jobs. */
function showAddress() {
  if (![here, "/jobs"].includes(location.pathname)) location.reload();
}

function lost(message) {
  busy(false);
  complain({ form: message });
}

async function cancel() {
  if (sending) return sending.abort();
  part("cancel").disabled = true;
  try {
    const headers = { Accept: "application/json", "X-Priori-Key": form.elements.csrf.value };
    await fetch(`/jobs/${form.dataset.job}/cancel`, { method: "POST", headers });
  } finally {
    part("cancel").disabled = false;
  }
}

// -- begin ---------------------------------------------------------------------------------------------

function begin() {
  nextKey = Math.max(-1, ...systems().map((system) => Number(system.dataset.key))) + 1;
  part("add").hidden = part("drop-all").hidden = false;
  renumber();
  form.addEventListener("submit", submit);
  part("cancel").addEventListener("click", cancel);
  part("add").addEventListener("click", () => addSystem()?.querySelector("input").focus());
  form.addEventListener("click", (event) => {
    const button = event.target.closest(".app-remove");
    if (button) removeSystem(button.closest(".app-system"));
  });
  inputFor("many").addEventListener("change", () => { const files = [...inputFor("many").files]; inputFor("many").value = ""; take(files); });
  window.addEventListener("popstate", showAddress);
  showAddress();
  offerMending();
  form.addEventListener("change", (event) => {
    if (event.target.type === "file" && event.target.closest(".app-system")) checkSets(event.target.closest(".app-system"));
  });
  // While one types, not when one leaves the field: the button would move away under the click that leaves it.
  form.addEventListener("input", (event) => {
    for (const about of ["error", "note"]) { const said = part(`${about}-${event.target.name}`); if (said) said.hidden = true; }
    event.target.removeAttribute("aria-invalid");
  });
  const example = inputFor("example");
  const task = { texts: "texts", faces: "authentication", spam: "spam", cancer: "diagnosis" };
  example.addEventListener("change", () => {
    part("files").hidden = example.value !== "";
    if (example.value) inputFor("task").value = task[example.value];
  });
  part("files").hidden = example.value !== "";
  document.addEventListener("dragenter", onDrag);
  document.addEventListener("dragover", onDrag);
  document.addEventListener("drop", onDrop);
  if (["waiting", "running"].includes(form.dataset.state)) follow(`/jobs/${form.dataset.job}`);
  else { openNamed(); form.querySelector("[aria-invalid]")?.focus(); }
}

if (form) begin();
window.addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto"), 500));
