/**
 * Computes what each change in the history did to its files, in lines.
 *
 * The content before a change is its pre-image in the journal. The content after it is the pre-image of the
 * next change of the same file, or else the current file. It is used only if its hash is the one that the
 * change left, because other programs may have written the file.
 */
import { EMPTY_BYTES } from "../engine/wire/bytes.ts";
import { createHash } from "node:crypto";
import type { Preset } from "../presets/preset.ts";
import { diffContents, textIfDecodable } from "../tools/render/preview.ts";
import { historyTool } from "../tools/history.ts";
import type { Call, ReadingTool, Tool } from "../tools/lib/tool.ts";
import type { RestoredState } from "../tools/lib/past.ts";
import { object } from "../tools/lib/schema.ts";
import { texts } from "../tools/lib/shared.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_PATHS } from "../tools/undo.ts";
import { type ToolDefinition, toolsFor, type Workspace } from "../workspace/index.ts";
import { singleToolPreset } from "./single-tool.ts";

/** What a change did to one path. */
interface FileDetail {
  readonly path: string;
  /** The number of added lines; absent when a content is not known, or is not text. */
  readonly added?: number;
  readonly removed?: number;
  /** The unified diff; present with the counts. */
  readonly diff?: string;
  /** A description in words; present when there is no diff. */
  readonly what?: string;
}

/** What a change did to all of its paths. */
export interface ChangeDetail {
  readonly call_id: string;
  readonly files: readonly FileDetail[];
}

interface RequestedDetails {
  readonly call_ids: readonly string[];
}

interface ChangeDetails {
  readonly changes: readonly ChangeDetail[];
}

/** Returns what these changes did, in the order of `callIds`. */
export async function changeDetailsOf(
  ws: Workspace,
  callIds: readonly string[],
): Promise<readonly ChangeDetail[]> {
  const [tool] = toolsFor(ws, DETAILS_PRESET);
  const result = await (tool as ToolDefinition).execute({ call_ids: callIds });
  return result.ok
    ? (result.data as ChangeDetails).changes
    : callIds.map((call_id) => ({ call_id, files: [] }));
}

/** A tool that only the command line has; models cannot call it. */
const DETAILS_PRESET: Preset = (() => {
  const schema = object({ call_ids: texts("Ids of changes.") }, ["call_ids"]);
  const listing = historyTool(true);
  const details: ReadingTool<RequestedDetails, ChangeDetails> = {
    kind: "read",
    traits: [],
    name: listing.name,
    title: listing.title,
    description: "What changes did to their files.",
    inputSchema: schema,
    outputSchema: object({}, []),
    annotations: listing.annotations,
    parse: (args) => args as unknown as RequestedDetails,
    paths: () => [],
    run: async ({ call_ids: ids }, call) => ({ data: { changes: await compareWithLaterStates(ids, call) } }),
    render: () => "",
  };
  return singleToolPreset(details as unknown as Tool, "history");
})();

async function compareWithLaterStates(ids: readonly string[], call: Call): Promise<readonly ChangeDetail[]> {
  const past = call.past();
  const all = await past.list(true);
  const known = new Map<string, readonly RestoredState[]>();
  const restoredBy = async (id: string): Promise<readonly RestoredState[]> => {
    const found = known.get(id) ?? (await past.restores(id).catch(() => []));
    known.set(id, found);
    return found;
  };
  /** Returns the content that a change left at a path; undefined when it is not certain. */
  const leftBy = async (index: number, { path, after }: RestoredState): Promise<Uint8Array | undefined> => {
    if (after === null) return EMPTY_BYTES;
    if (after?.hash === undefined || (after.size ?? 0) > MAX_COMPARED_BYTES) return undefined;
    const content = await nextContent(index, path);
    const hash = content && `sha256:${createHash("sha256").update(content).digest("hex")}`;
    return hash === after.hash ? content : undefined;
  };
  const nextContent = async (index: number, path: string): Promise<Uint8Array | undefined> => {
    const shown = call.reader.display(path);
    // The list begins with the newest change, so the next change is before this one in it.
    for (const later of all.slice(0, index).reverse()) {
      if (!later.paths.includes(shown)) continue;
      const found = (await restoredBy(later.callId)).find((one) => one.path === path);
      if (found !== undefined) return found.image?.bytes;
    }
    return Promise.resolve(call.fs.readBytes(path)).catch(() => undefined);
  };
  const changes: ChangeDetail[] = [];
  for (const id of ids) {
    const index = all.findIndex(({ callId }) => callId === id);
    const files: FileDetail[] = [];
    const restored = await restoredBy(id);
    for (const one of restored.slice(0, MAX_COMPARED_PATHS))
      files.push(await fileDetailOf(one, await leftBy(index, one), call));
    if (restored.length > MAX_COMPARED_PATHS)
      files.push({ path: "", what: `and ${restored.length - MAX_COMPARED_PATHS} more paths` });
    changes.push({ call_id: id, files });
  }
  return changes;
}

async function fileDetailOf(
  { path, image, from, after }: RestoredState,
  left: Uint8Array | undefined,
  { reader: { display } }: Call,
): Promise<FileDetail> {
  const shown = display(path);
  if (from !== undefined) return { path: shown, what: `moved to ${display(from)}` };
  const type = image?.type ?? after?.type ?? "file";
  if (type !== "file") {
    const did = image === null ? "made" : after === null ? "removed" : "changed";
    return { path: shown, what: `${did} (${type})` };
  }
  const stood = image === null ? EMPTY_BYTES : image.bytes;
  const did = image === null ? "made" : after === null ? "removed" : "changed";
  if (stood === undefined || left === undefined)
    return { path: shown, what: `${did}; the contents are no longer known` };
  if (textIfDecodable(stood) === null || textIfDecodable(left) === null)
    return { path: shown, what: `${did}; no text` };
  const diff = diffContents(stood, left, { oldName: shown }).text;
  const lines = diff.split("\n").slice(2);
  return {
    path: shown,
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
    diff,
  };
}
