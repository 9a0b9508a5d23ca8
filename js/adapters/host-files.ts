/**
 * The calls of a workspace for hosts that have their own names for tools and results. Paths begin with `/` at the
 * working directory.
 */
import {
  callback,
  either,
  type Options,
  options as described,
  signalOption,
  text,
} from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { toBase64 } from "../engine/wire/bytes.ts";
import { joinPath } from "../backends/paths.ts";
import type { ToolArgs, ToolData, ToolName } from "../tools/index.ts";
import type { RunCommandData } from "../tools/generated/internal.ts";
import { type ToolResult, toolsFor, type Workspace } from "../workspace/index.ts";

/** Options of every call. */
export interface HostOptions {
  /** The name of the caller. Each caller has its own record of reads and its own lines in logs. */
  readonly agent?: string | undefined;
  /** Cancels running calls: a signal, or a function that returns the signal of the current run. */
  readonly signal?: AbortSignal | (() => AbortSignal | undefined) | undefined;
}

/** The options of hosts that work on files. */
export const HOST_OPTIONS: Options<HostOptions> = described("HostOptions", {
  agent: text(),
  signal: either(signalOption, callback<() => AbortSignal | undefined>()),
});

/** The calls of one host. Their paths are those of the host, such as `/src/a.ts`. */
export interface HostFiles {
  call<Name extends ToolName>(tool: Name, args: ToolArgs[Name]): Promise<ToolResult<ToolData[Name]>>;
  /** Runs a command by /bin/sh, in a workspace with commands. */
  run(command: string): Promise<ToolResult<RunCommandData>>;
  /** Returns the bytes of any file; read like `read_file`, with its hooks and rules. */
  bytes(path: string): Promise<ToolResult<Uint8Array>>;
}

/** The error codes with which a text read fails only after the policy allowed the file. */
const READABLE_CODES: ReadonlySet<string> = new Set([
  "BINARY_FILE",
  "ENCODING_ERROR",
  "UNSUPPORTED_FORMAT",
  "TOO_LARGE",
]);

/** Creates the calls of one host on a workspace. */
export function hostFiles(ws: Workspace, { agent, signal }: HostOptions): HostFiles {
  const tools = new Map(toolsFor(ws, "canonical").map((tool) => [tool.name, tool]));
  const any = async (name: string, args: object): Promise<ToolResult<never>> => {
    const current = typeof signal === "function" ? signal() : signal;
    const tool = tools.get(name);
    const made = withWorkspacePaths(args);
    // A tool that the workspace does not offer fails with READ_ONLY for a change in a read-only workspace, and otherwise
    // because there is no such tool.
    const result = await (tool?.execute(made, withoutUndefined({ agent, signal: current })) ??
      ws.call(name, made));
    return result as ToolResult<never>;
  };
  const call: HostFiles["call"] = any;
  return {
    call,
    run: (command) => any("run_command", { command, shell: true }),
    async bytes(path) {
      const looked = await call("read_file", { path, max_lines: 1, non_text: "error" });
      if (!looked.ok && !READABLE_CODES.has(looked.error.code)) return looked;
      const info = await call("access_info", {});
      if (!info.ok) return info;
      const data = await ws.fs.readBytes(joinPath(info.data.cwd, toWorkspacePath(path)));
      const text = `${data.length} bytes`;
      return { ok: true, text, display: text, data, meta: looked.meta };
    },
  };
}

/** The arguments that are paths of the host. */
const PATH_ARGUMENTS = ["path", "source", "destination"] as const;

/** Returns arguments with the paths as the workspace takes them. */
function withWorkspacePaths(args: object): Record<string, unknown> {
  const made: Record<string, unknown> = { ...args };
  for (const name of PATH_ARGUMENTS)
    if (typeof made[name] === "string") made[name] = toWorkspacePath(made[name]);
  return made;
}

/** Returns the arguments of `write_file` for a content. */
export function contentArguments(
  content: string | Uint8Array,
): Pick<ToolArgs["write_file"], "content" | "content_encoding"> {
  return typeof content === "string"
    ? { content }
    : { content: toBase64(content), content_encoding: "base64" };
}

/**
 * Returns the path relative to the working directory for a path of the host: `/src/a.ts` and `src/a.ts` give
 * `src/a.ts`, `/` gives `.`.
 */
function toWorkspacePath(path: string): string {
  const bare = path.replace(/^\/+/u, "");
  return bare === "" ? "." : bare;
}

/** Returns the path of the host for a relative path: `src/a.ts` gives `/src/a.ts`, `.` gives `/`. */
export function toHostPath(path: string): string {
  return path === "." ? "/" : `/${path.replace(/^\/+/u, "")}`;
}
