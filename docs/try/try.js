// The frame around the page: files come in, the database goes out, and requests of the page go to Python.
const $ = (selector) => document.querySelector(selector);
const page = $("#page"), said = $("#said");
const IS_DATABASE = /\.(db|sqlite3?)$/;
let worker;

function ask(what, given) {
  return new Promise((done, failed) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => ("failed" in data ? failed(new Error(data.failed)) : done(data.done));
    worker.postMessage({ what, given }, [port2]);
  });
}

function tell(text, isProblem = false) {
  said.textContent = text;
  said.classList.toggle("problem", isProblem);
}

async function show() {
  const isThere = await ask("state");
  $("#drop").hidden = isThere;
  for (const own of [page, $("#save"), $("#forget")]) own.hidden = !isThere;
  if (isThere) page.src = "page/" + location.hash.slice(1);
}

// Run something that takes a while, with nothing else begun meanwhile.
async function during(text, work) {
  document.body.setAttribute("aria-busy", "true");
  try {
    await ready;
    tell(text);
    tell(await work() ?? "");
  }
  catch (error) { tell(error.message, true); }
  finally { document.body.removeAttribute("aria-busy"); }
}

const add = (files) => files.length && during("Reading …", async () => {
  const given = await Promise.all(files.map(async ({ path, file }) => ({ path, content: new Uint8Array(await file.arrayBuffer()) })));
  if (!page.hidden && files.some(({ path }) => IS_DATABASE.test(path)) && !confirm("The database replaces what is here. Go on?")) return;
  const { worked, said } = await ask("fill", given);
  if (!worked) throw new Error(said);
  location.hash = "";
  await show();
  return said;
});

for (const field of [$("#files"), $("#folder")]) {
  field.onchange = () => {
    add([...field.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    field.value = "";
  };
}

// A dropped folder is walked; other files are as they are.
async function dropped(entry, path = "") {
  if (entry.isFile) return [{ path: path + entry.name, file: await new Promise((done, failed) => entry.file(done, failed)) }];
  const reader = entry.createReader(), found = [];
  for (let part; (part = await new Promise((done, failed) => reader.readEntries(done, failed))).length;) found.push(...part);
  return (await Promise.all(found.map((one) => dropped(one, `${path}${entry.name}/`)))).flat();
}

for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("over", kind === "dragover");
  });
}
document.addEventListener("drop", async (event) => {
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  add((await Promise.all(entries.map((entry) => dropped(entry)))).flat());
});

$("#save").onclick = () => during("Writing …", async () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([await ask("database")], { type: "application/vnd.sqlite3" }));
  link.download = "setsearch.db";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return "`setsearch expand setsearch.db ...` asks it.";
});

$("#forget").onclick = () => confirm("Delete what you added, and all sets and reviews, from this browser?") &&
  during("Deleting …", async () => { await ask("forget"); location.hash = ""; await show(); });

navigator.serviceWorker?.addEventListener("message", async ({ data, ports: [port] }) => {
  if (!worker) return; // another tab has the database
  try {
    const done = await ask("answer", data);
    port.postMessage({ done });
    const isPage = data.method === "GET" && done.status === 200 && done.headers.some(([name, value]) => name === "content-type" && value.startsWith("text/html"));
    if (isPage) history.replaceState(null, "", "#" + data.url.slice(new URL("page/", document.baseURI).href.length));
  } catch (error) {
    port.postMessage({ failed: error.message });
  }
});

async function start() {
  if (!navigator.serviceWorker) throw new Error("This page needs https, or an address that begins with http://localhost.");
  await navigator.serviceWorker.register("sw.js");
  await navigator.serviceWorker.ready;
  tell("This page is open in another tab; close that one.");
  await new Promise((got) => navigator.locks.request("setsearch database", () => { got(); return new Promise(() => {}); }));
  tell("Python is being loaded: 20 MB, the first time …");
  worker = new Worker("worker.js", { type: "module" });
  navigator.serviceWorker.startMessages();
  await show();
  await navigator.storage?.persist?.();
  tell("");
}

const ready = start();
ready.catch((error) => tell(error.message, true));
