/**
 * The backend of a deep agent: LangChain's `BackendProtocolV2` over a workspace. Nothing of it is
 * imported. Its tools keep their names; calls of the workspace do their work on files, with its
 * edits, locks, rules, hooks and history.
 *
 * Paths begin with `/` at the working directory of the workspace. A failure is a value with the
 * tool's text. The framework passes no signal to a backend: give one here.
 *
 * @module filewright/deepagents
 */
import { fromBase64 } from "../engine/wire/bytes.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { ErrorData, ToolResult, Workspace } from "../workspace/index.ts";
import { contentArguments, HOST_OPTIONS, type HostOptions, hostFiles, toHostPath } from "./host-files.ts";
import { adapterChecker } from "./offer.ts";
import { textWithoutErrorPrefix } from "./outcome.ts";

export type { HostOptions } from "./host-files.ts";

/** Facts about a path. */
export interface DeepAgentsFile {
  path: string;
  is_dir?: boolean;
  size?: number;
  modified_at?: string;
}

/** The result of `read`: a page of a text file; an image, or another file without text, whole as bytes. */
export interface DeepAgentsRead {
  error?: string;
  content?: string | Uint8Array;
  mimeType?: string;
  totalLines?: number;
  startLine?: number;
  endLine?: number;
  nextOffset?: number;
}

/** A whole file with its content and times, as Deep Agents takes it. */
export interface DeepAgentsRaw {
  error?: string;
  data?: { content: string | Uint8Array; mimeType: string; created_at: string; modified_at: string };
}

/** The result of a change. The files are on the disk already: the framework stores none. */
export interface DeepAgentsChange {
  error?: string;
  path?: string;
  filesUpdate?: null;
}

/** The reason for a failed transfer, in the framework's words. */
export type DeepAgentsTransferError =
  | "file_not_found"
  | "permission_denied"
  | "is_directory"
  | "invalid_path";

/** The backend in the shape of Deep Agents' `BackendProtocolV2`. */
export interface DeepAgentsBackend {
  ls(path: string): Promise<{ error?: string; files?: DeepAgentsFile[] }>;
  /** Reads a page of a file. `offset` counts lines from 0. */
  read(path: string, offset?: number, limit?: number): Promise<DeepAgentsRead>;
  readRaw(path: string): Promise<DeepAgentsRaw>;
  write(path: string, content: string): Promise<DeepAgentsChange>;
  edit(
    path: string,
    oldText: string,
    newText: string,
    replaceAll?: boolean,
  ): Promise<DeepAgentsChange & { occurrences?: number }>;
  /** Searches for literal text. */
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<{
    error?: string;
    matches?: { path: string; line: number; text: string }[];
    truncated?: boolean;
  }>;
  glob(
    pattern: string,
    path?: string,
  ): Promise<{ error?: string; files?: DeepAgentsFile[]; truncated?: boolean }>;
  delete(path: string): Promise<DeepAgentsChange>;
  uploadFiles(
    files: [string, Uint8Array][],
  ): Promise<{ path: string; error: DeepAgentsTransferError | null }[]>;
  downloadFiles(
    paths: string[],
  ): Promise<{ path: string; content: Uint8Array | null; error: DeepAgentsTransferError | null }[]>;
}

/** A backend of a workspace that runs commands. */
export interface DeepAgentsSandbox extends DeepAgentsBackend {
  readonly id: string;
  execute(command: string): Promise<{ output: string; exitCode: number | null; truncated: boolean }>;
}

/**
 * The maximum number of lines of a search or a listing. The framework has no pages, so one result must contain
 * all.
 */
const MAX_SEARCH_RESULTS = 10_000;

const checkBackendOptions = adapterChecker("toDeepAgentsBackend", HOST_OPTIONS);
const checkSandboxOptions = adapterChecker("toDeepAgentsSandbox", HOST_OPTIONS);

/**
 * A workspace as the backend of `createDeepAgent`.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const agent = createDeepAgent({ model, backend: toDeepAgentsBackend(ws) });
 */
