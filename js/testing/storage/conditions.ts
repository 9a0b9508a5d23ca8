/** Test cases for conditions, races of several writers and idempotency keys. */
import { FilewrightError } from "../../engine/errors.ts";
import type { Committed, Expect, Op, Storage, Version } from "../../storage/storage.ts";
import { assertEqual, assertTrue } from "../case.ts";
import { casesOf, put, remove, type StorageCase, type StorageContext } from "./case.ts";

const isConflict = (error: unknown): boolean => error instanceof FilewrightError && error.code === "CONFLICT";

/** Returns the condition that a path is as it is now. */
async function asItIs(
  { entry }: StorageContext,
  path: string,
): Promise<Expect & { version: Version | null }> {
  return { path, version: (await entry(path))?.version ?? null };
}

/**
 * Makes commits at once through both connections, and returns the indexes of those that succeeded. Every other one must be
 * a conflict.
 */
async function winnersOf(
  { storage, second }: StorageContext,
  commits: readonly (readonly Op[])[],
  expect: readonly Expect[],
): Promise<readonly number[]> {
  const attempts = commits.map((ops, i) => (i % 2 === 0 ? storage : second).commit(ops, { expect }));
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
  ...casesOf([], {
    "conditions: version, absence and type": async (context) => {
      const { write, text, refuse } = context;
      await write({ "/a": "1", "/d/f": "1" });
      const before = await asItIs(context, "/a");
      const unmet: readonly Expect[] = [
        { path: "/a", version: null },
        { path: "/a", version: "no such version" },
        { path: "/gone", version: "no such version" },
        { path: "/a", type: "dir" },
        { path: "/a", type: "gone" },
        { path: "/gone", type: "file" },
      ];
      for (const expect of unmet) await refuse("CONFLICT", [put("/a", "2")], { expect: [expect] });
      assertEqual(await text("/a"), "1", "the content after refusals");
      const met: readonly Expect[] = [
        { path: "/gone", version: null },
        { path: "/d", type: "dir" },
        { path: "/gone", type: "gone" },
      ];
      for (const expect of met) await write({ "/a": "2" }, { expect: [expect] });
      const after = await asItIs(context, "/a");
      assertTrue(after.version !== before.version, "the version moved");
      await refuse("CONFLICT", [put("/a", "2")], { expect: [before] });
      await write({ "/a": "2" }, { expect: [after] });
    },
    "conditions: a conflict names every unmet one, with what was found": async (context) => {
      const { write, refuse } = context;
      await write({ "/a": "1", "/b": "1" });
      const b = (await asItIs(context, "/b")).version;
      const unmet = [
        { path: "/b", version: null },
        { path: "/c", version: "other" },
      ];
      const expect = [await asItIs(context, "/a"), ...unmet];
      const error = await refuse("CONFLICT", [put("/c", "1")], { expect });
      const conflicts = [
        { path: "/b", expected: null, found: b },
        { path: "/c", expected: "other", found: null },
      ];
      assertEqual(error.details?.["conflicts"], conflicts, "the conflicts");
    },
    "conditions: compared with the state before the first change": async (context) => {
      const { storage, write, text } = context;
      await write({ "/a": "1" });
      await storage.commit([put("/a", "2"), put("/a", "3")], { expect: [await asItIs(context, "/a")] });
      assertEqual(await text("/a"), "3", "the content");
    },
    "conditions: a delete and a move with a version of the past change nothing": async (context) => {
      const { write, texts, refuse } = context;
      await write({ "/a": "1" });
      const expect = [await asItIs(context, "/a")];
      await write({ "/a": "2" });
      await refuse("CONFLICT", [remove("/a")], { expect });
      await refuse("CONFLICT", [{ op: "move", from: "/a", to: "/b" }], { expect });
      assertEqual(await texts("/a", "/b"), ["2", null], "the files");
    },
    "races: one of twenty writers on one version wins, and one of twenty creators": async (context) => {
      const { write, text } = context;
      await write({ "/f": "start" });
      for (const path of ["/f", "/new"]) {
        const writers = Array.from({ length: 20 }, (_, i) => [put(path, `writer ${i}`)]);
        const winners = await winnersOf(context, writers, [await asItIs(context, path)]);
        assertEqual(
          winners.map((i) => `writer ${i}`),
          [await text(path)],
          `the winners of ${path}`,
        );
      }
    },
    "races: of a delete and a write on one version one wins": async (context) => {
      const { write, text } = context;
      for (let round = 0; round < 10; round++) {
        await write({ "/f": "start" });
        const both = [[remove("/f")], [put("/f", "written")]];
        const [winner, ...others] = await winnersOf(context, both, [await asItIs(context, "/f")]);
        assertEqual(others, [], "other winners");
        assertEqual(await text("/f"), winner === 0 ? null : "written", "the file");
      }
    },
    "races: no increment of a shared number is lost": async ({ storage, second, write, text }) => {
      await write({ "/n": "0" });
      const work = async (through: Storage): Promise<void> => {
        for (let i = 0; i < 10; i++) await increment(through, "/n");
      };
      await Promise.all([storage, second, storage, second].map(work));
      assertEqual(await text("/n"), "40", "the number");
    },
    "keys: the same key gives the first answer and changes nothing": async ({ second, write, text }) => {
      const once = { key: "k1", expect: [{ path: "/a", version: null }] };
      const first = await write({ "/a": "1" }, once);
      assertEqual(first.repeated, undefined, "the first answer");
      await write({ "/a": "2" });
      const again = await second.commit([put("/a", "1")], once);
      assertEqual(again, { ...first, repeated: true }, "the repeated answer");
      assertEqual(await text("/a"), "2", "the content");
      await write({ "/a": "3" }, { key: "k2" });
      assertEqual(await text("/a"), "3", "another key");
    },
    "keys: a commit that failed does not use its key up": async ({ write, text, refuse }) => {
      await refuse("CONFLICT", [put("/a", "1")], { key: "k", expect: [{ path: "/a", version: "none" }] });
      const { repeated } = await write({ "/a": "2" }, { key: "k" });
      assertEqual([repeated, await text("/a")], [undefined, "2"], "the second attempt");
      for (const key of ["", "k".repeat(201)]) await refuse("INVALID_ARGUMENT", [], { key });
    },
    "keys: of ten commits at once with one key one happens": async (context) => {
      const { storage, second, write, text, paths } = context;
      await write({ "/n": "0" });
      const attempts = Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? storage : second).commit([put("/n", String(i)), put(`/own${i}`, "x")], {
          key: "once",
        }),
      );
      const answers: readonly Committed[] = await Promise.all(attempts);
      assertEqual(new Set(answers.map(({ version }) => version)).size, 1, "the versions");
      assertEqual(answers.filter(({ repeated }) => repeated !== true).length, 1, "the first answers");
      assertEqual(await paths(), ["/n", `/own${await text("/n")}`], "the shared file and its own");
    },
  }),
  ...casesOf(["changes"], {
    "conditions: tree is any change at or below a path": async ({ storage, write, refuse }) => {
      const { version: start } = await write({ "/d/a": "1", "/d/e/b": "1", "/other": "1" });
      const on = (tree: string) => ({ expect: [{ path: "/d", tree }] });
      await write({ "/other": "2", "/d2": "1" });
      await write({ "/x": "1" }, on(start));
      const { version: changed } = await write({ "/d/e/b": "2" });
      await refuse("CONFLICT", [put("/x", "1")], on(start));
      await write({ "/x": "1" }, on(changed));
      await storage.commit([remove("/d/a")]);
      for (const tree of [changed, "no such version"]) await refuse("CONFLICT", [put("/x", "1")], on(tree));
    },
  }),
  ...casesOf(["atomic"], {
    "races: of commits that share one of several paths one wins, as a whole": async (context) => {
      const { write, text, paths } = context;
      await write({ "/shared": "0" });
      const commits = Array.from({ length: 10 }, (_, i) => [put(`/own${i}`, "x"), put("/shared", String(i))]);
      const winners = await winnersOf(context, commits, [await asItIs(context, "/shared")]);
      assertEqual(winners.length, 1, "the number of winners");
      assertEqual(await paths(), [`/own${winners[0]}`, "/shared"], "what is there");
      assertEqual(await text("/shared"), String(winners[0]), "the shared file");
    },
  }),
];
