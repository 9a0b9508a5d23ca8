/** Test cases for what replicas share: locks with fencing tokens, and records. */
import type { LockedPaths, LockPath, Storage } from "../../storage/storage.ts";
import type { Records } from "../../records/records.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { recordCases, type RecordsCase } from "../records.ts";
import { put, type StorageCase } from "./case.ts";

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

/** The cases about locks and records. */
export const sharedCases: readonly StorageCase[] = [
  {
    name: "lockAll: one holder at a time, whatever the order of the paths",
    needs: ["lockAll"],
    run: async ({ storage, second }) => {
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
  },
  {
    name: "lockAll: a tree excludes what is below it; a wait ends with LOCK_TIMEOUT or CANCELLED",
    needs: ["lockAll"],
    run: async ({ storage, second }) => {
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
  },
  {
    name: "lockAll: tokens grow, reads see what earlier holders wrote, and a commit with the token succeeds",
    needs: ["lockAll"],
    run: async ({ storage, second, write, text }) => {
      await write({ "/a": "1" });
      const first = await lockOf(storage, ["/a"]);
      const waiting = lockOf(second, ["/a"], { read: ["/a"] });
      await storage.commit([put("/a", "2")], { token: first.token });
      await first.release();
      const next = await waiting;
      assertTrue(next.token > first.token, "the second token is greater");
      const [seen] = next.read?.results ?? (await second.readMany(["/a"])).results;
      if (!seen || seen instanceof Error) throw new Error("no entry");
      assertEqual(new TextDecoder().decode(seen.body), "2", "what the second holder reads");
      await second.commit([put("/a", "3")], { token: next.token });
      await next.release();
      assertEqual(await text("/a"), "3", "the content");
    },
  },
  {
    name: "lockAll: a commit with `release` ends the locks, and leaves them when it fails",
    needs: ["lockAll"],
    run: async ({ storage, second, write, text }) => {
      await write({ "/a": "1", "/b": "1" });
      const first = await lockOf(storage, ["/a", "/b"], { read: ["/a"] });
      const ending = { token: first.token, release: true };
      await assertFails(
        () => storage.commit([put("/a", "2")], { ...ending, expect: [{ path: "/b", version: null }] }),
        "CONFLICT",
        "a condition that does not hold",
      );
      await assertFails(() => lockOf(second, ["/a"], { timeoutMs: 50 }), "LOCK_TIMEOUT", "still held");
      await storage.commit([put("/a", "2")], ending);
      const next = await lockOf(second, ["/b", "/a"], { read: ["/a"] });
      const [seen] = next.read?.results ?? [];
      if (!seen || seen instanceof Error) throw new Error("no entry");
      assertEqual(new TextDecoder().decode(seen.body), "2", "what the second holder reads");
      assertTrue(next.token > first.token, "the second token is greater");
      await first.release();
      await assertFails(() => lockOf(storage, ["/a"], { timeoutMs: 50 }), "LOCK_TIMEOUT", "the second holds");
      await second.commit([put("/a", "3")], { token: next.token, release: true, key: "k" });
      await (await lockOf(storage, ["/a"])).release();
      await assertFails(
        () => storage.commit([put("/a", "4")], { release: true }),
        "INVALID_ARGUMENT",
        "release without a token",
      );
      assertEqual(await text("/a"), "3", "the content");
    },
  },
  {
    name: "fencing: a holder whose time was over cannot write once another has the lock",
    needs: ["lockAll"],
    run: async ({ storage, second, write, text }) => {
      await write({ "/a": "1" });
      const slow = await lockOf(storage, ["/a"], { forMs: 30 });
      const next = await lockOf(second, ["/a"], { timeoutMs: 10_000 });
      await second.commit([put("/a", "2")], { token: next.token });
      const late = () => storage.commit([put("/a", "late")], { token: slow.token });
      const error = await assertFails(late, "CONFLICT", "the first holder");
      assertEqual(error.details?.["reason"], "fenced", "the reason");
      await next.release();
      await assertFails(late, "CONFLICT", "the first holder after the second's release");
      assertEqual(await text("/a"), "2", "the content");
      await slow.release();
    },
  },
  {
    name: "records: change in the same moment as the files of a commit, or not at all",
    needs: ["records"],
    run: async ({ storage, second, text }) => {
      const { records } = storage;
      const rev = (await records?.put("approval", "p", { state: "given" })) ?? "";
      const use = (through: Storage, path: string) =>
        through.commit([put(path, "1")], {
          records: [
            { kind: "approval", id: "p", expect: rev, put: { state: "used" } },
            { kind: "budget", id: "agent", add: 1, most: 2 },
          ],
        });
      const results = await Promise.allSettled([use(storage, "/a"), use(second, "/b"), use(storage, "/c")]);
      const winners = results.flatMap((one, i) => (one.status === "fulfilled" ? ["/a", "/b", "/c"][i] : []));
      assertEqual(winners.length, 1, "one use of the approval");
      const { entries } = await storage.list({ limit: 10 });
      assertEqual(
        entries.map(({ path }) => path),
        winners as string[],
        "the files",
      );
      assertEqual((await records?.get("budget", "agent"))?.value, 1, "the budget");
      assertEqual((await records?.get("approval", "p"))?.value, { state: "used" }, "the approval");
      const error = await assertFails(() => use(storage, "/d"), "CONFLICT", "a second use");
      const found = (await records?.get("approval", "p"))?.rev;
      assertEqual(
        error.details?.["conflicts"],
        [{ record: { kind: "approval", id: "p" }, expected: rev, found }],
        "the conflict",
      );
      await assertFails(
        () =>
          storage.commit([put("/e", "1")], { records: [{ kind: "budget", id: "agent", add: 2, most: 2 }] }),
        "LIMIT_EXCEEDED",
        "beyond the budget",
      );
      assertEqual(
        [await text("/e"), (await records?.get("budget", "agent"))?.value],
        [null, 1],
        "nothing changed",
      );
      await assertFails(
        () =>
          storage.commit([{ op: "remove", path: "/gone" }], {
            records: [{ kind: "budget", id: "agent", add: 1 }],
          }),
        "NOT_FOUND",
        "a change that fails",
      );
      assertEqual((await records?.get("budget", "agent"))?.value, 1, "the budget after a failed change");
    },
  },
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
