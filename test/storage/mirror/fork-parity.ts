/** Random changes of forks and their parents, and searches that must have the answers of a walk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import type { Storage } from "../../../js/storage/index.ts";
import { openWorkspace, type Workspace } from "../../../js/workspace/index.node.ts";
import { answer, change, commitAll, deny, openScanned, query } from "./generated.ts";
import { untilWarm } from "./support.ts";

/** Notes the forks of a storage, and those of its forks, in the order in which they are made. */
export function notingForks(storage: Storage, made: Storage[] = []): Storage[] {
  const { fork } = storage;
  storage.fork = async (name, options) => {
    const found = (await fork?.call(storage, name, options)) as Storage;
    made.push(found);
    notingForks(found, made);
    return found;
  };
  return made;
}

/** What a search says about the files that it finds. */
interface Found {
  readonly files: readonly string[];
  readonly fresh: string;
}

/** Returns the files with a pattern, and how they were searched. */
export async function filesWith(ws: Workspace, pattern: string, more: object = {}): Promise<Found> {
  const result = await ws.call("grep", { pattern, output: "files", ...more });
  expect(result).toMatchObject({ ok: true });
  return result.data as unknown as Found;
}

/**
 * Searches forks, forks of forks and their parents between random changes of all of them, and compares each answer with
 * that of a walk.
 */
export async function compareForksWithWalks(
  makeStorage: () => Promise<Storage> | Storage,
  numRuns: number,
  { mirror = true }: { readonly mirror?: boolean } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fw-forks-"));
  let round = 0;
  let [besideCopy, searches] = [0, 0];
  const some = fc.array(change, { maxLength: 6 });
  const generated = [
    fc.array(change, { minLength: 10, maxLength: 40 }),
    fc.array(some, { minLength: 6, maxLength: 6 }),
    fc.array(query, { minLength: 3, maxLength: 5 }),
    deny,
  ] as const;
  try {
    await fc.assert(
      fc.asyncProperty(...generated, async (first, later, asked, denied) => {
        const storage = await makeStorage();
        const made = notingForks(storage);
        await storage.commit([{ op: "mkdir", path: "/ws" }]);
        await commitAll(storage, first);
        const access = { deny: denied.filter((glob) => !glob.startsWith("/")) };
        const stateDir = join(folder, String(round++));
        const ws = await openWorkspace({
          storage,
          root: "/ws",
          stateDir,
          access,
          mirror: mirror && undefined,
        });
        const opened: Workspace[] = [ws];
        const compare = async (fork: Workspace, at: Storage): Promise<void> => {
          const scanned = await openScanned(at, access);
          opened.push(scanned);
          for (const args of asked) {
            expect(await answer(fork, args)).toEqual(await answer(scanned, args));
            searches++;
            if ((await filesWith(fork, "needle", { max_results: 1 })).fresh !== "scan") besideCopy++;
          }
        };
        try {
          if (mirror) await untilWarm(ws);
          // A content is in the index once two searches have read it.
          else for (const args of [...asked, ...asked]) await answer(ws, args);
          const [inFork, inParent, inInner, ofParent, ofFork, last] = later;
          const fork = await ws.fork();
          const at = made.at(-1) as Storage;
          await commitAll(at, inFork ?? []);
          await compare(fork, at);
          // The parent moves on, and its copy does not follow until it is searched itself.
          await commitAll(storage, inParent ?? []);
          await compare(fork, at);
          const inner = await fork.fork();
          const innerAt = made.at(-1) as Storage;
          await commitAll(innerAt, inInner ?? []);
          await commitAll(storage, ofParent ?? []);
          await compare(inner, innerAt);
          await ws.call("grep", { pattern: "needle" });
          await commitAll(at, ofFork ?? []);
          await compare(fork, at);
          await compare(inner, innerAt);
          // A fork of what the parent is now, and one of which nothing was searched before its parent moved on.
          const late = await ws.fork();
          const lateAt = made.at(-1) as Storage;
          await commitAll(storage, last ?? []);
          await compare(late, lateAt);
          await compare(ws, storage);
          await storage.merge?.(at, { favour: "theirs" });
          await compare(ws, storage);
          await compare(fork, at);
          await fork.drop();
          await compare(late, lateAt);
        } finally {
          for (const one of opened.reverse()) await one.close();
        }
      }),
      { numRuns, seed: 20_261_127, endOnFailure: true },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // Most of these searches are answered by the index of the copy.
  if (mirror) expect(besideCopy).toBeGreaterThan(searches / 3);
  else expect(besideCopy).toBe(0);
}