export function toDeepAgentsBackend(ws: Workspace, options: HostOptions = {}): DeepAgentsBackend {
  const { call, bytes } = hostFiles(ws, checkBackendOptions(ws, options));
  const told = (result: ToolResult): { error: string } => ({ error: textWithoutErrorPrefix(result.text) });
  const changed = (result: ToolResult, path: string): DeepAgentsChange =>
    result.ok ? { path, filesUpdate: null } : { error: result.text };

  return {
    async ls(path) {
      const result = await call("list_directory", { path, limit: MAX_SEARCH_RESULTS });
      if (!result.ok) return told(result);
      const files = result.data.entries.map((entry): DeepAgentsFile => {
        const isDir = entry.type === "dir";
        return {
          path: `${toHostPath(entry.path)}${isDir ? "/" : ""}`,
          is_dir: isDir,
          ...withoutUndefined({ size: entry.size, modified_at: entry.modified }),
        };
      });
      return { files };
    },

    async read(path, offset = 0, limit = 500) {
      const result = await call("read_file", {
        path,
        start_line: Math.max(offset, 0) + 1,
        max_lines: Math.max(limit, 1),
        line_numbers: "none",
      });
      if (!result.ok) return told(result);
      const [image] = result.content ?? [];
      if (image !== undefined)
        return { content: fromBase64(image.source.data), mimeType: image.source.media_type };
      const { content, lines_read, total_lines, start_line, end_line, next_start_line } = result.data;
      // Empty files, pages past the end and rendered files are explained by the tool's text.
      if (lines_read === 0 || result.data.rendered === true)
        return { content: result.text, mimeType: "text/plain" };
      return {
        content: content.replace(/\r?\n$/u, ""),
        mimeType: "text/plain",
        startLine: start_line,
        endLine: end_line,
        ...withoutUndefined({
          totalLines: total_lines ?? undefined,
          nextOffset: next_start_line === undefined ? undefined : next_start_line - 1,
        }),
      };
    },

    async readRaw(path) {
      const result = await call("read_file", {
        path,
        max_lines: null,
        line_numbers: "none",
        max_line_chars: 0,
      });
      if (!result.ok) return told(result);
      const facts = await call("stat", { path });
      if (!facts.ok) return told(facts);
      const { modified, created = modified } = facts.data;
      const [image] = result.content ?? [];
      return {
        data: {
          content: image === undefined ? result.data.content : fromBase64(image.source.data),
          mimeType: image?.source.media_type ?? "text/plain",
          created_at: created,
          modified_at: modified,
        },
      };
    },

    write: async (path, content) => changed(await call("write_file", { path, content }), path),

    async edit(path, oldText, newText, replaceAll = false) {
      const edits = [{ old_text: oldText, new_text: newText, replace_all: replaceAll }];
      const result = await call("edit_file", { path, edits });
      return { ...changed(result, path), ...withoutUndefined({ occurrences: result.data?.replacements }) };
    },

    async grep(pattern, path, glob, maxCount) {
      const result = await call("grep", {
        pattern,
        path: path ?? "/",
        regex: false,
        max_results: maxCount ?? MAX_SEARCH_RESULTS,
        ...withoutUndefined({ glob: glob ?? undefined }),
      });
      if (!result.ok) return told(result);
      const { matches = [], truncated, complete } = result.data;
      return {
        matches: matches.map(({ path: file, line, text }) => ({ path: toHostPath(file), line, text })),
        ...withoutUndefined({ truncated: truncated || !complete || undefined }),
      };
    },

    async glob(pattern, path = "/") {
      const result = await call("glob", {
        pattern: pattern.replace(/^\/+/u, ""),
        path,
        limit: MAX_SEARCH_RESULTS,
      });
      if (!result.ok) return told(result);
      return {
        files: result.data.matches.map((file) => ({ path: toHostPath(file), is_dir: false })),
        ...withoutUndefined({ truncated: result.data.truncated || undefined }),
      };
    },

    delete: async (path) => changed(await call("delete", { path, recursive: true }), path),

    async uploadFiles(files) {
      const answers: { path: string; error: DeepAgentsTransferError | null }[] = [];
      for (const [path, content] of files) {
        const { error } = await call("write_file", { path, ...contentArguments(content) });
        answers.push({ path, error: error === undefined ? null : transferError(error) });
      }
      return answers;
    },

    async downloadFiles(paths) {
      const answers: {
        path: string;
        content: Uint8Array | null;
        error: DeepAgentsTransferError | null;
      }[] = [];
      for (const path of paths) {
        const result = await bytes(path);
        answers.push(
          result.ok
            ? { path, content: result.data, error: null }
            : { path, content: null, error: transferError(result.error) },
        );
      }
      return answers;
    },
  };
}

/**
 * The same for a workspace with `commands`: the agent gets the framework's `execute` tool, whose
 * commands run in the sandbox of the workspace.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", commands: true });
 * const agent = createDeepAgent({ model, backend: toDeepAgentsSandbox(ws) });
 */
export function toDeepAgentsSandbox(ws: Workspace, options: HostOptions = {}): DeepAgentsSandbox {
  const { run } = hostFiles(ws, checkSandboxOptions(ws, options));
  return {
    ...toDeepAgentsBackend(ws, options),
    id: "filewright",
    async execute(command) {
      const result = await run(command);
      if (!result.ok) return { output: result.text, exitCode: null, truncated: false };
      const { stdout, stderr, exit_code, truncated } = result.data;
      return { output: `${stdout}${stderr}`, exitCode: exit_code, truncated };
    },
  };
}

function transferError({ code }: ErrorData): DeepAgentsTransferError {
  if (code === "NOT_FOUND") return "file_not_found";
  if (code === "IS_DIRECTORY") return "is_directory";
  return code === "INVALID_ARGUMENT" || code === "NAME_TOO_LONG" || code === "NOT_DIRECTORY"
    ? "invalid_path"
    : "permission_denied";
}
