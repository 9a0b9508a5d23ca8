/**
 * A crowd: many agents on one workspace call every tool at once, on files they
 * share and on files of their own. No call waits for ever, no change that was reported
 * as made is lost, changes of one call are visible together, and neither memory nor
 * descriptors grow.
 *
 * FILEWRIGHT_CROWD_AGENTS sets how many (default 200), FILEWRIGHT_CROWD_SECONDS how
 * long (default 10). The long run: 1000 agents for 300 seconds.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { openWorkspace, type ToolResult, type Workspace } from "../../js/index.node.ts";

const AGENTS = Number(process.env.FILEWRIGHT_CROWD_AGENTS ?? 200);
const SECONDS = Number(process.env.FILEWRIGHT_CROWD_SECONDS ?? 10);
/** The longest time without any answer: a longer one is a deadlock. */
const FOR_EVER_MS = 60_000;
/** Files that all agents share. */
const SHARED = 10;
/** Valid errors of a call that lost a race against another agent. */
const HONEST = new Set(["CONFLICT", "LOCK_TIMEOUT", "CANCELLED"]);

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The counts of the crowd's calls and their results. */
interface Tally {
  calls: number;
  readonly failed: Map<string, number>;
  /** Lines that were said to be appended. */
  readonly appended: Set<string>;
  /** Calls each agent has begun: no line is ever appended twice. */
  readonly turns: number[];
  /** How often each agent's own line was said to be edited. */
  readonly edited: number[];
  /** How often each counter was said to be raised. */
  readonly raised: number[];
}

/** Numbers that look like chance and are the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** One agent: one call after the other, each of another kind. */
async function agent(ws: Workspace, id: number, until: () => boolean, tally: Tally): Promise<void> {
  const pick = chance(id + 1);
  const name = `agent-${id}`;
  const own = `own/${id}`;
  let turn = 0;
  const call = async (tool: string, args: object, allowed: readonly string[] = []): Promise<ToolResult> => {
    const cancelled = pick(50) === 0 ? AbortSignal.timeout(pick(20)) : undefined;
    const result = await ws.call(tool, args, { agent: name, signal: cancelled });
    tally.calls += 1;
    if (result.ok) return result;
    const { code } = result.error;
    tally.failed.set(code, (tally.failed.get(code) ?? 0) + 1);
    if (!HONEST.has(code) && !allowed.includes(code)) throw new Error(`${tool} of ${name}: ${result.text}`);
    return result;
  };
  const does: readonly (() => Promise<unknown>)[] = [
    async () => {
      const line = `${name} ${turn}`;
      const { ok } = await call("write_file", { path: "log", content: `${line}\n`, append: true });
      if (ok) tally.appended.add(line);
    },
    async () => {
      const path = `lines${id % SHARED}`;
      const [now, next] = [tally.edited[id]!, tally.edited[id]! + 1];
      const edit = { path, old_text: `${name}: ${now};`, new_text: `${name}: ${next};` };
      if ((await call("edit_file", edit)).ok) tally.edited[id] = next;
    },
    async () => {
      const which = pick(SHARED);
      const path = `counter${which}`;
      const read = await call("read_file", { path });
      if (!read.ok) return;
      const { content, hash } = read.data as { readonly content: string; readonly hash: string };
      const write = { path, content: String(Number(content) + 1), expected_hash: hash };
      if ((await call("write_file", write)).ok) tally.raised[which]! += 1;
    },
    async () => {
      const [a, b] = [`pair${id % SHARED}/a`, `pair${id % SHARED}/b`];
      const both = `${name} ${turn}`;
      const operations = [a, b].map((path) => ({ tool: "write_file", args: { path, content: both } }));
      await call("batch", { operations });
    },
    async () => {
      await call("write_file", { path: `${own}/f`, content: `x\n${turn}\n` });
      await call("apply_patch", { path: `${own}/f`, patch: "@@ -1 +1 @@\n-x\n+y\n" }, [
        "NOT_FOUND",
        "PATCH_FAILED",
      ]);
      await call("copy", { source: own, destination: `${own}-copy`, overwrite: true }, ["NOT_FOUND"]);
      // What another turn was cut off from deleting may still be there.
      await call("move", { source: `${own}-copy`, destination: `${own}-there`, overwrite: true }, [
        "NOT_FOUND",
        "NOT_EMPTY",
      ]);
      await call("delete", { path: `${own}-there`, recursive: true, missing_ok: true });
    },
    () => call("grep", { pattern: "agent-1\\d*:", glob: "lines*", max_results: 20 }),
    () => call("glob", { pattern: "own/*/f", limit: 20 }),
    () => call("list_directory", { path: ".", limit: 50 }),
    () => call("read_file", { path: "log", start_line: -20 }),
    () => call("stat", { path: `lines${pick(SHARED)}`, hash: true }),
    () => call("diff", { a: `pair${id % SHARED}/a`, b: `pair${id % SHARED}/b` }),
    () => call("mkdir", { path: `${own}/d${pick(3)}` }),
    () => call("read_many_files", { paths: [`counter${pick(SHARED)}`, `lines${pick(SHARED)}`] }),
  ];
  while (!until()) {
    turn = tally.turns[id]!++;
    await does[pick(does.length)]!();
  }
}

