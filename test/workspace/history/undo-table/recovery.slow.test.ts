/** The undo table after kill -9: each row is stopped in a batch, and the next workspace recovers it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorkspace } from "../../../../js/index.node.ts";
import { ROWS } from "./cases.ts";
import { type Call, inWorld, nameOfRow, type Row } from "./row.ts";
import { assertTheirs, list, printOutcome, withoutAsides } from "./ways.ts";
import { DiskFiles, LAST_FILE } from "./world.ts";

/**
 * Where the process is stopped: before the first change of its backend, between the calls of the row and the last write
 * of the batch, or after the commit and before the answer.
 */
const STOPS = ["begun", "made", "committed"] as const;

/** A row at one of its stops. */
interface StoppedRow {
  readonly row: Row;
  readonly stop: (typeof STOPS)[number];
  readonly files: DiskFiles;
  readonly before: string;
}

const PROGRAM = fileURLToPath(new URL("stopped.mjs", import.meta.url));

const stoppedRows: readonly StoppedRow[] = ROWS.flatMap((row) =>
  STOPS.map((stop) => {
    const files = new DiskFiles(row.seed);
    return { row, stop, files, before: files.tree() };
  }),
);

/** Runs all rows up to their stops in one process and kills it. */
async function killAtStops(): Promise<void> {
  const cells = stoppedRows.map(({ row, stop, files: { root, stateDir } }) => {
    const calls: readonly Call[] = [row.call, ...(row.ours === undefined ? [] : [row.ours])];
    const operations = [...calls, ["write_file", { path: LAST_FILE, content: "" }] as const];
    return {
      root,
      stateDir,
      stop,
      last: LAST_FILE,
      operations: operations.map(([tool, args]) => ({ tool, args })),
    };
  });
  const given = join((stoppedRows[0] as StoppedRow).files.base, "cells.json");
  fs.writeFileSync(given, JSON.stringify(cells));
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, given], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const stopped = await Promise.race([once(child.stdout as NonNullable<typeof child.stdout>, "data"), ended]);
  expect(String(stopped[0])).toBe("stopped\n");
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
}

/** Opens a workspace on a stopped row after the other process has made its change, and prints the outcome. */
async function recovered({ row, stop, files, before }: StoppedRow): Promise<string> {
  const { root, stateDir } = files;
  if (row.theirs !== undefined && stop === "made") files.theirs(row.theirs);
  const stood = withoutAsides(files.tree());
  const ws = await openWorkspace({ root, stateDir, guard: "off" });
  const { rolledBack, conflicts } = ws.capabilities().recovery;
  const tree = files.tree();
  if (stop === "made") assertTheirs(row, tree, nameOfRow(row));
  const said =
    rolledBack === 0 ? "nothing" : conflicts.length === 0 ? "rolled back" : `left ${list(conflicts)}`;
  const outcome = printOutcome(said, { before, stood, tree });
  const [call] = await ws.history();
  if (stop === "committed") {
    await ws.undo(call?.callId ?? "");
    expect(files.tree(), "the undo of what was committed").toBe(before);
  } else expect(call).toBeUndefined();
  await ws.close();
  const again = await openWorkspace({ root, stateDir, guard: "off" });
  expect(again.capabilities().recovery, "a second recovery").toMatchObject({ rolledBack: 0, conflicts: [] });
  await again.close();
  return outcome;
}

describe("the undo table after kill -9", () => {
  beforeAll(killAtStops);
  afterAll(() => {
    for (const { files } of stoppedRows) files.remove();
  });

  it.each(ROWS.map((row) => [nameOfRow(row), row] as const))(
    "is rolled back, or whole, for %s",
    async (_name, row) => {
      const outcomes: Record<string, string> = {};
      for (const one of stoppedRows) if (one.row === row) outcomes[one.stop] = await recovered(one);
      expect(outcomes).toEqual({
        begun: "rolled back",
        made: row.recovery ?? inWorld(row.outcome.rollback, "disk"),
        committed: "nothing",
      });
    },
  );
});
