/** Test cases for what replicas share: locks with fencing tokens, and records. */
import type { LockedPaths, LockPath, Storage } from "../../storage/storage.ts";
import type { RecordOp, Records } from "../../records/records.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { recordCases, type RecordsCase } from "../records.ts";
import { casesOf, put, remove, type StorageCase } from "./case.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function lockOf(
  storage: Storage,
  paths: readonly (string | LockPath)[],
  options: { readonly timeoutMs?: number; readonly forMs?: number; readonly read?: readonly string[] } = {},
): Promise<LockedPaths> {
  const held = await storage.lockAll?.(
    paths.map((path) => (typeof path === "string" ? { path } : path)),
    { timeoutMs: 10_000, ...options },
  );
  if (held === undefined) throw new Error("no lock");
  return held;
}

/** Returns the text of the first path that was read with locks. */
function textRead({ read }: LockedPaths): string {
  const [seen] = read?.results ?? [];
  if (!seen || seen instanceof Error) throw new Error("no entry");
  return new TextDecoder().decode(seen.body);
}

/** The cases about locks and records. */
export const sharedCases: readonly StorageCase[] = [
  ...casesOf(["lockAll"], {
    "lockAll: one holder at a time, whatever the order of the paths": async ({ storage, second }) => {
      let holders = 0;
      let most = 0;
      const work = async (through: Storage, paths: readonly string[]): Promise<void> => {
        const held = await lockOf(through, paths);
        holders++;
        most = Math.max(most, holders);
        await pause(2);
        holders--;
        await held.release();
      };
      await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          work(i % 2 === 0 ? storage : second, i % 3 === 0 ? ["/a", "/b"] : ["/b", "/a"]),
        ),
      );
      assertEqual(most, 1, "the number of holders at once");
      const [one, other] = await Promise.all([lockOf(storage, ["/a"]), lockOf(second, ["/b"])]);
      await one.release();
      await one.release();
      await other.release();
    },
    "lockAll: a tree excludes what is below it; a wait ends with LOCK_TIMEOUT or CANCELLED": async (
      context,
    ) => {
      const { storage, second } = context;
      const held = await lockOf(storage, [{ path: "/d", tree: true }]);
      const wait = { timeoutMs: 50 };
      await assertFails(() => lockOf(second, ["/d/e/f"], wait), "LOCK_TIMEOUT", "below the tree");
      await assertFails(() => lockOf(second, [{ path: "/", tree: true }], wait), "LOCK_TIMEOUT", "above it");
      await (await lockOf(second, ["/d2"], wait)).release();
      const signal = AbortSignal.timeout(20);
      await assertFails(
        () => second.lockAll?.([{ path: "/d" }], { timeoutMs: 10_000, signal }),
        "CANCELLED",
        "a cancelled wait",
      );
      await held.release();
      await (await lockOf(second, ["/d/e/f"], wait)).release();
    },
    "lockAll: tokens grow, reads see what earlier holders wrote, and a commit with the token succeeds":
      async ({ storage, second, write, text }) => {
        await write({ "/a": "1" });
        const first = await lockOf(storage, ["/a"]);
        const waiting = lockOf(second, ["/a"], { read: ["/a"] });
        await write({ "/a": "2" }, { token: first.token });
        await first.release();
        const next = await waiting;
        assertTrue(next.token > first.token, "the second token is greater");
        // A storage may answer no reads with the lock.
        const seen = next.read === undefined ? await text("/a", second) : textRead(next);
        assertEqual(seen, "2", "what the second holder reads");
        await second.commit([put("/a", "3")], { token: next.token });
        await next.release();
        assertEqual(await text("/a"), "3", "the content");
      },
    "lockAll: a commit with `release` ends the locks, and leaves them when it fails": async (context) => {
      const { storage, second, write, text, refuse } = context;
      await write({ "/a": "1", "/b": "1" });
      const first = await lockOf(storage, ["/a", "/b"], { read: ["/a"] });
      const ending = { token: first.token, release: true };
      const isHeld = (by: Storage) =>
        assertFails(() => lockOf(by, ["/a"], { timeoutMs: 50 }), "LOCK_TIMEOUT", "a lock that is held");
      await refuse("CONFLICT", [put("/a", "2")], { ...ending, expect: [{ path: "/b", version: null }] });
      await isHeld(second);
      await write({ "/a": "2" }, ending);
      const next = await lockOf(second, ["/b", "/a"], { read: ["/a"] });
      assertEqual(textRead(next), "2", "what the second holder reads");
      assertTrue(next.token > first.token, "the second token is greater");
      await first.release();
      await isHeld(storage);
      await second.commit([put("/a", "3")], { token: next.token, release: true, key: "k" });
      await (await lockOf(storage, ["/a"])).release();
      await refuse("INVALID_ARGUMENT", [put("/a", "4")], { release: true });
      assertEqual(await text("/a"), "3", "the content");
    },
    "fencing: a holder whose time was over cannot write once another has the lock": async (context) => {
      const { storage, second, write, text, refuse } = context;
      await write({ "/a": "1" });
      const slow = await lockOf(storage, ["/a"], { forMs: 30 });
      const next = await lockOf(second, ["/a"], { timeoutMs: 10_000 });
      await second.commit([put("/a", "2")], { token: next.token });
      const late = () => refuse("CONFLICT", [put("/a", "late")], { token: slow.token });
      assertEqual((await late()).details?.["reason"], "fenced", "the reason");
      await next.release();
      await late();
      assertEqual(await text("/a"), "2", "the content");
      await slow.release();
    },
  }),
  ...casesOf(["records"], {
    "records: change in the same moment as the files of a commit, or not at all": async (context) => {
      const { storage, second, text, paths, refuse } = context;
      const { records } = storage;
      const rev = (await records?.put("approval", "p", { state: "given" })) ?? "";
      const counted = (add: number): RecordOp => ({ kind: "budget", id: "agent", add, most: 2 });
      const used = { kind: "approval", id: "p", expect: rev, put: { state: "used" } };
      const use = { records: [used, counted(1)] };
      const commits = [storage, second, storage].map((through, i) =>
        through.commit([put(`/${i}`, "1")], use),
      );
      const results = await Promise.allSettled(commits);
      const winners = results.flatMap(({ status }, i) => (status === "fulfilled" ? [`/${i}`] : []));
      assertEqual([winners.length, await paths()], [1, winners], "one use of the approval");
      assertEqual((await records?.get("approval", "p"))?.value, { state: "used" }, "the approval");
      const error = await refuse("CONFLICT", [put("/d", "1")], use);
      const found = (await records?.get("approval", "p"))?.rev;
      const conflict = { record: { kind: "approval", id: "p" }, expected: rev, found };
      assertEqual(error.details?.["conflicts"], [conflict], "the conflict");
      await refuse("LIMIT_EXCEEDED", [put("/e", "1")], { records: [counted(2)] });
      await refuse("NOT_FOUND", [remove("/gone")], { records: [counted(1)] });
      const budget = (await records?.get("budget", "agent"))?.value;
      assertEqual([await text("/e"), budget], [null, 1], "what failed commits changed");
    },
  }),
  ...recordCases.map(onStorage),
];

/** Returns the case of a storage that runs one of records on its records. */
function onStorage({ name, run }: RecordsCase): StorageCase {
  return {
    name,
    needs: ["records"],
    run: ({ storage, second }) =>
      run(storage.records as Records, (second.records ?? storage.records) as Records),
  };
}
