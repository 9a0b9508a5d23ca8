/**
 * Makes the steps of a commit, and takes them back when one fails.
 *
 * Before a step its path is compared with the state on which the commit was planned. The content that it replaces is in
 * memory until the last step is made. A step that failed without saying whether it has happened is settled by looking at its path. On the
 * way back a path is restored only while it has the version that the step left: any other state is another writer's.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError, makeError } from "../../engine/errors.ts";
import { backendError, isUncertain } from "../../backends/failure.ts";
import type { Entry } from "../entry.ts";
import { conflictError } from "../failure.ts";
import { type FileStore, type FoundEntry, storeVersion, versionOf } from "./file-store.ts";
import type { Step } from "./steps.ts";

/** The bytes of replaced contents that a commit keeps for its rollback. */
const MAX_KEPT_BYTES = 1024 * 1024 * 1024;

/** The paths that a message names. `details.left` has all of them. */
const MAX_SHOWN_PATHS = 5;

/** Error codes that tell of another writer, whose change is not taken back. After any other one the rollback is tried again. */
const FOREIGN_CODES: ReadonlySet<string> = new Set([
  "CONFLICT",
  "ALREADY_EXISTS",
  "NOT_FOUND",
  "NOT_EMPTY",
  "NOT_DIRECTORY",
  "IS_DIRECTORY",
]);

/** A step that is ready to be made. */
interface Act {
  readonly path: string;
  /** The version at the path before the step; null where there was nothing. */
  readonly before: string | null;
  /** Makes the step and returns what it left at the path. */
  act(): Promise<FoundEntry | null>;
  /** Returns true when what is now at the path is what the step makes. */
  isMade(now: FoundEntry | null): boolean | Promise<boolean>;
  /** Takes the step back; `left` is the version that it left. Returns what is then at the path of `origin`. */
  undo(left: string | null): Promise<FoundEntry | null>;
  /** Returns true when what is now at the path of `origin` is what was there before the step. */
  isUndone(now: FoundEntry | null): boolean | Promise<boolean>;
  /** True when the step itself compares its path with `before`. */
  readonly isCompared: boolean;
  /** The path that `undo` restores, and the version that it had. */
  readonly origin: { readonly path: string; readonly version: string | null };
}

/** A step that was made, with the version that it left; or one of which it is unknown whether it was. */
type DoneStep =
  | { readonly act: Act; readonly isKnown: true; readonly left: string | null }
  | { readonly act: Act; readonly isKnown: false };

/** Returns every path that a step changes: a move also the one that it leaves. */
function pathsOf({ path, origin }: Act): readonly string[] {
  return path === origin.path ? [path] : [origin.path, path];
}

/** The state of a path that the next step of the commit finds. */
interface State {
  readonly version: string | null;
  readonly type: Entry["type"];
  readonly mode: number | undefined;
  readonly target: string | undefined;
}

const NOTHING: State = { version: null, type: "gone", mode: undefined, target: undefined };

/** The steps of one commit. */
export class StepRun {
  readonly #store: FileStore;
  readonly #entryOf: (path: string) => Entry | undefined;
  /** The entries that the steps have left, by path. */
  readonly left: Map<string, FoundEntry | null> = new Map<string, FoundEntry | null>();
  #made: DoneStep[] = [];
  /** Paths at which a failed step found or left something that is neither its own nor as before. */
  readonly #unsettled = new Set<string>();
  /** The versions of what the way back has restored, and the versions that they stand for. */
  readonly #restored = new Map<
    string,
    { readonly present: string | null; readonly original: string | null }
  >();
  #keptBytes = 0;

  /** `entryOf` returns the entry at a path on which the commit was planned. */
  constructor(store: FileStore, entryOf: (path: string) => Entry | undefined) {
    this.#store = store;
    this.#entryOf = entryOf;
  }

  /** True while steps are left that could not be taken back. */
  get hasPendingRollback(): boolean {
    return this.#made.length > 0;
  }

