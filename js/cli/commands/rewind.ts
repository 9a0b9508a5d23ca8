/** The commands `mark` and `rewind`: name a place in the history, and go back to it. */
import { escapeControls } from "../../engine/escape.ts";
import type { HistoryChange, Rewound, Workspace } from "../../workspace/index.ts";
import { FLAG_OPTION, type Command, VALUE_OPTION } from "../command.ts";
import { UsageError } from "../../schema/command-line.node.ts";
import { formatTable } from "../streams.ts";
import { escapeDiff, parseSinceTime } from "./history.ts";

/** The commands `mark` and `rewind`. */
export const REWIND_COMMANDS: readonly Command[] = [
  {
    name: "mark",
    summary: "name this place in the history, or list the names",
    usage: "filewright mark [NAME]",
    about:
      "Names the present place in the history, for rewind. Without NAME it lists the marks, the newest first. A mark lasts as long as the history reaches back to it.",
    options: {},
    help: [],
    examples: [
      ['filewright mark "before tests"', "names this place"],
      ["filewright mark", "the marks of this directory"],
    ],
    takes: [0, 1],
    async report(ws, { positionals: [name] }) {
      if (name !== undefined) {
        const mark = await ws.mark(name);
        return { text: `Marked: ${mark.name}`, data: mark };
      }
      const marks = await ws.marks();
      const rows = marks.map(({ name: each, time, agent }) => [
        time.slice(0, 19).replace("T", " "),
        agent === undefined ? each : `${each} by ${escapeControls(agent)}`,
      ]);
      return { text: rows.length === 0 ? "No marks." : formatTable(rows), data: marks };
    },
  },
  {
    name: "rewind",
    summary: "undo all changes since a mark, a change or a time",
    usage: "filewright rewind TO [PATH...] [--of AGENT] [--dry-run]",
    about:
      "TO is a mark, the id of a change (the state before it; the beginning suffices), an age (30m, 2h, 3d), a time of today (13:00) or a date. Undoes all later changes as one change, and shows the diff. What a person or another program has changed since is named and left, unless it is a PATH. A rewind can be undone.",
    options: { of: VALUE_OPTION, "dry-run": FLAG_OPTION },
    help: [
      ["--of AGENT", "only the changes of this agent"],
      ["--dry-run", "show the diff and change nothing"],
    ],
    examples: [
      ['filewright rewind "before tests" --dry-run', "what would be undone"],
      ["filewright rewind 2h src", "the changes below src in the last two hours"],
    ],
    takes: [1, 1000],
    asks: true,
    async report(ws, { positionals: [typed = "", ...paths], values }) {
      const { of: agent } = values;
      const rewound = await ws.rewind(await placeOf(ws, typed), {
        ...(paths.length === 0 ? {} : { paths }),
        ...(agent === undefined ? {} : { agent: String(agent) }),
        dryRun: values["dry-run"] === true,
      });
      const nothing = rewound.changes.length === 0 ? { nothing: true as const } : {};
      return { text: textOf(rewound, values["dry-run"] === true), data: rewound, ...nothing };
    },
  },
];

/** Returns the place that a person names. */
async function placeOf(ws: Workspace, typed: string): Promise<string | Date> {
  if ((await ws.marks()).some(({ name }) => name === typed)) return typed;
  const calls = (await ws.history()).filter(({ callId }) => callId.startsWith(typed));
  if (calls.length > 1)
    throw new UsageError(`several ids begin with '${escapeControls(typed)}'; give more of it`);
  const [call] = calls;
  if (call !== undefined) return call.callId;
  const isTime = /^(?:\d+[smhdw]|\d\d?:\d\d|\d{4}-\d\d-\d\d.*)$/u.test(typed);
  return isTime ? new Date(parseSinceTime(typed, Date.now())) : typed;
}

function textOf({ calls, changes, left, unrecorded }: Rewound, isTrial: boolean): string {
  const lines: string[] = [];
  if (changes.length === 0) lines.push("Nothing to undo.");
  else {
    const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;
    const verb = isTrial ? "Would undo" : "Undone";
    lines.push(`${verb}: ${count(calls.length, "change")} in ${count(changes.length, "path")}`);
  }
  lines.push(...changes.map(textOfChange));
  for (const { path, why } of left) lines.push(`! ${escapeControls(path)} is left: ${why}`);
  for (const { tool, callId, paths } of unrecorded) {
    const named = paths.slice(0, 4).map(escapeControls).join(", ");
    lines.push(`! ${tool} ${callId} cannot be taken back${named === "" ? "" : `: ${named}`}`);
  }
  return lines.join("\n");
}

function textOfChange({ kind, type, display, from, diff, mode }: HistoryChange): string {
  const name = escapeControls(display);
  const bits = mode === undefined ? "" : `, mode ${mode}`;
  if (kind === "move") return `${name}: moved back from ${escapeControls(from ?? "")}${bits}`;
  if (diff !== "") return escapeDiff(diff);
  return `${name}: ${kind === "delete" ? "removed" : kind === "create" ? "made again" : "restored"} (${type}${bits})`;
}
