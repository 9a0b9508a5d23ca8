/**
 * Rolling steps back, the last first.
 *
 * Only what still has the version that the step gave is touched: anything else is somebody else's by now and is left
 * to them, as a conflict. A step without that version (the process ended before it was noted) is compared with what
 * the step was to make of the path. Every restoring operation is conditional on what was compared.
 */
import type { FsBackend, FsStat } from "../backend.ts";
import { entryPathVia, lstatOrNull } from "../fallback.ts";
import { isWithin, parentOf } from "../paths.ts";
import { walkTree } from "../walk-tree.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { hasContentOf, isImage, isSameEntry, type PreImage, restoreByContent } from "./pre-image.ts";
import type { Given, MoveStep, PathStep, Step } from "./step.ts";

/** What became of the steps of a rollback. */
export interface RollbackOutcome {
  /** Steps that need no further attempt: restored, never made, or left to others. */
  readonly settled: readonly number[];
  /** Paths that somebody else has changed since, and that were left to them. */
  readonly conflicts: readonly string[];
  /** Paths that could not be restored this time, such as on a full disk. */
  readonly failed: readonly string[];
  /** Paths that were made anew from content and mode: owner, times, attributes and other names are not the old ones. */
  readonly remade: readonly string[];
}

/** How one step ended. */
type Ending = "settled" | "conflict" | "failed";

/** The codes that say that something else stands there, or that trying again would not help. */
const FINAL: ReadonlySet<string> = new Set([
  "CONFLICT",
  "ALREADY_EXISTS",
  "NOT_EMPTY",
  "NOT_DIRECTORY",
  "IS_DIRECTORY",
  "UNSUPPORTED_OPERATION",
]);

/** Rolls steps back. `given`: what the operations of those that are known to be done gave. */
export async function rollBack(
  fs: FsBackend,
  steps: readonly Step[],
  given: ReadonlyMap<number, Given>,
): Promise<RollbackOutcome> {
  const run = new Rollback(fs, given);
  for (const step of steps.toReversed()) await run.step(step);
  return run.outcome();
}

/** Whether an entry lies in the directory that a step recorded, and no link has come to lead elsewhere. */
type Place = "same" | "other";

class Rollback {
  readonly #fs: FsBackend;
  /** What was set aside is moved back here: its name there says nothing of what it is. */
  readonly #trusted: FsBackend;
  readonly #given: ReadonlyMap<number, Given>;
  /** What this rollback has put at a path, and what had stood there before the step that was rolled back. */
  readonly #restored = new Map<string, { readonly found: Given; readonly now: Given }>();
  readonly #settled: number[] = [];
  readonly #conflicts = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #remade = new Set<string>();

  constructor(fs: FsBackend, given: ReadonlyMap<number, Given>) {
    this.#fs = fs;
    this.#trusted = fs.trusted?.() ?? fs;
    this.#given = given;
  }