/** Rejects once no call has come back for too long. */
async function standstill(tally: Tally, stop: AbortSignal): Promise<never> {
  for (let before = -1; before < tally.calls; ) {
    before = tally.calls;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FOR_EVER_MS);
      stop.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (stop.aborted) break;
  }
  throw new Error(`no call has come back for ${FOR_EVER_MS} ms, after ${tally.calls}`);
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Returns the use after a garbage collection: MiB of objects and of all memory, and open descriptors. */
async function held(): Promise<{ readonly heap: number; readonly all: number; readonly open: number }> {
  for (let n = 0; n < 3; n += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
  const open = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  return { heap: mib(heapUsed + external), all: mib(rss), open };
}

test(`${AGENTS} agents at once for ${SECONDS} s`, {
  timeout: SECONDS * 1000 + 10 * FOR_EVER_MS,
}, async () => {
  const base = mkdtempSync(join(tmpdir(), "filewright-crowd-"));
  cleanups.push(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "ws");
  const at = (path: string): string => join(root, path);
  for (const path of ["ws", "ws/own", "state"]) mkdirSync(join(base, path));
  writeFileSync(at("log"), "");
  for (let n = 0; n < SHARED; n += 1) {
    writeFileSync(at(`counter${n}`), "0");
    mkdirSync(at(`pair${n}`));
    for (const half of ["a", "b"]) writeFileSync(at(`pair${n}/${half}`), "");
    const names = Array.from({ length: AGENTS }, (_, id) => id).filter((id) => id % SHARED === n);
    writeFileSync(at(`lines${n}`), names.map((id) => `agent-${id}: 0;\n`).join(""));
  }
  const ws = await openWorkspace({ root, stateDir: join(base, "state") });
  cleanups.push(() => ws.close());
  const tally: Tally = {
    calls: 0,
    failed: new Map(),
    appended: new Set(),
    turns: new Array<number>(AGENTS).fill(0),
    edited: new Array<number>(AGENTS).fill(0),
    raised: new Array<number>(SHARED).fill(0),
  };
  const crowd = async (seconds: number): Promise<void> => {
    const end = performance.now() + seconds * 1000;
    const until = (): boolean => performance.now() > end;
    const stop = new AbortController();
    const all = Promise.all(Array.from({ length: AGENTS }, (_, id) => agent(ws, id, until, tally)));
    await Promise.race([all, standstill(tally, stop.signal)]).finally(() => stop.abort());
  };

  // What grows to a bound, such as pools and buffers, has grown by then.
  await crowd(SECONDS / 3);
  const before = await held();
  await crowd((SECONDS * 2) / 3);
  const after = await held();

  const log = readFileSync(at("log"), "utf8").split("\n");
  expect(log.pop()).toBe("");
  const lost = [...tally.appended].filter((line) => !new Set(log).has(line));
  expect(lost, "lines that were said to be appended").toEqual([]);
  for (let n = 0; n < SHARED; n += 1) {
    expect(Number(readFileSync(at(`counter${n}`), "utf8")), `counter${n}`).toBe(tally.raised[n]);
    expect(readFileSync(at(`pair${n}/a`), "utf8"), `pair${n}`).toBe(readFileSync(at(`pair${n}/b`), "utf8"));
    for (const line of readFileSync(at(`lines${n}`), "utf8")
      .split("\n")
      .slice(0, -1)) {
      const [, id, count] = /^agent-(\d+): (\d+);$/.exec(line)!;
      expect(Number(count), `the line of agent ${id}`).toBe(tally.edited[Number(id)]);
    }
  }
  const names = (readdirSync(root, { recursive: true }) as string[]).filter((name) =>
    name.includes(".filewright"),
  );
  expect(names, "temporary files that stayed").toEqual([]);
  expect(after.open).toBeLessThanOrEqual(before.open + 8);
  expect(after.heap, `${before.heap} MiB of objects before`).toBeLessThan(before.heap + 24);
  expect(after.all, `${before.all} MiB before`).toBeLessThan(before.all + 96);
  const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);
  const failures = [...tally.failed].map(([code, count]) => `${code} ${count}`).join(", ");
  console.log(
    `${AGENTS} agents, ${SECONDS} s: ${tally.calls} calls, ${tally.appended.size} appended, ` +
      `${sum(tally.edited)} edited, ${sum(tally.raised)} raised; ${failures || "nothing refused"}; ` +
      `objects ${before.heap} -> ${after.heap} MiB, memory ${before.all} -> ${after.all} MiB, ` +
      `descriptors ${before.open} -> ${after.open}`,
  );
});
