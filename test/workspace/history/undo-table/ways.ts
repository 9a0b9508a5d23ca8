/**
 * Takes the call of a row back, prints the outcome as the table writes it, and asserts what holds for every cell:
 * nothing of another process is lost, a refusal changes nothing, an undo restores exactly the state before the call
 * where nothing is in the way, it names what it changed, and it can be undone.
 */
import { expect } from "vitest";
import { FilewrightError, type Workspace } from "../../../../js/index.node.ts";
import { idOfCall } from "../../../support/calls.ts";
import { type Call, nameOfRow, type Row, type Way } from "./row.ts";
import { LAST_FILE, openWorld, type World, type WorldName } from "./world.ts";

/** The outcome of a way back. */
interface Taken {
  /** The answer, as the table writes it. */
  readonly said: string;
  /** The paths that the answer says are changed. */
  readonly changed: readonly string[];
  /** The id of the change that took the call back, if it was recorded. */
  readonly callId?: string | undefined;
  /** True when the way back answered that everything was taken back. */
  readonly isWhole: boolean;
}

/** Takes a row back in every way and returns the outcomes. */
export async function outcomesOf(row: Row, name: WorldName): Promise<Readonly<Record<Way, string>>> {
  const where = (way: Way): string => `${nameOfRow(row)}, ${way} on ${name}`;
  let made: MadeRow | undefined;
  const outcomes = {
    undo: "",
    part: "",
    rewind: "",
    rollback: await rolledBack(row, name, where("rollback")),
  };
  for (const way of ["undo", "part", "rewind"] as const) {
    made ??= await makeRow(row, name);
    const { outcome, isUnchanged } = await takeBack(row, made, way, where(way));
    outcomes[way] = outcome;
    // A refusal has changed nothing, so the next way begins there: half of the time of the table.
    if (!isUnchanged) made = undefined;
  }
  return outcomes;
}

/** A world in which the calls of a row are made, and what the other process does. */
interface MadeRow {
  readonly world: World;
  readonly callId: string;
  readonly before: string;
  readonly stood: string;
  /** True when the trees show what the other process has done. */
  readonly isTheirsSeen: boolean;
}

async function makeRow(row: Row, name: WorldName): Promise<MadeRow> {
  const world = await openWorld(name, row.seed);
  const { ws } = world;
  const before = await world.tree();
  await ws.mark("start");
  const callId = await idOfCall(ws, ...row.call);
  if (row.ours !== undefined) await idOfCall(ws, ...row.ours);
  const ours = await world.tree();
  if (row.theirs !== undefined) await world.theirs(row.theirs);
  const stood = await world.tree();
  return { world, callId, before, stood, isTheirsSeen: stood !== ours };
}

async function takeBack(
  row: Row,
  { world, callId, before, stood, isTheirsSeen }: MadeRow,
  way: Exclude<Way, "rollback">,
  where: string,
): Promise<{ readonly outcome: string; readonly isUnchanged: boolean }> {
  const taken = await TAKE[way](world.ws, callId, row.part);
  const tree = await world.tree();
  if (isTheirsSeen) assertTheirs(row, tree, where);
  const isExact =
    row.theirs === undefined && (way === "rewind" || (way === "undo" && row.ours === undefined));
  assertSaid(taken, { before, stood, tree, isExact }, where);
  if (taken.callId !== undefined) {
    await world.ws.undo(taken.callId);
    expect(await world.tree(), `${where}: the undo of the undo`).toBe(stood);
  }
  const outcome = printOutcome(taken.said, { before, stood, tree });
  return { outcome, isUnchanged: taken.callId === undefined };
}

/** The ways back of a change that was made. */
const TAKE: Readonly<
  Record<Exclude<Way, "rollback">, (ws: Workspace, callId: string, part: string) => Promise<Taken>>
> = {
  async undo(ws, callId) {
    try {
      const undone = await ws.undo(callId);
      return {
        said: `undone ${list(undone.paths)}`,
        changed: undone.paths,
        isWhole: true,
        callId: undone.callId,
      };
    } catch (error) {
      return refused(error);
    }
  },
  async part(ws, callId, path) {
    try {
      const undone = await ws.undo(callId, { parts: [{ path, hunks: [0] }] });
      return {
        said: `undone ${list(undone.paths)}`,
        changed: undone.paths,
        isWhole: false,
        callId: undone.callId,
      };
    } catch (error) {
      return refused(error);
    }
  },
  async rewind(ws) {
    const { callId, changes, left } = await ws.rewind("start");
    const moves = changes.flatMap(({ display, from }) =>
      from === undefined ? [] : [`${nameBelow(from)}>${display}`],
    );
    const others = changes.flatMap(({ display, from }) => (from === undefined ? [display] : []));
    const changed = [...others, ...moves.flatMap((one) => one.split(">"))];
    const reasons = left.map(({ path, reason }) => `${path} ${reason}`);
    const parts = [
      ...(changes.length === 0 ? [] : [`undone ${list([...others, ...moves])}`]),
      ...(reasons.length === 0 ? [] : [`left ${reasons.join(", ")}`]),
    ];
    return { said: parts.join("; ") || "nothing", changed, isWhole: left.length === 0, callId };
  },
};

