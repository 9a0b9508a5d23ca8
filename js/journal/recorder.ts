/**
 * A backend that has every change recorded before it makes it.
 *
 * Tools write through it without knowing; what they read passes straight
 * through. What cannot be kept (too large, too many entries) is either refused
 * before it happens, or makes the whole change one that cannot be undone.
 */
import {
  CAPABILITIES,
  type FsBackend,
  type FsEntry,
  METHODS,
  type TreeCounts,
  type WriteOptions,
  type WriteResult,
} from "../backends/backend.ts";
import { entryPathVia, lstatOrNull, lstatVia, realpathVia } from "../backends/fallback.ts";
import { walkTree } from "../backends/fallback-tree.ts";
import { parentOf } from "../backends/paths.ts";
import { encodeText } from "../backends/text.ts";
import { engine } from "../engine/current.ts";
import { type Budget, capture, captureFile, type Image, tooMuch } from "./image.ts";
import type { Step } from "./step.ts";

/** What is told of a change. */
export interface Recording {
  /** Makes and keeps the steps of what is about to happen; what it throws prevents it. */
  intend(make: () => Promise<readonly Step[]>): Promise<void>;
  /** Called with the version a write made. */
  made(path: string, image: Image): void;
  /** Bytes of old content that may be kept, all steps together. */
  readonly budget: Budget;
  /** The most entries of one tree that are recorded. */
  readonly maxEntries: number;
}

/** The operations of a backend that change something. */
type Changing = Required<
  Pick<
    FsBackend,
    | "writeText"
    | "writeBytes"
    | "delete"
    | "mkdir"
    | "rename"
    | "copyFile"
    | "symlink"
    | "chmod"
    | "removeTree"
    | "copyTree"
  >
>;

/** Puts a recording in front of a backend. */
export function recorded(inner: FsBackend, recording: Recording): FsBackend {
  const methods = boundOf(inner);
  const backend = Object.create(methods) as Record<string, unknown>;
  for (const [name, method] of Object.entries(changing(inner, recording))) {
    if (methods[name] !== undefined) backend[name] = method;
  }
  return backend as unknown as FsBackend;
}

/** The methods of each backend that was recorded, bound: there are thirty, and calls are many. */
const bound = new WeakMap<FsBackend, Readonly<Record<string, unknown>>>();

function boundOf(inner: FsBackend): Readonly<Record<string, unknown>> {
  const known = bound.get(inner);
  if (known !== undefined) return known;
  const methods: Record<string, unknown> = {};
  for (const name of [...METHODS, ...CAPABILITIES]) {
    const own = inner[name] as ((...args: never[]) => unknown) | undefined;
    if (own !== undefined) methods[name] = own.bind(inner);
  }
  bound.set(inner, methods);
  return methods;
}

