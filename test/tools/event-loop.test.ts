/**
 * Calls with large inputs leave the event loop to others: the functions of the engine that work on them run on other
 * threads. Nothing is timed: each function that the calling thread runs is recorded with the size of its input.
 */
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { engine, setEngine } from "../../js/engine/current.ts";
import { type Binding, makeEngine } from "../../js/engine/engine.ts";
import { loadNative, loadWasm } from "../../js/engine/load.node.ts";
import { runInBackground } from "../../js/engine/workers/background.node.ts";
import { withWorkerPool } from "../../js/engine/workers/worker-calls.ts";
import { FilewrightError, MemoryBackend, openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";

/** The size in bytes up to which the calling thread may work on an input: a millisecond of work, or less. */
const MAX_HERE_BYTES = 128 * 1024;
/** Functions that read only a part of the bytes, copy them, run on a thread, or go on with the result of one. */
const FREE_FUNCTIONS: ReadonlySet<string> = new Set([
  "concat",
  "holdsSecretContent",
  "planEditsHashed",
  "sha256From",
]);
/** Functions that pass over the bytes once: some milliseconds for a megabyte at most. */
const FAST_FUNCTIONS: ReadonlySet<string> = new Set(["inspect", "sha256"]);
const MAX_FAST_BYTES = 4 * 1024 * 1024;

const before = engine();
afterAll(() => setEngine(before));

let busy: string[] = [];
afterEach(() => {
  busy = [];
});

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sizeOf(one), 0);
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}

/** Returns a binding that records each function which the calling thread runs on a large input. */
function watched(binding: Binding): Binding {
  const functions = Object.entries(binding).map(([name, member]) => {
    const isCalled = typeof member === "function" && /^[a-z]/u.test(name) && !name.endsWith("Async");
    if (!isCalled || FREE_FUNCTIONS.has(name)) return [name, member];
    const most = FAST_FUNCTIONS.has(name) ? MAX_FAST_BYTES : MAX_HERE_BYTES;
    const call = (...args: unknown[]): unknown => {
      const size = sizeOf(args);
      if (size > most) busy.push(`${name} of ${size} bytes`);
      return (member as (...given: unknown[]) => unknown)(...args);
    };
    return [name, call];
  });
  return Object.fromEntries(functions) as Binding;
}

function setWatchedEngine(kind: "native" | "wasm"): void {
  const loaded = kind === "native" ? loadNative() : loadWasm();
  if (!("binding" in loaded)) throw new Error(`the ${kind} engine does not load`);
  // The classes and functions for files on a disk are not those of the engine.
  const binding = watched(loaded.binding as unknown as Binding);
  setEngine(
    makeEngine(kind === "native" ? binding : withWorkerPool(binding, { run: runInBackground }), { kind }),
  );
}

const lines = (count: number, line = (n: number): string => `line ${n}\n`): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("");
const megabytes = lines(100_000, (n) => `line ${n} of a file of five megabytes, more than\n`);
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
const hunks = (count: number): string =>
  lines(count, (n) => `@@ -${10 * n + 1},1 +${10 * n + 1},1 @@\n-line ${10 * n}\n+LINE ${10 * n}\n`);
const toFile = (body: string): string => `--- a/f\n+++ b/f\n${body}`;
const oneHunk = toFile("@@ -1,2 +1,2 @@\n-line 0\n+LINE 0\n line 1\n");
const rows = (count: number): string => lines(count, (n) => `k${n}: {a: 1, b: [x, y]}\n`);
const tables = lines(6_000, (n) => `[k${n}]\na = 1\nb = ["x", "y"]\n`);
const json = JSON.stringify(
  Array.from({ length: 12_000 }, (_, n) => ({ a: n })),
  null,
  1,
);
const OMITTED = "// ... rest of the file ...\n";

interface Case {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** The name of the file, when its ending matters. */
  readonly file?: string;
  readonly call: readonly [tool: string, args: object];
  /** The code of the failure, for a call that has to fail. */
  readonly fails?: string;
  readonly options?: Partial<WorkspaceOptions>;
}

const approving: Partial<WorkspaceOptions> = { confirm: () => ({ outcome: "proceed_once" }) };

