/** The commands `mark` and `rewind`: name a place in the history, and go back to it. */
import { escapeControls, plural } from "../../engine/escape.ts";
import { discardEarlyKeys, readKey } from "../../hooks/terminal/keys.node.ts";
import { resolve } from "node:path";
import type { RewindOptions, Rewound, Workspace } from "../../workspace/index.ts";
import { changeText, REWIND_WORDS } from "../change-text.ts";
import { type Command, type CommandReport, SEVERAL_ROOTS_HELP } from "../command.ts";
import type { ParsedCommandLine } from "../../schema/command-line.node.ts";
import { formatLocalTime, type Shell } from "../person/style.ts";
import { colourDiff, formatTable, printText, widthOfOutput } from "../streams.ts";
import { isWithin } from "../../backends/paths.ts";
import { shellWord } from "../../schema/shell-word.ts";
import { findByBeginning } from "../past-ids.ts";
import { entriesOf, isShared, type Past, touches } from "../past-roots.ts";
import { parseSinceTime } from "./history.ts";

/** The commands `mark` and `rewind`. */
export const REWIND_COMMANDS: readonly Command[] = [
  {
    name: "mark",
    summary: "name this place in the history, or list the names",
    usage: "filewright mark [NAME]",
    about:
      "Names the present place in the history, for rewind. Without NAME it lists the marks, the newest first. A mark lasts as long as the history reaches back to it.",
    help: [SEVERAL_ROOTS_HELP],
    examples: [
      ['filewright mark "before tests"', "names this place"],
      ["filewright mark", "the marks of this directory"],
    ],
    takes: [0, 1],
    async report({ all }, { positionals: [name] }, shell) {
      if (name !== undefined) {
        const mark = await (all[0] as Workspace).mark(name);
        return { text: `Marked: ${mark.name}`, data: mark };
      }
      const marks = (await Promise.all(all.map((ws) => ws.marks()))).flat();
      marks.sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
      const rows = marks.map(({ name: each, time, agent }) => [
        formatLocalTime(time, "seconds"),
        agent === undefined ? each : `${each} by ${escapeControls(agent)}`,
      ]);
      return { text: rows.length === 0 ? "No marks." : formatTable(rows, widthOfOutput(shell)), data: marks };
    },
  },
  {
    name: "rewind",
    summary: "undo all changes since a mark, a change or a time",
    usage: "filewright rewind TO [PATH...] [--of AGENT] [--dry-run | --yes]",
    about:
      "TO is a mark, the id of a change (the state before it; the beginning suffices), an age (30m, 2h, 3d), a time of today (13:00) or a date. Undoes all later changes as one change, and shows the diff; at a terminal it shows it first and asks. What a person or another program has changed since is named and left, unless it is a PATH. A rewind can be undone.",
    help: [
      SEVERAL_ROOTS_HELP,
      ["--of AGENT", "only the changes of this agent"],
      ["--dry-run", "show the diff and change nothing"],
      ["--yes", "do not ask at a terminal; also permit / or the home directory as the workspace"],
    ],
    examples: [
      ['filewright rewind "before tests" --dry-run', "what would be undone"],
      ["filewright rewind 2h src", "the changes below src in the last two hours"],
    ],
    takes: [1, 1000],
    sort: "asks",
    report: reportRewind,
  },
];

/** Rewinds, or shows what a rewind would change. At a terminal a person sees that first and decides. */
async function reportRewind(past: Past, parsed: ParsedCommandLine, shell: Shell): Promise<CommandReport> {
  const {
    positionals: [typed = "", ...paths],
    values,
  } = parsed;
  const place = await placeOf(past, typed);
  const { ws, to, label } = place;
  const limits = limitsOf(past, parsed, paths);
  const elsewhere = [
    ...(paths.length > 0 ? [] : await leftElsewhere(past, place, { typed, agent: limits.agent })),
    ...(await leftInOthers(past, place, limits)),
  ];
  const isTrial = values["dry-run"] === true;
  const report = (data: Rewound, text: string): CommandReport =>
    data.changes.length === 0 ? { text, data, nothing: true } : { text, data };
  if (isTrial || !isAsked(parsed, shell)) {
    const rewound = await ws.rewind(to, { ...limits, dryRun: isTrial });
    return report(rewound, textOf(rewound, label, elsewhere));
  }
  const preview = await ws.rewind(to, { ...limits, dryRun: true });
  if (preview.changes.length === 0) return report(preview, textOf(preview, label, elsewhere));
  const number = plural(preview.changes.length, "path");
  printText(shell, colourDiff(shell, textOf(preview, label, elsewhere)));
  const { stdin, stdout } = shell.program;
  await discardEarlyKeys(stdin, GUARD_MS);
  stdout.write(`Rewind ${number}? [y/n] `);
  const key = await readKey(stdin, undefined);
  stdout.write(`${key === "y" ? "y" : "n"}\n`);
  if (key !== "y") return { text: "Nothing was changed.", data: preview, nothing: true };
  // Exactly what was shown, or CONFLICT.
  const rewound = await ws.rewind(to, { ...limits, digest: preview.digest });
  return report(rewound, doneText(rewound, label));
}

/**
 * Returns the paths and the agent to which a rewind is limited. In a history of several directories it stays in the
 * directories of the command line.
 */
function limitsOf(
  past: Past,
  { values: { of: agent } }: ParsedCommandLine,
  typed: readonly string[],
): Pick<RewindOptions, "paths" | "agent"> {
  const { directories } = past;
  const whole = isShared(past) ? directories : [];
  const [first = "."] = directories;
  const paths =
    typed.length === 0 ? whole : isShared(past) ? typed.map((path) => resolve(first, path)) : typed;
  return {
    paths: paths.length === 0 ? undefined : paths,
    agent: agent === undefined ? undefined : String(agent),
  };
}