  outcome(): RollbackOutcome {
    return {
      settled: this.#settled,
      conflicts: [...this.#conflicts],
      failed: [...this.#failed],
      remade: [...this.#remade],
    };
  }

  async step(step: Step): Promise<void> {
    const path = step.kind === "move" ? step.to : step.path;
    const ending = await this.#end(step);
    if (ending === "failed") this.#failed.add(path);
    else this.#settled.push(step.id);
    if (ending === "conflict") this.#conflicts.add(path);
  }

  async #end(step: Step): Promise<Ending> {
    const paths = step.kind === "move" ? [step.from, step.to] : [step.path];
    // What a later step could not be rolled back from is not what this step left.
    if (paths.some((path) => this.#isBlocked(path))) return "failed";
    try {
      return (await (step.kind === "move" ? this.#move(step) : this.#path(step))) ? "settled" : "conflict";
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      return FINAL.has(error.code) ? "conflict" : "failed";
    }
  }

  #isBlocked(path: string): boolean {
    for (const failed of this.#failed) if (isWithin(failed, path) || isWithin(path, failed)) return true;
    return false;
  }

  /** False where the path is left to somebody else. */
  async #path(step: PathStep): Promise<boolean> {
    const { path, before } = step;
    const fs = this.#fs;
    if (step.scratch === true) {
      await discard(fs, path);
      return true;
    }
    if ((await this.#place(path, step.parent)) === "other") return false;
    const stat = await lstatOrNull(fs, path);
    const given = this.#given.get(step.id);
    const isOurs = await this.#isOurs(step, stat, given);
    const old = await this.#asideOf(step.aside, before, given !== undefined, isOurs);
    // Without the old entry aside the step was not made: what has that name is half of a new file.
    if (given === undefined && step.aside !== undefined && old === undefined) return true;
    if (!isOurs) return isImage(fs, path, stat, before);
    if (given === undefined && old === undefined && (await isImage(fs, path, stat, before))) return true;
    if (old !== undefined) {
      const target = stat === null ? {} : { overwrite: true, ifTargetVersion: stat.version };
      await this.#trusted.rename?.(step.aside as string, path, target);
    } else if (step.kind === "chmod" && before !== null) {
      await fs.chmod?.(path, before.mode as number);
    } else {
      await restoreByContent(fs, path, stat, before);
      if (before !== null) this.#remade.add(path);
    }
    await this.#note(path, before);
    return true;
  }

  /**
   * What a step has set aside. Where it is not known that the step was made, only the very entry that it found
   * counts: until the two are exchanged, the half-written new file has the name, and a new content that equals the
   * old one (`isAfter`) says nothing of which of them stands at the path.
   */
  async #asideOf(
    aside: string | undefined,
    before: PreImage | null,
    isMade: boolean,
    isAfter = false,
  ): Promise<FsStat | undefined> {
    if (aside === undefined || before === null) return undefined;
    const stat = await lstatOrNull(this.#trusted, aside);
    if (stat === null || isMade) return stat ?? undefined;
    const isOld = before.fileId === undefined ? isAfter : stat.fileId === before.fileId;
    return isOld ? stat : undefined;
  }

  async #isOurs(step: PathStep, stat: FsStat | null, given: Given | undefined): Promise<boolean> {
    const { path, after } = step;
    const expected = this.#expected(path, given);
    if (expected === undefined) return isImage(this.#fs, path, stat, after);
    if (stat === null || after === null) return stat === after;
    if (stat.type !== after.type) return false;
    const sameId =
      expected.fileId === undefined || stat.fileId === undefined || expected.fileId === stat.fileId;
    if (!sameId) return false;
    if (stat.type === "dir") return true;
    if (stat.type === "symlink") return stat.target === after.target;
    if (expected.version !== undefined && stat.version !== undefined) {
      if (stat.version === expected.version) return true;
      // The very file with the very bytes: only its facts were touched.
      if (expected.fileId === undefined) return false;
    }
    return hasContentOf(this.#fs, path, stat, after);
  }

  async #move(step: MoveStep): Promise<boolean> {
    const { from, to, moved, over } = step;
    const fs = this.#fs;
    for (const [at, path] of [from, to].entries())
      if ((await this.#place(path, step.parents?.[at] ?? undefined)) === "other") return false;
    const [source, target] = [await lstatOrNull(fs, from), await lstatOrNull(fs, to)];
    const given = this.#given.get(step.id);
    const isThere = target !== null && this.#isMoved(target, moved, this.#expected(to, given));
    if (given === undefined && source !== null && !isThere) {
      if (step.aside !== undefined) await this.#dropLink(step.aside, to);
      return true; // It was not made.
    }
    if (!isThere || source !== null) return false;
    if (!(await this.#isUntouchedBelow(step))) return false;
    const version = target.type === "file" ? target.version : undefined;
    await fs.rename?.(to, from, { overwrite: false, ifVersion: version });
    await this.#note(from, moved);
    if (over === null) return true;
    if ((await this.#asideOf(step.aside, over, true)) !== undefined) {
      await this.#trusted.rename?.(step.aside as string, to, { overwrite: false });
    } else {
      await restoreByContent(fs, to, null, over);
      this.#remade.add(to);
    }
    await this.#note(to, over);
    return true;
  }

  /** Removes the second name of a file that was to be replaced, while the first is there. */
  async #dropLink(aside: string, path: string): Promise<void> {
    const [one, other] = [await lstatOrNull(this.#trusted, aside), await lstatOrNull(this.#fs, path)];
    if (one !== null && other !== null && one.fileId === other.fileId) await discard(this.#fs, aside);
    else if (one !== null && other === null) await this.#trusted.rename?.(aside, path, { overwrite: false });
  }

  #isMoved(target: FsStat, moved: PreImage, given: Given | undefined): boolean {
    if (target.type !== moved.type) return false;
    if (given?.version !== undefined && given.version === target.version) return true;
    if (moved.fileId !== undefined) return isSameEntry(target, moved);
    if (moved.version !== undefined) return moved.version === target.version;
    return given !== undefined && target.type !== "file";
  }

  /** Whether a directory that was moved holds what it held: what somebody has saved in it since is not moved. */
  async #isUntouchedBelow({ to, below }: MoveStep): Promise<boolean> {
    if (below === undefined) return true;
    const held = new Map(below);
    for await (const entry of walkTree(this.#fs, to)) {
      const path = entry.path.slice(to.length + 1);
      if (held.get(path) !== factsOf(entry) && !this.#restored.has(entry.path)) return false;
      held.delete(path);
    }
    return [...held.keys()].every((path) => this.#restored.has(`${to}/${path}`));
  }

  /** Compares the directory of a path with the recorded one. */
  async #place(path: string, parent: string | undefined): Promise<Place> {
    const directory = parentOf(path);
    if ((await entryPathVia(this.#fs, path)) !== path) return "other";
    const expected = this.#restored.get(directory)?.now.fileId ?? parent;
    if (expected === undefined) return "same";
    const stat = await lstatOrNull(this.#fs, directory);
    return stat?.fileId === undefined || stat.fileId === expected ? "same" : "other";
  }

  /** What a step's path must hold: what the step gave, or what this rollback has put there in its place. */
  #expected(path: string, given: Given | undefined): Given | undefined {
    const restored = this.#restored.get(path);
    if (restored === undefined || given === undefined) return given;
    const { found, now } = restored;
    const isSame =
      given.version === undefined || found.version === undefined
        ? given.fileId !== undefined && given.fileId === found.fileId
        : given.version === found.version;
    return isSame ? now : given;
  }

  async #note(path: string, found: PreImage | null): Promise<void> {
    const stat = await lstatOrNull(this.#fs, path);
    if (stat === null) this.#restored.delete(path);
    else this.#restored.set(path, { found: found === null ? {} : givenOf(found), now: givenOf(stat) });
  }
}

/** What an operation gave, as far as facts tell. */
export function givenOf({ version, fileId }: Pick<FsStat, "version" | "fileId">): Given {
  return {
    ...(version === undefined ? {} : { version }),
    ...(fileId === undefined ? {} : { fileId }),
  };
}

/** The facts by which an entry of a moved directory is told from one that somebody has changed. */
export function factsOf(entry: {
  readonly type: string;
  readonly size?: number;
  readonly mtime?: number;
  readonly target?: string;
}): string {
  if (entry.type === "file") return `${entry.size} ${entry.mtime}`;
  return entry.type === "symlink" ? `-> ${entry.target}` : entry.type;
}

/** Where what steps have set aside lies now, wherever later moves have taken it. */
export function asidesOf(steps: readonly Step[]): readonly string[] {
  const paths: string[] = [];
  for (const [at, step] of steps.entries()) {
    if (step.aside === undefined) continue;
    let path = step.aside;
    for (const later of steps.slice(at + 1)) {
      if (later.kind === "move" && path.startsWith(`${later.from}/`))
        path = later.to + path.slice(later.from.length);
    }
    paths.push(path);
  }
  return paths;
}

/** Removes what was set aside, if it is there. */
export async function discard(fs: FsBackend, path: string): Promise<void> {
  const trusted = fs.trusted?.() ?? fs;
  const stat = await lstatOrNull(trusted, path);
  if (stat === null) return;
  if (stat.type === "dir" && trusted.removeTree !== undefined) await trusted.removeTree(path);
  else await trusted.delete(path);
}
