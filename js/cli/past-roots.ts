/**
 * Finds the histories that a command about the past means. A server of several directories keeps one history for all of
 * them, and a person asks for it in any; the same directory may have a history of its own, and others. A command lists
 * all of them together, finds an id wherever it is, and takes back what was changed in its own directories.
 */
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { openStateDirectory } from "../backends/state-directory.node.ts";
import { isWithin } from "../backends/paths.ts";
import { sharedHistoriesOf } from "../backends/shared-history.node.ts";
import type { ServedRoot } from "../mcp/settings.ts";
import type { HistoryEntry, Workspace, WorkspaceOptions } from "../workspace/index.node.ts";

/** The histories of a command about the past, and its directories. */
export interface Past {
  /** A workspace for each history, without one that has no change; at least one. */
  readonly all: readonly Workspace[];
  /** The real paths of the directories of the command line. */
  readonly directories: readonly string[];
}

/** Opens a workspace. */
type Open = (where: readonly ServedRoot[]) => Promise<Workspace>;

/** A change, and the history that has it. */
export interface PastEntry {
  readonly ws: Workspace;
  /** The directory to which the paths of the history are relative. */
  readonly cwd: string;
  readonly callId: string;
  readonly entry: HistoryEntry;
}

/** Returns the changes that `list` returns for each history, the newest first. */
export async function newestFirst(
  { all }: Pick<Past, "all">,
  list: (ws: Workspace) => Promise<readonly HistoryEntry[]>,
): Promise<readonly PastEntry[]> {
  const found = await Promise.all(
    all.map(async (ws) => {
      const { cwd } = ws.policy();
      return (await list(ws)).map((entry): PastEntry => ({ ws, cwd, callId: entry.callId, entry }));
    }),
  );
  return found.flat().sort((a, b) => Date.parse(b.entry.time) - Date.parse(a.entry.time));
}

/** Returns the changes of all histories, the newest first. */
export const entriesOf = (past: Past): Promise<readonly PastEntry[]> =>
  newestFirst(past, (ws) => ws.history());

/** Returns the real paths of a change. */
export const pathsOf = ({ cwd, entry }: PastEntry): readonly string[] =>
  entry.paths.map((path) => resolve(cwd, path));

/** Returns true for a change of a path at or below one of several. */
export const touches = (one: PastEntry, within: readonly string[]): boolean =>
  pathsOf(one).some((path) => within.some((root) => isWithin(path, root)));

/** Returns the directories that the histories are about: more than one where the rows of a list name theirs. */
export const directoriesOf = ({ all }: Pick<Past, "all">): readonly string[] => [
  ...new Set(all.flatMap((ws) => ws.policy().write)),
];

/** Returns true where the command line stands for a part of what its histories are about. */
export const isShared = (past: Past): boolean => past.all.length > 1 || directoriesOf(past).length > 1;

/** Returns the real paths of the directories that a command may change. */
function realDirectories(where: readonly ServedRoot[]): readonly string[] {
  return where.filter(({ access }) => access === "write").map(({ path }) => realPath(path));
}

function realPath(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) ? realpathSync(absolute) : absolute;
}

/**
 * Returns the roots of each history in which one of these directories can have been changed, by its working directory:
 * the first has the roots of the command line.
 */
function rootsOfHistories(
  where: readonly ServedRoot[],
  { stateDir, history }: Pick<WorkspaceOptions, "stateDir" | "history">,
): readonly (readonly ServedRoot[])[] {
  const directories = realDirectories(where);
  if (history === false || directories.length === 0) return [where];
  const byCwd = new Map<string, Map<string, ServedRoot>>();
  const add = (roots: readonly ServedRoot[]): void => {
    const [first] = roots;
    if (first === undefined) return;
    const cwd = realPath(first.path);
    const known = byCwd.get(cwd) ?? new Map<string, ServedRoot>();
    byCwd.set(cwd, known);
    for (const root of roots) {
      const real = realPath(root.path);
      if (!known.has(real)) known.set(real, root);
    }
  };
  add(where);
  for (const path of directories) add([{ path, access: "write" }]);
  const state = openStateDirectory(stateDir).path;
  for (const directory of directories)
    for (const { roots } of sharedHistoriesOf(state, directory))
      if (existsSync(roots[0] as string))
        add(roots.filter((root) => existsSync(root)).map((path) => ({ path, access: "write" })));
  return [...byCwd.values()].map((roots) => [...roots.values()]);
}

/** Opens the workspace of a command that is not about the past. */
export const openAlone = async (where: readonly ServedRoot[], open: Open): Promise<Past> => ({
  all: [await open(where)],
  directories: [],
});

/** Closes the workspaces of a command. */
export async function closePast({ all }: Pick<Past, "all">): Promise<void> {
  for (const ws of all) await ws.close();
}

/** Opens the histories of a command about the past. */
export async function openPast(
  where: readonly ServedRoot[],
  options: Pick<WorkspaceOptions, "stateDir" | "history">,
  open: Open,
): Promise<Past> {
  const opened: Workspace[] = [];
  try {
    for (const roots of rootsOfHistories(where, options)) opened.push(await open(roots));
    const all = opened.length === 1 ? opened : await withChanges(opened);
    await closePast({ all: opened.filter((ws) => !all.includes(ws)) });
    return { all, directories: realDirectories(where) };
  } catch (error) {
    await closePast({ all: opened });
    throw error;
  }
}

/** Returns the workspaces that have a change or a mark; without any, the first, which is that of the command line. */
async function withChanges(all: readonly Workspace[]): Promise<readonly Workspace[]> {
  const found: Workspace[] = [];
  for (const ws of all) if ((await ws.history()).length > 0 || (await ws.marks()).length > 0) found.push(ws);
  return found.length > 0 ? found : all.slice(0, 1);
}
