/**
 * The steps of a change: what is recorded of a path before it changes, and whether the old entry is set
 * aside or its content kept; and the conditions with which an operation changes just what is recorded.
 */
import { shortcutsOf } from "../abilities.ts";
import type { Files } from "../files.ts";
import type { DeleteOptions, VersionedBytes } from "../backend.ts";
import { lstatOrNull, hashOf } from "../fallback/fallback.ts";
import { parentOf } from "../paths.ts";
import { backendError } from "../failure.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { type FileKeeper, NO_KEEPER } from "./file-keeper.ts";
import { type CaptureBudget, capturePreImage, keptNameOf, preImageOf, type PreImage } from "./pre-image.ts";
import { type NewStep, type PathStepKind, type Step, type StepResult, toStepResult } from "./step.ts";

/** A file as the plan of a change found it. A write with `ifVersion` of this version uses it and reads nothing. */
export interface FoundFile extends VersionedBytes {
  /** Its real path; undefined where that has to be looked up. */
  readonly real: string | undefined;
}

/** The files that a change was planned on, by the paths of their writes. */
export type FilesFound = ReadonlyMap<string, FoundFile>;

/** The transaction, as the recording backend uses it. */
export interface Recording {
  /** True when a change that could not be rolled back is refused. */
  readonly required: boolean;
  /** Returns true when the next step would be rolled back together with earlier ones. */
  hasSteps(): boolean;
  /** True when contents are kept even for set-aside entries: an undo needs them later. */
  readonly contents: boolean;
  /** The bytes of old content that all steps together may keep. */
  readonly budget: CaptureBudget;
  /** The maximum number of recorded entries of one tree. */
  readonly maxEntries: number;
  /** Called when a state was not kept, so that the change can no longer be undone. */
  giveUp(): void;
  /**
   * Records the steps from `plan`, runs `act`, and records its result by `gave`. Steps of an operation that surely did
   * not happen are dropped.
   */
  step<T>(
    plan: () => Promise<readonly NewStep[]>,
    act: (steps: readonly Step[]) => Promise<T>,
    gave: (result: T, step: Step) => StepResult | Promise<StepResult>,
  ): Promise<T>;
  /** Runs an operation that makes several steps at once. Their results are known before it runs. */
  appear<T>(
    steps: readonly (readonly [step: NewStep, given: StepResult])[],
    act: () => Promise<T>,
  ): Promise<T>;
  /** The files that the change was planned on, by the paths of their writes. */
  readonly found: FilesFound;
  /** The durability of removals and made directories: where a record is flushed after them, its flush is theirs too. */
  readonly flushed: Pick<DeleteOptions, "durability">;
  /** Runs several steps, all or none. */
  nested<T>(run: () => Promise<T>): Promise<T>;
}

/** Makes the steps of one change of a backend. */
export class StepMaker {
  readonly #inner: Files;
  readonly #recording: Recording;
  /** True once an entry could not be set aside. */
  #isWithoutAsides = false;

  constructor(inner: Files, recording: Recording) {
    this.#inner = inner;
    this.#recording = recording;
  }

