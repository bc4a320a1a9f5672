// The page works without this: it makes keys, completion, undo, and changes of the set without a new page.
"use strict";
const $ = (selector, from = document) => from.querySelector(selector);
const SLOW = 250; // milliseconds after which a reader is told to wait
const AGAIN = 3000; // the same until it is asked again what is at work, or not ready
let steps = 0; // how far undo goes
let wanted = 0; // the latest request: answers of older ones come too late
let shown = here(); // the page that is shown
let asking = ""; // the page that is on its way
let drop = null; // takes back the step that is on its way

function here() { return location.href.split("#")[0]; }

async function go(url, { push = true, body = null } = {}) {
  const own = ++wanted;
  const place = focused();
  const earlier = push && !body ? asking : "";
  if (earlier) url = onto(earlier, url);
  asking = body ? "" : url;
  const stop = new AbortController();
  drop = push && !body ? () => { wanted++; stop.abort(); arrived(); if (earlier) go(earlier); } : null;
  const slow = setTimeout(() => { $("#slow").hidden = false; $("#main").setAttribute("aria-busy", "true"); }, SLOW);
  $("#lost").hidden = true;
  try {
    const answer = await fetch(url, body ? { method: "POST", body } : { signal: stop.signal });
    const text = await answer.text(), page = new DOMParser().parseFromString(text, "text/html");
    if (own !== wanted) return;
    const main = $("#main", page);
    if (!main) throw new Error(text); // refused before it came to a page
    const top = scrollY > 0 ? $("#hits")?.getBoundingClientRect().top : undefined;
    $("#main").replaceWith(main);
    $("#how").replaceWith($("#how", page)); // which keys there are
    document.title = page.title;
    // What was sent and refused has no address of its own.
    if (push && answer.url !== location.href && (!body || answer.redirected)) history.pushState({ steps: ++steps }, "", answer.url);
    shown = here();
    dress();
    settle(place, body);
    if (top !== undefined && $("#hits")) scrollBy(0, $("#hits").getBoundingClientRect().top - top); // stay in the list
  } catch (error) {
    if (own !== wanted) return;
    $("#lost").hidden = false;
    $("#why").textContent = refusal(error.message) ?? "The server does not answer.";
    $("#again").onclick = () => go(url, { push, body });
  } finally {
    clearTimeout(slow);
    if (own === wanted) arrived();
  }
}

// Nothing is on its way.
function arrived() {
  asking = "";
  drop = null;
  $("#slow").hidden = true;
  $("#main").removeAttribute("aria-busy");
}

function undo() {
  if (drop) drop();
  else if (steps) history.back();
}

// A page that is on its way, with what a link of the page that is still shown changes.
function onto(asked, link) {
  const [from, to, base] = [address(), link, asked].map((url) => new URL(url, location.href));
  const items = to.searchParams.get("items");
  if (!items || items !== base.searchParams.get("items") || base.pathname !== from.pathname) return link;
  const pairs = (url) => [...url.searchParams].map((pair) => JSON.stringify(pair));
  const before = pairs(from), after = pairs(to), added = after.filter((pair) => !before.includes(pair));
  const undone = new Set(added.map((pair) => JSON.stringify(otherwise(...JSON.parse(pair)))));
  const kept = pairs(base).filter((pair) => !undone.has(pair) && (after.includes(pair) || !before.includes(pair)));
  to.search = new URLSearchParams([...new Set([...kept, ...added])].map((pair) => JSON.parse(pair)));
  return to.href;
}

// The page that is shown as its links have it: with the names of the index, not as they were typed.
function address() { return $("#ask")?.dataset.address ?? shown; }

// What an example says against: the same item as the other kind of example.
function otherwise(key, name) { return [{ seed: "reject", reject: "seed" }[key], name]; }

// What a server says in JSON before a page could answer.
function refusal(text) {
  try { return JSON.parse(text).error; } catch { return undefined; }
}

// Where the keyboard is: a row of the list, the field for examples, or elsewhere.
function focused() {
  const row = document.activeElement?.closest?.("#hits > li");
  return row ? { row: rows().indexOf(row) } : { field: document.activeElement?.id };
}

function settle(place, sent) {
  const all = rows();
  if (place.row !== undefined && all.length) select(all[Math.min(place.row, all.length - 1)], true);
  else if (place.field && document.getElementById(place.field)) document.getElementById(place.field).focus({ preventScroll: true });
  else if ($("#hits.inbox") && all.length) select(all[0], true);
  if (document.activeElement === document.body) $("#main").focus({ preventScroll: true }); // what had the focus is gone
  if (document.activeElement.id === "seed") document.activeElement.select(); // an unknown name
  const taken = document.querySelectorAll(".examples .taken").length;
  const told = $(".problem") ?? (sent ? $("#kept") : null);
  $("#status").textContent = told ? told.textContent.trim() : all.length && taken
    ? `${all.length} shown, of ${taken} ${taken === 1 ? "example" : "examples"}` : $("h1")?.textContent ?? "";
}

const rows = () => [...document.querySelectorAll("#hits > li[data-item]")];

function select(row, still) {
  for (const other of rows()) other.tabIndex = other === row ? 0 : -1;
  row.focus({ preventScroll: !!still });
}

// What only a script can do, shown where there is one.
function dress() {
  const copy = $("#copy");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.onclick = async () => { await navigator.clipboard.writeText(location.href); copy.textContent = "Copied"; };
  }
  const button = $("#undo");
  if (button) { button.hidden = steps === 0; button.onclick = undo; }
  const end = $("#end");
  if (end) moveLine(end);
  const own = wanted;
  if ($("[data-again]")) setTimeout(() => { if (own === wanted) go(here(), { push: false }); }, AGAIN);
  complete();
}

