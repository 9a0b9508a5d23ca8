/**
 * The worlds of the undo table: a workspace on the disk and one in memory, each with files, and another process that
 * changes them without the workspace.
 */
import { shortcutsOf, provideShortcuts } from "../../../../js/backends/abilities.ts";
import type { Able } from "../../../../js/backends/abilities.ts";
import type { Files } from "../../../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LocalBackend, MemoryBackend, openWorkspace, type Workspace } from "../../../../js/index.node.ts";
import { afterThisTest } from "../../../support/cleanups.ts";
import { type Entry, parseTree, printTree } from "./notation.ts";

/** The kinds of worlds. */
export const WORLDS = ["disk", "memory"] as const;
/** A kind of world. */
export type WorldName = (typeof WORLDS)[number];

/** Files, and the two that change them. */
export interface World {
  readonly ws: Workspace;
  /** Everything below the root, hidden entries included. */
  tree(): Promise<string>;
  /** An act of another process; see {@link parseAct}. */
  theirs(act: string): Promise<void>;
}

/** A change by another process. */
type Act =
  | { readonly does: "write"; readonly path: string; readonly content: string; readonly isInPlace: boolean }
  | { readonly does: "chmod"; readonly path: string; readonly mode: number }
  | { readonly does: "move"; readonly path: string; readonly to: string };

/**
 * Reads what another process does: `a=x` puts a new file at the path as an editor does, `a<=x` writes into the file,
 * `a>b` moves, `a:700` sets the permission bits.
 */
function parseAct(act: string): Act {
  const [, move, to] = /^(.+)>(.+)$/u.exec(act) ?? [];
  if (move !== undefined && to !== undefined) return { does: "move", path: move, to };
  const [, path, mode] = /^(.+):(\d{3})$/u.exec(act) ?? [];
  if (path !== undefined && mode !== undefined)
    return { does: "chmod", path, mode: Number.parseInt(mode, 8) };
  const isInPlace = act.includes("<=");
  const [entry] = parseTree(act.replace("<=", "="));
  if (entry === undefined) throw new Error(`no act: ${act}`);
  return { does: "write", path: entry.path, content: entry.text, isInPlace };
}

/** The file whose write fails, for a change that is rolled back. */
export const LAST_FILE = "last";

/** Opens a world. With `atLast`, the write of {@link LAST_FILE} runs it first. */
export async function openWorld(
  name: WorldName,
  seed: string,
  atLast?: () => Promise<never>,
): Promise<World> {
  return name === "disk" ? onDisk(seed, atLast) : inMemory(seed, atLast);
}

/** Runs `atLast` before the backend, or what it confines, writes the last file. */
function failingAtLast<B extends Files & Able>(backend: B, atLast: (() => Promise<never>) | undefined): B {
  if (atLast === undefined) return backend;
  const { confine } = shortcutsOf(backend);
  const write = backend.writeBytes.bind(backend);
  if (confine !== undefined)
    provideShortcuts(backend, {
      confine: (policy) => failingAtLast(confine(policy) as Files & Able, atLast),
    });
  return Object.assign(backend, {
    async writeBytes(...all: Parameters<typeof write>) {
      if (all[0].endsWith(`/${LAST_FILE}`)) await atLast();
      return write(...all);
    },
  });
}

/** The permission bits that a file and a directory get from the process. */
const ORDINARY_BITS = { file: 0o666 & ~process.umask(), dir: 0o777 & ~process.umask() };

/** A directory with the files of a seed, as the disk has them. */
export class DiskFiles {
  readonly base: string = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-undo-")));
  readonly root: string = join(this.base, "ws");
  readonly stateDir: string = join(this.base, "state");

  constructor(seed: string) {
    fs.mkdirSync(this.root);
    for (const { path, type, text, mode } of parseTree(seed)) {
      const at = join(this.root, path);
      fs.mkdirSync(type === "dir" ? at : dirname(at), { recursive: true });
      if (type === "symlink") fs.symlinkSync(text, at);
      else if (type === "file") fs.writeFileSync(at, text);
      if (mode !== undefined) fs.chmodSync(at, mode);
    }
  }

  remove(): void {
    fs.rmSync(this.base, { recursive: true, force: true });
  }

