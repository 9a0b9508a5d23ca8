// The places where the files of a session are: a local disk, memory, an overlay over memory, a storage.
//
// A place seeds a tree, changes it as another program would, and tells its state without the product where it can.
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/** Contents above this size are shown by their beginning and length. */
const SHOWN_BYTES = 4096;
const RECENT_MS = Date.UTC(2020, 0);

const contentOf = ({ content = "", base64 }) =>
  Buffer.from(base64 ?? content, base64 === undefined ? "utf8" : "base64");

function shownBytes(bytes) {
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text).equals(bytes);
  const shown = isText ? text : `base64 ${bytes.toString("base64")}`;
  return shown.length <= SHOWN_BYTES ? shown : `${shown.slice(0, SHOWN_BYTES)}… (${shown.length})`;
}

/** Writes the entries of a tree to the disk: directories first, hard links and times last. */
export function seedDisk(tree) {
  for (const entry of tree) {
    if (entry.type === "dir") mkdirSync(entry.path, { recursive: true });
    else mkdirSync(dirname(entry.path), { recursive: true });
    if (entry.type === "file") writeFileSync(entry.path, contentOf(entry));
    if (entry.type === "symlink") symlinkSync(entry.target, entry.path);
    if (entry.type === "link") linkSync(entry.target, entry.path);
  }
  for (const { path, type, mode, time } of [...tree].reverse()) {
    if (type !== "file" && type !== "dir") continue;
    if (mode !== undefined) chmodSync(path, mode);
    if (time !== undefined) utimesSync(path, time, time);
  }
}

/** Makes one change of another program. A change that is impossible in the present tree is left out. */
function disturb({ op, path, content, target, mode, to }) {
  const acts = {
    write: () => writeFileSync(path, content),
    append: () => writeFileSync(path, content, { flag: "a" }),
    remove: () => rmSync(path, { recursive: true, force: true }),
    mkdir: () => mkdirSync(path, { recursive: true }),
    chmod: () => chmodSync(path, mode),
    rename: () => renameSync(path, to),
    symlink: () => {
      rmSync(path, { recursive: true, force: true });
      symlinkSync(target, path);
    },
    link: () => linkSync(path, to),
    touch: () => utimesSync(path, 1_000_000_123, 1_000_000_123),
    replace: () => {
      writeFileSync(`${path}.swap`, content);
      renameSync(`${path}.swap`, path);
    },
  };
  try {
    acts[op]();
    return "made";
  } catch (error) {
    return error.code;
  }
}

/** The time in milliseconds within which two changes of a file may have the same time. */
const CLOCK_MS = 50;

/** Returns a reader that reads a file again only where its facts say that it may have changed. */
function cachedReader() {
  const known = new Map();
  return (path, { ino, size, ctimeMs }) => {
    const last = known.get(path);
    if (last !== undefined && last.ino === ino && last.size === size && last.ctimeMs === ctimeMs)
      return last.shown;
    const shown = shownBytes(readFileSync(path));
    if (Date.now() - ctimeMs > CLOCK_MS) known.set(path, { ino, size, ctimeMs, shown });
    return shown;
  };
}

/** Returns the facts of a file: permission bits, whether it is of this run, other names of the same file, content. */
function factsOfFile(path, facts, { mode, firstOfInode, read }) {
  const inode = `${facts.dev}:${facts.ino}`;
  const same = firstOfInode.get(inode);
  if (facts.nlink > 1 && same === undefined) firstOfInode.set(inode, path);
  const time = facts.mtimeMs > RECENT_MS ? "now" : Math.round(facts.mtimeMs / 1000);
  const links = facts.nlink > 1 ? `, ${facts.nlink} links as ${same ?? "none before"}` : "";
  return `file ${mode} ${time}${links}: ${read(path, facts)}`;
}

/** Returns the state of everything below directories: one line of facts for each path. */
function snapshotOfDisk(tops, read) {
  const found = new Map();
  const firstOfInode = new Map();
  const visit = (path) => {
    const facts = lstatSync(path);
    const mode = (facts.mode & 0o7777).toString(8);
    if (facts.isFile()) found.set(path, factsOfFile(path, facts, { mode, firstOfInode, read }));
    else if (facts.isSymbolicLink()) found.set(path, `link ${readlinkSync(path)}`);
    else found.set(path, `${facts.isDirectory() ? "dir" : "other"} ${mode}`);
    if (facts.isDirectory()) for (const name of readdirSync(path).sort()) visit(`${path}/${name}`);
  };
  for (const top of tops) if (existsSync(top)) visit(top);
  return found;
}

