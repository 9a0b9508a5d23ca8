/** The pace of progress, by a clock of the test's own: no message just before an answer, none backwards. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CallOptions } from "../../js/workspace/index.ts";
import { type DirectParts, directMethods } from "../../js/mcp/protocol/direct.ts";
import { type ProgressReporter, makeProgressReporter } from "../../js/mcp/protocol/call.ts";
import { makeMessageHandler } from "../../js/rpc/handler.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function listen(): { readonly seen: Record<string, unknown>[]; readonly report: ProgressReporter } {
  const seen: Record<string, unknown>[] = [];
  const report = makeProgressReporter("t", async ({ method, params }) => {
    expect(method).toBe("notifications/progress");
    seen.push(params);
  });
  if (report === undefined) throw new Error("who asks is told");
  return { seen, report };
}

test("who does not ask is told nothing", () => {
  expect(makeProgressReporter(undefined, async () => {})).toBeUndefined();
});

test("a call that is over at once tells nothing", () => {
  const { seen, report } = listen();
  for (const done of [8, 16, 24]) report.onProgress({ done, total: 24 });
  report.end();
  vi.advanceTimersByTime(5000);
  expect(seen).toEqual([]);
});

test("what counts is told every tenth of a second, upwards", () => {
  const { seen, report } = listen();
  for (let done = 1; done <= 60; done++) {
    vi.advanceTimersByTime(10);
    report.onProgress({ done, total: 60, message: `${done} of 60` });
  }
  report.onProgress({ done: 59, total: 60 });
  vi.advanceTimersByTime(2000);
  report.onProgress({ done: 59, total: 60 });
  report.end();
  expect(seen).toEqual(
    [10, 20, 30, 40, 50, 60].map((progress) => ({
      progressToken: "t",
      progress,
      total: 60,
      message: `${progress} of 60`,
    })),
  );
});

test("what counts nothing says every second that it is alive", () => {
  const { seen, report } = listen();
  vi.advanceTimersByTime(2500);
  report.end();
  vi.advanceTimersByTime(5000);
  expect(seen).toEqual([
    { progressToken: "t", progress: 1, message: "1 s" },
    { progressToken: "t", progress: 2, message: "2 s" },
  ]);
});

test("a call that is answered without the SDK tells it too", async () => {
  const written: object[] = [];
  // Stands in for a workspace: one tool, whose pace is the test's.
  const execute = async (_args: unknown, { onProgress }: CallOptions) => {
    vi.advanceTimersByTime(150);
    onProgress?.({ done: 1, total: 2 });
    return { ok: true, text: "done", data: {}, meta: {} };
  };
  const served = { tools: new Map([["slow", { execute }]]), roots: [], cwd: "/" };
  const host = { preset: "mcp", workspace: async () => served, isDraining: () => false };
  const parts = {
    host,
    structured: "none",
    notify: async (message: object) => void written.push({ jsonrpc: "2.0", ...message }),
    settled: () => undefined,
  };
  const direct = makeMessageHandler(directMethods(parts as unknown as DirectParts), "leave");
  const params = { name: "slow", arguments: {}, _meta: { progressToken: 7 } };
  const reply = await direct.handle({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
  expect(written).toEqual([
    { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 7, progress: 1, total: 2 } },
  ]);
  expect(reply).toMatchObject({ id: 7, result: { content: [{ type: "text", text: "done" }] } });
});
