/** Expands the names, directories and globs of `read_many_files` to files. */
import type { Location } from "../../policy/index.ts";
import { compareCodePoints } from "../../backends/paths.ts";
import { globsInForm } from "../../backends/windows-globs.ts";
import { fromEngine } from "../../engine/errors.ts";
import { STEPS_PER_YIELD_CHECK, sortYielding, Yielder } from "../../engine/yielder.ts";
import { unmatchedGlobHint } from "../grep/text.ts";
import type { SkippedOne } from "../generated/types.ts";
import { skipReasonOf } from "./skip-reason.ts";
import { phraseIfNamed, type Call, locationError } from "./tool.ts";
import { findPaths, hasGlobSyntax, splitGlob } from "./walks.ts";

/** The arguments of a call that select files. */
interface ChosenFiles {
  readonly paths: readonly string[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly use_default_excludes: boolean;
  readonly respect_ignore: boolean;
  readonly recursive: boolean;
}

/**
 * The paths that a glob or a directory omits unless `use_default_excludes` is false. A file named
 * exactly is always read.
 */
export const DEFAULT_EXCLUDE_GLOBS: readonly string[] = Object.freeze([
  ...["node_modules", ".git", ".vscode", ".idea", "dist", "build", "coverage", "__pycache__"].map(
    (name) => `**/${name}/**`,
  ),
  ...[
    "pyc",
    "pyo",
    "bin",
    "exe",
    "dll",
    "so",
    "dylib",
    "class",
    "jar",
    "war",
    "zip",
    "tar",
    "gz",
    "bz2",
    "rar",
    "7z",
    "doc",
    "docx",
    "xls",
    "xlsx",
    "ppt",
    "pptx",
    "odt",
    "ods",
    "odp",
  ].map((extension) => `**/*.${extension}`),
  "**/.DS_Store",
  "**/.env",
]);

/** A file to read, and how it was requested. */
export interface RequestedFile {
  readonly at: Location;
  /**
   * True when the file was named exactly, or by a glob that ends in an extension. Only then is a file that is
   * not text, such as an image, read.
   */
  readonly byName: boolean;
}

/** Returns every requested file once, in path order. */
export async function expandPaths(
  args: ChosenFiles,
  call: Call,
  skipped: SkippedOne[],
  notes: string[],
): Promise<readonly RequestedFile[]> {
  const found = new Map<string, RequestedFile>();
  const add = (at: Location, byName: boolean): void => {
    if (found.get(at.path)?.byName !== true) found.set(at.path, { at, byName });
  };
  for (const typed of [...args.paths, ...args.include]) {
    try {
      const before = found.size;
      const ignored = await expandPath(typed, args, call, add, notes);
      const miss = found.size === before ? unmatchedGlobHint(typed) : undefined;
      if (miss !== undefined && ignored === 0)
        skipped.push({ path: typed, reason: `no file matches; ${miss}`, code: "NOT_FOUND" });
      if (ignored > 0)
        skipped.push({ path: typed, reason: everyMatchIgnoredReason(ignored, call), code: "NOT_FOUND" });
    } catch (thrown) {
      const error = fromEngine(thrown);
      if (error.code === "CANCELLED" || error.code === "INTERNAL") throw error;
      skipped.push({ path: typed, reason: skipReasonOf(error), code: error.code });
    }
  }
  const shown = [...found.values()].map((file) => ({ file, path: call.display(file.at.path) }));
  const yielder = new Yielder({ signal: call.signal });
  const sorted = await sortYielding(shown, (a, b) => compareCodePoints(a.path, b.path), yielder);
  return sorted.map(({ file }) => file);
}

/**
 * Adds the files that one path, directory or glob names. Returns the number of matches that ignore files
 * exclude, if nothing else matches; otherwise 0.
 */
async function expandPath(
  typed: string,
  args: ChosenFiles,
  call: Call,
  add: (at: Location, byName: boolean) => void,
  notes: string[],
): Promise<number> {
  const { paths } = call.access;
  const addMatches = async (): Promise<number> => {
    let ignored = 0;
    for (const glob of globsInForm(typed, paths)) {
      const { base, pattern } = splitGlob(glob);
      ignored += await addFoundFile(await call.locate(base, "read"), pattern, args, call, add);
    }
    return ignored;
  };
  // On Windows no path can have these characters, so it is not asked for.
  if (paths === "windows" && /[*?]/u.test(typed)) return addMatches();
  const asked = await call.locate(typed, "read");
  const isMissing = !hasGlobSyntax(typed) && !(await call.fs.exists(asked.path));
  const taken = isMissing ? await call.alike?.(typed, asked) : undefined;
  if (taken !== undefined) notes.push(taken.note);
  const at = taken === undefined ? asked : await call.locate(taken.path, "read");
  if (await call.fs.exists(at.path)) {
    const { isDir } = await call.fs.stat(at.path);
    if (isDir) return addFoundFile(at, "**/*", args, call, add);
    if (at.directory) throw locationError("NOT_DIRECTORY", at);
    add(at, true);
    return 0;
  }
  if (!hasGlobSyntax(typed)) {
    await call.fs.stat(at.path); // Throws the reason: missing, or not allowed.
    throw locationError("NOT_FOUND", at);
  }
  return addMatches();
}

function everyMatchIgnoredReason(ignored: number, { names }: Call): string {
  const name = names.argument("respect_ignore");
  return `every match is ignored by .gitignore or the like (at least ${ignored})${phraseIfNamed(name, (shown) => `; see ${shown}`)}`;
}

/** Returns the pattern in which `**` does not match any directory, for a call that is not recursive. */
function isWithinOneLevel(pattern: string): string {
  const flat = pattern.replaceAll("**/", "").replaceAll("**", "*");
  return flat.includes("/") ? flat : `/${flat}`;
}

async function addFoundFile(
  root: Location,
  pattern: string,
  args: ChosenFiles,
  call: Call,
  add: (at: Location, byName: boolean) => void,
): Promise<number> {
  const exclude = args.use_default_excludes ? [...args.exclude, ...DEFAULT_EXCLUDE_GLOBS] : args.exclude;
  const { paths, ignored } = await findPaths(call, root.path, {
    pattern: [args.recursive ? pattern : isWithinOneLevel(pattern)],
    exclude,
    respectIgnore: args.respect_ignore,
  });
  const byName = /\.\w+\}?$/u.test(pattern);
  const yielder = new Yielder({ signal: call.signal });
  for (const [index, path] of paths.entries()) {
    if (index % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    add(call.found(path, "read"), byName);
  }
  return paths.length === 0 ? ignored : 0;
}
