// The acceptance kit's view of a workspace whose files are in a storage: that in memory, which has every method.
import { resolve } from "node:path";
import * as library from "../../dist/cli/library.js";
import { createWith } from "./create.mjs";

/** Makes a storage with the files of a case, in the form of `dump`. */
async function seededStorage(seed) {
  const storage = library.memoryStorage();
  const ops = Object.entries(seed).map(([path, { type, b64, target }]) => {
    if (type === "dir") return { op: "mkdir", path };
    if (type === "symlink") return { op: "symlink", path, target };
    return { op: "put", path, body: new Uint8Array(Buffer.from(b64, "base64")) };
  });
  if (ops.length > 0) await storage.commit(ops);
  return storage;
}

/** Returns what is in a storage, in the form of the kit. */
async function dumpOf(storage) {
  const { entries } = await storage.list({ limit: 10_000 });
  const { results } = await storage.readMany(entries.map(({ path }) => path));
  return Object.fromEntries(
    results.map(({ entry: { path, type, target }, body }) => {
      if (type === "dir") return [path, { type }];
      if (type === "symlink") return [path, { type, target }];
      return [path, { type, b64: Buffer.from(body).toString("base64") }];
    }),
  );
}

export const create = createWith(library, resolve, {
  seededStorage,
  dumpOf,
});