const CASES: readonly Case[] = [
  {
    name: "a patch of 10,000 hunks that does not fit",
    content: "x\n",
    call: ["apply_patch", { patch: toFile(hunks(10_000)) }],
    fails: "PATCH_FAILED",
  },
  {
    name: "a patch of 10,000 hunks in a batch",
    content: "x\n",
    call: [
      "batch",
      { operations: [{ tool: "apply_patch", args: { patch: toFile(hunks(10_000)) } }], atomic: true },
    ],
    fails: "PATCH_FAILED",
  },
  {
    name: "a patch that adds 20,000 lines",
    content: "x\n",
    call: [
      "apply_patch",
      { patch: `--- /dev/null\n+++ b/n\n@@ -0,0 +1,20000 @@\n${lines(20_000, (n) => `+line ${n}\n`)}` },
    ],
  },
  { name: "a patch of a large file", content: lines(20_000), call: ["apply_patch", { patch: oneHunk }] },
  {
    name: "a patch of a large file that a person approves",
    content: lines(20_000),
    call: ["apply_patch", { patch: oneHunk }],
    options: approving,
  },
  {
    name: "a patch of a large Latin-1 file",
    content: latin1(`line 0\nline 1\n${lines(20_000, (n) => `caf\xe9 ${n}\n`)}`),
    call: ["apply_patch", { patch: oneHunk }],
  },
  {
    name: "a patch of a large UTF-16 file",
    content: utf16(lines(20_000)),
    call: ["apply_patch", { patch: oneHunk }],
  },
  {
    name: "an edit of a large file",
    content: lines(20_000),
    call: ["edit_file", { path: "f", old_text: "line 777\n", new_text: "x\n" }],
  },
  {
    name: "an edit of a large file whose lines were not read",
    content: lines(20_000),
    call: ["edit_file", { path: "f", old_text: "line 777\n", new_text: "x\n" }],
    options: { guard: "warn" },
  },
  {
    name: "an edit of a large file that a person approves",
    content: lines(20_000),
    call: ["edit_file", { path: "f", old_text: "line 777\n", new_text: "x\n" }],
    options: approving,
  },
  {
    name: "an edit of a large file that leaves out lines",
    content: lines(20_000),
    call: [
      "edit_file",
      { path: "f", old_text: "line 777\nline 778\nline 779\n", new_text: `line 777\n${OMITTED}` },
    ],
    fails: "INVALID_ARGUMENT",
  },
  {
    name: "a large file that is written with lines left out",
    content: lines(20_000),
    call: ["write_file", { path: "f", content: `${lines(15_000)}${OMITTED}` }],
    fails: "INVALID_ARGUMENT",
  },
  {
    name: "a large file that is written over another",
    content: lines(20_000),
    call: ["write_file", { path: "f", content: lines(20_000, (n) => `other ${n}\n`) }],
  },
  {
    name: "a large file that is written over another, and that a person approves",
    content: lines(20_000),
    call: ["write_file", { path: "f", content: lines(20_000, (n) => `other ${n}\n`) }],
    options: approving,
  },
  {
    name: "a large Latin-1 file that is written over another",
    content: latin1(lines(20_000, (n) => `caf\xe9 ${n}\n`)),
    call: ["write_file", { path: "f", content: lines(20_000, (n) => `caf\xe9s ${n}\n`) }],
  },
  {
    name: "a cell of a large CSV file",
    file: "f.csv",
    content: `a,b\n1,"${"x,".repeat(300_000)}"\n`,
    call: ["read_file", { path: "f.csv", json_pointer: "/1/a" }],
  },
  {
    name: "a value of a YAML file with 20,000 aliases",
    file: "f.yaml",
    content: `a: &a [x]\nb:\n${lines(20_000, () => "  - *a\n")}`,
    call: ["read_file", { path: "f.yaml", json_pointer: "/b/100" }],
  },
  {
    name: "a missing value of a large TOML file",
    file: "f.toml",
    content: tables,
    call: ["read_file", { path: "f.toml", json_pointer: "/k5/missing" }],
    fails: "INVALID_ARGUMENT",
  },
  {
    name: "a value of a large UTF-16 JSON file",
    file: "f.json",
    content: utf16(json),
    call: ["read_file", { path: "f.json", json_pointer: "/500/a" }],
  },
  ...(
    [
      ["YAML", "f.yaml", rows(6_000), "/k500/a"],
      ["TOML", "f.toml", tables, "/k500/a"],
      ["JSON", "f.json", json, "/500/a"],
      ["XML", "f.xml", `<r>${lines(12_000, (n) => `<e>${n}</e>\n`)}</r>`, "/r/e/500"],
      ["CSV", "f.csv", `a,b\n${lines(20_000, (n) => `${n},x\n`)}`, "/500/a"],
    ] as const
  ).flatMap(([format, file, content, pointer]): readonly Case[] => [
    {
      name: `an edited value of a large ${format} file`,
      file,
      content,
      call: [
        "edit_file",
        { path: file, edits: [{ json_pointer: pointer, new_text: format === "XML" ? "<e>7</e>" : "7" }] },
      ],
    },
  ]),
  {
    name: "two edited values of a large JSON file",
    file: "f.json",
    content: json,
    call: [
      "edit_file",
      { path: "f.json", edits: [7, 8].map((n) => ({ json_pointer: `/${n}/a`, new_text: "70" })) },
    ],
  },
  {
    name: "the diff of two large texts",
    content: lines(20_000),
    call: ["diff", { a: "f", content_b: lines(20_000, (n) => (n % 3 === 0 ? `x ${n}\n` : `line ${n}\n`)) }],
  },
  {
    name: "a patch of a file of megabytes",
    content: megabytes,
    call: [
      "apply_patch",
      { patch: toFile("@@ -1 +1 @@\n-line 0 of a file of five megabytes, more than\n+LINE 0\n") },
    ],
  },
  {
    name: "an edit of a file of megabytes that must have a hash",
    content: megabytes,
    call: [
      "edit_file",
      { path: "f", old_text: "line 777 of", new_text: "x", expected_hash: `sha256:${"0".repeat(64)}` },
    ],
    fails: "CONFLICT",
  },
  {
    name: "the diff of a file of megabytes",
    content: megabytes,
    call: ["diff", { a: "f", content_b: "x\n" }],
  },
  {
    name: "a page of a large file",
    content: lines(20_000),
    call: ["read_file", { path: "f", start_line: -5 }],
  },
];

