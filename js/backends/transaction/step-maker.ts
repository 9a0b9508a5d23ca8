/**
 * The steps of a change: what is recorded of a path before it changes, and whether the old entry is set
 * aside or its content kept.
 */
import type { FsBackend } from "../backend.ts";
import { lstatOrNull, realpathVia } from "../fallback/fallback.ts";
import { parentOf } from "../paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { type CaptureBudget, capturePreImage, preImageOf, type PreImage } from "./pre-image.ts";
import { type NewStep, type PathStepKind, type Step, type StepResult, toStepResult } from "./step.ts";

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
   * Records the steps from `plan`, runs `act`, and records its result by `gave`. Steps of a
   * refused operation are dropped.
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
  /** Runs several steps, all or none. */
  nested<T>(run: () => Promise<T>): Promise<T>;
}

/** Makes the steps of one change of a backend. */
export class StepMaker {
  readonly #inner: FsBackend;
  readonly #recording: Recording;

  constructor(inner: FsBackend, recording: Recording) {
    this.#inner = inner;
    this.#recording = recording;
  }

  /** Returns the expected state of a copy. */
  async copyOf(path: string): Promise<PreImage> {
    const source = await realpathVia(this.#inner, path);
    const { size, mode, version } = await this.#inner.stat(source);
    return {
      type: "file",
      size,
      ...(mode === undefined ? {} : { mode }),
      ...(version === undefined ? {} : { source: { path: source, version } }),
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
      ...(aside ? { aside: this.#inner.asidePath?.(path) as string } : {}),
    };
  }

  /** Returns the identity of an entry's directory. A single operation is not compared with it. */
  async parentId(path: string): Promise<string | undefined> {
    if (!this.#recording.required) return undefined;
    return (await lstatOrNull(this.#inner, parentOf(path)))?.fileId;
  }

  /** Returns the state of a path: with its content, unless it is set aside and no undo needs it. */
  async keep(path: string, aside: boolean): Promise<PreImage | null> {
    const facts = async (): Promise<PreImage | null> => {
      const stat = await lstatOrNull(this.#inner, path);
      return stat === null ? null : preImageOf(stat);
    };
    if (aside && !this.#recording.contents) return facts();
    try {
      return await capturePreImage(this.#inner, path, this.#recording.budget);
    } catch (error) {
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

  /** Runs an operation that sets the old entry aside, or keeps its content where that is impossible. */
  async settingAside<T>(run: (aside: boolean) => Promise<T>, tree = false): Promise<T> {
    if (this.#inner.asidePath === undefined || !(this.#recording.required || tree)) return run(false);
    try {
      return await run(true);
    } catch (error) {
      if (!(error instanceof FilewrightError && error.details?.["reason"] === "aside")) throw error;
      return run(false);
    }
  }
}

/** Returns the option for a call of the backend with which the replaced entry is set aside. */
export function asideOption(step: Step | undefined): { readonly aside?: string } {
  return step?.aside === undefined ? {} : { aside: step.aside };
}

/** Returns true for an error with one of the codes. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof FilewrightError && codes.includes(error.code);
}
