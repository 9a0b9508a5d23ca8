/**
 * The filesystem of a Mastra workspace. Nothing of Mastra is imported: the host passes in its
 * error classes, which its tools use to recognise errors.
 *
 * Paths begin with `/` at the working directory of the workspace. Every operation is one call of
 * the workspace, with its locks, rules, hooks and history; the message of an error is the tool's.
 *
 * @module filewright/mastra
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import {
  callback,
  optionChecker,
  instance,
  type OptionalOption,
  type Options,
  required,
} from "../schema/option.ts";
import type { ToolResult, Workspace } from "../workspace/index.ts";
import { contentArguments, HOST_OPTIONS, type HostOptions, hostFiles } from "./host-files.ts";
import { adapterChecker } from "./offer.ts";
import { textWithoutErrorPrefix, ToolFailure } from "./outcome.ts";

export type { HostOptions } from "./host-files.ts";

export { ToolFailure };

/** Mastra's class of an error about a path. */
export type MastraPathError = new (path: string) => Error;

/** The classes that the host passes in, from `@mastra/core/workspace`. */
export interface MastraErrors {
  readonly FileNotFoundError: MastraPathError;
  readonly DirectoryNotFoundError: MastraPathError;
  readonly FileExistsError: MastraPathError;
  readonly IsDirectoryError: MastraPathError;
  readonly NotDirectoryError: MastraPathError;
  readonly DirectoryNotEmptyError: MastraPathError;
}

const ERROR_CLASS_OPTION = callback() as unknown as OptionalOption<MastraPathError>;
const MASTRA_ERROR_OPTIONS: Options<MastraErrors> = instance<MastraErrors>(
  "MastraErrors",
  "Mastra's error classes",
  {
    FileNotFoundError: required(ERROR_CLASS_OPTION),
    DirectoryNotFoundError: required(ERROR_CLASS_OPTION),
    FileExistsError: required(ERROR_CLASS_OPTION),
    IsDirectoryError: required(ERROR_CLASS_OPTION),
    NotDirectoryError: required(ERROR_CLASS_OPTION),
    DirectoryNotEmptyError: required(ERROR_CLASS_OPTION),
  },
);

const checkOptions = adapterChecker("toMastraFilesystem", HOST_OPTIONS);
const checkErrors = optionChecker("toMastraFilesystem", MASTRA_ERROR_OPTIONS);

/** Facts about a path. */
export interface MastraStat {
  name: string;
  path: string;
  type: "file" | "directory";
  size: number;
  createdAt: Date;
  modifiedAt: Date;
  mimeType?: string;
}

/** One entry of a directory. */
export interface MastraEntry {
  name: string;
  type: "file" | "directory";
  size?: number;
  isSymlink?: boolean;
  symlinkTarget?: string;
}

