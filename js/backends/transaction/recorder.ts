/**
 * A backend that records every change as a step before it makes it.
 *
 * Tools write through it without knowing; reads pass unchanged. When the backend can set entries
 * aside, replaced and deleted entries are renamed rather than destroyed, so that they can be
 * restored exactly.
 */
import {
  CAPABILITIES,
  type FsBackend,
  type FsEntry,
  METHODS,
  type MoveOptions,
  type TreeCounts,
  type WriteOptions,
  type WriteResult,
} from "../backend.ts";
import { entryPathVia, lstatOrNull, lstatVia, realpathVia } from "../fallback/fallback.ts";
import { parentOf } from "../paths.ts";
import { encodeText } from "../text.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { Yielder } from "../../engine/yielder.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { type Budget, capture, captureFile, imageOf, type PreImage, tooMuch } from "./pre-image.ts";
import { factsOf, givenOf } from "./rollback.ts";
import type { StepResult, NewStep, PathStepKind, Step } from "./step.ts";

/** Records the steps of a change. */
export interface Recording {
  /** True when a change that could not be rolled back is refused. */
  readonly required: boolean;
  /** Returns true when the next step would be rolled back together with earlier ones. */
  hasSteps(): boolean;
  /** True when contents are kept even for set-aside entries: an undo needs them later. */
  readonly contents: boolean;
  /** The bytes of old content that all steps together may keep. */
  readonly budget: Budget;
  /** The maximum number of recorded entries of one tree. */
  readonly maxEntries: number;
  /** Called when state that an undo would need could not be kept. */
  giveUp(): void;
  /**
   * Records the steps from `plan`, runs `act`, and records its result by `gave`. Steps of a
   * refused operation are dropped.
   */
  step<T>(
    plan: () => Promise<readonly NewStep[]>,
    act: (steps: readonly Step[]) => Promise<T>,
    gave: (result: T, step: Step) => StepResult | Promise<StepResult>,
  ): Promise<T>;
  /** Runs an operation that makes several steps at once, whose results are known beforehand. */
  appear<T>(
    steps: readonly (readonly [step: NewStep, given: StepResult])[],
    act: () => Promise<T>,
  ): Promise<T>;
  /** Runs several steps, all or none. */
  nested<T>(run: () => Promise<T>): Promise<T>;
}

/** The operations of a backend that change files. */
type ChangingMethods = Required<
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

/** The maximum total length of the paths of one tree: its record contains all of them. */
const MAX_NAME_CHARACTERS = 16 * 1024 * 1024;
/** The maximum number of entries of a moved directory that are compared before it is moved back. */
const MAX_COMPARED_ENTRIES = 5000;

/** Wraps a backend so that its changes are recorded. */
export function journaled(inner: FsBackend, recording: Recording): FsBackend {
  const methods = boundOf(inner);
  const backend = Object.create(methods) as Record<string, unknown>;
  const recorder = new Recorder(inner, recording);
  for (const [name, method] of Object.entries(recorder.changing())) {
    if (methods[name] !== undefined) backend[name] = method;
  }
  return backend as unknown as FsBackend;
}

/** The bound methods of each recorded backend: there are thirty, and calls are frequent. */
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

class Recorder {
  readonly #inner: FsBackend;
  readonly #recording: Recording;

  constructor(inner: FsBackend, recording: Recording) {
    this.#inner = inner;
    this.#recording = recording;
  }

