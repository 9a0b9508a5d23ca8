// The part of the playground that needs the package. It is loaded when the first call is made, so that a page that
// nobody uses loads neither the package nor its chunks.
import { MemoryBackend, openWorkspace } from "filewright";
import { FileSystemAccessBackend, OpfsBackend } from "filewright/backends";
import { ready } from "filewright/engine";
import { hubTransport, reviewHub } from "filewright/review";
import { openJournal } from "./journal.js";
import { REPOSITORY } from "./repository.js";

/** At most this many files are listed next to the page. */
const MAX_LISTED_FILES = 40;

/** Removes the files of a storage, and writes those of the repository. */
async function writeRepository(backend) {
  for (const path of await Array.fromAsync(backend.iterFiles("/"))) await backend.delete(path);
  for (const [path, content] of Object.entries(REPOSITORY))
    await backend.writeText(path, content, { createDirs: true });
}

/**
 * Opens the private files of this origin, and their history. They have the repository on the first visit, and then what
 * is left of it.
 */
async function openOpfs(isReset) {
  const backend = new OpfsBackend({ directory: "/playground" });
  const isFirst = isReset || (await backend.listDir("/")).length === 0;
  if (isFirst) await writeRepository(backend);
  return { backend, history: await openJournal(isFirst) };
}

/** Opens the storage that the visitor has chosen: "memory", "opfs", or the handle of a folder. */
async function openStorage(choice, isReset) {
  if (choice === "opfs") return openOpfs(isReset);
  return {
    backend: choice === "memory" ? new MemoryBackend(REPOSITORY) : new FileSystemAccessBackend(choice),
  };
}

/**
 * Opens a workspace with a hub over a storage. `engine` is the promise of the compiled module;
 * `isReset` puts the repository back into the private files of this origin.
 */
export async function openSession({ choice, engine, isReset }) {
  await ready(engine);
  const { backend, history } = await openStorage(choice, isReset);
  const hub = reviewHub({ subject: "this tab" });
  const ws = await openWorkspace({
    backend,
    root: "/",
    guard: "off",
    confirm: hub.confirm,
    observers: [hub.observer],
    ...(history === undefined ? {} : { journal: history.journal, backendId: "playground" }),
  });
  hub.attach(ws);
  return {
    transport: hubTransport(hub, { role: "manage", by: "you" }),
    call: (tool, args) => ws.call(tool, args),
    content: (path) => backend.readText(path),
    /** Returns the paths of the first files, in order. */
    async paths() {
      const found = [];
      for await (const path of backend.iterFiles("/")) {
        if (found.length === MAX_LISTED_FILES) break;
        found.push(path);
      }
      return found.sort();
    },
    async close() {
      hub.close();
      await ws.close();
      history?.close();
    },
  };
}