/** The filesystem. */
export interface MastraFilesystem {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly readOnly: boolean;
  status: "ready";
  getInstructions(): string;
  readFile(path: string, options?: { encoding?: string }): Promise<string | Buffer>;
  writeFile(
    path: string,
    content: string | Uint8Array,
    options?: { recursive?: boolean; overwrite?: boolean; expectedMtime?: Date },
  ): Promise<void>;
  appendFile(path: string, content: string | Uint8Array): Promise<void>;
  deleteFile(path: string, options?: { force?: boolean }): Promise<void>;
  copyFile(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  moveFile(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
  rmdir(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  readdir(
    path: string,
    options?: { recursive?: boolean; extension?: string | string[]; maxDepth?: number },
  ): Promise<MastraEntry[]>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<MastraStat>;
}

/** The maximum number of entries of one listing. */
const MAX_LISTED_ENTRIES = 100_000;
/** The maximum depth of one listing, in directories. */
const MAX_LISTED_LEVELS = 32;

/**
 * A workspace as the filesystem of a Mastra workspace.
 *
 * @example
 * import * as mastra from "@mastra/core/workspace";
 * const ws = await openWorkspace("/repo");
 * const workspace = new mastra.Workspace({ filesystem: toMastraFilesystem(ws, mastra) });
 */
export function toMastraFilesystem(
  ws: Workspace,
  errors: MastraErrors,
  options: HostOptions = {},
): MastraFilesystem {
  const { call, bytes } = hostFiles(ws, checkOptions(ws, options));
  checkErrors(errors);
  const fail = (result: ToolResult & { ok: false }, path: string, directory = false): Error => {
    const byCode: Readonly<Record<string, MastraPathError>> = {
      NOT_FOUND: directory ? errors.DirectoryNotFoundError : errors.FileNotFoundError,
      ALREADY_EXISTS: errors.FileExistsError,
      IS_DIRECTORY: errors.IsDirectoryError,
      NOT_DIRECTORY: errors.NotDirectoryError,
      NOT_EMPTY: errors.DirectoryNotEmptyError,
    };
    const PathError = byCode[result.error.code];
    return PathError === undefined
      ? new ToolFailure({ ...result, text: textWithoutErrorPrefix(result.text) })
      : Object.assign(new PathError(path), { message: textWithoutErrorPrefix(result.text) });
  };
  const settle = (result: ToolResult, path: string, directory = false): void => {
    if (!result.ok) throw fail(result, path, directory);
  };
  const stat = async (path: string): Promise<MastraStat> => {
    const result = await call("stat", { path });
    if (!result.ok) throw fail(result, path);
    const { name, size, modified, created = modified, is_dir, mime } = result.data;
    return {
      name,
      path,
      type: is_dir ? "directory" : "file",
      size: is_dir ? 0 : size,
      createdAt: new Date(created),
      modifiedAt: new Date(modified),
      ...withoutUndefined({ mimeType: mime }),
    };
  };
  const write = async (
    path: string,
    content: string | Uint8Array,
    more: { overwrite?: boolean; create_dirs?: boolean; append?: boolean; expected_hash?: string },
  ): Promise<void> => {
    settle(await call("write_file", { path, ...contentArguments(content), ...more }), path);
  };

  return {
    id: "filewright",
    name: "Filewright",
    provider: "filewright",
    readOnly: !ws.tools.some(({ annotations }) => !annotations.readOnlyHint),
    status: "ready",
    getInstructions: () =>
      "Paths begin with / at the root of the workspace. Nothing outside it can be reached.",

    async readFile(path, { encoding } = {}) {
      const result = await bytes(path);
      if (!result.ok) throw fail(result, path);
      const buffer = Buffer.from(result.data);
      return encoding === undefined ? buffer : buffer.toString(encoding as "utf8");
    },

    async writeFile(path, content, { recursive, overwrite, expectedMtime } = {}) {
      const guard = expectedMtime === undefined ? undefined : await unchangedSince(path, expectedMtime);
      await write(path, content, { ...withoutUndefined({ create_dirs: recursive, overwrite }), ...guard });
    },

    appendFile: (path, content) => write(path, content, { append: true }),

    async deleteFile(path, { force = false } = {}) {
      const found = await call("stat", { path, follow: false });
      if (found.ok && found.data.is_dir) throw new errors.IsDirectoryError(path);
      settle(await call("delete", { path, missing_ok: force }), path);
    },

    async copyFile(from, to, { overwrite = true } = {}) {
      settle(await call("copy", { source: from, destination: to, overwrite }), from);
    },

    async moveFile(from, to, { overwrite = true } = {}) {
      settle(await call("move", { source: from, destination: to, overwrite }), from);
    },

    async mkdir(path, { recursive = false } = {}) {
      settle(await call("mkdir", { path, parents: recursive }), path);
    },

    async rmdir(path, { recursive = false, force = false } = {}) {
      const found = await call("stat", { path, follow: false });
      if (found.ok && !found.data.is_dir) throw new errors.NotDirectoryError(path);
      settle(await call("delete", { path, recursive, missing_ok: force }), path, true);
    },

    async readdir(path, { recursive = false, extension, maxDepth = MAX_LISTED_LEVELS } = {}) {
      const depth = recursive ? Math.min(maxDepth, MAX_LISTED_LEVELS) : 1;
      const result = await call("list_directory", {
        path,
        depth,
        limit: MAX_LISTED_ENTRIES,
      });
      if (!result.ok) throw fail(result, path, true);
      const wanted = extension === undefined ? [] : [extension].flat();
      const cut = result.data.path === "." ? 0 : result.data.path.length + 1;
      return result.data.entries
        .filter(
          ({ name, type }) =>
            wanted.length === 0 || type === "dir" || wanted.some((end) => name.endsWith(end)),
        )
        .map(
          ({ name, path: file, type, size, target }): MastraEntry =>
            withoutUndefined({
              name: recursive ? file.slice(cut) : name,
              type: type === "dir" ? "directory" : "file",
              size,
              isSymlink: type === "symlink" || undefined,
              symlinkTarget: target,
            }),
        );
    },

    async exists(path) {
      return (await call("stat", { path })).ok;
    },

    stat,
  };

  /** Makes a write conditional on the current content, if that is unchanged since it was read. */
  async function unchangedSince(path: string, expected: Date): Promise<{ expected_hash?: string }> {
    const found = await call("stat", { path, hash: true });
    if (!found.ok) {
      if (found.error.code === "NOT_FOUND") return {};
      throw fail(found, path);
    }
    const { modified, hash } = found.data;
    if (Date.parse(modified) === expected.getTime())
      return typeof hash === "string" ? { expected_hash: hash } : {};
    throw Object.assign(new Error(`File was modified externally: ${path}. Read it again.`), {
      name: "StaleFileError",
      code: "ESTALE",
      path,
    });
  }
}
