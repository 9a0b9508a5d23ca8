/** `/health` and `/ready`: without a token, under any host name, and what they say while the engine is away. */
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProbeAnswers } from "../../js/mcp/monitoring/health.ts";
import { startProxy } from "../storage/postgres/proxy.ts";
import { missingServer, startPostgres, type TestServer } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";
import { call, postgresUrl, startServing } from "./server.ts";

/** Sends a probe as an orchestrator does: to an address, under whatever host name. */
function probe(url: string, path: string, { host = "10.1.2.3:4747", method = "GET" } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const outgoing = httpRequest({ port, host: "127.0.0.1", path, method, headers: { host } }, (incoming) => {
      let text = "";
      incoming.on("data", (bytes) => {
        text += bytes;
      });
      incoming.on("end", () => resolve(`${incoming.statusCode} ${text.trim()}`));
    });
    outgoing.on("error", reject).end();
  });
}

describe("the answers to probes", () => {
  const get = (path: string): Request => new Request(`http://server${path}`);

  test("an engine that does not answer within two seconds is not ready, and many probes make one trip", async () => {
    let trips = 0;
    const answers = makeProbeAnswers({
      isDraining: () => false,
      ping: () => {
        trips += 1;
        return new Promise(() => {});
      },
    });
    const began = performance.now();
    const probes = Array.from({ length: 50 }, async () => (await answers(get("/ready")))?.status);
    expect(new Set(await Promise.all(probes))).toEqual(new Set([503]));
    expect(performance.now() - began).toBeLessThan(3000);
    expect(trips).toBe(1);
    expect((await answers(get("/health")))?.status).toBe(200);
  });

  test("a server that ends is not ready at once, and other paths are left alone", async () => {
    let draining = false;
    const answers = makeProbeAnswers({ isDraining: () => draining });
    expect((await answers(get("/ready")))?.status).toBe(200);
    draining = true;
    expect((await answers(get("/ready")))?.status).toBe(503);
    expect((await answers(get("/health")))?.status).toBe(200);
    expect(answers(get("/readyz"))).toBeUndefined();
    expect((await answers(new Request("http://server/ready", { method: "POST" })))?.status).toBe(405);
  });
});

describe.skipIf(missingServer() !== undefined)("a server over Postgres", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("is ready without a token and under any host name, until its engine is away or it ends", async () => {
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const served = await startServing(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`);
    expect(await probe(served.url, "/health")).toBe("200 ok");
    expect(await probe(served.url, "/ready?x=1")).toBe("200 ready");
    // Everything else still needs a host name that is served, and a token.
    expect(await probe(served.url, "/mcp")).toMatch(/^403 /u);
    expect(await probe(served.url, "/health/..%2fmcp")).toMatch(/^403 /u);
    expect(await probe(served.url, "/mcp", { host: "localhost" })).toMatch(/^401 /u);
    await proxy.close();
    await expect.poll(() => probe(served.url, "/ready"), { timeout: 5000 }).toBe("503 not ready");
    expect(await probe(served.url, "/health")).toBe("200 ok");
  });

  test("is not ready from the first moment of its end, and calls that arrive then are made", async () => {
    const served = await startServing(postgresUrl(server.host));
    expect((await call(served.url, "write_file", { path: "/a.txt", content: "1\n" })).isError).toBe(false);
    const ended = served.drain();
    expect(await probe(served.url, "/ready")).toBe("503 not ready");
    const late = await call(served.url, "read_file", { path: "/a.txt" });
    expect(late).toMatchObject({ status: 200, isError: false });
    expect(late.headers.get("connection")).toBe("close");
    await ended;
    await expect(call(served.url, "read_file", { path: "/a.txt" })).rejects.toThrow();
  });
});
