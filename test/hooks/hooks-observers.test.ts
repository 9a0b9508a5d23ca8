/** The audit log, the counters and the spans: what they tell, and that they cannot harm. */
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { context, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, describe, expect, test } from "vitest";
import {
  type AuditRecord,
  audit,
  auditFile,
  MemoryBackend,
  type Observer,
  openTelemetry,
  openWorkspace,
  spans,
  usageCounter,
} from "../../js/index.node.ts";
import type { WorkspaceOptions } from "../../js/workspace/index.ts";

const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true });
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "filewright-observers-"));
  made.push(path);
  return path;
}

async function open(observers: readonly Observer[], options: Partial<WorkspaceOptions> = {}) {
  const backend = new MemoryBackend({ "/w/a": "one\n", "/w/b": "two\n", "/o/s": "secret" });
  return openWorkspace({ backend, root: "/w", observers, ...options });
}

const HASH = /^sha256:[0-9a-f]{64}$/;

describe("the audit log", () => {
  async function records(run: (ws: Awaited<ReturnType<typeof open>>) => Promise<void>, options = {}) {
    const seen: AuditRecord[] = [];
    const ws = await open([audit({ write: (record) => void seen.push(record) })], {
      agent: "main",
      ...options,
    });
    await run(ws);
    return seen;
  }

  test("who, what, where, and the content before and after", async () => {
    const [read, edit, made_, gone] = await records(async (ws) => {
      await ws.call("read_file", { path: "a" });
      await ws.call("edit_file", { path: "a", old_text: "one", new_text: "1" }, { agent: "helper" });
      await ws.call("write_file", { path: "n", content: "new" });
      await ws.call("delete", { path: "n" });
    });
    expect(read).toMatchObject({ agent: "main", tool: "read_file", ok: true, paths: ["/w/a"] });
    expect(read).not.toHaveProperty("effects");
    expect(edit).toMatchObject({ agent: "helper", tool: "edit_file" });
    expect(edit?.effects).toEqual([
      { path: "/w/a", before: expect.stringMatching(HASH), after: expect.stringMatching(HASH) },
    ]);
    expect(edit?.effects?.[0]?.before).not.toBe(edit?.effects?.[0]?.after);
    expect(made_?.effects).toEqual([{ path: "/w/n", before: null, after: expect.stringMatching(HASH) }]);
    expect(gone?.effects).toEqual([{ path: "/w/n", before: expect.stringMatching(HASH), after: null }]);
    expect(new Set([read, edit, made_, gone].map((record) => record?.id)).size).toBe(4);
    expect(read?.at).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  test("what the host takes back: an undo, some hunks, a rewind, and the person who wants it", async () => {
    const undone = await records(async (ws) => {
      await ws.mark("begin");
      const { meta } = await ws.call("write_file", { path: "a", content: "two\n" });
      const parts = [{ path: "a", hunks: [0] }];
      const id = meta.call_id ?? "";
      await ws.undo(id, { parts, dryRun: true });
      const { callId = "" } = await ws.undo(id, { parts, by: "ana" });
      await ws.undo(callId);
      await expect(ws.undo(callId, { by: "ben" })).rejects.toMatchObject({ code: "CONFLICT" });
      await ws.rewind("begin", { by: "ana" });
      await expect(ws.undo(id, { by: "" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    });
    const [write, ofHunks, ofUndo, failed, rewound, ...more] = undone;
    expect(more).toEqual([]);
    const { before, after } = write?.effects?.[0] ?? {};
    const back = [{ path: "/w/a", before: after, after: before }];
    expect(ofHunks).toMatchObject({ tool: "undo", by: "ana", ok: true, paths: ["/w/a"], effects: back });
    expect(ofHunks?.undo_of).toMatch(/^[0-9a-z]{9}-[0-9a-f]{12}$/);
    expect(ofUndo).toMatchObject({ tool: "undo", agent: "main", ok: true, paths: ["/w/a"] });
    expect(ofUndo).not.toHaveProperty("by");
    expect(ofUndo?.effects).toEqual(write?.effects);
    expect(failed).toMatchObject({
      tool: "undo",
      by: "ben",
      ok: false,
      code: "CONFLICT",
      undo_of: ofUndo?.undo_of,
    });
    expect(rewound).toMatchObject({ tool: "rewind", by: "ana", ok: true, effects: back });
  });

  test("refusals with their codes, approvals with who gave them", async () => {
    const seen = await records(
      async (ws) => {
        await ws.call("read_file", { path: "/o/s" });
        await ws.call("write_file", { path: "a", content: "x" });
        await ws.call("nonsense", {});
      },
      { confirm: async () => ({ outcome: "proceed_once", payload: { by: "Ada" } }) },
    );
    expect(seen.map(({ tool, ok, code }) => [tool, ok, code])).toEqual([
      ["read_file", false, "OUTSIDE_ALLOWED"],
      ["write_file", true, undefined],
    ]);
    expect(seen[1]?.approval).toMatchObject({ outcome: "proceed_once", by: "Ada" });
    let result: unknown;
    const [refused] = await records(
      async (ws) => {
        result = await ws.call("write_file", { path: "a", content: "x" });
      },
      { confirm: async () => ({ outcome: "cancel", payload: { by: "Ben", reason: "not now" } }) },
    );
    expect(refused).toMatchObject({ code: "APPROVAL_DENIED", approval: { outcome: "cancel", by: "Ben" } });
    // A model must not learn who refused.
    const shown = inspect(result, { showHidden: true, depth: null });
    expect(shown).toContain("not now");
    expect(shown).not.toContain("Ben");
  });

  test("a cancellation after the change is made is no failure, and its effects are told", async () => {
    const seen: AuditRecord[] = [];
    const abort = new AbortController();
    class Aborting extends MemoryBackend {
      override async writeBytes(...args: Parameters<MemoryBackend["writeBytes"]>) {
        const made = await super.writeBytes(...args);
        abort.abort();
        return made;
      }
    }
    const backend = new Aborting({ "/w/a": "one\n" });
    const log = audit({ write: (record) => void seen.push(record) });
    const ws = await openWorkspace({ backend, root: "/w", observers: [log], guard: "off" });
    const made = await ws.call("write_file", { path: "a", content: "two\n" }, { signal: abort.signal });
    expect(made.ok).toBe(true);
    expect(seen.at(-1)).toMatchObject({ ok: true, effects: [{ path: "/w/a" }] });
    await ws.close();
  });

  test("a batch is one record with all its effects, the preset's name stands beside ours", async () => {
    const seen = await records(async (ws) => {
      await ws.call("batch", {
        operations: [
          { tool: "write_file", args: { path: "a", content: "1" } },
          { tool: "write_file", args: { path: "b", content: "2" } },
        ],
      });
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.effects?.map(({ path }) => path)).toEqual(["/w/a", "/w/b"]);
    const presetRecords = await records(
      async (ws) => {
        await ws.call("Read", { file_path: "a" });
      },
      { preset: "claude" },
    );
    expect(presetRecords[0]).toMatchObject({ tool: "read_file", called_as: "Read" });
  });

  test("contents never stand in it", async () => {
    const seen = await records(async (ws) => {
      await ws.call("write_file", { path: "a", content: "TOP SECRET" });
      await ws.call("read_file", { path: "a" });
    });
    expect(JSON.stringify(seen)).not.toContain("SECRET");
  });

  test("without reads, without hashes", async () => {
    const seen: AuditRecord[] = [];
    const log = audit({ write: (record) => void seen.push(record) }, { reads: false, hashes: false });
    const ws = await open([log]);
    await ws.call("read_file", { path: "a" });
    await ws.call("write_file", { path: "a", content: "x" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toHaveProperty("effects");
  });

  test("a sink that fails is told, and harms nothing", async () => {
    const errors: unknown[] = [];
    const failing = audit(
      {
        write: () => {
          throw new Error("full");
        },
      },
      { onError: (error) => errors.push(error) },
    );
    const ws = await open([failing]);
    expect((await ws.call("read_file", { path: "a" })).ok).toBe(true);
    expect(errors).toHaveLength(1);
  });

  test("as a file: one line a call, in order, private, appended to", async () => {
    const path = join(await folder(), "logs/audit.jsonl");
    for (const round of [1, 2]) {
      const ws = await open([await auditFile(path)]);
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => ws.call("stat", { path: n % 2 ? "a" : `x${round}` })),
      );
      await ws.close();
    }
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as AuditRecord).tool)).toEqual(Array(40).fill("stat"));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("as a file: a call that was answered is in it", async () => {
    const path = join(await folder(), "audit.jsonl");
    const ws = await open([await auditFile(path)]);
    for (let made = 1; made <= 20; made++) {
      await ws.call("stat", { path: "a" });
      expect(readFileSync(path, "utf8").split("\n")).toHaveLength(made + 1);
    }
    await ws.close();
  });

  test("a link is no place for a log", async () => {
    const base = await folder();
    await writeFile(join(base, "target"), "");
    await symlink("target", join(base, "log"));
    await expect(auditFile(join(base, "log"))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(auditFile(base)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("counters", () => {
  test("calls, failures, codes, agents, and what was forbidden", async () => {
    const usage = usageCounter();
    const ws = await open([usage], {
      access: { protect: true },
      rules: [{ tool: "delete", decision: "deny" }],
    });
    await ws.call("read_file", { path: "a" }, { agent: "x" });
    await ws.call("read_file", { path: "/o/s" }, { agent: "x" });
    await ws.call("write_file", { path: ".git/config", content: "" });
    await ws.call("delete", { path: "a" });
    const { calls, failures, tools, codes, agents, security } = usage.read();
    expect({ calls, failures, agents }).toEqual({ calls: 4, failures: 3, agents: { x: 2 } });
    expect(tools["read_file"]).toMatchObject({ calls: 2, failures: 1 });
    expect(tools["read_file"]?.text_chars).toBeGreaterThan(0);
    expect(codes).toEqual({ OUTSIDE_ALLOWED: 1, PROTECTED_PATH: 1, APPROVAL_DENIED: 1 });
    expect(security).toEqual({
      outside: 1,
      protected: 1,
      grants_denied: 0,
      approvals_denied: 1,
      hooks_blocked: 0,
    });
    usage.reset();
    expect(usage.read().calls).toBe(0);
  });
});

describe("spans", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

  test("one a call, with what is worth knowing and no paths", async () => {
    exporter.reset();
    const ws = await open([spans(provider.getTracer("test"))], { agent: "main" });
    await ws.call("read_file", { path: "a" });
    await ws.call("read_file", { path: "gone" });
    const [good, bad] = exporter.getFinishedSpans();
    expect(good?.name).toBe("execute_tool read_file");
    expect(good?.attributes).toMatchObject({
      "gen_ai.tool.name": "read_file",
      "gen_ai.agent.id": "main",
      "filewright.ok": true,
    });
    expect(bad?.attributes["error.type"]).toBe("NOT_FOUND");
    expect(bad?.status).toEqual({ code: 2, message: "NOT_FOUND" });
    expect(JSON.stringify([good?.attributes, bad?.attributes])).not.toContain("/w");
  });

  test("with paths where asked for, and through the global tracer", async () => {
    exporter.reset();
    trace.setGlobalTracerProvider(provider);
    const ws = await open([await openTelemetry({ paths: true })]);
    await ws.call("stat", { path: "a" });
    expect(exporter.getFinishedSpans()[0]?.attributes["filewright.paths"]).toBe("/w/a");
    trace.disable();
    context.disable();
  });
});

describe("observers", () => {
  test("what they throw is passed over, and they are closed with the workspace", async () => {
    const seen: string[] = [];
    const bad: Observer = {
      begin: () => {
        throw new Error("begin");
      },
      end: () => {
        throw new Error("end");
      },
    };
    const good: Observer = {
      begin: ({ tool }) => {
        seen.push(`begin ${tool}`);
        return ({ ok }) => void seen.push(`told ${ok}`);
      },
      end: ({ tool, duration_ms }) => void seen.push(`end ${tool} ${duration_ms >= 0}`),
      close: () => void seen.push("closed"),
    };
    const ws = await open([bad, good]);
    expect((await ws.call("stat", { path: "a" })).ok).toBe(true);
    await ws.close();
    expect(seen).toEqual(["begin stat", "told true", "end stat true", "closed"]);
  });

  test("a call that is refused before it is understood is told as one of its tool", async () => {
    const told: unknown[] = [];
    const observer: Observer = { end: ({ tool, changes, code }) => void told.push([tool, changes, code]) };
    const ws = await open([observer]);
    const signal = AbortSignal.abort();
    await ws.call("write_file", { path: "n", content: "" }, { signal });
    await ws.call("grep", { pattern: "one" }, { signal });
    const asClaude = await open([observer], { preset: "claude" });
    await asClaude.call("Write", { file_path: 1 });
    await asClaude.call("Read", { file_path: 1 });
    expect(told).toEqual([
      ["write_file", true, "CANCELLED"],
      ["grep", false, "CANCELLED"],
      ["write_file", true, "INVALID_ARGUMENT"],
      ["read_file", false, "INVALID_ARGUMENT"],
    ]);
  });

  test("a call that waited for a lock and then failed says how long", async () => {
    const edit = { path: "a", old_text: "one", new_text: "two" };
    let later: Promise<{ readonly ok: boolean }> | undefined;
    class Slow extends MemoryBackend {
      override async writeBytes(...args: Parameters<MemoryBackend["writeBytes"]>) {
        // The other call begins here, with the lock held, and waits for it once a still later call has passed the stages before.
        later ??= ws.call("edit_file", edit);
        await ws.call("read_file", { path: "b" });
        await new Promise((done) => setTimeout(done, 50));
        return super.writeBytes(...args);
      }
    }
    const told = new Map<boolean, number | undefined>();
    const observer: Observer = { end: ({ ok, lock_wait_ms }) => void told.set(ok, lock_wait_ms) };
    const ws = await openWorkspace({
      backend: new Slow({ "/w/a": "one\n", "/w/b": "one\n" }),
      root: "/w",
      observers: [observer],
    });
    await ws.call("read_file", { path: "a" });
    told.clear();
    expect(await ws.call("edit_file", edit)).toMatchObject({ ok: true });
    expect(await later).toMatchObject({ ok: false });
    expect(told.get(false)).toBeGreaterThan(10);
  });

  test("a call that a hook raised out of is told too", async () => {
    const seen: unknown[] = [];
    const ws = await open([{ end: ({ ok, code }) => void seen.push([ok, code]) }], {
      hooks: [{ stage: "before", tool: "*", run: () => ({ raise_exception: new Error("stop") }) }],
    });
    await expect(ws.call("stat", { path: "a" })).rejects.toThrow("stop");
    expect(seen).toEqual([[false, "HOOK_BLOCKED"]]);
  });
});