  changing(): ChangingMethods {
    return {
      writeBytes: (path, bytes, options) => this.#write(path, bytes, options),
      writeText: (path, content, options) =>
        this.#write(path, encodeText(content, options?.encoding, path), options),
      delete: (path, options) =>
        this.#settingAside((aside) =>
          this.#recording.step(
            async () => {
              const real = await entryPathVia(this.#inner, path);
              const kept = await this.#keep(real, aside);
              return kept === null ? [] : [await this.#pathStep("delete", real, kept, null, aside)];
            },
            async ([step]) => this.#inner.delete(path, { ...options, ...asideOf(step) }),
            () => ({}),
          ),
        ),
      mkdir: (path, options) => this.#mkdir(path, options),
      rename: (from, to, options) => this.#rename(from, to, options),
      copyFile: (from, to, options) => this.#copyFile(from, to, options),
      symlink: (target, path) =>
        this.#recording.step(
          async () => {
            const real = await entryPathVia(this.#inner, path);
            if ((await lstatOrNull(this.#inner, real)) !== null) return [];
            return [await this.#pathStep("symlink", real, null, { type: "symlink", target })];
          },
          async () => this.#inner.symlink?.(target, path),
          (_, step) => this.#now(step),
        ),
      chmod: (path, mode) =>
        this.#recording.step(
          async () => {
            const real = await realpathVia(this.#inner, path);
            const stat = await lstatOrNull(this.#inner, real);
            if (stat === null) return [];
            const before = imageOf(stat);
            return [await this.#pathStep("chmod", real, before, { ...before, mode })];
          },
          async () => this.#inner.chmod?.(path, mode),
          (_, step) => this.#now(step),
        ),
      removeTree: (path, options) => this.#removeTree(path, options),
      copyTree: (from, to, options) => this.#copyTree(from, to, options),
    };
  }

  async #write(path: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    if (options.createDirs === true && !(await this.#inner.exists(parentOf(path)))) {
      return this.#recording.nested(async () => {
        await this.#makeParents(await realpathVia(this.#inner, path));
        return this.#writeFile(path, bytes, options);
      });
    }
    return this.#writeFile(path, bytes, options);
  }

  #writeFile(path: string, bytes: Uint8Array, options: WriteOptions): Promise<WriteResult> {
    const { budget } = this.#recording;
    return this.#settingAside((aside) => {
      // Computed only when the change can be kept: large contents are neither kept nor hashed.
      const becomes = (): PreImage => ({
        type: "file",
        size: bytes.length,
        hash: options.hash ?? engine().sha256(bytes),
        ...(options.mode === undefined ? {} : { mode: options.mode }),
      });
      return this.#recording.step(
        async () => {
          const quick = !aside || this.#recording.contents;
          // Both at once: most writes replace a file at its real path.
          const [real, file] = await Promise.all([
            realpathVia(this.#inner, path),
            quick ? captureFile(this.#inner, path, budget) : null,
          ]);
          if (file !== null && real === path) {
            budget.bytes -= file.size as number;
            return [await this.#pathStep("write", real, file, becomes(), aside)];
          }
          const before = await this.#keep(real, aside);
          const kind = before === null ? "create" : "write";
          return [await this.#pathStep(kind, real, before, becomes(), aside && before?.type === "file")];
        },
        // For a storage without preconditions the caller has checked them already; a second check would
        // look for the directories that a storage without directories never has.
        async ([step]) => (await this.#inner.writeBytes(path, bytes, { ...options, ...asideOf(step) })) ?? {},
        givenOf,
      );
    });
  }

  /**
   * Creates the missing directories above a path, each as a step of its own; those created by
   * another process meanwhile are not part of the change.
   */
  async #makeParents(path: string): Promise<void> {
    const missing: string[] = [];
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      if ((await lstatOrNull(this.#inner, at)) !== null) break;
      missing.unshift(at);
    }
    for (const directory of missing) {
      try {
        await this.#makeDirectory(directory, directory, { parents: false, existOk: false });
      } catch (error) {
        // A storage with directories as prefixes needs none.
        if (hasCode(error, "ALREADY_EXISTS", "UNSUPPORTED_OPERATION")) continue;
        throw error;
      }
    }
  }

  async #mkdir(
    path: string,
    options: { readonly parents?: boolean; readonly existOk?: boolean } = {},
  ): Promise<void> {
    if (await this.#inner.exists(path)) return this.#inner.mkdir(path, options);
    const real = await entryPathVia(this.#inner, path);
    return this.#recording.nested(async () => {
      if (options.parents !== false) await this.#makeParents(real);
      try {
        await this.#makeDirectory(path, real, { parents: false, existOk: false });
      } catch (error) {
        if (options.existOk === false || !hasCode(error, "ALREADY_EXISTS")) throw error;
        // Another process created it, or another entry exists: the backend reports which.
        await this.#inner.mkdir(path, options);
      }
    });
  }

  #makeDirectory(
    path: string,
    real: string,
    options: { readonly parents: boolean; readonly existOk: boolean },
  ): Promise<void> {
    return this.#recording.step(
      async () => [await this.#pathStep("mkdir", real, null, { type: "dir" })],
      async () => this.#inner.mkdir(path, options),
      (_, step) => this.#now(step),
    );
  }

  #rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#settingAside((aside) =>
      this.#recording.step(
        async () => {
          const source = await entryPathVia(this.#inner, from);
          const target = await entryPathVia(this.#inner, to);
          const stat = await lstatOrNull(this.#inner, source);
          if (source === target || stat === null) return [];
          const over = await this.#keep(target, aside);
          const below = stat.type === "dir" ? await this.#entriesBelow(source) : undefined;
          const parents = [
            (await this.#parentId(source)) ?? null,
            (await this.#parentId(target)) ?? null,
          ] as const;
          return [
            {
              kind: "move",
              from: source,
              to: target,
              parents,
              moved: imageOf(stat),
              over,
              ...(below === undefined ? {} : { below }),
              ...(aside && over !== null ? { aside: this.#inner.asidePath?.(target) as string } : {}),
            },
          ];
        },
        async ([step]) => (await this.#inner.rename?.(from, to, { ...options, ...asideOf(step) })) ?? {},
        async (result, step) => (result.version === undefined ? this.#now(step) : givenOf(result)),
      ),
    );
  }

  /**
   * Returns the entries below a directory to be moved, if they are needed for a later comparison
   * and not too many.
   */
  async #entriesBelow(path: string): Promise<readonly (readonly [string, string])[] | undefined> {
    // A move that is the whole change is never rolled back after a crash.
    if (!this.#recording.required && !this.#recording.hasSteps()) return undefined;
    const below: (readonly [string, string])[] = [];
    for await (const entry of walkTree(this.#inner, path)) {
      if (below.length === MAX_COMPARED_ENTRIES) return undefined;
      below.push([entry.path.slice(path.length + 1), factsOf(entry)]);
    }
    return below;
  }

  #copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#settingAside((aside) =>
      this.#recording.step(
        async () => {
          const target = await realpathVia(this.#inner, to);
          const before = await this.#keep(target, aside);
          const after = await this.#copyOf(from);
          const kind = before === null ? "create" : "write";
          return [await this.#pathStep(kind, target, before, after, aside && before?.type === "file")];
        },
        async ([step]) => (await this.#inner.copyFile?.(from, to, { ...options, ...asideOf(step) })) ?? {},
        async (result, step) => (result.version === undefined ? this.#now(step) : givenOf(result)),
      ),
    );
  }

  /** Returns the expected state of a copy. */
  async #copyOf(path: string): Promise<PreImage> {
    const source = await realpathVia(this.#inner, path);
    const { size, mode, version } = await this.#inner.stat(source);
    return {
      type: "file",
      size,
      ...(mode === undefined ? {} : { mode }),
      ...(version === undefined ? {} : { source: { path: source, version } }),
    };
  }

  #removeTree(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<TreeCounts> {
    return this.#settingAside(
      (aside) =>
        this.#recording.step(
          async () => {
            const real = await entryPathVia(this.#inner, path);
            const top = await lstatOrNull(this.#inner, real);
            if (top === null) return [];
            const alone = (): Promise<NewStep> => this.#pathStep("delete", real, imageOf(top), null, aside);
            if (aside && !this.#recording.contents) return [await alone()];
            try {
              return await this.#deletions(real, aside, options?.signal);
            } catch (error) {
              if (this.#recording.required || !hasCode(error, "LIMIT_EXCEEDED")) throw error;
              this.#recording.giveUp();
              return aside ? [await alone()] : [];
            }
          },
          async (steps) => {
            const removeTree = this.#inner.removeTree as ChangingMethods["removeTree"];
            return removeTree.call(this.#inner, path, { ...options, ...asideOf(steps.at(-1)) });
          },
          () => ({}),
        ),
      true,
    );
  }

  /**
   * Returns the deletions of a tree's entries, contents before their directories, so that a
   * rollback restores directories first.
   */
  async #deletions(
    real: string,
    aside: boolean,
    signal: AbortSignal | undefined,
  ): Promise<readonly NewStep[]> {
    const { budget, maxEntries } = this.#recording;
    const entries = await entriesOf(this.#inner, real, maxEntries, signal);
    // Checked before the first file is read: half of a tree is useless.
    if (entries.reduce((sum, { size }) => sum + (size ?? 0), 0) > budget.bytes) throw tooMuch(real);
    const steps: NewStep[] = [];
    const yielder = new Yielder({ signal });
    for (const { path } of entries) {
      await yielder.yieldIfDue();
      const before = await capture(this.#inner, path, budget);
      if (before !== null)
        steps.push(await this.#pathStep("delete", path, before, null, aside && path === real));
    }
    return steps.reverse();
  }

  async #copyTree(
    from: string,
    to: string,
    options: Parameters<ChangingMethods["copyTree"]>[2] = {},
  ): Promise<TreeCounts> {
    const source = await lstatOrNull(this.#inner, from);
    const target = await lstatOrNull(this.#inner, to);
    if (this.#inner.asidePath !== undefined && source?.type === "dir" && target === null)
      return this.#copyStaged(from, to, options);
    const made = new Map<string, WriteResult>();
    const onMade = (path: string, result: WriteResult): void => {
      made.set(path.slice(to.length), result);
    };
    const top = await entryPathVia(this.#inner, to);
    return this.#recording.step(
      () => this.#copySteps(from, to, options.signal),
      async () =>
        (this.#inner.copyTree as ChangingMethods["copyTree"]).call(this.#inner, from, to, {
          ...options,
          onMade,
        }),
      (_, step) => {
        const result = made.get((step.kind === "move" ? step.to : step.path).slice(top.length));
        return result?.version === undefined ? this.#now(step) : givenOf(result);
      },
    );
  }

  /**
   * Copies a tree to a hidden path and moves it into place. Its versions are known before another
   * process can change it, and an interrupted copy leaves nothing visible.
   */
  async #copyStaged(
    from: string,
    to: string,
    options: Parameters<ChangingMethods["copyTree"]>[2],
  ): Promise<TreeCounts> {
    const inner = this.#inner;
    const real = await entryPathVia(inner, to);
    const stage = inner.asidePath?.(real) as string;
    const scratch = {
      kind: "create",
      path: stage,
      before: null,
      after: { type: "dir" },
      scratch: true,
    } as const;
    return this.#recording.nested(async () => {
      const counts = await this.#recording.step(
        async () => [scratch],
        async () =>
          (inner.copyTree as ChangingMethods["copyTree"]).call(inner, from, stage, {
            signal: options?.signal,
          }),
        () => ({}),
      );
      const made: (readonly [NewStep, StepResult])[] = [];
      const yielder = new Yielder({ signal: options?.signal });
      for (const { path } of await entriesOf(inner, stage, this.#recording.maxEntries, options?.signal)) {
        await yielder.yieldIfDue();
        const stat = await lstatVia(inner, path);
        const at = real + path.slice(stage.length);
        const kind = stat.type === "dir" ? "mkdir" : stat.type === "symlink" ? "symlink" : "create";
        made.push([{ kind, path: at, before: null, after: imageOf(stat) }, givenOf(stat)]);
      }
      await this.#recording.appear(made, async () => {
        try {
          await inner.rename?.(stage, to, { overwrite: false });
        } catch (error) {
          throw error instanceof FilewrightError ? atPath(error, to) : error;
        }
      });
      return counts;
    });
  }

  /** Returns the steps of a copy that is one call of the backend. */
  async #copySteps(from: string, to: string, signal?: AbortSignal): Promise<readonly NewStep[]> {
    const inner = this.#inner;
    const target = await entryPathVia(inner, to);
    const fresh = (await lstatOrNull(inner, target)) === null;
    const top = await entryPathVia(inner, from);
    const steps: NewStep[] = [];
    const yielder = new Yielder({ signal });
    for (const { path, type } of await entriesOf(inner, top, this.#recording.maxEntries, signal)) {
      await yielder.yieldIfDue();
      if (type === "other") continue;
      const at = target + path.slice(top.length);
      const before = fresh ? null : await this.#keep(at, false);
      if (type === "dir" && before?.type === "dir") continue;
      const link = type === "symlink" ? (await lstatVia(inner, path)).target : undefined;
      const after: PreImage =
        type === "file"
          ? await this.#copyOf(path)
          : { type, ...(link === undefined ? {} : { target: link }) };
      const kind = type === "dir" ? "mkdir" : before === null ? "create" : "write";
      steps.push(await this.#pathStep(kind, at, before, after));
    }
    return steps;
  }

  async #pathStep(
    kind: PathStepKind,
    path: string,
    before: PreImage | null,
    after: PreImage | null,
    aside = false,
  ): Promise<NewStep> {
    const parent = await this.#parentId(path);
    return {
      kind,
      path,
      before,
      after,
      ...(parent === undefined ? {} : { parent }),
      ...(aside ? { aside: this.#inner.asidePath?.(path) as string } : {}),
    };
  }

  /** Returns the identity of an entry's directory. A single operation is not compared with it. */
  async #parentId(path: string): Promise<string | undefined> {
    if (!this.#recording.required) return undefined;
    return (await lstatOrNull(this.#inner, parentOf(path)))?.fileId;
  }

  /** Returns the state of a path: with its content, unless it is set aside and no undo needs it. */
  async #keep(path: string, aside: boolean): Promise<PreImage | null> {
    const facts = async (): Promise<PreImage | null> => {
      const stat = await lstatOrNull(this.#inner, path);
      return stat === null ? null : imageOf(stat);
    };
    if (aside && !this.#recording.contents) return facts();
    try {
      return await capture(this.#inner, path, this.#recording.budget);
    } catch (error) {
      if (this.#recording.required || !hasCode(error, "LIMIT_EXCEEDED")) throw error;
      this.#recording.giveUp();
      return facts();
    }
  }

  async #now(step: Step): Promise<StepResult> {
    const stat = await lstatOrNull(this.#inner, step.kind === "move" ? step.to : step.path);
    return stat === null ? {} : givenOf(stat);
  }

  /** Runs an operation that sets the old entry aside, or keeps its content where that is impossible. */
  async #settingAside<T>(run: (aside: boolean) => Promise<T>, tree = false): Promise<T> {
    if (this.#inner.asidePath === undefined || !(this.#recording.required || tree)) return run(false);
    try {
      return await run(true);
    } catch (error) {
      if (!(error instanceof FilewrightError && error.details?.["reason"] === "aside")) throw error;
      return run(false);
    }
  }
}

function asideOf(step: Step | undefined): { readonly aside?: string } {
  return step?.aside === undefined ? {} : { aside: step.aside };
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof FilewrightError && codes.includes(error.code);
}

function atPath({ code, message, hint, details, cause }: FilewrightError, path: string): FilewrightError {
  return new FilewrightError(code, message, { path, hint, details, cause });
}

/**
 * Returns a tree's entries, itself first, parents before their content. @throws LIMIT_EXCEEDED,
 * CANCELLED
 */
async function entriesOf(
  fs: FsBackend,
  path: string,
  maxEntries: number,
  signal?: AbortSignal,
): Promise<readonly Pick<FsEntry, "path" | "type" | "size">[]> {
  const top = await lstatVia(fs, path);
  const found: Pick<FsEntry, "path" | "type" | "size">[] = [{ path, type: top.type, size: top.size }];
  if (top.type !== "dir") return found;
  let characters = 0;
  for await (const entry of walkTree(fs, path, signal)) {
    characters += entry.path.length;
    if (found.length >= maxEntries || characters > MAX_NAME_CHARACTERS) throw tooMuch(path);
    found.push(entry);
  }
  return found;
}
