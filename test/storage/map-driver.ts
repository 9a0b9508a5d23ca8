/** A driver over a plain map, as docs/guides/backends.md shows it. */
import { FilewrightError } from "../../js/index.node.ts";
import type { Driver, DriverEntry } from "../../js/storage/index.ts";

export interface MapFile {
  readonly body: Uint8Array;
  readonly version: string;
  readonly mtime: number;
  readonly mode: number;
}

let versions = 0;

export function mapDriver(files: Map<string, MapFile> = new Map()): Driver {
  const entryOf = (path: string, { body, version, mtime, mode }: MapFile): DriverEntry => ({
    type: "file",
    path,
    size: body.length,
    version,
    mtime,
    mode,
  });
  const there = (path: string, ifVersion?: string | null): MapFile | undefined => {
    const file = files.get(path);
    if (ifVersion === undefined || (file?.version ?? null) === ifVersion) return file;
    throw new FilewrightError("CONFLICT", "the file has changed", { path });
  };
  const existing = (path: string, ifVersion?: string): MapFile => {
    const file = there(path, ifVersion);
    if (file === undefined) throw new FilewrightError("NOT_FOUND", "no such file", { path });
    return file;
  };
  const inside = (directory: string): string => (directory === "/" ? "/" : `${directory}/`);
  return {
    async stat(path) {
      const file = files.get(path);
      if (file !== undefined) return entryOf(path, file);
      const prefix = inside(path);
      for (const one of files.keys()) if (one.startsWith(prefix)) return { type: "dir", path };
      return null;
    },
    async list(directory) {
      const prefix = inside(directory);
      const found = new Map<string, DriverEntry>();
      for (const [path, file] of files) {
        if (!path.startsWith(prefix)) continue;
        const end = path.indexOf("/", prefix.length);
        const name = end < 0 ? path : path.slice(0, end);
        found.set(name, end < 0 ? entryOf(path, file) : { type: "dir", path: name });
      }
      return [...found.values()];
    },
    read: async (path) => existing(path).body,
    async write(path, body, { mode, ifVersion }) {
      there(path, ifVersion);
      const file = { body, version: `${++versions}`, mtime: Date.now(), mode: mode ?? 0o644 };
      files.set(path, file);
      return entryOf(path, file);
    },
    async remove(path, ifVersion) {
      existing(path, ifVersion);
      files.delete(path);
    },
    async move(from, to) {
      const file = existing(from);
      files.delete(from);
      files.set(to, file);
      return entryOf(to, file);
    },
  };
}
