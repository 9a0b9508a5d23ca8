/**
 * A memory backend's content as plain data: the map that seeds it, and the dump it returns, which
 * can seed another one.
 */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE } from "../entry.ts";
import { backendError } from "../failure.ts";
import { checkPath, checkTarget, isLongName, normalise } from "../paths.ts";
import { fromBase64, toBase64 } from "../../engine/wire/bytes.ts";
import type { MemoryTree } from "./memory-tree.ts";
import { isDirNode, isFileNode, nodesByPath } from "../tree/nodes.ts";

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

/** An entry of a seed, with the bytes of its content. */
type SeededEntry =
  | { readonly type: "dir"; readonly mode?: number | undefined }
  | { readonly type: "file"; readonly body: Uint8Array; readonly mode?: number | undefined }
  | { readonly type: "symlink"; readonly target: string };

/** Writes a seed into an empty tree. */
export function seedTree(tree: MemoryTree, seed: MemorySeed): void {
  const entries = Object.entries(seed).map(([key, value]) => {
    const entry = seededEntry(key, value);
    return [seedPath(key, entry), entry] as const;
  });
  for (const [path, entry] of entries) {
    if (entry.type === "file") tree.write(path, entry.body);
    else if (entry.type === "dir") tree.mkdir(path);
  }
  // Links come last, so that nothing of the seed is below one.
  for (const [path, entry] of entries) if (entry.type === "symlink") tree.symlink(path, entry.target);
  for (const [path, entry] of entries)
    if (entry.type !== "symlink" && entry.mode !== undefined) tree.chmod(path, entry.mode);
}

function seededEntry(key: string, value: MemorySeed[string]): SeededEntry {
  if (typeof value === "string") return { type: "file", body: encoder.encode(value) };
  if (value instanceof Uint8Array) return { type: "file", body: new Uint8Array(value) };
  if (value.type === "symlink") checkTarget(value.target, key);
  if (value.type !== "file") return value;
  return { type: "file", body: decodeContents(value.b64, key), mode: value.mode };
}

/** Dumps a tree; permission bits only where they differ from the default. */
export function dumpOfTree({ root }: MemoryTree): Dump {
  const dump: Record<string, DumpEntry> = {};
  for (const node of nodesByPath(root)) {
    const { path, mode, target = "" } = node.entry;
    if (isDirNode(node)) dump[path] = { type: "dir", ...(mode === DEFAULT_DIR_MODE ? {} : { mode }) };
    else if (!isFileNode(node)) dump[path] = { type: "symlink", target };
    else {
      const bits = mode === DEFAULT_FILE_MODE ? {} : { mode };
      dump[path] = { type: "file", b64: toBase64(node.bytes), ...bits };
    }
  }
  return dump;
}

/** Returns the path of a key of a seed. @throws INVALID_ARGUMENT, NAME_TOO_LONG, NOT_DIRECTORY */
function seedPath(key: string, { type }: SeededEntry): string {
  checkPath(key);
  const { path, directory } = normalise(key.startsWith("/") ? key : `/${key}`);
  if (directory && type !== "dir")
    throw backendError("NOT_DIRECTORY", key, "only the path of a directory can end in a slash");
  if (isLongName(path) && path.split("/").some(isLongName)) throw backendError("NAME_TOO_LONG", key);
  return path;
}

function decodeContents(text: string, path: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw backendError("INVALID_ARGUMENT", path, "b64 is not base64");
  }
}
