/**
 * A backend that records every change as a step before it makes it. Where no rollback is required, a change that cannot
 * be recorded is made all the same, and cannot be undone.
 *
 * Tools write through it without knowing; reads pass unchanged. Where a rollback is required and the backend can set
 * entries aside, replaced and deleted entries are renamed rather than destroyed, so that they can be restored exactly;
 * a removed tree always is.
 */
import type { Files } from "../files.ts";
import { inheritShortcuts, shortcutsOf } from "../abilities.ts";
import { PassingFiles } from "../delegating.ts";
import type { DeleteOptions, MoveOptions, WriteOptions, WriteResult } from "../backend.ts";
import { entryPath, lstatOrNull, missingAbove } from "../fallback/fallback.ts";
import { parentOf } from "../paths.ts";
import { encodeText } from "../text.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { engine } from "../../engine/current.ts";
import type { FileKeeper } from "./file-keeper.ts";
import {
  bitsOfWrite,
  captureFile,
  imageOfFile,
  preImageOf,
  type PreImage,
  withoutMode,
} from "./pre-image.ts";
import { changeDetectingFacts } from "./rollback.ts";
import { type NewStep, toStepResult } from "./step.ts";
import {
  asideOption,
  conditionOf,
  type FoundFile,
  hasErrorCode,
  type Recording,
  StepMaker,
} from "./step-maker.ts";
import { TreeRecorder } from "./tree-recorder.ts";

/** The methods that change files. */
type ChangingMethods = Pick<
  Files,
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
>;

/** The shortcuts that concern reads and paths, which pass unchanged. */
const PASSED = [
  "contents",
  "readAhead",
  "ownCursors",
  "searchUnder",
  "searchCode",
  "moments",
  "paths",
  "refusesLinks",
  "maxAnswerBytes",
  "checkNames",
] as const;

/** The maximum number of entries of a moved directory that are compared before it is moved back. */
const MAX_COMPARED_ENTRIES = 5000;

/** Wraps files so that their changes are recorded. */
export function recordingBackend(inner: Files, recording: Recording): Files {
  const recorder = new Recorder(inner, recording);
  const files = Object.assign(new PassingFiles(inner), recorder.changing());
  inheritShortcuts(files, inner, {
    passes: PASSED,
    drops: ["enterStage", "confine", "recordedList"],
    gives: { stage: recording, keeper: recorder.keeper() },
  });
  return files;
}

class Recorder {
  readonly #inner: Files;
  readonly #recording: Recording;
  readonly #steps: StepMaker;

  constructor(inner: Files, recording: Recording) {
    this.#inner = inner;
    this.#recording = recording;
    this.#steps = new StepMaker(inner, recording);
  }

  /** Returns the recorder of operations on whole trees, which few changes have. */
  #trees(): TreeRecorder {
    return new TreeRecorder(this.#inner, this.#recording, this.#steps);
  }

