/**
 * Counts the lines that each change in the history has added and removed.
 *
 * The content before a change is its pre-image in the journal. The content after it is the pre-image of the
 * next change of the same file, or else the current file. It is used only if its hash is the one that the
 * change left, because other programs may have written the file.
 */
import { EMPTY_BYTES } from "../engine/wire/bytes.ts";
import { engine } from "../engine/current.ts";
import type { Preset } from "../presets/preset.ts";
import { diffContents, textIfDecodable } from "../tools/render/preview.ts";
import { historyTool } from "../tools/history.ts";
import type { Call, ReadingTool, Tool } from "../tools/lib/tool.ts";
import type { RestoredState } from "../tools/lib/past.ts";
import { object } from "../tools/lib/schema.ts";
import { texts } from "../tools/lib/shared.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_PATHS } from "../tools/undo.ts";
import { type ToolDefinition, toolsFor, type Workspace } from "../workspace/index.ts";
import { type LineCounts, lineCounts } from "./change-text.ts";
import { singleToolPreset } from "./single-tool.ts";

interface CountedCalls {
  readonly call_ids: readonly string[];
}

interface LinesOfCalls {
  /** Under the name that the data of `history` has. */
  readonly changes: readonly LineCounts[];
}

/** Returns the numbers of added and removed lines of these changes, in the order of `callIds`. */
export async function lineCountsOfCalls(
  ws: Workspace,
  callIds: readonly string[],
): Promise<readonly LineCounts[]> {
  const [tool] = toolsFor(ws, COUNTS_PRESET);
  const result = await (tool as ToolDefinition).execute({ call_ids: callIds });
  return result.ok ? (result.data as LinesOfCalls).changes : callIds.map(() => ({}));
}

/** A tool that only the command line has; models cannot call it. */
const COUNTS_PRESET: Preset = (() => {
  const schema = object({ call_ids: texts("Ids of changes.") }, ["call_ids"]);
  const listing = historyTool(true);
  const counting: ReadingTool<CountedCalls, LinesOfCalls> = {
    kind: "read",
    traits: [],
    name: listing.name,
    title: listing.title,
    description: "How many lines changes have added and removed.",
    inputSchema: schema,
    outputSchema: object({}, []),
    annotations: listing.annotations,
    parse: (args) => args as unknown as CountedCalls,
    paths: () => [],
    run: async ({ call_ids: ids }, call) => ({ data: { changes: await compareWithLaterStates(ids, call) } }),
    render: () => "",
  };
  return singleToolPreset(counting as unknown as Tool, "history");
})();

async function compareWithLaterStates(ids: readonly string[], call: Call): Promise<readonly LineCounts[]> {
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
    return content !== undefined && engine().sha256(content) === after.hash ? content : undefined;
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
  const counts: LineCounts[] = [];
  for (const id of ids) {
    const index = all.findIndex(({ callId }) => callId === id);
    const diffs: (string | undefined)[] = [];
    for (const one of (await restoredBy(id)).slice(0, MAX_COMPARED_PATHS))
      diffs.push(diffOf(one, await leftBy(index, one), call));
    counts.push(lineCounts(diffs.filter((diff) => diff !== undefined)));
  }
  return counts;
}

/** Returns the diff from one content of a file to another; undefined where one is not known, or is no text. */
function diffOf(
  { path, image, from, after }: RestoredState,
  left: Uint8Array | undefined,
  { reader: { display } }: Call,
): string | undefined {
  const type = image?.type ?? after?.type ?? "file";
  const stood = image === null ? EMPTY_BYTES : image.bytes;
  if (from !== undefined || type !== "file" || stood === undefined || left === undefined) return undefined;
  if (textIfDecodable(stood) === null || textIfDecodable(left) === null) return undefined;
  return diffContents(stood, left, { oldName: display(path) }).text;
}