describe.each(["native", "wasm"] as const)("the event loop with the %s engine", (kind) => {
  it.each(CASES)("is left to others by $name", async ({ file = "f", content, call, fails, options }) => {
    setWatchedEngine(kind);
    const backend = new MemoryBackend({ [`/ws/${file}`]: content });
    const ws = await openWorkspace({ root: "/ws", backend, guard: "off", ...options });
    busy = [];
    const [tool, args] = call;
    const { error } = await ws.call(tool, args);
    await ws.close();
    expect(error?.code).toBe(fails);
    expect(busy).toEqual([]);
  });

  it.each<readonly [name: string, fails: string | undefined, edit: (line: number, anchor: string) => object]>(
    [
      ["replace lines", undefined, (line, anchor) => ({ from: `${line}#${anchor}`, new_text: "x\n" })],
      [
        "are stale",
        "MATCH_NOT_UNIQUE",
        (line, anchor) => ({ from: `${line + 500}#${anchor}`, new_text: "x\n" }),
      ],
      [
        "insert lines that are there",
        "NO_CHANGE",
        (line, anchor) => ({
          from: `${line}#${anchor}`,
          insert: "after",
          new_text: `line ${line} of a file of five megabytes, more than\n`,
        }),
      ],
    ],
  )("is left to others by 20 anchors of a file of megabytes that %s", async (_, fails, edit) => {
    setWatchedEngine(kind);
    const ws = await openWorkspace({
      root: "/ws",
      backend: new MemoryBackend({ "/ws/f": megabytes }),
      guard: "off",
    });
    const read = await ws.call("read_file", { path: "f", start_line: 1000, max_lines: 20, anchors: true });
    const edits = [...read.text.matchAll(/^(\d+)#(\w+)/gmu)].map(([, line, anchor]) =>
      edit(Number(line), anchor ?? ""),
    );
    busy = [];
    const { error } = await ws.call("edit_file", { path: "f", edits });
    await ws.close();
    expect(edits).toHaveLength(20);
    expect(error?.code).toBe(fails);
    expect(busy).toEqual([]);
  });
});

describe("a large file in another format", () => {
  it("is parsed while the event loop turns", async () => {
    setEngine(before);
    // Long enough that a busy machine gives this thread some of the time.
    const long = lines(48_000, (n) => `[k${n}]\na = 1\nb = ["x", "y"]\n`);
    const ws = await openWorkspace({ root: "/ws", backend: new MemoryBackend({ "/ws/f.toml": long }) });
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const { ok } = await ws.call("read_file", { path: "f.toml", json_pointer: "/k500/a" });
    isOver = true;
    await ws.close();
    expect(ok).toBe(true);
    // Parsing in place takes a few turns; another thread takes hundreds of milliseconds, in which thousands pass.
    expect(turns).toBeGreaterThan(50);
  });

  it.each(["f.toml", "f.yaml"])("is given up at once when the call is cancelled: %s", async (file) => {
    setEngine(before);
    const content = file === "f.toml" ? tables : rows(6_000);
    const ws = await openWorkspace({ root: "/ws", backend: new MemoryBackend({ [`/ws/${file}`]: content }) });
    const cancel = new AbortController();
    const running = ws.call("read_file", { path: file, json_pointer: "/k500/a" }, { signal: cancel.signal });
    setTimeout(() => cancel.abort(), 5);
    expect((await running).error?.code).toBe("CANCELLED");
    const again = await ws.call("read_file", { path: file, json_pointer: "/k500/a" });
    expect(again.ok).toBe(true);
    await ws.close();
  });
});

/**
 * The steps of the present turn of the event loop: each adds an item to a list, a set or a map; with `passes` also each
 * that takes one out of a set or a map, and each item over which a list is filtered.
 */
function countSteps(passes = false): { readonly most: () => number; readonly stop: () => void } {
  let [steps, most, now] = [0, 0, performance.now()];
  const counted = <T extends object>(
    prototype: T,
    name: keyof T,
    itemsOf: (target: T) => number = () => 1,
  ): (() => void) => {
    const original = prototype[name] as (...args: unknown[]) => unknown;
    const counting = function (this: T, ...args: unknown[]): unknown {
      steps += itemsOf(this);
      most = Math.max(most, steps);
      return original.apply(this, args);
    };
    Object.assign(prototype, { [name]: counting });
    return () => Object.assign(prototype, { [name]: original });
  };
  const restores = [
    counted(Set.prototype, "add"),
    counted(Map.prototype, "set"),
    counted(Array.prototype, "push"),
    ...(passes ? [counted(Set.prototype, "delete"), counted(Map.prototype, "delete")] : []),
    ...(passes ? (["filter", "flatMap", "every"] as const) : []).map((name) =>
      counted(Array.prototype, name, ({ length }) => length),
    ),
  ];
  // Time passes by the looks at the clock, so that the pauses do not depend on the machine.
  const clock = vi.spyOn(performance, "now").mockImplementation(() => ++now);
  let isOver = false;
  const turn = (): void => {
    steps = 0;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    most: () => most,
    stop() {
      isOver = true;
      clock.mockRestore();
      for (const restore of restores) restore();
    },
  };
}

describe("a patch of many files", () => {
  const FILES = 6000;
  type Part = (n: number) => string;
  const create = (n: number): string => `--- /dev/null\n+++ b/d${n % 100}/f${n}\n@@ -0,0 +1 @@\n+line ${n}\n`;
  const edit = (n: number): string =>
    `--- a/d${n % 100}/f${n}\n+++ b/d${n % 100}/f${n}\n@@ -1 +1 @@\n-line ${n}\n+LINE ${n}\n`;
  const remove = (n: number): string => `--- a/d${n % 100}/f${n}\n+++ /dev/null\n@@ -1 +0,0 @@\n-line ${n}\n`;
  const rename = (n: number): string =>
    `diff --git a/d${n % 100}/f${n} b/d${n % 100}/g${n}\nsimilarity index 100%\nrename from d${n % 100}/f${n}\nrename to d${n % 100}/g${n}\n`;

  it.each<readonly [name: string, part: Part, areThere: boolean, count: number, args: object]>([
    ["that are created", create, false, FILES, {}],
    ["that are changed", edit, true, FILES, {}],
    ["that are removed", remove, true, FILES, {}],
    ["that are renamed", rename, true, FILES / 2, {}],
    ["that are only shown", create, false, FILES, { dry_run: true }],
  ])("%s takes no turn that goes over them again and again", async (_, part, areThere, count, args) => {
    setEngine(before);
    const files = areThere
      ? Array.from({ length: FILES }, (_one, n) => [`/ws/d${n % 100}/f${n}`, `line ${n}\n`] as const)
      : [];
    const backend = new MemoryBackend(Object.fromEntries(files));
    const ws = await openWorkspace({ root: "/ws", backend, guard: "off" });
    const patch = Array.from({ length: count }, (_one, n) => part(n)).join("");
    const counting = countSteps();
    const result = await ws.call("apply_patch", { patch, ...args }).finally(counting.stop);
    await ws.close();
    expect(result.error?.code).toBeUndefined();
    // The queue of the locks takes all paths at once; nothing else goes over all of them in one turn.
    expect(counting.most()).toBeLessThan(3 * FILES);
  });

  it("that are taken back, because one cannot be written, takes no such turn either", async () => {
    setEngine(before);
    class FullBackend extends MemoryBackend {
      override writeBytes(
        path: string,
        ...more: [Uint8Array, never]
      ): ReturnType<MemoryBackend["writeBytes"]> {
        if (path.endsWith(`/f${FILES - 1}`)) throw new FilewrightError("NO_SPACE", "full");
        return super.writeBytes(path, ...more);
      }
    }
    const backend = new FullBackend({});
    const ws = await openWorkspace({ root: "/ws", backend, guard: "off" });
    const patch = Array.from({ length: FILES }, (_one, n) => create(n)).join("");
    const counting = countSteps(true);
    const { error } = await ws.call("apply_patch", { patch }).finally(counting.stop);
    await ws.close();
    expect(error?.code).toBe("NO_SPACE");
    expect(counting.most()).toBeLessThan(4 * FILES);
  });
});