  /** Makes the steps. @throws the error of a step; with `details.rolled_back: false` when not all were taken back */
  async run(steps: readonly Step[]): Promise<void> {
    // A commit of one step has no rollback, and needs no copy of the content that it replaces.
    const isKept = steps.length > 1;
    try {
      for (const step of steps) await this.#make(await this.#ready(step, isKept), isKept);
      this.#made = [];
    } catch (error) {
      if (isKept) throw this.#failure(error, await this.rollBack());
      throw this.#unsettled.size === 0 ? notMade(error) : unknownOutcome(error, [...this.#unsettled]);
    }
  }

  /** Takes the made steps back, the last one first. Returns the paths that are not as before. */
  async rollBack(): Promise<readonly string[]> {
    const kept: DoneStep[] = [];
    const lost: string[] = [];
    for (const made of this.#made.reverse()) {
      // The path has what a later step left, as long as that one is not taken back.
      if (kept.some(({ act }) => pathsOf(act).some((path) => pathsOf(made.act).includes(path)))) {
        kept.unshift(made);
        continue;
      }
      try {
        if (!(await this.#undo(made))) lost.push(...pathsOf(made.act));
      } catch (error) {
        // Behind a step that could not be taken back another one may fail that succeeds later.
        if (!isForeign(error) || kept.length > 0) kept.unshift(made);
        else lost.push(...pathsOf(made.act));
      }
    }
    this.#made = kept;
    return [...new Set([...this.#unsettled, ...lost, ...kept.flatMap(({ act }) => pathsOf(act))])].sort();
  }

  /** Takes one step back. Returns false for a path that another writer has changed. */
  async #undo(made: DoneStep): Promise<boolean> {
    const { act } = made;
    const now = await this.#store.stat(act.path);
    const present = versionOf(now);
    const again = this.#restored.get(act.path);
    const version = again?.present === present ? again.original : present;
    const isOwn = made.isKnown ? version === made.left : version !== act.before && (await act.isMade(now));
    if (!isOwn) return version === act.before;
    const { path, version: original } = act.origin;
    this.#restored.set(path, { present: versionOf(await this.#undone(act, present)), original });
    return true;
  }

  /** Takes a step back, also where that fails and has happened nevertheless. Returns what is then at the path of `origin`. */
  async #undone(act: Act, present: string | null): Promise<FoundEntry | null> {
    try {
      return await act.undo(present);
    } catch (error) {
      const now = await this.#store.stat(act.origin.path).catch(() => {
        throw error;
      });
      if (!isUncertain(error) || !(await act.isUndone(now))) throw error;
      return now;
    }
  }

  async #make(act: Act, isKept: boolean): Promise<void> {
    let left: FoundEntry | null;
    // A commit of one step has just looked at its path.
    if (isKept && !act.isCompared) await this.#compare(act.path, act.before);
    try {
      left = await act.act();
    } catch (error) {
      left = await this.#settled(act, error, isKept);
    }
    this.left.set(act.path, left);
    this.#made.push({ act, isKnown: true, left: versionOf(left) });
  }

  /** @throws CONFLICT for a path that another writer has changed since the commit was planned */
  async #compare(path: string, expected: string | null): Promise<void> {
    const found = versionOf(await this.#store.stat(path));
    if (found !== expected) throw conflictError([{ path, expected, found }]);
  }