  /** Returns the expected state of a copy. */
  async copyOf(path: string): Promise<PreImage> {
    const source = await this.#inner.realpath(path);
    const { size, mode, version } = await this.#inner.stat(source);
    return {
      type: "file",
      size,
      ...(mode === undefined ? {} : { mode }),
      // Without a version a later entry is known as the copy by its content alone.
      ...(version === undefined
        ? { hash: await hashOf(this.#inner, source) }
        : { source: { path: source, version } }),
    };
  }

  /** Returns a step that changes one path. */
  async pathStep(
    kind: PathStepKind,
    path: string,
    before: PreImage | null,
    after: PreImage | null,
    aside = false,
  ): Promise<NewStep> {
    const parent = await this.parentId(path);
    return {
      kind,
      path,
      before,
      after,
      ...(parent === undefined ? {} : { parent }),
      ...this.asideOf(path, before, aside),
    };
  }

  /** Returns where the entry of a path is set aside: where `aside` is true, and where its content is kept in this way. */
  asideOf(path: string, before: PreImage | null, aside: boolean): { readonly aside?: string } {
    return aside || keptNameOf(before) !== undefined ? { aside: this.#inner.asidePath(path) } : {};
  }

  /** Returns the identity of an entry's directory; undefined where no rollback is required. */
  async parentId(path: string): Promise<string | undefined> {
    if (!this.#recording.required) return undefined;
    return (await lstatOrNull(this.#inner, parentOf(path)))?.fileId;
  }

  /** Keeps the files that are too large for the record. */
  get keeper(): FileKeeper {
    const isUsed = this.#recording.contents && this.#inner.abilities.asides && !this.#isWithoutAsides;
    return isUsed ? shortcutsOf(this.#inner).keeper : NO_KEEPER;
  }

  /** The maximum size in bytes of a content that is copied without a look at the file. */
  get mostCopied(): number {
    const { bytes, mostCopied } = this.#recording.budget;
    return this.keeper === NO_KEEPER ? bytes : Math.min(bytes, mostCopied);
  }

  /** Returns the state of a path: with its content, unless the entry is set aside and no undo needs the content. */
  async keep(path: string, aside: boolean): Promise<PreImage | null> {
    const facts = async (): Promise<PreImage | null> => {
      const stat = await lstatOrNull(this.#inner, path);
      return stat === null ? null : preImageOf(stat);
    };
    if (aside && !this.#recording.contents) return facts();
    try {
      return await capturePreImage(this.#inner, path, this.#recording.budget, this.keeper.nameFor);
    } catch (error) {
      // The path was real when it was resolved. If a link is there by now, the state has changed.
      if (hasErrorCode(error, "OUTSIDE_ALLOWED") && (await this.#inner.realpath(path)) !== path)
        throw backendError("CONFLICT", path);
      if (this.#recording.required || !hasErrorCode(error, "LIMIT_EXCEEDED")) throw error;
      this.#recording.giveUp();
      return facts();
    }
  }

  /** Returns the version and id that the path of a step has now. */
  async now(step: Step): Promise<StepResult> {
    const stat = await lstatOrNull(this.#inner, step.kind === "move" ? step.to : step.path);
    return stat === null ? {} : toStepResult(stat);
  }

  /**
   * Runs an operation that has {@link conditionOf} its step as its condition: another program may have replaced the path,
   * or a directory above it, since the old state was read. An operation without a condition of its own is repeated then.
   */
  async untilUnchanged<T>(options: Conditions, run: (setsAside: boolean) => Promise<T>): Promise<T> {
    const isConditional = options.ifVersion !== undefined || options.ifAbsent === true;
    const { budget } = this.#recording;
    const left = budget.bytes;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.settingAside(run);
      } catch (error) {
        const isRaced = hasErrorCode(error, "CONFLICT", "ALREADY_EXISTS");
        if (isConditional || !isRaced || attempt === MAX_ATTEMPTS) throw error;
        budget.bytes = left;
      }
    }
  }

  /** Checks that the old state of a file has the version that the caller expects. @throws CONFLICT */
  async assertExpected(
    [path, real]: readonly [asked: string, real: string],
    kept: PreImage | null,
    ifVersion: string | undefined,
  ): Promise<void> {
    if (ifVersion === undefined || kept?.version === ifVersion || (kept !== null && kept.type !== "file"))
      return;
    // Two versions can be of the same content, which the backend knows. It may be a secret.
    const own = this.#inner.trusted();
    const request = { ifNoneMatch: ifVersion, range: { start: 0, end: 0 } };
    if (kept === null || (await own.read(real, request)) !== null) throw backendError("CONFLICT", path);
  }

  /**
   * Runs an operation with the old entry set aside if a rollback is required, of a tree always. Runs it again without,
   * where the backend cannot set it aside.
   */
  async settingAside<T>(run: (setsAside: boolean) => Promise<T>, tree = false): Promise<T> {
    const { budget, required } = this.#recording;
    const left = budget.bytes;
    try {
      return await run(this.#inner.abilities.asides && (required || tree));
    } catch (error) {
      if (!(error instanceof FilewrightError && error.details?.["reason"] === "aside")) throw error;
      budget.bytes = left;
      this.#isWithoutAsides = true;
      return run(false);
    }
  }
}

/** The conditions of a write or a deletion. */
interface Conditions {
  readonly ifVersion?: string | undefined;
  readonly ifAbsent?: boolean | undefined;
}

/** How often an operation without a condition is tried when another program was faster. */
const MAX_ATTEMPTS = 8;

/** Returns the conditions with which the operation of a step changes exactly the entry that was recorded. */
export function conditionOf(step: Step | undefined, path: string, options: Conditions): Conditions {
  const { ifVersion, ifAbsent } = options;
  if (ifAbsent === true || step === undefined || step.kind === "move") return { ifVersion, ifAbsent };
  const { before } = step;
  // A write through a link that leads nowhere cannot have `ifAbsent`: the link is there.
  if (before === null) return { ifAbsent: step.path === path };
  return { ifVersion: (before.type === "file" ? before.version : undefined) ?? ifVersion };
}

/** Returns the option for a call of the backend with which the replaced entry is set aside. */
export function asideOption(step: Step | undefined): { readonly aside?: string } {
  return step?.aside === undefined ? {} : { aside: step.aside };
}

/** Returns true for an error with one of the codes. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof FilewrightError && codes.includes(error.code);
}