function changing(inner: FsBackend, { intend, made, budget, maxEntries }: Recording): Changing {
  const keep = (path: string): Promise<Image | null> => capture(inner, path, budget);
  const write = async (path: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> => {
    let real = path;
    let after: Image | undefined;
    // Not before it is known that the change can be kept: large contents are not, nor hashed for it.
    const becomes = (): Image => {
      after = {
        type: "file",
        size: bytes.length,
        hash: options.hash ?? engine().sha256(bytes),
        ...(options.mode === undefined ? {} : { mode: options.mode }),
      };
      return after;
    };
    await intend(async () => {
      // Both at once: most writes replace a file at its real path.
      const [at, file] = await Promise.all([realpathVia(inner, path), captureFile(inner, path, budget)]);
      real = at;
      if (file !== null && at === path) {
        budget.bytes -= file.size as number;
        return [{ kind: "path", path: at, before: file, after: becomes() }];
      }
      const parents = options.createDirs === true ? await madeParents(inner, at) : [];
      return [...parents, { kind: "path", path: at, before: await keep(at), after: becomes() }];
    });
    // Whoever writes has judged the conditions where the storage does not; a second judgement
    // would look for the directories that a storage without directories never has.
    const result = await inner.writeBytes(path, bytes, options);
    if (after !== undefined) {
      const { version } = result;
      made(real, version === undefined ? after : { ...after, version });
    }
    return result;
  };
  return {
    writeBytes: write,
    writeText: (path, content, options) => write(path, encodeText(content, options?.encoding, path), options),
    async delete(path) {
      await intend(async () => {
        const real = await entryPathVia(inner, path);
        return [{ kind: "path", path: real, before: await keep(real), after: null }];
      });
      await inner.delete(path);
    },
    async mkdir(path, options) {
      await intend(async () => {
        const real = await entryPathVia(inner, path);
        const steps = options?.parents === false ? [] : [...(await madeParents(inner, real))];
        return (await lstatOrNull(inner, real)) === null ? [...steps, madeDirectory(real)] : steps;
      });
      await inner.mkdir(path, options);
    },
    async rename(from, to, options) {
      await intend(async () => {
        const [source, target] = [await entryPathVia(inner, from), await entryPathVia(inner, to)];
        return source === target
          ? []
          : [{ kind: "move", from: source, to: target, over: await keep(target) }];
      });
      await (inner.rename as Changing["rename"])(from, to, options);
    },
    async copyFile(from, to, options) {
      await intend(async () => {
        const target = await realpathVia(inner, to);
        const { size, mode } = await inner.stat(from);
        const after: Image = { type: "file", size, ...(mode === undefined ? {} : { mode }) };
        return [{ kind: "path", path: target, before: await keep(target), after }];
      });
      await (inner.copyFile as Changing["copyFile"])(from, to, options);
    },
    async symlink(target, path) {
      await intend(async () => {
        const real = await entryPathVia(inner, path);
        return [{ kind: "path", path: real, before: await keep(real), after: { type: "symlink", target } }];
      });
      await (inner.symlink as Changing["symlink"])(target, path);
    },
    async chmod(path, mode) {
      await intend(async () => {
        const real = await realpathVia(inner, path);
        const before = await keep(real);
        return before === null ? [] : [{ kind: "path", path: real, before, after: { ...before, mode } }];
      });
      await (inner.chmod as Changing["chmod"])(path, mode);
    },
    async removeTree(path, options): Promise<TreeCounts> {
      await intend(async () => {
        const entries = await entriesOf(inner, await entryPathVia(inner, path), maxEntries);
        // Asked before the first file is read: half of a tree is no use.
        if (entries.reduce((sum, { size }) => sum + (size ?? 0), 0) > budget.bytes) throw tooMuch(path);
        const steps: Step[] = [];
        for (const { path: at } of entries) {
          steps.push({ kind: "path", path: at, before: await keep(at), after: null });
        }
        // Contents before what holds them, so that taken back in reverse they find it.
        return steps.reverse();
      });
      return (inner.removeTree as Changing["removeTree"])(path, options);
    },
    async copyTree(from, to, options): Promise<TreeCounts> {
      await intend(() => copySteps(inner, from, to, keep, maxEntries));
      return (inner.copyTree as Changing["copyTree"])(from, to, options);
    },
  };
}

async function copySteps(
  fs: FsBackend,
  from: string,
  to: string,
  keep: (path: string) => Promise<Image | null>,
  maxEntries: number,
): Promise<readonly Step[]> {
  const target = await entryPathVia(fs, to);
  const fresh = (await lstatOrNull(fs, target)) === null;
  const top = await entryPathVia(fs, from);
  const steps: Step[] = [];
  for (const { path, type, size } of await entriesOf(fs, top, maxEntries)) {
    if (type === "other") continue;
    const at = target + path.slice(top.length);
    const before = fresh ? null : await keep(at);
    if (type === "dir" && before?.type === "dir") continue;
    const link = type === "symlink" ? (await lstatVia(fs, path)).target : undefined;
    const after: Image = {
      type,
      ...(type === "file" && size !== undefined ? { size } : {}),
      ...(link === undefined ? {} : { target: link }),
    };
    steps.push({ kind: "path", path: at, before, after });
  }
  return steps;
}

function madeDirectory(path: string): Step {
  return { kind: "path", path, before: null, after: { type: "dir" } };
}

/** The directories that a write with `createDirs` makes, the outermost first. */
async function madeParents(fs: FsBackend, path: string): Promise<readonly Step[]> {
  const missing: Step[] = [];
  for (let at = parentOf(path); at !== "/" && (await lstatOrNull(fs, at)) === null; at = parentOf(at)) {
    missing.unshift(madeDirectory(at));
  }
  return missing;
}

/** How many characters the paths of one tree may have together: they are all in its record. */
const MAX_NAMES = 16 * 1024 * 1024;

/** A tree's entries, itself first, parents before their content. @throws LIMIT_EXCEEDED */
async function entriesOf(
  fs: FsBackend,
  path: string,
  most: number,
): Promise<readonly Pick<FsEntry, "path" | "type" | "size">[]> {
  const top = await lstatVia(fs, path);
  const found: Pick<FsEntry, "path" | "type" | "size">[] = [{ path, type: top.type, size: top.size }];
  if (top.type !== "dir") return found;
  let names = 0;
  for await (const entry of walkTree(fs, path)) {
    names += entry.path.length;
    if (found.length >= most || names > MAX_NAMES) throw tooMuch(path);
    found.push(entry);
  }
  return found;
}
