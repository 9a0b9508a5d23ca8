/**
 * The functions that the filesystem server of the Model Context Protocol tests one by one,
 * and a case of what it expects of them. `shim.ts` has them by our public interface.
 */
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

type Maybe<T> = T | Promise<T>;

/** One replacement. */
export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

/** The result of `getFileStats`. */
interface Stats {
  readonly size: number;
  readonly created: Date;
  readonly modified: Date;
  readonly accessed: Date;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly permissions: string;
}

/** That server's own names and parameters. Paths are absolute unless a case says otherwise. */
export interface Units {
  setAllowedDirectories(directories: readonly string[]): void;
  formatSize(bytes: number): Maybe<string>;
  normalizeLineEndings(text: string): Maybe<string>;
  createUnifiedDiff(before: string, after: string, path?: string): Maybe<string>;
  validatePath(path: string): Promise<string>;
  getFileStats(path: string): Promise<Stats>;
  readFileContent(path: string, encoding?: string): Promise<string>;
  writeFileContent(path: string, content: string): Promise<void>;
  searchFilesWithValidation(
    root: string,
    pattern: string,
    allowed: readonly string[],
    options: { readonly excludePatterns?: readonly string[] },
  ): Promise<readonly string[]>;
  applyFileEdits(path: string, edits: readonly Edit[], dryRun: boolean): Promise<string>;
  tailFile(path: string, lines: number): Promise<string>;
  headFile(path: string, lines: number): Promise<string>;
  normalizePath(path: string): Maybe<string>;
  expandHome(path: string): Maybe<string>;
  isPathWithinAllowedDirectories(path: unknown, allowed: unknown): Maybe<boolean>;
  getValidRootDirectories(
    roots: readonly { readonly uri: string; readonly name?: string }[],
  ): Maybe<readonly string[]>;
  /** Theirs is inside a tool: the JSON that `directory_tree` answers. */
  directoryTree(root: string, excludePatterns: readonly string[]): Promise<string>;
}

/** One expectation of theirs, in our words. */
export interface UnitCase {
  /** The file of their tests and the function. */
  readonly of: string;
  readonly name: string;
  run(units: Units, at: Scratch): Maybe<unknown>;
  /** The expected result of that server, compared as data. */
  readonly gives: unknown;
}

/** An expectation that we do not fulfil, on purpose. */
export interface Difference extends UnitCase {
  /** The result of our server. */
  readonly ours: unknown;
  readonly why: string;
}

/** A directory that is allowed, and a sibling that is not. */
export interface Scratch {
  readonly allowed: string;
  readonly outside: string;
  /** Makes a file below the allowed directory, and gives its path. */
  file(name: string, content?: string): Promise<string>;
  /** Makes a file that is not allowed, and gives its path. */
  secret(name: string, content?: string): Promise<string>;
  /** Makes a link below the allowed directory, and gives its path. */
  link(target: string, name: string): Promise<string>;
  read(path: string): Promise<string>;
  /** Paths as they are below this place. */
  short(path: string): string;
}

/** Runs a case in a fresh place, which is gone afterwards. */
export async function outcome(units: Units, { run }: UnitCase): Promise<unknown> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "filewright-units-")));
  const [allowed, outside] = [join(dir, "allowed"), join(dir, "outside")];
  const make = async (path: string, content: string): Promise<string> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  };
  try {
    await mkdir(allowed);
    await mkdir(outside);
    units.setAllowedDirectories([allowed]);
    return await run(units, {
      allowed,
      outside,
      file: (name, content = "") => make(join(allowed, name), content),
      secret: (name, content = "") => make(join(outside, name), content),
      async link(target, name) {
        await symlink(target, join(allowed, name));
        return join(allowed, name);
      },
      read: (path) => readFile(path, "utf8"),
      short: (path) => path.replace(`${dir}/`, ""),
    });
  } finally {
    units.setAllowedDirectories([]);
    await rm(dir, { recursive: true, force: true });
  }
}

/** Returns the text of a refusal up to the first colon; `done` for a success. */
export async function refusal(doing: Maybe<unknown>): Promise<string> {
  try {
    await doing;
    return "done";
  } catch (error) {
    const [said = ""] = (error as Error).message.replace(/^Error: /u, "").split(":");
    return said;
  }
}

/** Returns true for a refusal, whatever its text: the servers use different words. */
export const refused = async (doing: Maybe<unknown>): Promise<boolean> => (await refusal(doing)) !== "done";
