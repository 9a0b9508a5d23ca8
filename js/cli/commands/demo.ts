/**
 * A demonstration: a short session of an agent on a given directory, by the same `openWorkspace` that agents
 * use. Each call is printed with its time.
 *
 * The directory is only read. The session edits a copy of one file in a temporary directory, which is then
 * removed.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FilewrightError } from "../../engine/errors.ts";
import type { ToolResult, Workspace } from "../../workspace/index.ts";
import { EXIT_STATUS } from "../command.ts";
import { colourDiff, printText, printError } from "../streams.ts";
import { type Shell, withStyle } from "../person/style.ts";
import { hasTrait } from "../../schema/tool-facts.ts";

/** The maximum number of lines that are shown of each answer. */
const MAX_SHOWN_LINES = 8;
const MAX_SHOWN_DIFF_LINES = 16;
const MAX_SHOWN_CHARS = 140;

/** Runs the session on a directory, and returns the exit status. */
export async function runDemo(directory: string, shell: Shell): Promise<number> {
  const root = await realpath(directory).catch(() => undefined);
  if (root === undefined) {
    printError(shell, `filewright: '${directory}' does not exist`);
    return EXIT_STATUS.error;
  }
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "filewright-demo-")));
  const started = performance.now();
  let calls = 0;
  try {
    // The help must not load an engine.
    const { openWorkspace } = await import("../../workspace/index.node.ts");
    const ws = await openWorkspace({
      roots: [{ path: root, access: "read" }, scratch],
      // The scratch directory is removed: its changes are no part of the history of the directory.
      history: false,
    });
    printText(
      shell,
      withStyle(shell, "strong", `A workspace on ${root} (read-only), with a scratch directory to write in.`),
    );
    const play = async (why: string, tool: string, args: Record<string, unknown>): Promise<ToolResult> => {
      calls += 1;
      return playCall({ ws, shell }, why, tool, args);
    };
    const worked = await runSession(play, scratch);
    const { engine, confinement, resolver, sandbox } = ws.capabilities();
    await ws.close();
    printText(shell, "");
    printText(
      shell,
      `${calls} calls in ${(performance.now() - started).toFixed(0)} ms. Engine: ${engine.kind}${engine.reason === undefined ? "" : ` (${engine.reason})`}. ` +
        `Confinement: ${confinement === "native" ? `beneath pinned descriptors (${resolver?.resolver})` : "checked paths"}; kernel sandbox: ${sandbox.fs}.`,
    );
    return worked ? EXIT_STATUS.ok : EXIT_STATUS.error;
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    printError(shell, `filewright: ${error.message}`);
    return EXIT_STATUS.error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

type PlayCall = (why: string, tool: string, args: Record<string, unknown>) => Promise<ToolResult>;

/** Runs the session; returns false when a step failed. */
async function runSession(play: PlayCall, scratch: string): Promise<boolean> {
  const found = await play("What is here?", "glob", {
    pattern: "**/*.{ts,js,mjs,rs,py,go,java,c,h,md}",
    limit: 1000,
  });
  const hits = await play("Where are things defined?", "grep", {
    pattern: "^(export (async )?function|pub fn|def|class|func) \\w+",
    max_results: 20,
  });
  const path = firstPath(hits, "matches") ?? firstPath(found, "matches");
  if (!found.ok || !hits.ok || path === undefined) return false;
  const line = (hits.data as { matches?: { line: number }[] } | undefined)?.matches?.[0]?.line ?? 1;

  const page = await play("Read around the first hit.", "read_file", {
    path,
    start_line: Math.max(1, line - 2),
    max_lines: 8,
  });
  if (!page.ok) return false;
  const old = lineToEdit(page);
  const copy = `${scratch}/${path.split("/").pop()}`;
  const copied = await play("Work on a copy.", "copy", { source: path, destination: copy });
  const edit = { path: copy, old_text: old, new_text: `${old} // seen by an agent`, on_multiple: "first" };
  const dry = await play("What would this edit do?", "edit_file", { ...edit, dry_run: true });
  const applied = await play("Then do it.", "edit_file", edit);
  const out = await play("And out of the workspace?", "read_file", { path: "/etc/passwd" });
  const refused = !out.ok && out.error.code === "OUTSIDE_ALLOWED";
  return copied.ok && dry.ok && applied.ok && refused;
}

function firstPath(result: ToolResult, list: string): string | undefined {
  const first = (result.data as Record<string, readonly unknown[]> | undefined)?.[list]?.[0];
  return typeof first === "string" ? first : (first as { path?: string } | undefined)?.path;
}

/** Returns the line of the page that the session edits: the first one that contains a word. */
function lineToEdit(page: ToolResult): string {
  const { content } = page.data as { readonly content: string };
  const lines = content.split(/\r?\n/u);
  return lines.find((line) => /\w{3}/u.test(line)) ?? (lines[0] as string);
}

async function playCall(
  { ws, shell }: { readonly ws: Workspace; readonly shell: Shell },
  why: string,
  tool: string,
  args: Record<string, unknown>,
): Promise<ToolResult> {
  const started = performance.now();
  const result = await ws.call(tool, args);
  const took = performance.now() - started;
  printText(shell, "");
  printText(shell, withStyle(shell, "faint", `# ${why}`));
  printText(
    shell,
    `${withStyle(shell, "place", tool)} ${JSON.stringify(args)}  ${withStyle(shell, "faint", `${took.toFixed(1)} ms`)}`,
  );
  printText(shell, shortenAnswer(shell, tool, result));
  return result;
}

function shortenAnswer(shell: Shell, tool: string, result: ToolResult): string {
  if (!result.ok) return withStyle(shell, "bad", result.text);
  const lines = result.text.split("\n");
  const isDiff = hasTrait(tool, "showsDiff");
  const shown = lines
    .slice(0, isDiff ? MAX_SHOWN_DIFF_LINES : MAX_SHOWN_LINES)
    .map((line) => (line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}…` : line));
  const rest = lines.length - shown.length;
  const text = shown.join("\n");
  return `${isDiff ? colourDiff(shell, text) : text}${rest > 0 ? `\n${withStyle(shell, "faint", `… and ${rest} more lines`)}` : ""}`;
}
