/**
 * Handles after hooks that change files, such as formatters.
 *
 * The changes that a hook makes to the agent's own change are part of the answer: its hash is that of
 * the current file, and the diff shows the hook's changes. The agent has therefore seen them, and its
 * next guarded edit is no conflict.
 */
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { rangesAfterChange } from "../tools/lib/line-ranges.ts";
import type { SeenFile } from "../tools/lib/seen.ts";
import { escapeControls } from "../engine/escape.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { AnyTool, Call, PathUse } from "../tools/lib/tool.ts";
import type { ToolResult } from "./result.ts";
import { isDryRun } from "./written-places.ts";

/** A call whose after hooks run. */
export interface HookedCall {
  readonly tool: AnyTool;
  readonly args: object;
  readonly uses: readonly PathUse[];
  readonly call: Call;
  /** True when the texts have a fixed form; then the data alone reports the changes of hooks. */
  readonly fixedText: boolean;
}

/** A file as the call left it, before its after hooks run. */
interface WrittenFile {
  readonly path: string;
  readonly seen: SeenFile;
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** The changes of hooks to one file. */
interface HookChange {
  readonly file: string;
  readonly before: string;
  /** Undefined when the file was removed. */
  readonly hash: string | undefined;
  readonly size: number;
  /** Undefined when the diff is too long to be shown. */
  readonly diff: string | undefined;
}

/**
 * The maximum size of a file that is compared before and after the hooks, in bytes. Changes of a larger one are
 * not reported.
 */
const MAX_COMPARED_BYTES = 4 * 1024 * 1024;
/** The maximum length of a diff that is shown, in UTF-16 units. After a longer one the file must be read again. */
const MAX_DIFF_CHARS = 32 * 1024;

/** Runs after hooks, and adds their changes of the call's files to its result. */
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
    const change = await changeByHooks(hooked.call, file);
    if (change !== undefined) changes.push(change);
  }
  return changes.length === 0 || !answered.ok ? answered : withHookChangesInResult(hooked, answered, changes);
}

/**
 * Returns the files that the call wrote, in the state in which it left them. A file that another program
 * has changed since is omitted.
 */
async function writtenFiles({ uses, call }: HookedCall): Promise<readonly WrittenFile[]> {
  const files: WrittenFile[] = [];
  for (const [index, { intent }] of uses.entries()) {
    const path = call.locations[index]?.path;
    const seen = path === undefined || intent !== "write" ? undefined : call.seen.recall(path);
    if (path === undefined || seen === undefined) continue;
    const now = await readCurrent(call, path);
    if (now === undefined) continue;
    const isOwn = seen.version === now.version || seen.hash === engine().sha256(now.bytes);
    if (isOwn) files.push({ path, seen, ...now });
  }
  return files;
}

/** Returns the current state of a file; undefined when it does not exist or cannot be compared. */
async function readCurrent(
  call: Call,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly version: string } | undefined> {
  try {
    const { bytes, version } = (await call.fs.read(path, { maxBytes: MAX_COMPARED_BYTES }))!;
    return { bytes, version };
  } catch (error) {
    if (error instanceof FilewrightError) return undefined;
    throw error;
  }
}

/** Returns the change of a file since the call; undefined when its content is the same. */
async function changeByHooks(
  call: Call,
  { path, seen, bytes, version }: WrittenFile,
): Promise<HookChange | undefined> {
  const now = await readCurrent(call, path);
  if (now?.version === version) return undefined;
  const file = call.reader.display(path);
  const before = engine().sha256(bytes);
  // The old record is removed first, because `note` adds to the record of the same content.
  call.seen.note(path, undefined);
  if (now === undefined) return { file, before, hash: undefined, size: 0, diff: undefined };
  const hash = engine().sha256(now.bytes);
  if (hash === before) {
    call.seen.note(path, now.version, hash, seen.lines);
    return undefined;
  }
  const { text, hunks } = await engine().diffAsync(bytes, now.bytes, { oldName: file });
  const diff = text.length > MAX_DIFF_CHARS ? undefined : text;
  if (diff !== undefined) {
    const lines = seen.lines === undefined ? undefined : rangesAfterChange(seen.lines, hunks);
    call.seen.note(path, now.version, hash, lines);
  }
  return { file, before, hash, size: now.bytes.length, diff };
}

function withHookChangesInResult(
  { tool, fixedText }: HookedCall,
  result: ToolResult & { readonly ok: true },
  changes: readonly HookChange[],
): ToolResult {
  let data = result.data as Readonly<Record<string, unknown>>;
  const isEdit = tool.traits.includes("edits");
  let below = "";
  const warnings: string[] = [];
  const diffs: string[] = [];
  for (const { file, before, hash, size, diff } of changes) {
    if (hash !== undefined && data["hash"] === before) data = { ...data, hash };
    if (hash !== undefined && isEdit && Object.hasOwn(data, "bytes_written"))
      data = { ...data, bytes_written: size };
    const warning = warningOf(escapeControls(file), hash, diff);
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
    ...withoutUndefined({ hook_diff: diffs.length === 0 ? undefined : diffs.join("") }),
  };
  const display = result.display + below;
  return { ...result, data, display, text: fixedText ? result.text : result.text + below };
}

/** Returns the warning about a file that a hook changed or removed. */
function warningOf(file: string, hash: string | undefined, diff: string | undefined): string {
  if (hash === undefined) return `a hook removed ${file} after this call`;
  return diff === undefined
    ? `a hook changed much of ${file} after this call: read it again`
    : `a hook changed ${file} after this call`;
}
