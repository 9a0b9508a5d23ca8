/** Records the removal and the copy of trees: a step for each entry, parents before their content. */
import type { Files } from "../files.ts";
import type { FsEntry, TreeCounts, WriteResult } from "../backend.ts";
import { entryPath, lstatOrNull } from "../fallback/fallback.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { Yielder } from "../../engine/yielder.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { NO_KEEPER } from "./file-keeper.ts";
import { capturePreImage, keptNameOf, preImageOf, type PreImage, tooMuchError } from "./pre-image.ts";
import { type NewStep, type StepResult, toStepResult } from "./step.ts";
import { asideOption, hasErrorCode, type Recording, type StepMaker } from "./step-maker.ts";

/**
 * The maximum total length of the paths in one tree, in UTF-16 units, because its record contains all of them. A
 * larger tree is LIMIT_EXCEEDED.
 */
const MAX_NAME_CHARACTERS = 16 * 1024 * 1024;

type CopyTree = Required<Files>["copyTree"];
type RemoveTree = Required<Files>["removeTree"];

/** Records the operations on whole trees as steps. */
export class TreeRecorder {
  readonly #inner: Files;
  readonly #recording: Recording;
  readonly #steps: StepMaker;

  constructor(inner: Files, recording: Recording, steps: StepMaker) {
    this.#inner = inner;
    this.#recording = recording;
    this.#steps = steps;
  }

