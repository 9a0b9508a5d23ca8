/** SIGTERM of a replica, on a real Postgres: no call of a client that retries as the protocol says fails, none is half made. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import type { Storage } from "../../js/storage/index.ts";
import { callOver, serveProcess } from "../mcp/serving.ts";
import { missingServer, startPostgres, type TestServer } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";
import { startStallingProxy } from "./stalling-proxy.ts";
import { startRoundRobin } from "./round-robin.mjs";
import { postgresUrl } from "./server.ts";

const CLIENTS = 8;
const CHANGES_OF_CLIENT = 30;
const FILES = ["a", "b", "c"];

const pathsOf = (change: string): string[] => FILES.map((name) => `/b${change}/${name}.txt`);
/** A change of several files at once. */
const patchOf = (change: string): object => ({
  patch: pathsOf(change)
    .map((path) => `--- /dev/null\n+++ b${path}\n@@ -0,0 +1 @@\n+${path}\n`)
    .join(""),
});

/** What a client does with an answer: it has one, or it sends the call again. */
type Answered = { readonly isError: boolean } | "again";

async function send(url: string, tool: string, args: object): Promise<Answered> {
  const { status, result } = await callOver(url, tool, args);
  if (status === 503) return "again";
  const meta = result?.["_meta"] as Record<string, Record<string, unknown>> | undefined;
  if (meta?.["filewright/call"]?.["reason"] === "shutting_down") return "again";
  return { isError: status !== 200 || result === undefined || result["isError"] === true };
}

/** Sends a call, and again where the server says so. Returns the number of sendings, and whether it failed. */
async function sendUntilAnswered(url: string, change: string): Promise<{ sent: number; failed: boolean }> {
  for (let sent = 1; sent <= 20; sent++) {
    const answer = await send(url, "apply_patch", patchOf(change)).catch(() => ({ isError: true }));
    if (answer !== "again") return { sent, failed: answer.isError };
    await sleep(50);
  }
  return { sent: 20, failed: true };
}

describe.skipIf(missingServer() !== undefined)("replicas over Postgres", () => {
  let server: TestServer;
  let workspaces = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  /** A workspace of its own, and its storage as the test sees it. */
  async function workspace(): Promise<{ readonly argv: readonly string[]; readonly storage: Storage }> {
    const name = `replicas${workspaces++}`;
    const storage = await postgresStorage({ client: server.pool(), workspace: name });
    const argv = ["--storage", postgresUrl(server.host), "--workspace", name, "--preset", "canonical"];
    return { argv, storage };
  }

  test("SIGTERM of one of two under load: no call fails, none is lost, none is half made", async () => {
    const { argv, storage } = await workspace();
    await using first = await serveProcess([...argv, "--grace", "30"]);
    await using second = await serveProcess([...argv, "--grace", "30"]);
    const proxy = await startRoundRobin([first.url, second.url]);
    afterThisTest(() => proxy.close());
    let answered = 0;
    const outcomes: { readonly change: string; readonly sent: number; readonly failed: boolean }[] = [];
    const client = async (index: number): Promise<void> => {
      for (let round = 0; round < CHANGES_OF_CLIENT; round++) {
        const change = `${index}-${round}`;
        outcomes.push({ change, ...(await sendUntilAnswered(proxy.url, change)) });
        answered += 1;
        if (answered === (CLIENTS * CHANGES_OF_CLIENT) / 4) first.kill("SIGTERM");
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
    expect(await first.ended).toBe(0);
    expect(outcomes.filter(({ failed }) => failed)).toEqual([]);
    expect(proxy.given.get(first.url)).toBeGreaterThan(10);
    expect(proxy.given.get(second.url)).toBeGreaterThan(CLIENTS * CHANGES_OF_CLIENT * 0.5);
    for (const { change } of outcomes) {
      const { results } = await storage.readMany(pathsOf(change));
      const texts = results.map((one) =>
        one !== null && "body" in one ? new TextDecoder().decode(one.body) : null,
      );
      expect(texts).toEqual(pathsOf(change).map((path) => `${path}\n`));
    }
  });

  test("a call that goes on for longer than the grace is cancelled and answered, and its change is whole or not there", async () => {
    const { argv, storage } = await workspace();
    const stalling = await startStallingProxy(server.host);
    afterThisTest(() => stalling.close());
    const url = `postgres://postgres@127.0.0.1:${stalling.port}/postgres`;
    const own = argv.map((arg) => (arg === postgresUrl(server.host) ? url : arg));
    await using replica = await serveProcess([...own, "--grace", "1"]);
    expect(await send(replica.url, "apply_patch", patchOf("0"))).toEqual({ isError: false });
    stalling.stall();
    const call = callOver(replica.url, "apply_patch", patchOf("1"));
    await sleep(200);
    const began = performance.now();
    replica.kill("SIGTERM");
    const { status, result } = await call;
    expect([status, result?.["isError"]]).toEqual([200, true]);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await replica.ended).toBe(0);
    stalling.resume();
    await sleep(300);
    const { results } = await storage.readMany(pathsOf("1"), { bodies: false });
    expect([0, FILES.length]).toContain(results.filter((one) => one !== null).length);
  });

  test("a second signal ends the process at once", async () => {
    const { argv } = await workspace();
    const stalling = await startStallingProxy(server.host);
    afterThisTest(() => stalling.close());
    const url = `postgres://postgres@127.0.0.1:${stalling.port}/postgres`;
    const own = argv.map((arg) => (arg === postgresUrl(server.host) ? url : arg));
    await using replica = await serveProcess([...own, "--grace", "60"]);
    stalling.stall();
    const call = callOver(replica.url, "apply_patch", patchOf("0")).catch(() => "cut");
    await sleep(200);
    replica.kill("SIGTERM");
    await sleep(300);
    replica.kill("SIGTERM");
    expect(await replica.ended).toBe("SIGTERM");
    expect(await call).toBe("cut");
  });
});
