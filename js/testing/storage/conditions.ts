/** Test cases for conditions, races of several writers and idempotency keys. */
import { FilewrightError } from "../../engine/errors.ts";
import type { Committed, Expect, Storage } from "../../storage/storage.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { put, type StorageCase, type StorageContext } from "./case.ts";

const isConflict = (error: unknown): boolean => error instanceof FilewrightError && error.code === "CONFLICT";

async function versionOf({ entry }: StorageContext, path: string): Promise<string | null> {
  return (await entry(path))?.version ?? null;
}

/** Returns the indexes of the attempts that succeeded. Every other one must be a conflict. */
async function winnersOf(attempts: readonly Promise<unknown>[]): Promise<readonly number[]> {
  const results = await Promise.allSettled(attempts);
  for (const result of results)
    if (result.status === "rejected" && !isConflict(result.reason)) throw result.reason;
  return results.flatMap((result, index) => (result.status === "fulfilled" ? [index] : []));
}

/** Adds 1 to the number in a file, again until no other writer was faster. */
async function increment(storage: Storage, path: string): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const [found] = (await storage.readMany([path])).results;
    if (!found || found instanceof Error) throw new Error("the counter is gone");
    const next = String(Number(new TextDecoder().decode(found.body)) + 1);
    try {
      await storage.commit([put(path, next)], { expect: [{ path, version: found.entry.version }] });
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  throw new Error("a writer never had its turn");
}

