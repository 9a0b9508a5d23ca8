/** The same files on each kind of storage. */
import { type FsBackend, LocalBackend, MemoryBackend } from "../../js/index.node.ts";
import { minimalBackend } from "../backends/minimal.ts";
import { temporary } from "../tools/harness.ts";

/** The methods of the protocol. */
export const ELEVEN = [
  "delete",
  "exists",
  "glob",
  "iterFiles",
  "listDir",
  "mkdir",
  "readBytes",
  "readText",
  "stat",
  "writeBytes",
  "writeText",
] as const;

/** UTF-8. */
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The same files on each kind of storage; `root` is where they are. */
const STORAGE: Readonly<
  Record<string, (files: Readonly<Record<string, string>>) => Promise<{ backend: FsBackend; root: string }>>
> = {
  memory: async (files) => ({ backend: new MemoryBackend(below("/w", files)), root: "/w" }),
  "eleven methods": async (files) => ({ backend: minimalBackend(below("/w", files)), root: "/w" }),
  disk: async (files) => {
    const { root, stateDir } = await temporary(files);
    return { backend: new LocalBackend({ stateDir }), root };
  },
};
/** The kinds. */
export const STORAGES = Object.keys(STORAGE);
/** Files on one of them. */
export const stored = (kind: string, files: Readonly<Record<string, string>>) =>
  (STORAGE[kind] as (typeof STORAGE)[string])(files);

/** Absolute paths from relative ones. */
export function below(root: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${root}/${path}`, text]));
}
