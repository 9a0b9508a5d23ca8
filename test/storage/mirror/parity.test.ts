/**
 * The answers of a search with a copy on this machine, of one without, and of one on a disk with the same files: equal
 * for random trees, commits, policies and queries.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { memoryStorage, type Storage } from "../../../js/storage/index.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../../js/workspace/index.node.ts";
import { isNight } from "../../support/share.ts";
import { answer, change, commitAll, deny, openScanned, query } from "./generated.ts";
import { untilWarm } from "./support.ts";

/** Writes the entries of a storage to a directory. */
async function writeTree(storage: Storage, to: string): Promise<void> {
  const { entries } = await storage.list({ prefix: "/ws", limit: 10_000 });
  const { results } = await storage.readMany(entries.map((entry) => entry.path));
  mkdirSync(to, { recursive: true });
  for (const [index, { path: from, type, target = "" }] of entries.entries()) {
    const place = join(to, from.slice("/ws".length));
    mkdirSync(dirname(place), { recursive: true });
    const found = results[index];
    if (type === "dir") mkdirSync(place, { recursive: true });
    else if (type === "symlink") symlinkSync(target, place);
    else if (found !== null && found !== undefined && "entry" in found)
      writeFileSync(place, found.body ?? "");
  }
}

describe("a search with a mirror", () => {
  it("answers as one without and as one on a disk, before and after random commits", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fw-parity-"));
    let round = 0;
    const changes = fc.array(change, { minLength: 5, maxLength: 40 });
    const later = fc.array(change, { minLength: 1, maxLength: 10 });
    const queries = fc.array(query, { minLength: 3, maxLength: 6 });
    try {
      await fc.assert(
        fc.asyncProperty(changes, later, queries, deny, async (first, second, asked, denied) => {
          const storage = memoryStorage();
          await storage.commit([{ op: "mkdir", path: "/ws" }]);
          await commitAll(storage, first);
          const own = join(folder, String(round++));
          const access = { deny: denied.filter((glob) => !glob.startsWith("/")) };
          const opened: Workspace[] = [];
          const open = async (options: WorkspaceOptions): Promise<Workspace> => {
            const ws = await openWorkspace(options);
            opened.push(ws);
            return ws;
          };
          try {
            const mirrored = await open({ storage, root: "/ws", stateDir: join(own, "state"), access });
            const scanned = await openScanned(storage, access);
            opened.push(scanned);
            await untilWarm(mirrored);
            for (const [stage, more] of [[], second].entries()) {
              await commitAll(storage, more);
              const tree = join(own, `tree${stage}`);
              await writeTree(storage, tree);
              const local = await open({ root: tree, stateDir: join(own, "local"), access });
              for (const args of asked) {
                const expected = await answer(scanned, args);
                expect(await answer(mirrored, args)).toEqual(expected);
                expect(await answer(local, args)).toEqual(expected);
              }
            }
          } finally {
            for (const ws of opened) await ws.close();
          }
        }),
        { numRuns: isNight ? 40 : 16, seed: 20_261_126 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
