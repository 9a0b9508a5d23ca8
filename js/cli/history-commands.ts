/** The commands about the past: what was changed, and taking it back. */
import { escapeControls } from "../tools/text.ts";
import { makeError } from "../engine/errors.ts";
import type { Meant, Preset } from "../presets/preset.ts";
import { OWN_NAMES } from "../tools/names.ts";
import type { Arguments } from "../tools/schema.ts";
import type { Tool } from "../tools/tool.ts";
import { undoTool } from "../tools/undo.ts";
import { type HistoryEntry, type ToolDefinition, toolsFor } from "../workspace/index.ts";
import { type Command, value } from "./command.ts";
import { UsageError } from "./parse.ts";
import { tableOf } from "./table.ts";

/** How many changes are listed unless more are asked for. */
const SHOWN = 20;
/** How many paths of one change are named. */
const SHOWN_PATHS = 4;

/** `history` and `undo`. */
export const HISTORY_COMMANDS: readonly Command[] = [
  {
    name: "history",
    summary: "list the changes that can be undone",
    usage: "filewright history [--limit N]",
    about:
      "The newest first, with the id that undo takes. What was changed by agents that worked in this directory is listed, too.",
    options: { limit: value },
    help: [["--limit N", `how many (default: ${SHOWN})`]],
    examples: [
      ["filewright history", "what was changed here"],
      ["filewright history --json", "for programs"],
    ],
    takes: [0, 0],
    async report(ws, { values }) {
      const limit = Number(values["limit"] ?? SHOWN);
      if (!(Number.isSafeInteger(limit) && limit > 0)) throw new UsageError("--limit must be 1 or more");
      const all = await ws.history();
      const shown = all.slice(0, limit);
      const lines = shown.length === 0 ? [] : [tableOf(shown.map(cellsOf))];
      if (all.length > shown.length) lines.push(`and ${all.length - shown.length} more; --limit shows them`);
      return { text: lines.join("\n") || "Nothing to undo.", data: shown };
    },
  },
  {
    name: "undo",
    summary: "take a change back",
    usage: "filewright undo [ID]",
    about:
      "Puts back what a call found before it changed it, and shows the difference: the last one, or the one named as history lists it. Refused where something was changed since. An undo is a change as well, and can be undone.",
    options: {},
    help: [],
    examples: [
      ["filewright undo", "the last change"],
      ["filewright undo 0mf3k2p9a-1b2c3d4e5f60", "an earlier one"],
    ],
    takes: [0, 1],
    asks: true,
    async report(ws, { positionals }) {
      const [undo] = toolsFor(ws, UNDO);
      const result = await (undo as ToolDefinition).execute(
        positionals[0] === undefined ? {} : { call_id: positionals[0] },
      );
      if (result.ok)
        return { text: result.text, data: { ...(result.data as object), callId: result.meta.call_id } };
      const { code, message, ...more } = result.error;
      if (code === "NOT_FOUND" && positionals[0] === undefined)
        return { text: message, data: { undone: null, paths: [] }, nothing: true };
      throw makeError(code, message, { ...more, complete: true });
    },
  },
];

/** The tool by which a person takes back any change, whoever made it: rules and questions hold for it. */
const UNDO: Preset = (() => {
  const tool = undoTool(true) as unknown as Tool;
  const { name, title, description, inputSchema, outputSchema, annotations, kind } = tool;
  const expand = (args: unknown): Meant => ({ tool, args: args as Arguments, names: OWN_NAMES, ours: {} });
  const undo = {
    ...{ name, title, description, inputSchema, outputSchema, annotations, kind, tool },
    ...{ names: OWN_NAMES, expand },
  };
  return { name: "undo", about: "the command undo", tools: [undo], limits: {}, access: {} };
})();

function cellsOf({ callId, tool, time, paths, agent, undoOf }: HistoryEntry): readonly string[] {
  const done = undoOf === undefined ? tool : `${tool} of ${undoOf}`;
  const what = agent === undefined ? done : `${done} by ${escapeControls(agent)}`;
  return [callId, time.slice(0, 19).replace("T", " "), what, named(paths)];
}

function named(paths: readonly string[]): string {
  const names = paths.slice(0, SHOWN_PATHS).map(escapeControls).join(", ");
  return paths.length > SHOWN_PATHS ? `${names} and ${paths.length - SHOWN_PATHS} more` : names;
}
