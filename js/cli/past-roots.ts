/**
 * Finds the history that a command about the past means. A server of several directories keeps one history for all of
 * them, and a person asks for it in any: each finds there what was changed in it, and can take that back.
 */
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { openStateDirectory } from "../backends/state-directory.node.ts";
import { isWithin } from "../backends/paths.ts";
import { sharedHistoriesOf } from "../backends/shared-history.node.ts";
import type { ServedRoot } from "../mcp/settings.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";
import type { HistoryEntry, Workspace, WorkspaceOptions } from "../workspace/index.node.ts";
import type { Command } from "./command.ts";
import { findByBeginning } from "./past-ids.ts";

/** The commands that look into the history. */
const COMMANDS_ABOUT_PAST: ReadonlySet<string> = new Set(["history", "undo", "mark", "rewind"]);

/** How a command opens its workspace. */
interface Opening {
  readonly open: (where: readonly ServedRoot[]) => Promise<Workspace>;
  /** The options of the workspace. */
  readonly workspace: Pick<WorkspaceOptions, "stateDir" | "history">;
}

/** The directory of a command about the past, and the roots of the workspace whose history it means. */
export interface PastRoots {
  readonly where: readonly ServedRoot[];
  /** Other histories in which this directory was changed: the working directory of each. */
  readonly others: readonly string[];
}

/** Returns the real directory of a command line. */
export function directoryOf({ values }: ParsedCommandLine): string {
  const typed = resolve(String(values["root"] ?? "."));
  return existsSync(typed) ? realpathSync(typed) : typed;
}

/** Returns true for a change that touches a directory. `cwd` is the working directory of its history. */
export function touches({ paths }: HistoryEntry, cwd: string, directory: string): boolean {
  return paths.some((path) => isWithin(resolve(cwd, path), directory));
}

/** Returns the working directory of a workspace with several directories; undefined for one with a single directory. */
export function sharedCwdOf(ws: Workspace): string | undefined {
  const { cwd, write } = ws.policy();
  return write.length > 1 ? cwd : undefined;
}

/** Returns the roots of the workspace whose history a command means; those that are given for any other command. */
export async function rootsOfPast(
  command: Command,
  parsed: ParsedCommandLine,
  where: readonly ServedRoot[],
  { open, workspace: { stateDir, history } }: Opening,
): Promise<PastRoots> {
  const [only] = where;
  const isOne = where.length === 1 && only?.access === "write";
  if (!COMMANDS_ABOUT_PAST.has(command.name) || !isOne || history === false) return { where, others: [] };
  const directory = directoryOf(parsed);
  const shared = sharedHistoriesOf(openStateDirectory(stateDir).path, directory).filter(({ roots }) =>
    roots.every((root) => existsSync(root)),
  );
  if (shared.length === 0) return { where, others: [] };
  // A history of several directories that begins here is that of this directory, too.
  const own = shared.some(({ roots }) => roots[0] === directory) ? [] : [where];
  const candidates = [...own, ...shared.map(({ roots }) => roots.map(writable))];
  const histories: HistoryOfDirectory[] = [];
  for (const roots of candidates) histories.push(await lookInto(roots, directory, open));
  const wanted = idOf(command, parsed);
  const byId = wanted === undefined ? undefined : histories.find((one) => knows(one, wanted));
  const newest = [...histories].sort((a, b) => b.newest - a.newest)[0] as HistoryOfDirectory;
  const chosen = byId ?? newest;
  const others = histories.filter((one) => one !== chosen && one.newest > 0).map(({ cwd }) => cwd);
  return { where: chosen.roots, others };
}

const writable = (path: string): ServedRoot => ({ path, access: "write" });

/** One history, and the part of it that concerns the directory. */
interface HistoryOfDirectory {
  readonly roots: readonly ServedRoot[];
  readonly cwd: string;
  readonly entries: readonly HistoryEntry[];
  readonly marks: readonly string[];
  /** The time of the newest change in the directory, in milliseconds since 1970; 0 for none. */
  readonly newest: number;
}

async function lookInto(
  roots: readonly ServedRoot[],
  directory: string,
  open: Opening["open"],
): Promise<HistoryOfDirectory> {
  const cwd = resolve((roots[0] as ServedRoot).path);
  const ws = await open(roots);
  try {
    const entries = await ws.history();
    const marks = (await ws.marks()).map(({ name }) => name);
    const times = entries.filter((one) => touches(one, cwd, directory)).map(({ time }) => Date.parse(time));
    return { roots, cwd, entries, marks, newest: Math.max(0, ...times) };
  } finally {
    await ws.close();
  }
}

function knows({ entries, marks }: HistoryOfDirectory, typed: string): boolean {
  return marks.includes(typed) || findByBeginning(entries, typed) !== undefined;
}

/** Returns the id or the mark that a command line names. */
function idOf({ name }: Command, { positionals }: ParsedCommandLine): string | undefined {
  return name === "history" ? positionals[1] : name === "mark" ? undefined : positionals[0];
}