/**
 * Returns a line for each path that a rewind without limits would change in other directories of the history, with the
 * command that does; none where the history is that of one directory.
 */
async function leftElsewhere(
  { directories }: Past,
  { ws, to }: NamedPlace,
  { typed, agent }: { readonly typed: string; readonly agent: string | undefined },
): Promise<readonly string[]> {
  const { cwd, write } = ws.policy();
  if (write.length < 2) return [];
  const { changes } = await ws.rewind(to, { agent, dryRun: true });
  return changes.flatMap(({ path: shown }) => {
    const path = resolve(cwd, shown);
    const root = write.find((one) => !directories.includes(one) && isWithin(path, one));
    if (directories.some((one) => isWithin(path, one)) || root === undefined) return [];
    const command = `filewright rewind ${shellWord(typed)} --root ${shellWord(root)}`;
    return [
      `! ${escapeControls(path)} stays: it is in another directory; ${escapeControls(command)} takes it back`,
    ];
  });
}

/**
 * Returns a line for each path of a rewind that another history has changed since, with the command that takes that
 * back: a rewind is one change, and so of one history.
 */
async function leftInOthers(
  past: Past,
  { ws, moment }: NamedPlace,
  { paths = past.directories, agent }: Pick<RewindOptions, "paths" | "agent">,
): Promise<readonly string[]> {
  const others = past.all.filter((one) => one !== ws);
  if (others.length === 0) return [];
  const lines: string[] = [];
  const since = (await entriesOf(past)).filter(({ entry }) => Date.parse(entry.time) >= moment);
  for (const other of others) {
    const first = since.findLast((one) => one.ws === other && touches(one, paths));
    if (first === undefined) continue;
    const { callId, cwd } = first;
    const { changes } = await other.rewind(callId, { paths, agent, dryRun: true });
    const command = `filewright rewind ${callId}`;
    for (const { path } of changes)
      lines.push(
        `! ${escapeControls(resolve(cwd, path))} stays as another history left it; ${command} takes that back`,
      );
  }
  return lines;
}

/** The time in milliseconds within which no key answers. */
const GUARD_MS = 400;

/** Returns true when the person is shown the rewind first. `--ask` shows it by itself. */
function isAsked({ values }: ParsedCommandLine, { program }: Shell): boolean {
  const isForPerson = values["json"] !== true && values["jsonl"] !== true;
  const isTerminal = program.stdin.isTTY === true && program.stdout.isTTY === true;
  return isForPerson && isTerminal && values["yes"] !== true && values["ask"] !== true;
}

/** A place in a history: as `ws.rewind` takes it, and for the person. */
interface NamedPlace {
  readonly ws: Workspace;
  readonly to: string | Date;
  readonly label: string;
  /** In milliseconds since 1970. */
  readonly moment: number;
}

/** Returns the place that a person names: a mark or an id in the history that has it, a time in the newest one. */
async function placeOf(past: Past, typed: string): Promise<NamedPlace> {
  for (const ws of past.all) {
    const mark = (await ws.marks()).find(({ name }) => name === typed);
    if (mark !== undefined) return { ws, to: typed, label: `“${typed}”`, moment: Date.parse(mark.time) };
  }
  const entries = await entriesOf(past);
  const found = findByBeginning(entries, typed);
  if (found !== undefined) {
    const { tool, time } = found.entry;
    const label = `before ${tool} of ${formatLocalTime(time, "seconds")}`;
    return { ws: found.ws, to: found.callId, label, moment: Date.parse(time) };
  }
  const newest = entries.find((one) => touches(one, past.directories));
  const ws = newest?.ws ?? (past.all[0] as Workspace);
  const isTime = /^(?:\d+[smhdw]|\d\d?:\d\d|\d{4}-\d\d-\d\d.*)$/u.test(typed);
  if (!isTime) return { ws, to: typed, label: typed, moment: Number.POSITIVE_INFINITY };
  const to = new Date(parseSinceTime(typed, Date.now()));
  return { ws, to, label: formatLocalTime(to.getTime(), "seconds"), moment: to.getTime() };
}

/** Returns what a rewind changes, or has changed, in the words of the review page. */
function textOf(rewound: Rewound, label: string, elsewhere: readonly string[]): string {
  const { callId, calls, changes, left, unrecorded } = rewound;
  const counts = `${plural(calls.length, "call")}, ${plural(changes.length, "path")}`;
  const head =
    changes.length === 0
      ? "There is nothing to rewind."
      : callId === undefined
        ? `Rewind to ${escapeControls(label)}: ${counts}`
        : doneText(rewound, label);
  return [
    head,
    ...changes.map((change) => changeText(change, REWIND_WORDS)),
    ...left.map(({ path, why }) => `! ${escapeControls(path)} stays: ${why}`),
    ...elsewhere,
    ...unrecorded.map(({ tool, callId: id, paths }) => {
      const named = paths.slice(0, 4).map(escapeControls).join(", ");
      return `! ${tool} ${id}${named === "" ? "" : ` ${named}`}: what it changed stays; it cannot be taken back here`;
    }),
  ].join("\n");
}

function doneText({ callId, changes }: Rewound, label: string): string {
  const undo = callId === undefined ? "" : ` filewright undo ${callId} takes it back.`;
  return `Rewound ${plural(changes.length, "path")} to ${escapeControls(label)}.${undo}`;
}
