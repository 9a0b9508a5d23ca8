/** `history`: the changes that can be undone. */
import type { HistoryEntry } from "./lib/history-entry.ts";
import { named } from "./lib/exact.ts";
import type { CheckedArgs, HistoryData, ListedChange } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { integer, text } from "./lib/shared.ts";
import { FilewrightError } from "../engine/errors.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { truncatedClause } from "./lib/text.ts";

type CheckedHistoryArgs = CheckedArgs["history"];

const inputSchema = object(
  {
    path: text("Only changes of this file, or below this directory.", { minLength: 1 }),
    limit: integer("The most changes given.", { default: 20, minimum: 1, maximum: 1000 }),
    cursor: text("`next_cursor` of an earlier call, to go on from there.", { minLength: 1 }),
  },
  [],
);

const CHANGE_SCHEMA = named(
  "ListedChange",
  object(
    {
      call_id: text("What undo takes."),
      tool: text("The tool that was called, or undo."),
      time: text("When, ISO 8601 in UTC."),
      paths: { type: "array", items: { type: "string" }, description: "What it touched." },
      agent: text("Who made it, where that is known."),
      undo_of: text("The call that this one undid."),
    },
    ["call_id", "tool", "time", "paths"],
  ),
);

const outputSchema = object(
  {
    changes: { type: "array", items: CHANGE_SCHEMA, description: "The newest first." },
    truncated: { type: "boolean", description: "Whether there are more." },
    next_cursor: text("For the next page."),
  },
  ["changes", "truncated"],
);

/** The maximum number of paths that the text names for one change; further ones are counted. */
const MAX_SHOWN_PATHS = 4;

/** Creates the tool. */
export function historyTool(): ReadingTool<CheckedHistoryArgs, HistoryData> {
  return {
    kind: "read",
    name: "history",
    title: "History",
    traits: ["needsHistory"],
    description:
      "Lists your changes that can be undone, the newest first, each with the call_id that undo takes.",
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    aliases: { file_path: "path" },
    parse: compileArgumentCheck("history", inputSchema),
    paths: ({ path }) =>
      path === undefined
        ? []
        : [{ argument: "path", typed: path, intent: "read", entry: true, missing: "accept" }],
    async run({ limit, cursor }, call) {
      const at = call.locations[0];
      const below = at === undefined ? undefined : call.reader.display(at.path);
      const found = (await call.past().list(false)).filter(
        ({ paths }) =>
          below === undefined ||
          below === "." ||
          paths.some((path) => path === below || path.startsWith(`${below}/`)),
      );
      const from = cursor === undefined ? 0 : found.findIndex(({ callId }) => callId === cursor);
      if (from < 0)
        throw new FilewrightError(
          "INVALID_ARGUMENT",
          "Invalid argument 'cursor': it is no next_cursor of this list.",
          {
            complete: true,
            details: { tool: "history", argument: "cursor" },
          },
        );
      const shown = found.slice(from, from + limit);
      const next = found[from + limit];
      return {
        data: withoutUndefined({
          changes: shown.map(listedChangeOf),
          truncated: next !== undefined,
          next_cursor: next?.callId,
        }),
      };
    },
    texts: {
      render({ changes, next_cursor: next }) {
        if (changes.length === 0) return "No change to undo.";
        const lines = changes.map(
          ({ call_id: id, tool, time, paths, undo_of: undone }) =>
            `${id}  ${time.slice(0, 19)}Z  ${tool}${undone === undefined ? "" : ` of ${undone}`}  ${shortenedPaths(paths)}`,
        );
        return [...lines, ...(next === undefined ? [] : [`[more: cursor="${next}"]`])].join("\n");
      },
      display: ({ changes, truncated }) =>
        `Listed ${plural(changes.length, "change")}${truncatedClause(truncated)}`,
    },
  };
}

function listedChangeOf({ callId, tool, time, paths, agent, undoOf }: HistoryEntry): ListedChange {
  return withoutUndefined({
    call_id: callId,
    tool,
    time,
    paths,
    agent,
    undo_of: undoOf,
  });
}

function shortenedPaths(paths: readonly string[]): string {
  const names = paths.slice(0, MAX_SHOWN_PATHS).map(escapeControls).join(", ");
  return paths.length > MAX_SHOWN_PATHS ? `${names} and ${paths.length - MAX_SHOWN_PATHS} more` : names;
}
