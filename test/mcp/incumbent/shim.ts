/**
 * The filesystem server's functions by what we publish: a workspace with preset `mcp` for
 * files, `filewright/access` for paths, `filewright/diff` for diffs.
 *
 * The two things that only our server has are taken from it: `~` in its arguments, and the
 * roots of a client.
 */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTwoFilesPatch } from "../../../js/diff/index.node.ts";
import {
  createResolver,
  FilewrightError,
  type FsEntry,
  MemoryBackend,
  openWorkspace,
  SandboxPolicy,
  type ToolDefinition,
  type Workspace,
} from "../../../js/index.node.ts";
import { usableRootDirectories, expandHome } from "../../../js/mcp/directories.ts";
import type { Units } from "./units.ts";

/** Ours. */
export function shim(): Units {
  let allowed: readonly string[] = [];

  /** Opens a workspace as the server does, for one call. */
  const within = async <T>(roots: readonly string[], use: (ws: Workspace) => Promise<T>): Promise<T> => {
    const stateDir = await mkdtemp(join(tmpdir(), "filewright-state-"));
    try {
      await using ws = await openWorkspace({ preset: "mcp", roots, stateDir });
      return await use(ws);
    } finally {
      await rm(stateDir, { recursive: true, force: true });
    }
  };
  const call = (name: string, args: object, roots = allowed): Promise<string> =>
    within(roots, (ws) => told(ws, name, args));

  return {
    setAllowedDirectories(directories) {
      allowed = directories;
    },
    async formatSize(bytes) {
      await using ws = await openWorkspace({ preset: "mcp", root: "/w", backend: new Sized(bytes) });
      const text = await told(ws, "list_directory_with_sizes", { path: "/w" });
      return /^Combined size: (.*)$/mu.exec(text)?.[1] ?? text;
    },
    normalizeLineEndings: (text) => inScratch(text, (dir) => call("read_text_file", { path: "file" }, [dir])),
    createUnifiedDiff: (before, after, path = "file") =>
      createTwoFilesPatch(path, path, before, after, "original", "modified", { stripTrailingCr: true }),
    async validatePath(path) {
      const policy = SandboxPolicy.allowList({ write: allowed, cwd: allowed[0] });
      const resolver = await createResolver(policy, (root) => realpath(root));
      return within(allowed, async (ws) => {
        const found = await toolOf(ws, "get_file_info").execute({ path });
        if (!found.ok && found.error.code !== "NOT_FOUND") throw new Error(found.text);
        return String(await ws.fs.realpath?.(resolver.resolve(path, "read").path));
      });
    },
    async getFileStats(path) {
      const facts = new Map(
        (await call("get_file_info", { path }))
          .split("\n")
          .map((line) => line.split(": ") as [string, string]),
      );
      const date = (key: string): Date => new Date(facts.get(key) ?? "");
      return {
        size: Number(facts.get("size")),
        created: date("created"),
        modified: date("modified"),
        accessed: date("accessed"),
        isDirectory: facts.get("isDirectory") === "true",
        isFile: facts.get("isFile") === "true",
        permissions: facts.get("permissions") ?? "",
      };
    },
    readFileContent: (path, encoding) =>
      encoding === undefined
        ? call("read_text_file", { path })
        : within(
            allowed,
            async (ws) => (await ws.readFile({ path, encoding, line_numbers: "none" })).content,
          ),
    async writeFileContent(path, content) {
      await call("write_file", { path, content });
    },
    async searchFilesWithValidation(root, pattern, roots, { excludePatterns = [] }) {
      const text = await call("search_files", { path: root, pattern, excludePatterns }, roots);
      return text === "No matches found" ? [] : text.split("\n");
    },
    applyFileEdits: (path, edits, dryRun) => call("edit_file", { path, edits, dryRun }),
    tailFile: (path, lines) => call("read_text_file", { path, tail: lines }),
    headFile: (path, lines) => call("read_text_file", { path, head: lines }),
    async normalizePath(path) {
      return (await createResolver(SandboxPolicy.workspaceOnly("/"))).resolve(path, "read").path;
    },
    expandHome,
    async isPathWithinAllowedDirectories(path, directories) {
      try {
        const write = directories as readonly string[];
        const policy = SandboxPolicy.allowList({ write, cwd: process.cwd() });
        (await createResolver(policy)).resolve(path as string, "write");
        return true;
      } catch (error) {
        if (error instanceof FilewrightError) return false;
        throw error;
      }
    },
    getValidRootDirectories: (roots) => usableRootDirectories(roots, () => {}),
    directoryTree: (root, excludePatterns) => call("directory_tree", { path: root, excludePatterns }),
  };
}

function toolOf(ws: Workspace, name: string): ToolDefinition {
  const tool = ws.tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

/** Calls a tool as a model does. @throws Error with the text for the model */
async function told(ws: Workspace, name: string, args: object): Promise<string> {
  const result = await toolOf(ws, name).execute(args);
  if (!result.ok) throw new Error(result.text);
  return result.text;
}

/** Storage in which one file has any size that is asked for. */
class Sized extends MemoryBackend {
  readonly #bytes: number;
  constructor(bytes: number) {
    super({ "/w": { type: "dir" }, "/w/file": "" });
    this.#bytes = bytes;
  }
  override async listDir(path: string): Promise<readonly FsEntry[]> {
    return (await super.listDir(path)).map((entry) => ({ ...entry, size: this.#bytes }));
  }
}

/** A directory with one file, for as long as it is used. */
async function inScratch<T>(content: string, use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "filewright-units-")));
  try {
    await writeFile(join(dir, "file"), content);
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
