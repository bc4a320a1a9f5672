// Python in WebAssembly: it answers requests for the page, and keeps the database in IndexedDB.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const KEPT = "/kept", DATABASE = `${KEPT}/try.db`, DROPPED = "/dropped", SITE = "/lib/python3.12/site-packages";
const here = (name) => new URL(name, import.meta.url).href;

async function start() {
  const packages = fetch(here("packages.zip")).then((answer) => answer.arrayBuffer());
  const code = fetch(here("browser.py")).then((answer) => answer.text());
  const python = await loadPyodide({ indexURL: here("pyodide/"), packages: ["numpy", "sqlite3"] });
  python.unpackArchive(await packages, "zip", { extractDir: SITE });
  python.FS.mkdir(KEPT);
  python.FS.mount(python.FS.filesystems.IDBFS, {}, KEPT);
  await exchange(python, true);
  python.runPython(await code);
  return python;
}

// Read what IndexedDB has, or write what is new there.
const exchange = ({ FS }, read) => new Promise((done, failed) => FS.syncfs(read, (error) => error ? failed(error) : done()));
const call = (python, name, ...given) => python.globals.get(name)(...given);

const can = {
  // Whether there is a database.
  state: ({ FS }) => FS.analyzePath(DATABASE).exists,

  async answer(python, { method, url, root, body }) {
    const told = await call(python, "answer", method, url, root, body);
    const [status, headers, content] = told.toJs();
    told.destroy();
    if (method !== "GET") await exchange(python, false);
    return { status, headers, content };
  },

  // Files by their paths: texts of any kind, or one database, which replaces all.
  async fill(python, files) {
    const { FS } = python, database = files.find(({ path }) => /\.(db|sqlite3?)$/.test(path));
    if (database) {
      if (!new TextDecoder().decode(database.content.slice(0, 15)).startsWith("SQLite format 3"))
        throw new Error(`Error: ${database.path} is no SQLite database`);
      python.globals.get("questions").close();
      FS.writeFile(DATABASE, database.content);
      await exchange(python, false);
      return { worked: true, said: database.path };
    }
    for (const { path, content } of files) {
      const place = `${DROPPED}/${path}`;
      FS.mkdirTree(place.slice(0, place.lastIndexOf("/")));
      FS.writeFile(place, content);
    }
    const told = call(python, "fill", DROPPED), [worked, said] = told.toJs();
    told.destroy();
    python.runPython(`import shutil; shutil.rmtree("${DROPPED}")`);
    await exchange(python, false);
    return { worked, said };
  },

  database(python) {
    python.globals.get("questions").close();
    return python.FS.readFile(DATABASE);
  },

  async forget(python) {
    python.globals.get("questions").close();
    python.runPython(`import shutil, os; [os.remove(f.path) if f.is_file() else shutil.rmtree(f.path) for f in os.scandir("${KEPT}")]`);
    await exchange(python, false);
  },
};

const started = start();
let last = started; // one thing after another
self.onmessage = ({ data: { what, given }, ports: [port] }) => {
  last = last.catch(() => {}).then(async () => {
    try {
      port.postMessage({ done: await can[what](await started, given) });
    } catch (error) {
      port.postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) });
    }
  });
};
