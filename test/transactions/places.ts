/** Backends for tests of transactions: in memory, with eleven methods, on the disk; and a way to step between their operations. */
import { asFiles } from "../../js/backends/host-files.ts";
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalBackend, MemoryBackend } from "../../js/index.node.ts";
import { type JournalStore, MemoryJournal } from "../../js/log/index.ts";
import { requireLocalHost } from "../../js/workspace/host.ts";
import { minimalBackend } from "../backends/minimal.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** The methods that change something. */
const CHANGING: ReadonlySet<string> = new Set([
  "writeBytes",
  "delete",
  "mkdir",
  "rename",
  "copyFile",
  "symlink",
  "chmod",
  "removeTree",
  "copyTree",
]);

/** Callbacks around an operation of a backend; an error that they throw is the result of the operation. */
export interface Between {
  before?(call: number, name: string, args: readonly unknown[]): Promise<void> | void;
  after?(call: number, name: string, args: readonly unknown[]): Promise<void> | void;
}

/** The backend with something before and after each of its changing operations, which are numbered from 1. */
export function between(backend: Files, around: Between): Files {
  let calls = 0;
  const files: Files = new Proxy(backend, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      // The backends of these tests hide no secrets, so that a rollback uses the same files.
      if (name === "trusted") return () => files;
      if (!CHANGING.has(String(name))) return value.bind(target);
      return async (...args: unknown[]) => {
        const call = ++calls;
        await around.before?.(call, String(name), args);
        const result: unknown = await value.apply(target, args);
        await around.after?.(call, String(name), args);
        return result;
      };
    },
  });
  return files;
}

/** A place for files: a backend, the root to work below, and everything that stands there. */
export interface StorageFixture {
  readonly backend: Files;
  readonly root: string;
  /** Where the records of changes are kept, as a workspace keeps them: for the disk, on the disk. */
  readonly store: JournalStore;
  /** Every entry by its path below the root: contents, targets, or `dir`. Hidden names are included. */
  tree(): Promise<Record<string, string>>;
  /** A write by another program, without the journal. */
  foreign(path: string, content: string): Promise<void>;
  close(): void;
}

export type PlaceKind = "memory" | "minimal" | "local";
export const PLACE_KINDS: readonly PlaceKind[] = ["memory", "minimal", "local"];

let state: string | undefined;

/** One state directory for all places of a test, as for all workspaces of a person. */
function stateDir(): string {
  if (state === undefined) {
    const made = fs.mkdtempSync(join(tmpdir(), "filewright-tx-state-"));
    state = made;
    afterThisTest(() => {
      state = undefined;
      fs.rmSync(made, { recursive: true, force: true });
    });
  }
  return state;
}

/** Makes a place with files. */
export async function makePlace(
  kind: PlaceKind,
  files: Readonly<Record<string, string>>,
): Promise<StorageFixture> {
  const base = kind === "local" ? fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-tx-"))) : "/base";
  const root = `${base}/ws`;
  const backend =
    kind === "local"
      ? new LocalBackend()
      : kind === "memory"
        ? new MemoryBackend()
        : asFiles(minimalBackend());
  await backend.mkdir(root, { parents: true, existOk: true });
  for (const [path, content] of Object.entries(files))
    await backend.writeBytes(`${root}/${path}`, new TextEncoder().encode(content), { createDirs: true });
  const foreign = async (path: string, content: string): Promise<void> => {
    if (kind !== "local") {
      await backend.writeBytes(`${root}/${path}`, new TextEncoder().encode(content), { createDirs: true });
      return;
    }
    // As editors do: a new file takes the place of the old one.
    fs.mkdirSync(join(root, path, ".."), { recursive: true });
    fs.writeFileSync(join(base, "other"), content);
    fs.renameSync(join(base, "other"), join(root, path));
  };
  return {
    backend,
    root,
    store: kind === "local" ? requireLocalHost().journal(stateDir()) : new MemoryJournal(),
    foreign,
    tree: async () => (kind === "local" ? diskTree(root) : backendTree(backend, root)),
    close: () => (kind === "local" ? fs.rmSync(base, { recursive: true, force: true }) : undefined),
  };
}

function diskTree(root: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(join(root, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isSymbolicLink()) found[path] = `-> ${fs.readlinkSync(join(root, path))}`;
    else if (entry.isDirectory()) Object.assign(found, { [path]: "dir" }, diskTree(root, path));
    else found[path] = fs.readFileSync(join(root, path), "utf8");
  }
  return found;
}

async function backendTree(backend: Files, root: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await backend.listDir(`${root}${below}`)) {
    const path = `${below}/${entry.name}`.slice(1);
    if (entry.type === "symlink") found[path] = `-> ${entry.target}`;
    else if (entry.isDir)
      Object.assign(found, { [path]: "dir" }, await backendTree(backend, root, `/${path}`));
    else found[path] = await backend.readText(`${root}/${path}`);
  }
  return found;
}
