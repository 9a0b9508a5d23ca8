/**
 * Globs for a Windows disk, as people write them there. Deny lists, rules, approvers and searches all convert theirs
 * here to the internal form: names separated by `/`, a drive as `/C:/`, and a backslash that only escapes.
 *
 * A backslash separates names. Before `[ ] { } !`, which names of Windows contain, it can also escape. What has both
 * meanings is refused: a deny list that took the wrong one would deny nothing.
 */
import { expandBracesWithSlash, invalidGlobError } from "./glob-braces.ts";
import type { SandboxPolicy } from "./policy.ts";

type PathForm = SandboxPolicy["paths"];

/** The characters that a backslash can escape on Windows. */
const ESCAPABLE = "[]{}!";

/**
 * Returns a glob for paths of this form, with braces kept together.
 * @throws INVALID_GLOB where a backslash could separate or escape
 */
export function globInForm(glob: string, paths: PathForm): string {
  return paths === "windows" ? withInnerDrive(withSlashes(glob)) : glob;
}

/** Returns the globs for paths of this form, one for each alternative of braces that hold more than one name. */
export function globsInForm(glob: string, paths: PathForm): readonly string[] {
  return paths === "windows" ? expandBracesWithSlash(withSlashes(glob)).map(withInnerDrive) : [glob];
}

/**
 * Returns the globs for paths of this form of a rule or deny list.
 * @throws INVALID_GLOB for what {@link globInForm} refuses, and for one that no path of Windows can match
 */
export function ruleGlobsInForm(glob: string, paths: PathForm): readonly string[] {
  if (paths !== "windows") return [glob];
  const globs = globsInForm(glob, paths);
  for (const one of globs) assertCanMatch(one, glob);
  return globs;
}

/**
 * Returns a place of a policy, which is a word, a space and a pattern, for a Windows disk. Its patterns have no
 * backslashes. @throws INVALID_GLOB for one that no path of Windows can match
 */
export function placeOnWindows(place: string): string {
  const [, word = "", pattern = ""] = /^(\S+ )(.*)$/su.exec(place) ?? [];
  if (word === "path ") return place;
  const inner = withInnerDrive(pattern);
  for (const one of expandBracesWithSlash(inner)) assertCanMatch(one, pattern);
  return word + inner;
}

/**
 * Returns the glob, as people write them on Windows, that matches an absolute path of Windows and nothing else.
 * Undefined for a path of the network, of which nothing is reached.
 */
export function literalWindowsGlob(path: string): string | undefined {
  if (!/^[A-Za-z]:/u.test(path)) return undefined;
  // Brackets, because a backslash before one of these could be taken for a separator.
  return path.replaceAll(/[[\]{}]/gu, "[$&]").replaceAll("\\", "/");
}

/** Returns a glob whose names are separated by `/`, and in which a backslash only escapes. */
const withSlashes = (glob: string): string => new SlashWriter(glob).written();

/** Rewrites a glob of Windows, character by character. */
class SlashWriter {
  readonly #glob: string;
  #at = 0;
  #written = "";
  #inClass = false;
  /** The number of brackets that were opened by an escaped one in the current name. */
  #escaped = 0;

  constructor(glob: string) {
    this.#glob = glob;
  }

  written(): string {
    while (this.#at < this.#glob.length) {
      if (this.#glob[this.#at] === "\\") this.#writeBackslash();
      else this.#writeOther(this.#glob[this.#at] as string);
    }
    return this.#written;
  }

  #writeOther(char: string): void {
    // A class of one such character is the character itself; the search for braces knows only escapes.
    const [, single] = this.#inClass
      ? []
      : (/^\[([[\]{}])\]/u.exec(this.#glob.slice(this.#at, this.#at + 3)) ?? []);
    if (single !== undefined) {
      this.#written += `\\${single}`;
      this.#at += 3;
      return;
    }
    if (char === "/") this.#escaped = 0;
    if (char === "[" && !this.#inClass) this.#inClass = true;
    // The first character of a class is a member of it, also a closing bracket.
    else if (char === "]" && this.#inClass && !/\[[!^]?$/u.test(this.#written)) this.#inClass = false;
    this.#written += char;
    this.#at += 1;
  }

  #writeBackslash(): void {
    const next = this.#glob[this.#at + 1] ?? "";
    // No name has a colon, so what follows that of a drive is a separator.
    const mayEscape =
      next !== "" && ESCAPABLE.includes(next) && (this.#inClass || this.#glob[this.#at - 1] !== ":");
    if (!mayEscape) {
      this.#escaped = 0;
      this.#written += "/";
      this.#at += 1;
      return;
    }
    if (!this.#canOnlyEscape(next)) throw ambiguousError(this.#glob, next);
    if (!this.#inClass) this.#escaped += next === "[" ? 1 : next === "]" ? -1 : 0;
    this.#written += `\\${next}`;
    this.#at += 2;
  }

  /** Returns true where a backslash before this character cannot separate names. */
  #canOnlyEscape(next: string): boolean {
    const before = this.#glob[this.#at - 1];
    if (this.#inClass || before === undefined || before === "/") return true;
    if (next === "[") return /^[^[\]\\/]*\\\]/u.test(this.#glob.slice(this.#at + 2));
    return next === "]" && this.#escaped > 0;
  }
}

function ambiguousError(glob: string, char: string): Error {
  const slashes = glob.replaceAll("\\", "/");
  return invalidGlobError(
    `${JSON.stringify(glob)} is ambiguous: its backslash before ${char} could separate names or escape; separate names with /, as in ${JSON.stringify(slashes)}, and write \\${char} directly after a / or [${char}] for the character itself`,
  );
}

/** A drive with its colon: a letter, or a wildcard, class or braces that stand for some. */
const DRIVE = /^(?:[A-Za-z]|\*|\?|\[[^\]/\\]+\]|\{[A-Za-z](?:,[A-Za-z])*\}):$/u;

/** The beginning of an absolute glob of Windows. */
const BEGINNING = /^(!?)([^/:]+:)(?=\/|$)/u;

function withInnerDrive(glob: string): string {
  return glob.replace(BEGINNING, (whole, not: string, drive: string) =>
    DRIVE.test(drive) ? `${not}/${drive.length === 2 ? drive.toUpperCase() : drive}` : whole,
  );
}

/** Checks that a glob in the internal form can match a path of Windows. @throws INVALID_GLOB */
function assertCanMatch(glob: string, written: string): void {
  const shown = JSON.stringify(written);
  if (glob.startsWith("//"))
    throw invalidGlobError(`${shown} begins as a path of the network, of which nothing is used`);
  const [first = ""] = glob.startsWith("/") ? glob.slice(1).split("/") : [];
  const below = glob.startsWith("/") ? glob.slice(1 + first.length) : glob;
  const isDrive = first === "" || DRIVE.test(first) || /^[*?]+$/u.test(first);
  if (!isDrive)
    throw invalidGlobError(
      `${shown} begins with a separator and names no drive, so it would match nothing; begin with a drive, as in C:/repo, or with a name below the working directory`,
    );
  if (below.replaceAll(/\[[^\]]*\]/gu, "").includes(":"))
    throw invalidGlobError(
      `${shown} has a colon where no name of Windows has one, so it would match nothing; write a drive as C:/`,
    );
}