// The line on the curve follows the slider; the set ends there once it rests.
function moveLine(end) {
  let timer = 0;
  $("#move").hidden = true;
  end.oninput = () => {
    const place = 100 * (end.value - 1) / (end.max - 1), last = $(".name", rows()[end.value - 1]);
    for (const x of ["x1", "x2"]) $("#line").setAttribute(x, place);
    $("#line").setAttribute("visibility", "visible");
    $("#ending").value = `${end.value} ${end.value === "1" ? "belongs" : "belong"}, the last: ${last?.textContent ?? ""}`;
  };
  end.onchange = () => { clearTimeout(timer); timer = setTimeout(() => end.isConnected && end.form.requestSubmit(), SLOW); };
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.href);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-go]")) return;
  event.preventDefault();
  if (form.id === "ask" && !$("#seed").value.trim()) return;
  send(form, new FormData(form, event.submitter));
});

function send(form, data) {
  const fields = new URLSearchParams([...data].filter(([, value]) => value.trim()));
  if (form.method === "post") go(form.action, { body: fields });
  else go(form.action + "?" + fields);
}

addEventListener("popstate", (event) => {
  if (here() === shown) return; // a link within the page
  steps = event.state?.steps ?? 0;
  go(location.href, { push: false });
});

// Keys of one letter can be turned off, for those whose words or tremor would press them.
const keys = $("#keys");
keys.parentElement.hidden = false;
const kept = (() => { try { return localStorage; } catch { return {}; } })(); // some visitors forbid it
keys.checked = kept["setsearch keys"] !== "off";
keys.onchange = () => { kept["setsearch keys"] = keys.checked ? "on" : "off"; };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  if (event.key.length === 1 && !keys.checked) return;
  if (event.key === "/") { event.preventDefault(); $("#seed")?.focus(); return; }
  const answer = $(`.answers [data-key="${CSS.escape(event.key)}"]`); // one by one
  if (answer) { answer.click(); return; }
  if (event.key === "u" && (steps || drop) && !$("#hits.inbox")) { undo(); return; }
  const row = event.target.closest("#hits > li");
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step && $("#hits") && (row || event.key.length === 1)) { // arrows scroll, but in the list
    event.preventDefault();
    const all = rows();
    select(all[Math.max(0, Math.min(all.length - 1, row ? all.indexOf(row) + step : 0))]);
    return;
  }
  const key = { Enter: "o", "+": "a", "-": "x" }[event.key] ?? event.key;
  if (!row || (event.key === "Enter" && event.target !== row)) return;
  $(`[data-key="${CSS.escape(key)}"]`, row)?.click();
});

// Completion: a combobox with a list, as the ARIA practices describe it.
function complete() {
  const field = $("#seed"), list = $("#offers");
  if (!field || field.dataset.ready) return;
  field.dataset.ready = "yes";
  const form = field.form;
  let timer = 0, asked = 0, chosen = -1;

  const close = () => { list.hidden = true; chosen = -1; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
  const choose = (place) => {
    const offers = [...list.children];
    chosen = (place + offers.length) % offers.length;
    offers.forEach((offer, i) => offer.setAttribute("aria-selected", String(i === chosen)));
    field.setAttribute("aria-activedescendant", offers[chosen].id);
    offers[chosen].scrollIntoView({ block: "nearest" });
  };
  const take = (item) => { field.value = item; close(); form.requestSubmit(); };

  async function offer() {
    const own = ++asked, prefix = field.value.trim();
    if (!prefix) return close();
    const query = new URLSearchParams({ items: form.dataset.items, prefix, k: "8" });
    const answer = await fetch(`${form.dataset.complete}?${query}`).catch(() => null);
    if (!answer?.ok || own !== asked) return;
    const found = await answer.json();
    if (own !== asked) return;
    list.replaceChildren(...found.map((row, i) => {
      const line = document.createElement("li");
      line.id = `offer${i}`;
      line.setAttribute("role", "option");
      line.setAttribute("aria-selected", "false");
      const id = document.createElement("small");
      if (row.title && row.title !== row.item) id.textContent = row.item;
      line.append(id.textContent ? row.title + " " : row.item, id);
      line.addEventListener("mousedown", (event) => { event.preventDefault(); take(row.item); });
      line.dataset.item = row.item;
      return line;
    }));
    list.hidden = !found.length;
    chosen = -1;
    field.setAttribute("aria-expanded", String(!list.hidden));
  }

  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(offer, 80); });
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text").trim();
    if (!/[\r\n]/.test(text)) return;
    event.preventDefault(); // a field of one line would lose where its lines end
    field.setRangeText(""); // what was selected is pasted over
    const data = new FormData(form);
    data.append("seed", text);
    send(form, data);
  });
  field.addEventListener("blur", () => { clearTimeout(timer); asked++; close(); });
  field.addEventListener("keydown", (event) => {
    const open = !list.hidden;
    if (event.key === "ArrowDown" && open) { event.preventDefault(); choose(chosen + 1); }
    else if (event.key === "ArrowUp" && open) { event.preventDefault(); choose(chosen < 0 ? -1 : chosen - 1); }
    else if (event.key === "Enter" && open && chosen >= 0) { event.preventDefault(); take(list.children[chosen].dataset.item); }
    else if (event.key === "Escape") { if (open) close(); else field.blur(); }
    else if (event.key === "ArrowDown" && !open && rows().length) { event.preventDefault(); select(rows()[0]); }
  });
  form.addEventListener("submit", () => { clearTimeout(timer); asked++; close(); });
}

steps = history.state?.steps ?? 0;
dress();
if ($("#hits.inbox") && rows().length) select(rows()[0], true);