/** A place on the local disk. */
export function onDisk(tree, tops) {
  seedDisk(tree);
  const read = cachedReader();
  return {
    options: {},
    read: async (path) => readFileSync(path),
    foreign: async (act) => disturb(act),
    snapshot: async () => snapshotOfDisk(tops, read),
  };
}

/** The tree as the seed of a backend in memory. */
const memorySeed = (tree) =>
  Object.fromEntries(
    tree
      .filter(({ type }) => type !== "link")
      .map(({ path, type, mode, target, ...entry }) => [
        path,
        type === "file"
          ? { type, b64: contentOf(entry).toString("base64"), mode }
          : type === "dir"
            ? { type, mode }
            : { type, target },
      ]),
  );

/** A place behind the interface of backends; `backend` is changed and read beside the workspace. */
function onBackend(backend, tops, options) {
  const acts = {
    write: ({ path, content }) => backend.writeBytes(path, Buffer.from(content)),
    replace: ({ path, content }) => backend.writeBytes(path, Buffer.from(content)),
    append: async ({ path, content }) =>
      backend.writeBytes(path, Buffer.concat([await backend.readBytes(path), Buffer.from(content)])),
    remove: ({ path }) => backend.delete(path, { recursive: true }),
    mkdir: ({ path }) => backend.mkdir(path, { parents: true, existOk: true }),
    rename: ({ path, to }) => backend.move(path, to),
  };
  const visit = async (found, path) => {
    const facts = await (backend.lstat ?? backend.stat).call(backend, path);
    const mode = facts.mode === undefined ? "" : (facts.mode & 0o7777).toString(8);
    if (facts.type === "symlink") found.set(path, `link ${await backend.readLink?.(path)}`);
    else if (facts.type === "dir") {
      found.set(path, `dir ${mode}`);
      const names = (await backend.listDir(path)).map(({ name }) => name).sort();
      for (const name of names) await visit(found, `${path}/${name}`);
    } else found.set(path, `file ${mode}: ${shownBytes(Buffer.from(await backend.readBytes(path)))}`);
  };
  return {
    options,
    read: async (path) => Buffer.from(await backend.readBytes(path)),
    async foreign(act) {
      try {
        if (acts[act.op] === undefined) return "left out";
        await acts[act.op](act);
        return "made";
      } catch (error) {
        return error.code;
      }
    },
    async snapshot() {
      const found = new Map();
      for (const top of tops) if (await backend.exists(top)) await visit(found, top);
      return found;
    },
  };
}

/** A place in memory. */
export function inMemory(product, tree, tops) {
  const backend = new product.MemoryBackend(memorySeed(tree));
  return onBackend(backend, tops, { backend });
}

/** A place whose changes lie over another backend, in memory. */
export function onOverlay(product, tree, tops) {
  const backend = new product.OverlayBackend(new product.MemoryBackend(memorySeed(tree)));
  return onBackend(backend, tops, { backend });
}

/** Lists everything below a directory of a storage, page by page. */
async function* listed(storage, prefix) {
  let after;
  do {
    const page = await storage.list({ prefix, limit: 1000, ...(after === undefined ? {} : { after }) });
    for (const { path, type, mode, target, hash, size } of page.entries)
      yield [path, `${type} ${mode ?? ""} ${target ?? hash ?? ""} ${size ?? ""}`];
    after = page.next;
  } while (after !== undefined);
}

/** A place in a storage, which is read and changed by commits of its own. */
export async function inStorage(product, tree, tops) {
  const storage = product.memoryStorage();
  const seeds = tree.flatMap(({ path, type, target, mode, ...entry }) => {
    if (type === "file")
      return [{ op: "put", path, body: contentOf(entry), ...(mode === undefined ? {} : { mode }) }];
    if (type === "symlink") return [{ op: "symlink", path, target }];
    return type === "dir" ? [{ op: "mkdir", path }] : [];
  });
  await storage.commit(seeds);
  const read = async (path) => {
    const [found] = (await storage.readMany([path])).results;
    if (found?.body === undefined) throw new Error(`${path} is no file`);
    return Buffer.from(found.body);
  };
  const acts = {
    write: ({ path, content }) => [{ op: "put", path, body: Buffer.from(content) }],
    replace: ({ path, content }) => [{ op: "put", path, body: Buffer.from(content) }],
    mkdir: ({ path }) => [{ op: "mkdir", path }],
    remove: ({ path }) => [{ op: "remove", path }],
  };
  return {
    options: { storage },
    read,
    async foreign(act) {
      try {
        if (acts[act.op] === undefined) return "left out";
        await storage.commit(acts[act.op](act));
        return "made";
      } catch (error) {
        return error.code;
      }
    },
    async snapshot() {
      const found = new Map();
      for (const top of tops) for await (const [path, facts] of listed(storage, top)) found.set(path, facts);
      return found;
    },
  };
}