/** The cases about conditions. */
export const conditionCases: readonly StorageCase[] = [
  {
    name: "conditions: version, absence and type",
    run: async (context) => {
      const { storage, write, text } = context;
      await write({ "/a": "1", "/d/f": "1" });
      const version = await versionOf(context, "/a");
      const commit = (expect: Expect) => storage.commit([put("/a", "2")], { expect: [expect] });
      const unmet: readonly Expect[] = [
        { path: "/a", version: null },
        { path: "/a", version: "no such version" },
        { path: "/gone", version: "no such version" },
        { path: "/a", type: "dir" },
        { path: "/a", type: "gone" },
        { path: "/gone", type: "file" },
      ];
      for (const expect of unmet) await assertFails(() => commit(expect), "CONFLICT", JSON.stringify(expect));
      assertEqual(await text("/a"), "1", "the content after refusals");
      await commit({ path: "/gone", version: null });
      await commit({ path: "/d", type: "dir" });
      await commit({ path: "/gone", type: "gone" });
      assertTrue((await versionOf(context, "/a")) !== version, "the version moved");
      await assertFails(() => commit({ path: "/a", version }), "CONFLICT", "the version of before");
      await commit({ path: "/a", version: await versionOf(context, "/a") });
    },
  },
  {
    name: "conditions: a conflict names every unmet one, with what was found",
    run: async (context) => {
      const { storage, write } = context;
      await write({ "/a": "1", "/b": "1" });
      const [a, b] = [await versionOf(context, "/a"), await versionOf(context, "/b")];
      const error = await assertFails(
        () =>
          storage.commit([put("/c", "1")], {
            expect: [
              { path: "/a", version: a },
              { path: "/b", version: null },
              { path: "/c", version: "other" },
            ],
          }),
        "CONFLICT",
        "two unmet conditions",
      );
      assertEqual(
        error.details?.["conflicts"],
        [
          { path: "/b", expected: null, found: b },
          { path: "/c", expected: "other", found: null },
        ],
        "the conflicts",
      );
    },
  },
  {
    name: "conditions: compared with the state before the first change",
    run: async (context) => {
      const { storage, write, text } = context;
      await write({ "/a": "1" });
      const version = await versionOf(context, "/a");
      await storage.commit([put("/a", "2"), put("/a", "3")], { expect: [{ path: "/a", version }] });
      assertEqual(await text("/a"), "3", "the content");
    },
  },
  {
    name: "conditions: a delete and a move with a version of the past change nothing",
    run: async (context) => {
      const { storage, write, text } = context;
      await write({ "/a": "1" });
      const expect = [{ path: "/a", version: await versionOf(context, "/a") }];
      await write({ "/a": "2" });
      await assertFails(
        () => storage.commit([{ op: "remove", path: "/a" }], { expect }),
        "CONFLICT",
        "remove",
      );
      await assertFails(
        () => storage.commit([{ op: "move", from: "/a", to: "/b" }], { expect }),
        "CONFLICT",
        "move",
      );
      assertEqual([await text("/a"), await text("/b")], ["2", null], "the files");
    },
  },
  {
    name: "conditions: tree is any change at or below a path",
    facts: ["changes"],
    run: async ({ storage, write }) => {
      const { version: start } = await write({ "/d/a": "1", "/d/e/b": "1", "/other": "1" });
      const commit = (tree: string) => storage.commit([put("/x", "1")], { expect: [{ path: "/d", tree }] });
      await write({ "/other": "2", "/d2": "1" });
      await commit(start);
      const { version: changed } = await write({ "/d/e/b": "2" });
      await assertFails(() => commit(start), "CONFLICT", "after a change below");
      await commit(changed);
      await storage.commit([{ op: "remove", path: "/d/a" }]);
      await assertFails(() => commit(changed), "CONFLICT", "after a removal below");
      await assertFails(() => commit("no such version"), "CONFLICT", "an unknown version");
    },
  },
  {
    name: "races: one of twenty writers on one version wins, and one of twenty creators",
    run: async (context) => {
      const { storage, second, write, text } = context;
      await write({ "/f": "start" });
      for (const path of ["/f", "/new"]) {
        const expect = [{ path, version: await versionOf(context, path) }];
        const attempts = Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? storage : second).commit([put(path, `writer ${i}`)], { expect }),
        );
        const winners = await winnersOf(attempts);
        assertEqual(winners.length, 1, `the number of winners of ${path}`);
        assertEqual(await text(path), `writer ${winners[0]}`, "the winner's content");
      }
    },
  },
  {
    name: "races: of a delete and a write on one version one wins",
    run: async (context) => {
      const { storage, second, write, text } = context;
      for (let round = 0; round < 10; round++) {
        await write({ "/f": "start" });
        const expect = [{ path: "/f", version: await versionOf(context, "/f") }];
        const attempts = [
          storage.commit([{ op: "remove", path: "/f" }], { expect }),
          second.commit([put("/f", "written")], { expect }),
        ];
        const [winner, ...others] = await winnersOf(attempts);
        assertEqual(others, [], "other winners");
        assertEqual(await text("/f"), winner === 0 ? null : "written", "the file");
      }
    },
  },
  {
    name: "races: no increment of a shared number is lost",
    run: async ({ storage, second, write, text }) => {
      await write({ "/n": "0" });
      const work = async (through: Storage): Promise<void> => {
        for (let i = 0; i < 10; i++) await increment(through, "/n");
      };
      await Promise.all([storage, second, storage, second].map(work));
      assertEqual(await text("/n"), "40", "the number");
    },
  },
  {
    name: "races: of commits that share one of several paths one wins, as a whole",
    facts: ["atomic"],
    run: async (context) => {
      const { storage, second, write, text } = context;
      await write({ "/shared": "0" });
      const expect = [{ path: "/shared", version: await versionOf(context, "/shared") }];
      const attempts = Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? storage : second).commit([put(`/own${i}`, "x"), put("/shared", String(i))], {
          expect,
        }),
      );
      const winners = await winnersOf(attempts);
      assertEqual(winners.length, 1, "the number of winners");
      const { entries } = await storage.list({ limit: 100 });
      assertEqual(
        entries.map(({ path }) => path),
        [`/own${winners[0]}`, "/shared"],
        "what is there",
      );
      assertEqual(await text("/shared"), String(winners[0]), "the shared file");
    },
  },
  {
    name: "keys: the same key gives the first answer and changes nothing",
    run: async (context) => {
      const { storage, second, write, text } = context;
      const first = await write({ "/a": "1" }, { key: "k1", expect: [{ path: "/a", version: null }] });
      assertEqual(first.repeated, undefined, "the first answer");
      await write({ "/a": "2" });
      const again = await second.commit([put("/a", "1")], {
        key: "k1",
        expect: [{ path: "/a", version: null }],
      });
      assertEqual(again, { ...first, repeated: true }, "the repeated answer");
      assertEqual(await text("/a"), "2", "the content");
      await storage.commit([put("/a", "3")], { key: "k2" });
      assertEqual(await text("/a"), "3", "another key");
    },
  },
  {
    name: "keys: a commit that failed does not use its key up",
    run: async ({ storage, text }) => {
      const options = { key: "k" };
      const expect = [{ path: "/a", version: "none" }];
      await assertFails(
        () => storage.commit([put("/a", "1")], { ...options, expect }),
        "CONFLICT",
        "a conflict",
      );
      const { repeated } = await storage.commit([put("/a", "2")], options);
      assertEqual([repeated, await text("/a")], [undefined, "2"], "the second attempt");
      for (const key of ["", "k".repeat(201)])
        await assertFails(() => storage.commit([], { key }), "INVALID_ARGUMENT", `a key of ${key.length}`);
    },
  },
  {
    name: "keys: of ten commits at once with one key one happens",
    run: async ({ storage, second, write, text }) => {
      await write({ "/n": "0" });
      const attempts = Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? storage : second).commit([put("/n", String(i)), put(`/own${i}`, "x")], {
          key: "once",
        }),
      );
      const answers: readonly Committed[] = await Promise.all(attempts);
      assertEqual(new Set(answers.map(({ version }) => version)).size, 1, "the versions");
      assertEqual(answers.filter(({ repeated }) => repeated !== true).length, 1, "the first answers");
      const { entries } = await storage.list({ limit: 100 });
      assertEqual(entries.length, 2, "one own file and the shared one");
      assertEqual(
        entries.some(({ path }) => path.startsWith("/own")),
        true,
        "an own file",
      );
      assertTrue((await text("/n")) !== null, "the shared file");
    },
  },
];
