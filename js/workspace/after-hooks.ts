/**
 * After hooks that change files, such as formatters.
 *
 * What a hook made of the agent's own change is part of the answer: its hash is that of the file as it is now, and
 * the diff says what the hook changed. So the agent has seen it, and its next guarded edit is no conflict.
 */
import { readVersioned } from "../backends/fallback.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { afterChange } from "../tools/line-ranges.ts";
import type { SeenFile } from "../tools/seen.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Call, PathUse } from "../tools/tool.ts";
import type { ToolResult } from "./result.ts";
import { isDryRun } from "./written-places.ts";

/** A call whose after hooks are run. */
export interface HookedCall {
  readonly tool: { readonly name: string; readonly kind: string };
  readonly args: object;
  readonly uses: readonly PathUse[];
  readonly call: Call;
  /** Its texts have a fixed form: what hooks changed stands in the data alone. */
  readonly fixedText: boolean;
}

/** A file as the call left it. */
interface Written {
  readonly path: string;
  readonly seen: SeenFile;
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** What hooks changed of one file. */
interface HookChange {
  readonly file: string;
  readonly before: string;
  /** Undefined where the file is gone. */
  readonly hash: string | undefined;
  readonly size: number;
  /** Undefined where it is too long to be shown. */
  readonly diff: string | undefined;
}

/** Larger files are not compared. */
const MAX_BYTES = 4 * 1024 * 1024;
/** A longer diff is not shown: the file is to be read again. */
const MAX_DIFF_CHARS = 32 * 1024;

/** Runs after hooks, and puts what they changed of the call's files into its result. */
export async function withHookChanges(
  hooked: HookedCall,
  result: ToolResult,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const { tool, args } = hooked;
  if (!result.ok || tool.kind !== "change" || isDryRun(args)) return run();
  const written = await writtenFiles(hooked);
  const answered = await run();
  if (written.length === 0) return answered;
  const changes: HookChange[] = [];
  for (const file of written) {
    const change = await hookChange(hooked.call, file);
    if (change !== undefined) changes.push(change);
  }
  return changes.length === 0 || !answered.ok ? answered : withChanges(hooked, answered, changes);
}

/** The files that the call wrote, as it left them. Another program's content is not the call's. */
async function writtenFiles({ uses, call }: HookedCall): Promise<readonly Written[]> {
  const files: Written[] = [];
  for (const [index, { intent }] of uses.entries()) {
    const path = call.locations[index]?.path;
    const seen = path === undefined || intent !== "write" ? undefined : call.seen.recall(path);
    if (path === undefined || seen === undefined) continue;
    const now = await readNow(call, path);
    if (now === undefined) continue;
    const isOwn = seen.version === now.version || seen.hash === engine().sha256(now.bytes);
    if (isOwn) files.push({ path, seen, ...now });
  }
  return files;
}

/** A file now; undefined where there is none, or none that can be compared. */
async function readNow(
  call: Call,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly version: string } | undefined> {
  try {
    const { bytes, version } = (await readVersioned(call.fs, path, { maxBytes: MAX_BYTES }))!;
    return { bytes, version };
  } catch (error) {
    if (error instanceof FilewrightError) return undefined;
    throw error;
  }
}

/** What became of a file since the call left it; undefined where its content is the same. */
async function hookChange(
  call: Call,
  { path, seen, bytes, version }: Written,
): Promise<HookChange | undefined> {
  const now = await readNow(call, path);
  if (now?.version === version) return undefined;
  const file = call.display(path);
  const before = engine().sha256(bytes);
  // Forgotten first: what is noted of the same content is added to what was seen of it.
  call.seen.note(path, undefined);
  if (now === undefined) return { file, before, hash: undefined, size: 0, diff: undefined };
  const hash = engine().sha256(now.bytes);
  if (hash === before) {
    call.seen.note(path, now.version, hash, seen.lines);
    return undefined;
  }
  const { text, hunks } = engine().diff(bytes, now.bytes, { oldName: file });
  const diff = text.length > MAX_DIFF_CHARS ? undefined : text;
  if (diff !== undefined) {
    const lines = seen.lines === undefined ? undefined : afterChange(seen.lines, hunks);
    call.seen.note(path, now.version, hash, lines);
  }
  return { file, before, hash, size: now.bytes.length, diff };
}

function withChanges(
  { tool, fixedText }: HookedCall,
  result: ToolResult & { readonly ok: true },
  changes: readonly HookChange[],
): ToolResult {
  let data = result.data as Readonly<Record<string, unknown>>;
  let below = "";
  const warnings: string[] = [];
  const diffs: string[] = [];
  for (const { file, before, hash, size, diff } of changes) {
    if (hash !== undefined && data["hash"] === before) data = { ...data, hash };
    if (hash !== undefined && tool.name === "edit_file") data = { ...data, bytes_written: size };
    const shown = escapeControls(file);
    const warning =
      hash === undefined
        ? `a hook removed ${shown} after this call`
        : diff === undefined
          ? `a hook changed much of ${shown} after this call: read it again`
          : `a hook changed ${shown} after this call`;
    warnings.push(warning);
    below += `\n[${warning}${diff === undefined ? "" : ":"}]`;
    if (diff === undefined) continue;
    diffs.push(diff);
    below += `\n${diff.replace(/\n$/u, "")}`;
  }
  const { warnings: others = [] } = data as { readonly warnings?: readonly string[] };
  data = {
    ...data,
    warnings: [...others, ...warnings],
    ...(diffs.length === 0 ? {} : { hook_diff: diffs.join("") }),
  };
  const display = result.display + below;
  return { ...result, data, display, ...(fixedText ? {} : { text: result.text + below }) };
}
