/** Random changes of a storage, and random searches, whose answers are compared. */
import fc from "fast-check";
import { toBackend } from "../../../js/storage/backend/to-backend.ts";
import type { Op, Storage } from "../../../js/storage/index.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../../js/workspace/index.node.ts";

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
/** One change of a storage. */
export const change = fc.oneof(
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
/** The arguments of a search. */
export const query = fc.record(
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
/** Denials of a workspace, relative ones among them. */
export const deny = fc.subarray(["a/b", "**/y.log", "src", "/ws/build"], { maxLength: 2 });

/** A generated change. */
export type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

/** Returns the operations of a change. */
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

/** Makes changes one after the other. Those that the storage refuses change nothing. */
export async function commitAll(storage: Storage, changes: readonly Change[]): Promise<void> {
  for (const one of changes) await storage.commit(opsOf(one)).catch(() => undefined);
}

/** Opens a workspace that walks a storage: it shares no copy and no list of entries with another one. */
export function openScanned(storage: Storage, access: WorkspaceOptions["access"]): Promise<Workspace> {
  return openWorkspace({ backend: toBackend(storage), root: "/ws", access, history: false });
}

/** Returns the data of a search as far as it is the same for every way to search. */
export async function answer(ws: Workspace, args: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { ok, data, error } = await ws.call("grep", args);
  if (!ok) return { code: error?.code };
  const { fresh: _, warnings: __, unreadable, files_searched, ...rest } = data as unknown as SearchData;
  // An engine that reads a file whose content is a secret counts it as searched, and a walk as unreadable.
  if (rest.complete) return { ...rest, files_seen: files_searched + unreadable };
  // How far ahead of its end a search has counted is a matter of its threads.
  const counts = ["files_with_matches", "total_matches", "skipped_binary"];
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !counts.includes(key)));
}

interface SearchData {
  readonly fresh: string;
  readonly warnings?: readonly string[];
  readonly unreadable: number;
  readonly files_searched: number;
  readonly complete: boolean;
}
