/**
 * How answers of a storage's own searches and listings are judged: the storage is asked without the denied paths,
 * and each path of its answer is judged by the policy again. What it counts is never used.
 *
 * An answer that cannot be what was asked for (a wrong type, a wrong order, a page that is given twice) is thrown away
 * as a whole: the caller then walks the tree, so that the result is complete and only slower.
 */
import { debug } from "../../engine/debug.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { Yielder } from "../../engine/yielder.ts";
import type { WalkQuery } from "../../engine/search-types.ts";
import type { FsBackend } from "../backend.ts";
import {
  checkPath,
  childOf,
  compareCodePoints,
  isLongName,
  joinPath,
  literalGlob,
  parentOf,
} from "../paths.ts";
import type { SandboxPolicy } from "../policy.ts";
import { isTempName } from "../walk/temp-name.ts";
import type { PathResolver } from "./path-resolver.ts";

/** The largest number of paths that one call takes from a storage, and of pages. More are LIMIT_EXCEEDED. */
const [MAX_ANSWER_PATHS, MAX_ANSWER_PAGES] = [2_000_000, 20_000];
/** The largest number of denials that a storage is asked to leave out; the others are only judged afterwards. */
const MAX_DENY_EXCLUDES = 500;

/** A directory of a confined backend that is searched or listed by the storage. */
export interface JudgedPlace {
  readonly inner: FsBackend;
  readonly resolver: PathResolver;
  readonly policy: SandboxPolicy;
  /** The real path of the directory. */
  readonly real: string;
  /** The path of the directory as the caller named it. */
  readonly asked: string;
}

/** The answer of a storage that is not used. */
class UnusableAnswer extends Error {}

/** Ends the use of an answer. @throws UnusableAnswer */
export function unusable(why: string): never {
  throw new UnusableAnswer(why);
}

/**
 * Returns what `ask` makes of the answer of the storage, or of `walk` where that answer cannot be used or the storage
 * cannot do what is asked (UNSUPPORTED_OPERATION).
 */
export async function askOrWalk<T>(
  method: string,
  ask: () => Promise<T>,
  walk: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isRefused = error instanceof FilewrightError && error.code === "UNSUPPORTED_OPERATION";
    if (!isRefused && !(error instanceof UnusableAnswer)) throw error;
    debug.search?.(`the answer of the storage's ${method} is not used: ${error.message}`);
    return walk();
  }
}

/** Returns the denials of a policy as globs to exclude below a directory. Those that cannot be expressed are left out. */
export function denyExcludes({ policy, resolver, real }: JudgedPlace): readonly string[] {
  const base = real === "/" ? "/" : `${literalGlob(real)}/`;
  const cwd = resolver.nameOf(policy.cwd);
  const excludes: string[] = [];
  for (const glob of policy.deny) {
    if (excludes.length === MAX_DENY_EXCLUDES) break;
    if (!glob.includes("/") || glob.startsWith("**/")) {
      // It matches at any depth, below the working directory and below each root.
      if (real === cwd || real.startsWith(cwd === "/" ? "/" : `${cwd}/`)) excludes.push(glob);
      continue;
    }
    const whole = glob.startsWith("/") ? glob : `${cwd === "/" ? "" : literalGlob(cwd)}/${glob}`;
    if (whole.startsWith(base) && whole.length > base.length) excludes.push(`/${whole.slice(base.length)}`);
  }
  return excludes;
}

/** Judges the paths of an answer, which are relative to the searched directory. */
export class PathJudge {
  readonly #place: JudgedPlace;
  readonly #named: string;
  readonly #hidden: boolean;
  readonly #git: boolean;
  /** The directories of the answer that are reached without a link. */
  readonly #direct = new Map<string, boolean>();

  /** With `git`, the content of `.git` may be in the answer. */
  constructor(place: JudgedPlace, { hidden, git }: Pick<WalkQuery, "hidden"> & { readonly git?: boolean }) {
    this.#place = place;
    this.#named = place.resolver.nameOf(place.asked);
    this.#hidden = hidden ?? true;
    this.#git = git ?? false;
    this.#direct.set(place.real, true);
  }

