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
function withSlashes(glob: string): string {
  let written = "";
  let inClass = false;
  /** The number of brackets that were opened by an escaped one in the current name. */
  let escaped = 0;
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at] as string;
    const next = glob[at + 1] ?? "";
    if (char !== "\\") {
      // A class of one such character is the character itself; the search for braces knows only escapes.
      const [, single] = inClass ? [] : (/^\[([[\]{}])\]/u.exec(glob.slice(at, at + 3)) ?? []);
      if (single !== undefined) {
        written += `\\${single}`;
        at += 2;
        continue;
      }
      if (char === "/") escaped = 0;
      if (char === "[" && !inClass) inClass = true;
      // The first character of a class is a member of it, also a closing bracket.
      else if (char === "]" && inClass && !/\[[!^]?$/u.test(written)) inClass = false;
      written += char;
      continue;
    }
    // No name has a colon, so what follows that of a drive is a separator.
    if (next !== "" && ESCAPABLE.includes(next) && (inClass || glob[at - 1] !== ":")) {
      const rest = glob.slice(at + 2);
      const isEscape =
        inClass ||
        at === 0 ||
        glob[at - 1] === "/" ||
        (next === "[" && /^[^[\]\\/]*\\\]/u.test(rest)) ||
        (next === "]" && escaped > 0);
      if (isEscape) {
        if (!inClass) escaped += next === "[" ? 1 : next === "]" ? -1 : 0;
        written += char + next;
        at += 1;
        continue;
      }
      throw ambiguousError(glob, next);
    }
    escaped = 0;
    written += "/";
  }
  return written;
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
