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
import { memoryStorage, type Op, type Storage } from "../../../js/storage/index.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../../js/workspace/index.node.ts";
import { untilWarm } from "./support.ts";

const NAMES = ["a", "b", "a-b", "A", "src", "x.ts", "y.log", ".hid", "build", ".env", "ü", "k.pem"];
const TEXTS = [
  "needle\n",
  "hay\n",
  "hay\nneedle and needle\nhay",
  "",
  "NEEDLE",
  "\u0000needle",
  "-----BEGIN RSA PRIVATE KEY-----\nneedle\n",
];
const IGNORES = ["build/\n", "*.log\n!y.log\n", "/a\n", "src\n"];

const name = fc.constantFrom(...NAMES);
const directory = fc.array(name, { maxLength: 3 }).map((names) => ["/ws", ...names].join("/"));
const path = fc.tuple(directory, name).map(([above, last]) => `${above}/${last}`);
const change = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("put" as const), path, text: fc.constantFrom(...TEXTS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("ignore" as const),
      path: directory,
      text: fc.constantFrom(...IGNORES),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("move" as const), path, to: path }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("link" as const),
      path,
      target: fc.constantFrom("/etc", "a", "..", "x.ts"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("git" as const), path: directory }) },
);
const query = fc.record(
  {
    pattern: fc.constantFrom("needle", "^needle", "n..dle", "absent", "(?i)NEEDLE"),
    path: fc.constantFrom(".", "a", "src", "a/b"),
    glob: fc.constantFrom("*.ts", "a/**", "**/b"),
    exclude: fc.constantFrom(["a"], ["*.ts"]),
    output: fc.constantFrom("content", "files", "count"),
    respect_ignore: fc.boolean(),
    hidden: fc.boolean(),
    max_results: fc.integer({ min: 1, max: 5 }),
    context: fc.integer({ min: 0, max: 2 }),
  },
  { requiredKeys: ["pattern"] },
);
const deny = fc.subarray(["a/b", "**/y.log", "src", "/ws/build"], { maxLength: 2 });

type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

/** Returns the operations of a change. Those that the storage refuses change nothing. */
function opsOf(one: Change): readonly Op[] {
  switch (one.kind) {
    case "put":
      return [{ op: "put", path: one.path, body: new TextEncoder().encode(one.text) }];
    case "ignore":
      return [{ op: "put", path: `${one.path}/.gitignore`, body: new TextEncoder().encode(one.text) }];
    case "remove":
      return [{ op: "remove", path: one.path, tree: true }];
    case "move":
      return [{ op: "move", from: one.path, to: one.to }];
    case "link":
      return [{ op: "symlink", path: one.path, target: one.target }];
    case "git":
      return [{ op: "mkdir", path: `${one.path}/.git` }];
  }
}

async function commitAll(storage: Storage, changes: readonly Change[]): Promise<void> {
  for (const one of changes) await storage.commit(opsOf(one)).catch(() => undefined);
}

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

async function answer(ws: Workspace, args: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { ok, data, error } = await ws.call("grep", args);
  if (!ok) return { code: error?.code };
  const { fresh: _, ...rest } = data as { readonly fresh: string; readonly complete: boolean };
  if (rest.complete) return rest;
  // How far ahead of its end a search has counted is a matter of its threads.
  const counts = [
    "files_searched",
    "files_with_matches",
    "total_matches",
    "skipped_binary",
    "unreadable",
    "warnings",
  ];
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !counts.includes(key)));
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
            const scanned = await open({ storage, root: "/ws", mirror: false, access });
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
        { numRuns: 40, seed: 20_261_126 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