  /**
   * Returns the real path of a relative one if the caller may see it, otherwise undefined.
   * @throws UnusableAnswer for what is no relative path
   */
  async visible(relative: unknown): Promise<string | undefined> {
    const { real, resolver } = this.#place;
    const names = namesOf(relative);
    if (names.some((name) => (name === ".git" && !this.#git) || isTempName(name))) return undefined;
    if (!this.#hidden && names.some((name) => name.startsWith("."))) return undefined;
    const path = childOf(real, relative as string);
    if (resolver.rules.check(path).denied) return undefined;
    if (this.#named !== real && resolver.rules.check(joinPath(this.#named, relative as string)).denied)
      return undefined;
    return (await this.#isDirect(parentOf(path))) ? path : undefined;
  }

  /** Returns true when a directory is reached without a link, as by a walk. */
  async #isDirect(directory: string): Promise<boolean> {
    const known = this.#direct.get(directory);
    if (known !== undefined) return known;
    const { resolver } = this.#place;
    const isDirect = await resolver.resolve(directory, "read", "follow").then(
      (path) => path === directory,
      () => false,
    );
    this.#direct.set(directory, isDirect);
    return isDirect;
  }
}

/** Returns the names of a relative path. @throws UnusableAnswer for anything else */
export function namesOf(relative: unknown): readonly string[] {
  if (typeof relative !== "string") return unusable("a path is no text");
  try {
    checkPath(relative);
  } catch {
    return unusable("a path cannot exist");
  }
  const names = relative.split("/");
  if (names.some((name) => name === "" || name === "." || name === ".." || isLongName(name)))
    unusable("a path is not relative and normalised");
  return names;
}

/** Returns an object of an answer. @throws UnusableAnswer for any other value */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return unusable("no object");
  return value as Readonly<Record<string, unknown>>;
}

/** Returns a list of an answer. @throws UnusableAnswer for any other value, LIMIT_EXCEEDED for a list without end */
export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return unusable("no list");
  if (value.length <= MAX_ANSWER_PATHS) return value;
  throw new FilewrightError("LIMIT_EXCEEDED", `the storage names more than ${MAX_ANSWER_PATHS} paths`);
}

/** One page of an answer. */
export interface AnswerPage {
  readonly paths: readonly unknown[];
  /** The answer itself, for what else it says. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/**
 * Yields the paths of all pages in path order, each once. Returns false when the storage ran out of time, so that more
 * paths may exist.
 *
 * @throws UnusableAnswer where the pages do not go on in path order, or there is more and no cursor to it
 */
export async function* pathsOfPages(
  ask: (cursor: string | undefined) => Promise<AnswerPage>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, boolean, undefined> {
  const yielder = new Yielder({ signal });
  let last: string | undefined;
  let given = 0;
  let cursor: string | undefined;
  for (let pages = 0; ; pages++) {
    await yielder.yieldIfDue();
    const { paths, answer } = await ask(cursor);
    given += paths.length;
    if (given > MAX_ANSWER_PATHS || pages === MAX_ANSWER_PAGES)
      throw new FilewrightError("LIMIT_EXCEEDED", `the storage names more than ${given - 1} paths`);
    const before = last;
    for (const path of paths) {
      if (typeof path !== "string") return unusable("a path is no text");
      if (last !== undefined && compareCodePoints(path, last) <= 0) unusable("the paths are not in order");
      last = path;
      yield path;
    }
    if (answer["incompleteReason"] === "timeout") return false;
    const next = answer["nextCursor"];
    if (next === undefined) {
      if (answer["truncated"] === true) unusable("there is more, and no cursor to it");
      return answer["complete"] !== false;
    }
    if (typeof next !== "string") return unusable("a cursor is no text");
    if (last === before) unusable("a page brings nothing new");
    cursor = next;
  }
}