  /** Removes a tree: each entry is a step, unless it is set aside as a whole. */
  removeTree(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<TreeCounts> {
    return this.#steps.settingAside(
      (aside) =>
        this.#recording.step(
          async () => {
            const real = await entryPath(this.#inner, path);
            const top = await lstatOrNull(this.#inner, real);
            if (top === null) return [];
            const alone = (): Promise<NewStep> =>
              this.#steps.pathStep("delete", real, preImageOf(top), null, aside);
            if (aside && !this.#recording.contents) return [await alone()];
            try {
              return await this.#deletions(real, aside, options?.signal);
            } catch (error) {
              if (this.#recording.required || !hasErrorCode(error, "LIMIT_EXCEEDED")) throw error;
              this.#recording.giveUp();
              return aside ? [await alone()] : [];
            }
          },
          async (steps) => {
            const removeTree = this.#inner.removeTree as RemoveTree;
            return removeTree.call(this.#inner, path, {
              ...options,
              ...this.#recording.flushed,
              ...asideOption(steps.at(-1)),
            });
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
    const entries = await entriesOfTree(this.#inner, real, maxEntries, signal);
    // The sizes are checked before the first file is read: half of a tree is useless.
    const keeper = aside ? this.#steps.keeper : NO_KEEPER;
    const isLarge = ({ size = 0 }: Pick<FsEntry, "size">): boolean =>
      keeper !== NO_KEEPER && size > budget.mostCopied;
    const copied = entries.filter((entry) => !isLarge(entry));
    if (copied.reduce((sum, { size }) => sum + (size ?? 0), 0) > budget.bytes) throw tooMuchError(real);
    const large = new Map<string, PreImage | null>();
    for (const entry of entries)
      if (isLarge(entry))
        large.set(entry.path, await capturePreImage(this.#inner, entry.path, budget, keeper.nameFor));
    const top = aside ? this.#inner.asidePath(real) : undefined;
    const steps: NewStep[] = [];
    const yielder = new Yielder({ signal });
    for (const { path } of entries) {
      await yielder.yieldIfDue();
      const before = large.get(path) ?? (await capturePreImage(this.#inner, path, budget, keeper.nameFor));
      if (before === null) continue;
      const step = await this.#steps.pathStep("delete", path, before, null);
      // The files of the tree are set aside with it.
      const isAside = top !== undefined && (path === real || keptNameOf(before) !== undefined);
      steps.push(isAside ? { ...step, aside: top + path.slice(real.length) } : step);
    }
    return steps.reverse();
  }

  /** Copies a tree: each entry is a step. */
  async copyTree(from: string, to: string, options: Parameters<CopyTree>[2] = {}): Promise<TreeCounts> {
    const source = await lstatOrNull(this.#inner, from);
    const target = await lstatOrNull(this.#inner, to);
    if (this.#inner.abilities.asides && source?.type === "dir" && target === null)
      return this.#copyStaged(from, to, options);
    const made = new Map<string, WriteResult>();
    const onMade = (path: string, result: WriteResult): void => {
      made.set(path.slice(to.length), result);
    };
    const top = await entryPath(this.#inner, to);
    return this.#recording.step(
      () => this.#copySteps(from, to, options.signal),
      async () =>
        (this.#inner.copyTree as CopyTree).call(this.#inner, from, to, {
          ...options,
          onMade,
        }),
      (_, step) => {
        const result = made.get((step.kind === "move" ? step.to : step.path).slice(top.length));
        return result?.version === undefined ? this.#steps.now(step) : toStepResult(result);
      },
    );
  }

  /**
   * Copies a tree to a hidden path and moves it into place. Its versions are known before another
   * process can change it, and an interrupted copy leaves nothing visible.
   */
  async #copyStaged(from: string, to: string, options: Parameters<CopyTree>[2]): Promise<TreeCounts> {
    const inner = this.#inner;
    const real = await entryPath(inner, to);
    const stage = inner.asidePath(real);
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
          (inner.copyTree as CopyTree).call(inner, from, stage, {
            signal: options?.signal,
          }),
        () => ({}),
      );
      const made: (readonly [NewStep, StepResult])[] = [];
      const yielder = new Yielder({ signal: options?.signal });
      for (const { path } of await entriesOfTree(inner, stage, this.#recording.maxEntries, options?.signal)) {
        await yielder.yieldIfDue();
        const stat = await inner.lstat(path);
        const at = real + path.slice(stage.length);
        const kind = stat.type === "dir" ? "mkdir" : stat.type === "symlink" ? "symlink" : "create";
        made.push([{ kind, path: at, before: null, after: preImageOf(stat) }, toStepResult(stat)]);
      }
      await this.#recording.appear(made, async () => {
        try {
          await inner.rename(stage, to, { overwrite: false });
        } catch (error) {
          throw error instanceof FilewrightError ? errorForPath(error, to) : error;
        }
      });
      return counts;
    });
  }

  /** Returns the steps of a copy that is one call of the backend. */
  async #copySteps(from: string, to: string, signal?: AbortSignal): Promise<readonly NewStep[]> {
    const inner = this.#inner;
    const target = await entryPath(inner, to);
    const fresh = (await lstatOrNull(inner, target)) === null;
    const top = await entryPath(inner, from);
    const steps: NewStep[] = [];
    const yielder = new Yielder({ signal });
    for (const { path, type } of await entriesOfTree(inner, top, this.#recording.maxEntries, signal)) {
      await yielder.yieldIfDue();
      if (type === "other") continue;
      const at = target + path.slice(top.length);
      const before = fresh ? null : await this.#steps.keep(at, false);
      if (type === "dir" && before?.type === "dir") continue;
      const link = type === "symlink" ? (await inner.lstat(path)).target : undefined;
      const after: PreImage =
        type === "file"
          ? await this.#steps.copyOf(path)
          : { type, ...(link === undefined ? {} : { target: link }) };
      const kind = type === "dir" ? "mkdir" : before === null ? "create" : "write";
      steps.push(await this.#steps.pathStep(kind, at, before, after));
    }
    return steps;
  }
}

function errorForPath(
  { code, message, hint, details, cause }: FilewrightError,
  path: string,
): FilewrightError {
  return new FilewrightError(code, message, { path, hint, details, cause });
}

/**
 * Returns a tree's entries, itself first, parents before their content. @throws LIMIT_EXCEEDED,
 * CANCELLED
 */
async function entriesOfTree(
  fs: Files,
  path: string,
  maxEntries: number,
  signal?: AbortSignal,
): Promise<readonly Pick<FsEntry, "path" | "type" | "size">[]> {
  const top = await fs.lstat(path);
  const found: Pick<FsEntry, "path" | "type" | "size">[] = [{ path, type: top.type, size: top.size }];
  if (top.type !== "dir") return found;
  let characters = 0;
  for await (const entry of walkTree(fs, path, signal)) {
    characters += entry.path.length;
    if (found.length >= maxEntries || characters > MAX_NAME_CHARACTERS) throw tooMuchError(path);
    found.push(entry);
  }
  return found;
}