  /** Returns what keeps large files. One that comes back is recorded as a step. */
  keeper(): FileKeeper {
    const { keeper } = shortcutsOf(this.#inner);
    const restore: FileKeeper["restore"] = (image, path, replaces) =>
      this.#recording.step(
        async () => {
          const before = replaces ? await this.#steps.keep(path, true) : null;
          const kind = before === null ? "create" : "write";
          return [await this.#steps.pathStep(kind, path, before, withoutMode(image), before !== null)];
        },
        ([step]) => keeper.bringBack(image, path, step?.aside),
        (_, step) => this.#steps.now(step),
      );
    return { ...keeper, restore };
  }

  changing(): ChangingMethods {
    return {
      writeBytes: (path, bytes, options) => this.#write(path, bytes, options),
      writeText: (path, content, options) =>
        this.#write(path, encodeText(content, options?.encoding, path), options),
      delete: (path, options) => this.#delete(path, options),
      mkdir: (path, options) => this.#mkdir(path, options),
      rename: (from, to, options) => this.#rename(from, to, options),
      copyFile: (from, to, options) => this.#copyFile(from, to, options),
      symlink: (target, path) =>
        this.#recording.step(
          async () => {
            const real = await entryPath(this.#inner, path);
            if ((await lstatOrNull(this.#inner, real)) !== null) return [];
            return [await this.#steps.pathStep("symlink", real, null, { type: "symlink", target })];
          },
          async () => this.#inner.symlink(target, path),
          (_, step) => this.#steps.now(step),
        ),
      chmod: (path, mode) =>
        this.#recording.step(
          async () => {
            const real = await this.#inner.realpath(path);
            const stat = await lstatOrNull(this.#inner, real);
            if (stat === null) return [];
            // Where there are no ids, the content tells whether the bits were set, as they may change the version.
            const isKnown = stat.fileId !== undefined || stat.type !== "file";
            const before = isKnown ? preImageOf(stat) : await this.#steps.keep(real, false);
            return [await this.#steps.pathStep("chmod", real, before, { ...preImageOf(stat), mode })];
          },
          async () => this.#inner.chmod(path, mode),
          (_, step) => this.#steps.now(step),
        ),
      removeTree: (path, options) => this.#trees().removeTree(path, options),
      copyTree: (from, to, options) => this.#trees().copyTree(from, to, options),
    };
  }

  #delete(path: string, options: DeleteOptions = {}): Promise<void> {
    return this.#steps.untilUnchanged(options, (aside) =>
      this.#recording.step(
        async () => {
          const real = await entryPath(this.#inner, path);
          const kept = await this.#steps.keep(real, aside);
          if (kept === null) return [];
          await this.#steps.assertExpected([path, real], kept, options.ifVersion);
          return [await this.#steps.pathStep("delete", real, kept, null, aside)];
        },
        async ([step]) => {
          const { ifVersion } = conditionOf(step, path, options);
          await this.#inner.delete(path, {
            ...options,
            ifVersion,
            ...this.#recording.flushed,
            ...asideOption(step),
          });
        },
        () => ({}),
      ),
    );
  }

  async #write(path: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    if (options.createDirs === true && !(await this.#inner.exists(parentOf(path)))) {
      return this.#recording.nested(async () => {
        await this.#makeParents(await this.#inner.realpath(path));
        return this.#writeFile(path, bytes, options);
      });
    }
    return this.#writeFile(path, bytes, options);
  }

  #writeFile(path: string, bytes: Uint8Array, options: WriteOptions): Promise<WriteResult> {
    return this.#steps.untilUnchanged(options, (aside) =>
      this.#recording.step(
        async () => [await this.#stepOfWrite(path, bytes, options, aside)],
        async ([step]) => {
          const conditions = { ...options, ...conditionOf(step, path, options) };
          return (await this.#inner.writeBytes(path, bytes, { ...conditions, ...asideOption(step) })) ?? {};
        },
        toStepResult,
      ),
    );
  }

  async #stepOfWrite(
    path: string,
    bytes: Uint8Array,
    options: WriteOptions,
    aside: boolean,
  ): Promise<NewStep> {
    const { budget, contents } = this.#recording;
    const known = this.#knownFile(path, options);
    // The real path and the file are looked up at the same time, because most writes replace a file at its real path.
    const [real, file] = await Promise.all([
      known?.real ?? this.#inner.realpath(path),
      aside && !contents
        ? null
        : known
          ? imageOfFile(known)
          : captureFile(this.#inner, path, this.#steps.mostCopied),
    ]);
    const isCaptured = file !== null && real === path;
    if (isCaptured) budget.bytes -= file.size as number;
    const before = isCaptured ? file : await this.#steps.keep(real, aside);
    await this.#steps.assertExpected([path, real], before, options.ifVersion);
    // After the old state is read, so that the content of a change refused for its size is not hashed.
    const after: PreImage = {
      type: "file",
      size: bytes.length,
      hash: options.hash ?? (await engine().onThreads.sha256(bytes)),
      ...bitsOfWrite(options.mode),
    };
    const setsAside = aside && before?.type === "file";
    return this.#steps.pathStep(before === null ? "create" : "write", real, before, after, setsAside);
  }

  /** Returns the file as the plan read it, if the write has its version as a condition and its content can be kept. */
  #knownFile(path: string, { ifVersion, mode }: WriteOptions): FoundFile | undefined {
    const { found, budget } = this.#recording;
    const file = found.get(path);
    if (file === undefined || file.version !== ifVersion || file.bytes.length > budget.bytes)
      return undefined;
    // A version need not cover the permission bits, which the undo of a write that sets them restores.
    return mode === undefined || mode === file.stat.mode ? file : undefined;
  }

  /**
   * Creates the missing directories above a path, each as a step of its own; those created by
   * another process meanwhile are not part of the change.
   */
  async #makeParents(path: string): Promise<void> {
    const missing = await missingAbove((at) => lstatOrNull(this.#inner, at), path);
    for (const directory of missing.toReversed()) {
      try {
        await this.#makeDirectory(directory, directory);
      } catch (error) {
        // A storage where directories are only prefixes of paths needs no parent directories.
        if (hasErrorCode(error, "ALREADY_EXISTS", "UNSUPPORTED_OPERATION")) continue;
        throw error;
      }
    }
  }

  async #mkdir(
    path: string,
    options: { readonly parents?: boolean; readonly existOk?: boolean } = {},
  ): Promise<void> {
    if (await this.#inner.exists(path)) return this.#inner.mkdir(path, options);
    const real = await entryPath(this.#inner, path);
    return this.#recording.nested(async () => {
      if (options.parents !== false) await this.#makeParents(real);
      try {
        await this.#makeDirectory(path, real);
      } catch (error) {
        if (options.existOk === false || !hasErrorCode(error, "ALREADY_EXISTS")) throw error;
        // Another process created the directory, or another entry exists: the backend reports which.
        await this.#inner.mkdir(path, options);
      }
    });
  }

  #makeDirectory(path: string, real: string): Promise<void> {
    return this.#recording.step(
      async () => [await this.#steps.pathStep("mkdir", real, null, { type: "dir" })],
      async () => this.#inner.mkdir(path, { parents: false, existOk: false, ...this.#recording.flushed }),
      (_, step) => this.#steps.now(step),
    );
  }

  #rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#steps.settingAside((aside) =>
      this.#recording.step(
        async () => {
          const source = await entryPath(this.#inner, from);
          const target = await entryPath(this.#inner, to);
          const stat = await lstatOrNull(this.#inner, source);
          if (source === target || stat === null) return [];
          const over = await this.#steps.keep(target, aside);
          const below = stat.type === "dir" ? await this.#entriesBelow(source) : undefined;
          const parents = [
            (await this.#steps.parentId(source)) ?? null,
            (await this.#steps.parentId(target)) ?? null,
          ] as const;
          return [
            {
              kind: "move",
              from: source,
              to: target,
              parents,
              moved: preImageOf(stat),
              over,
              ...(below === undefined ? {} : { below }),
              ...this.#steps.asideOf(target, over, aside && over !== null),
            },
          ];
        },
        ([step]) => this.#inner.rename(from, to, { ...options, ...asideOption(step) }),
        async (result, step) => (result.version === undefined ? this.#steps.now(step) : toStepResult(result)),
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
      below.push([entry.path.slice(path.length + 1), changeDetectingFacts(entry)]);
    }
    return below;
  }

  #copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#steps.settingAside((aside) =>
      this.#recording.step(
        async () => {
          const target = await this.#inner.realpath(to);
          const before = await this.#steps.keep(target, aside);
          const after = await this.#steps.copyOf(from);
          const kind = before === null ? "create" : "write";
          return [await this.#steps.pathStep(kind, target, before, after, aside && before?.type === "file")];
        },
        ([step]) => this.#inner.copyFile(from, to, { ...options, ...asideOption(step) }),
        async (result, step) => (result.version === undefined ? this.#steps.now(step) : toStepResult(result)),
      ),
    );
  }
}