function refused(error: unknown): Taken {
  if (!(error instanceof FilewrightError)) throw error;
  const { code, path } = error;
  return { said: path === undefined ? code : `${code} ${nameBelow(path)}`, changed: [], isWhole: false };
}

/** Makes the calls of a row as a batch whose last write fails after the other process has made its change. */
async function rolledBack(row: Row, name: WorldName, where: string): Promise<string> {
  let stood = "";
  const world: World = await openWorld(name, row.seed, async () => {
    if (row.theirs !== undefined) await world.theirs(row.theirs);
    stood = withoutAsides(await world.tree());
    throw new FilewrightError("NO_SPACE", "as the test wants it");
  });
  const before = await world.tree();
  const calls: readonly Call[] = [row.call, ...(row.ours === undefined ? [] : [row.ours])];
  const operations = [...calls, ["write_file", { path: LAST_FILE, content: "" }] as const];
  const { ok, error } = await world.ws.call("batch", {
    operations: operations.map(([tool, args]) => ({ tool, args })),
  });
  expect([where, ok, error?.details?.["cause"] ?? error?.code]).toEqual([where, false, "NO_SPACE"]);
  const tree = await world.tree();
  assertTheirs(row, tree, where);
  const left = (error?.details?.["not_restored"] ?? []) as readonly string[];
  const isWhole = left.length === 0;
  if (isWhole && row.theirs === undefined) expect(tree, where).toBe(before);
  return printOutcome(isWhole ? "rolled back" : `left ${list(left)}`, { before, stood, tree });
}

/** The trees of a cell: before the call, before the way back, and after it. */
interface Trees {
  readonly before: string;
  readonly stood: string;
  readonly tree: string;
}

/** Prints an outcome. */
export function printOutcome(said: string, { before, stood, tree }: Trees): string {
  if (tree === stood) return said;
  return `${said} → ${tree === before ? "before" : tree.replace(/\.filewright-[^=/ ]+-kept/gu, ".filewright-kept")}`;
}

/** Asserts that what another process has written or moved is where that process has put it, or was carried along. */
export function assertTheirs(
  { theirs = "", carried }: Pick<Row, "theirs" | "carried">,
  tree: string,
  where: string,
): void {
  const entries = tree.split(" ").map((entry) => entry.replace(/:\d{3}(?=[=/])/u, ""));
  const [, path, text] = /^(.+?)<?=(.*)$/u.exec(theirs) ?? [];
  const places = [path, carried].flatMap((one) => (one === undefined ? [] : [`${one}=${text}`]));
  if (path !== undefined)
    expect(
      places.filter((one) => entries.includes(one)),
      `${where}: ${tree}`,
    ).toHaveLength(1);
  const [, to] = /^[^=]+>(.+)$/u.exec(theirs) ?? [];
  if (to !== undefined)
    expect(
      entries.some((entry) => isAtOrBelow(entry, to)),
      `${where}: ${tree}`,
    ).toBe(true);
}

/** Returns a tree without what a running change has set aside. */
export function withoutAsides(tree: string): string {
  return tree
    .split(" ")
    .filter((entry) => !/(?:^|\/)\.filewright-/u.test(entry))
    .join(" ");
}

/** Asserts that an answer says what was done, and that a refusal did nothing. */
function assertSaid(
  { changed, isWhole, said }: Taken,
  { before, stood, tree, isExact }: Trees & { readonly isExact: boolean },
  where: string,
): void {
  const names = differingNames(stood, tree);
  if (!said.startsWith("undone")) expect([where, names]).toEqual([where, []]);
  if (isWhole && isExact) expect(tree, where).toBe(before);
  const unsaid = names.filter(
    (name) => !changed.some((path) => isAtOrBelow(name, path) || isAtOrBelow(path, name)),
  );
  expect([where, unsaid]).toEqual([where, []]);
}

function differingNames(one: string, other: string): readonly string[] {
  const [a, b] = [one.split(" "), other.split(" ")];
  const differing = [...a.filter((entry) => !b.includes(entry)), ...b.filter((entry) => !a.includes(entry))];
  return [
    ...new Set(
      differing
        .filter((entry) => entry !== "")
        .map((entry) => entry.replace(/(?::\d{3})?(?:\/$|=.*|->.*)/u, "")),
    ),
  ];
}

function isAtOrBelow(entry: string, path: string): boolean {
  return entry === path || /^[/=:-]/u.test(entry.startsWith(path) ? entry.slice(path.length) : "");
}

/** Prints paths, which may be absolute, relative to the root. */
export function list(paths: readonly string[]): string {
  return paths.map(nameBelow).sort().join(" ") || "nothing";
}

function nameBelow(path: string): string {
  return path.replace(/^.*\/ws\//u, "");
}
