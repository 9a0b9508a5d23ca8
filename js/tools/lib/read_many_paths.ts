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
import { findCountingIgnored, findPaths, hasGlobSyntax, searchedGlobs, splitGlob } from "./walks.ts";

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
  const found = new FoundFiles(notes);
  for (const typed of [...args.paths, ...args.include]) {
    try {
      const before = found.size;
      const ignored = await expandPath(typed, args, call, found);
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
  const shown = [...found.values()].map((file) => ({ file, path: call.reader.display(file.at.path) }));
  const yielder = new Yielder({ signal: call.signal });
  const sorted = await sortYielding(shown, (a, b) => compareCodePoints(a.path, b.path), yielder);
  return sorted.map(({ file }) => file);
}

/** The files that were found, each once, and notes about them. */
class FoundFiles {
  readonly notes: string[];
  readonly #byPath = new Map<string, RequestedFile>();

  constructor(notes: string[]) {
    this.notes = notes;
  }

  get size(): number {
    return this.#byPath.size;
  }

  add(at: Location, byName: boolean): void {
    if (this.#byPath.get(at.path)?.byName !== true) this.#byPath.set(at.path, { at, byName });
  }

  values(): Iterable<RequestedFile> {
    return this.#byPath.values();
  }
}

/**
 * Adds the files that one path, directory or glob names. Returns the number of matches that ignore files
 * exclude, if nothing else matches; otherwise 0.
 */
async function expandPath(typed: string, args: ChosenFiles, call: Call, found: FoundFiles): Promise<number> {
  // On Windows no path can have these characters, so it is not asked for.
  if (call.reach.summary.paths === "windows" && /[*?]/u.test(typed))
    return addMatches(typed, args, call, found);
  const asked = await call.reach.locate(typed, "read");
  const isMissing = !hasGlobSyntax(typed) && !(await call.fs.exists(asked.path));
  const taken = isMissing ? await call.reach.alike?.(typed, asked) : undefined;
  if (taken !== undefined) found.notes.push(taken.note);
  const at = taken === undefined ? asked : await call.reach.locate(taken.path, "read");
  if (await call.fs.exists(at.path)) {
    const { isDir } = await call.fs.stat(at.path);
    if (isDir) return addFilesBelow({ at, pattern: "**/*" }, args, call, found);
    if (at.directory) throw locationError("NOT_DIRECTORY", at);
    found.add(at, true);
    return 0;
  }
  if (!hasGlobSyntax(typed)) {
    await call.fs.stat(at.path); // Throws the reason: missing, or not allowed.
    throw locationError("NOT_FOUND", at);
  }
  return addMatches(typed, args, call, found);
}

/** Adds the files that match a glob. */
async function addMatches(typed: string, args: ChosenFiles, call: Call, found: FoundFiles): Promise<number> {
  let ignored = 0;
  for (const glob of globsInForm(typed, call.reach.summary.paths)) {
    const { base, pattern } = splitGlob(glob);
    ignored += await addFilesBelow({ at: await call.reach.locate(base, "read"), pattern }, args, call, found);
  }
  return ignored;
}

function everyMatchIgnoredReason(ignored: number, { reader: { names } }: Call): string {
  const name = names.argument("respect_ignore");
  return `every match is ignored by .gitignore or the like (at least ${ignored})${phraseIfNamed(name, (shown) => `; see ${shown}`)}`;
}

/** Returns the pattern in which `**` does not match any directory, for a call that is not recursive. */
function isWithinOneLevel(pattern: string): string {
  const flat = pattern.replaceAll("**/", "").replaceAll("**", "*");
  return flat.includes("/") ? flat : `/${flat}`;
}

/** Adds the files below a place that match a pattern. Returns the number of ignored matches if there is no other. */
async function addFilesBelow(
  { at: root, pattern }: { readonly at: Location; readonly pattern: string },
  args: ChosenFiles,
  call: Call,
  found: FoundFiles,
): Promise<number> {
  const excluded = args.use_default_excludes ? [...args.exclude, ...DEFAULT_EXCLUDE_GLOBS] : args.exclude;
  const query = {
    pattern: [args.recursive ? pattern : isWithinOneLevel(pattern)],
    exclude: searchedGlobs(call, excluded),
    respectIgnore: args.respect_ignore,
  };
  const { paths, ignored } = await findCountingIgnored((changes) =>
    findPaths(call, root.path, { ...query, ...changes }),
  );
  const byName = /\.\w+\}?$/u.test(pattern);
  const yielder = new Yielder({ signal: call.signal });
  for (const [index, path] of paths.entries()) {
    if (index % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    found.add(call.reach.found(path, "read"), byName);
  }
  return paths.length === 0 ? ignored : 0;
}