  tree(): string {
    return printTree(this.#entries(""));
  }

  theirs(act: string): void {
    const parsed = parseAct(act);
    const at = join(this.root, parsed.path);
    if (parsed.does === "chmod") fs.chmodSync(at, parsed.mode);
    else if (parsed.does === "move") fs.renameSync(at, join(this.root, parsed.to));
    else if (parsed.isInPlace) fs.writeFileSync(at, parsed.content);
    else {
      fs.mkdirSync(dirname(at), { recursive: true });
      fs.writeFileSync(join(this.base, "theirs"), parsed.content);
      fs.renameSync(join(this.base, "theirs"), at);
    }
  }

  #entries(below: string): readonly Entry[] {
    return fs.readdirSync(join(this.root, below)).flatMap((name): readonly Entry[] => {
      const path = join(below, name);
      const at = join(this.root, path);
      const stat = fs.lstatSync(at);
      if (stat.isSymbolicLink()) return [{ path, type: "symlink", text: fs.readlinkSync(at) }];
      const type = stat.isDirectory() ? "dir" : "file";
      const bits = stat.mode & 0o777;
      const mode = bits === ORDINARY_BITS[type] ? {} : { mode: bits };
      if (type === "dir") return [{ path, type, ...mode, text: "" }, ...this.#entries(path)];
      return [{ path, type, ...mode, text: fs.readFileSync(at, "utf8") }];
    });
  }
}

async function onDisk(seed: string, atLast: (() => Promise<never>) | undefined): Promise<World> {
  const files = new DiskFiles(seed);
  afterThisTest(() => files.remove());
  const { root, stateDir } = files;
  const backend = atLast === undefined ? {} : { backend: failingAtLast(new LocalBackend(), atLast) };
  const ws = await openWorkspace({ root, stateDir, guard: "off", ...backend });
  afterThisTest(() => ws.close());
  return { ws, tree: async () => files.tree(), theirs: async (act) => files.theirs(act) };
}

const MEMORY_ROOT = "/ws";

async function inMemory(seed: string, atLast: (() => Promise<never>) | undefined): Promise<World> {
  const files = new MemoryBackend({ [MEMORY_ROOT]: { type: "dir" } });
  const at = (path: string): string => `${MEMORY_ROOT}/${path}`;
  for (const { path, type, text, mode } of parseTree(seed)) {
    await files.mkdir(type === "dir" ? at(path) : dirname(at(path)), { parents: true, existOk: true });
    if (type === "symlink") await files.symlink(text, at(path));
    else if (type === "file") await files.writeText(at(path), text);
    if (mode !== undefined) await files.chmod(at(path), mode);
  }
  const ws = await openWorkspace({ root: MEMORY_ROOT, guard: "off", backend: failingAtLast(files, atLast) });
  afterThisTest(() => ws.close());
  return {
    ws,
    tree: async () => printTree(await entriesInMemory(files, "")),
    async theirs(act) {
      const parsed = parseAct(act);
      if (parsed.does === "chmod") await files.chmod(at(parsed.path), parsed.mode);
      else if (parsed.does === "move") await files.rename(at(parsed.path), at(parsed.to));
      else {
        if (!parsed.isInPlace) await files.delete(at(parsed.path)).catch(() => undefined);
        await files.writeText(at(parsed.path), parsed.content, { createDirs: true });
      }
    },
  };
}

async function entriesInMemory(files: MemoryBackend, below: string): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (const { name } of await files.listDir(`${MEMORY_ROOT}${below}`)) {
    const path = `${below}/${name}`;
    const stat = await files.lstat(`${MEMORY_ROOT}${path}`);
    const entry = { path: path.slice(1), text: "" };
    if (stat.type === "symlink") found.push({ ...entry, type: "symlink", text: stat.target ?? "" });
    else {
      const type = stat.type === "dir" ? "dir" : "file";
      const isOrdinary = stat.mode === (type === "dir" ? 0o755 : 0o644) || stat.mode === undefined;
      const mode = isOrdinary ? {} : { mode: (stat.mode as number) & 0o777 };
      if (type === "dir") found.push({ ...entry, type, ...mode }, ...(await entriesInMemory(files, path)));
      else found.push({ ...entry, type, ...mode, text: await files.readText(`${MEMORY_ROOT}${path}`) });
    }
  }
  return found;
}