  /** Returns what a step left that failed and was made nevertheless. @throws the error of any other one */
  async #settled(act: Act, error: unknown, isKept: boolean): Promise<FoundEntry | null> {
    let isMade = false;
    let now: FoundEntry | null = null;
    try {
      now = await this.#store.stat(act.path);
      if (isUncertain(error) && versionOf(now) !== act.before) isMade = await act.isMade(now);
    } catch {
      if (isUncertain(error) && isKept) this.#made.push({ act, isKnown: false });
      else if (isUncertain(error)) this.#unsettled.add(act.path);
      throw error;
    }
    if (isMade) return now;
    const found = versionOf(now);
    if (found === act.before) throw error;
    if (!isUncertain(error)) throw conflictError([{ path: act.path, expected: act.before, found }]);
    this.#unsettled.add(act.path);
    throw error;
  }

  #failure(thrown: unknown, left: readonly string[]): unknown {
    if (!(thrown instanceof FilewrightError)) return thrown;
    if (left.length === 0) return notMade(thrown);
    const { code, path, hint, cause, details } = thrown;
    const isOurs = this.hasPendingRollback || this.#unsettled.size > 0;
    const shown = left.slice(0, MAX_SHOWN_PATHS).join(", ");
    const message = `${thrown.message}; ${left.length} of the commit's paths are not as before: ${shown}`;
    const facts = { ...details, rolled_back: false, left };
    return makeError(isOurs ? "IO_ERROR" : code, message, { path, hint, cause, details: facts });
  }

  /** Returns the state that a step finds, of which nothing but this commit has changed anything. */
  #state(path: string): State {
    if (this.left.has(path)) {
      const found = this.left.get(path) ?? null;
      if (found === null) return NOTHING;
      const mode = found.type === "symlink" ? undefined : found.mode;
      const target = found.type === "symlink" ? found.target : undefined;
      return { version: versionOf(found), type: found.type, mode, target };
    }
    const entry = this.#entryOf(path);
    if (entry === undefined) return NOTHING;
    return { version: entry.version, type: entry.type, mode: entry.mode, target: entry.target };
  }

  async #ready(step: Step, isKept: boolean): Promise<Act> {
    switch (step.kind) {
      case "write":
        return this.#write(step, isKept);
      case "copy": {
        const { bytes, file } = await this.#content(step.from);
        const { mode } = file;
        const hash = await engine().onThreads.sha256(bytes);
        return this.#write({ kind: "write", path: step.path, body: bytes, hash, mode }, isKept);
      }
      case "move":
        return this.#move(step.from, step.path);
      case "remove":
        return this.#remove(step.path, isKept);
      case "chmod": {
        const { path, mode } = step;
        const { version: before, mode: old } = this.#state(path);
        return {
          path,
          origin: { path, version: before },
          before,
          act: () => this.#store.chmod(path, mode),
          isMade: (now) => now !== null && "mode" in now && now.mode === mode,
          undo: () => (old === undefined ? this.#store.stat(path) : this.#store.chmod(path, old)),
          isUndone: (now) => now !== null && "mode" in now && (old === undefined || now.mode === old),
          isCompared: false,
        };
      }
      case "mkdir":
        return this.#new(step.path, "dir", () => this.#store.mkdir(step.path, step.mode));
      case "symlink":
        return this.#new(step.path, "symlink", () => this.#store.symlink(step.path, step.target));
    }
  }

  /** Makes a directory or a link where nothing is. */
  #new(path: string, type: FoundEntry["type"], act: () => Promise<FoundEntry>): Act {
    const { version: before } = this.#state(path);
    const isMade = (now: FoundEntry | null): boolean => now?.type === type;
    const origin = { path, version: before };
    const undo = (): Promise<null> => this.#removed(path);
    const isUndone = (now: FoundEntry | null): boolean => now === null;
    return { path, origin, before, act, isMade, undo, isUndone, isCompared: false };
  }

  async #write(step: Extract<Step, { kind: "write" }>, isKept: boolean): Promise<Act> {
    const { path, body, hash, mode } = step;
    const store = this.#store;
    const { version: before, mode: modeBefore } = this.#state(path);
    const old = before === null || !isKept ? undefined : await this.#content(path);
    return {
      path,
      origin: { path, version: before },
      before,
      act: () => store.write(path, body, { mode, modeBefore, hash, ifVersion: conditionOf(before) }),
      isMade: async (now) => now?.type === "file" && (await store.hash(path)).hash === hash,
      undo: (left) =>
        old === undefined
          ? this.#removed(path, conditionOf(left) ?? undefined)
          : this.#restore(path, old, conditionOf(left)),
      isUndone: (now) => this.#isContent(now, old?.bytes),
      // What is replaced was compared when it was read.
      isCompared: old !== undefined,
    };
  }

  /** Returns true for a file with this content; without a content, where there is no entry. */
  async #isContent(now: FoundEntry | null, bytes: Uint8Array | undefined): Promise<boolean> {
    if (bytes === undefined || now?.type !== "file") return bytes === undefined && now === null;
    return (await this.#store.hash(now.path)).hash === (await engine().onThreads.sha256(bytes));
  }

  async #remove(path: string, isKept: boolean): Promise<Act> {
    const store = this.#store;
    const { version: before, type, mode, target = "" } = this.#state(path);
    const isFile = type === "file";
    const old = isFile && isKept ? await this.#content(path) : undefined;
    const condition = isFile ? (conditionOf(before) ?? undefined) : undefined;
    return {
      path,
      origin: { path, version: before },
      before,
      act: () => this.#removed(path, condition),
      isMade: (now) => now === null,
      undo: async () => {
        if (type === "dir") return store.mkdir(path, mode);
        if (type === "symlink") return store.symlink(path, target);
        return old === undefined ? null : this.#restore(path, old, null);
      },
      isUndone: (now) => (isFile ? this.#isContent(now, old?.bytes) : now?.type === type),
      isCompared: old !== undefined,
    };
  }

  async #move(from: string, to: string): Promise<Act> {
    const store = this.#store;
    // Not every store compares as it moves: both ends are compared right before it.
    for (const path of [from, to]) await this.#compare(path, this.#state(path).version);
    const { type, version } = this.#state(from);
    const condition = type === "file" ? (conditionOf(version) ?? undefined) : undefined;
    return {
      path: to,
      origin: { path: from, version },
      before: null,
      act: async () => {
        const moved = await store.move(from, to, condition);
        this.left.set(from, null);
        return moved;
      },
      isMade: async (now) => {
        if (now === null || (await store.stat(from)) !== null) return false;
        this.left.set(from, null);
        return true;
      },
      undo: async () => {
        if ((await store.stat(from)) !== null) throw backendError("ALREADY_EXISTS", from);
        return store.move(to, from);
      },
      isUndone: async (now) => now !== null && (await store.stat(to)) === null,
      isCompared: true,
    };
  }

  /** Returns the content that a step replaces. @throws CONFLICT when it is not the one that was planned on */
  async #content(path: string): Promise<Awaited<ReturnType<FileStore["read"]>>> {
    const expected = this.#state(path).version;
    const content = await this.#store.read(path).catch((error: unknown) => {
      if (isUncertain(error)) throw error;
      throw conflictError([{ path, expected, found: null }]);
    });
    const found = versionOf(content.file);
    if (found !== expected) throw conflictError([{ path, expected, found }]);
    this.#keptBytes += content.bytes.length;
    if (this.#keptBytes > MAX_KEPT_BYTES)
      throw backendError(
        "LIMIT_EXCEEDED",
        path,
        `the contents that the commit replaces are more than ${MAX_KEPT_BYTES} bytes`,
      );
    return content;
  }

  async #removed(path: string, ifVersion?: string): Promise<null> {
    await this.#store.remove(path, ifVersion);
    return null;
  }

  async #restore(
    path: string,
    { bytes, file: { mode } }: Awaited<ReturnType<FileStore["read"]>>,
    ifVersion: string | null,
  ): Promise<FoundEntry> {
    const hash = await engine().onThreads.sha256(bytes);
    return this.#store.write(path, bytes, { mode, modeBefore: mode, ifVersion, hash });
  }
}

/** Returns the error of a commit that has changed nothing. An IO_ERROR says so. */
export function notMade(error: unknown): unknown {
  if (!(error instanceof FilewrightError) || error.code !== "IO_ERROR") return error;
  const { code, message, path, hint, cause, details } = error;
  return makeError(code, message, { path, hint, cause, details: { ...details, outcome: "none" } });
}

/** Returns the error of a commit of one step of which it is unknown whether it was made. */
function unknownOutcome(error: unknown, left: readonly string[]): unknown {
  if (!(error instanceof FilewrightError)) return error;
  const { message, path, hint, cause, details } = error;
  return makeError("IO_ERROR", message, {
    path,
    hint,
    cause,
    details: { ...details, outcome: "unknown", left },
  });
}

function conditionOf(version: string | null): string | null {
  return version === null ? null : storeVersion(version);
}

function isForeign(error: unknown): boolean {
  return error instanceof FilewrightError && FOREIGN_CODES.has(error.code);
}
