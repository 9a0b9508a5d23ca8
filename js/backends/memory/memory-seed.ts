/**
 * A memory backend's content as plain data: the map that seeds it, and the dump it returns, which
 * can seed another one.
 */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE } from "../entry.ts";
import { fromBase64, toBase64 } from "../../engine/wire/bytes.ts";
import { backendError } from "../failure.ts";
import type { MemoryStore } from "./memory-store.ts";
import { nodesBelow } from "./memory-tree.ts";

/** One entry in a form that survives JSON. */
export type DumpEntry =
  | { readonly type: "dir"; readonly mode?: number | undefined }
  | { readonly type: "file"; readonly b64: string; readonly mode?: number | undefined }
  | { readonly type: "symlink"; readonly target: string };

/** A whole tree by absolute path, in path order. */
export type Dump = Readonly<Record<string, DumpEntry>>;

/**
 * The initial content of a memory backend: absolute paths (a relative one lies below `/`) and
 * text, bytes or a dumped entry. Parent directories are implied.
 */
export type MemorySeed = Readonly<Record<string, string | Uint8Array | DumpEntry>>;

const encoder = new TextEncoder();

/** Writes a seed into a store. */
export function seedStore(store: MemoryStore, seed: MemorySeed): void {
  const links: [string, string][] = [];
  const modes: [string, number][] = [];
  for (const [key, value] of Object.entries(seed)) {
    const path = key.startsWith("/") ? key : `/${key}`;
    if (typeof value === "string" || value instanceof Uint8Array) {
      const bytes = typeof value === "string" ? encoder.encode(value) : value;
      store.write(path, bytes, { createDirs: true });
    } else if (value.type === "symlink") {
      links.push([path, value.target]);
    } else {
      if (value.type === "dir") store.mkdir(path, true, true);
      else store.write(path, decodeContents(value.b64, path), { createDirs: true });
      if (value.mode !== undefined) modes.push([path, value.mode]);
    }
  }
  // Links come last, so that no entry of the seed is written through one.
  for (const [path, target] of links) {
    const cut = path.lastIndexOf("/");
    if (cut > 0) store.mkdir(path.slice(0, cut), true, true);
    store.symlink(target, path);
  }
  for (const [path, mode] of modes) store.chmod(path, mode);
}

/** Dumps the content of a store; permission bits only where they differ from the default. */
export function dumpOfTree(store: MemoryStore): Dump {
  const dump: Record<string, DumpEntry> = {};
  for (const [path, node] of nodesBelow(store.root, "/")) {
    if (node.type === "symlink") {
      dump[path] = { type: "symlink", target: node.target };
    } else if (node.type === "dir") {
      dump[path] = { type: "dir", ...(node.mode === DEFAULT_DIR_MODE ? {} : { mode: node.mode }) };
    } else {
      const mode = node.mode === DEFAULT_FILE_MODE ? {} : { mode: node.mode };
      dump[path] = { type: "file", b64: toBase64(node.bytes), ...mode };
    }
  }
  return dump;
}

function decodeContents(text: string, path: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw backendError("INVALID_ARGUMENT", path, "b64 is not base64");
  }
}
