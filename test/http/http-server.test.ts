/** The HTTP server behind the MCP server and the approval queue: its refusals and its limits. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { approvalQueue, serveApprovals } from "../../js/hooks/index.node.ts";
import type { HttpLimits } from "../../js/http/limits.ts";
import { type HttpServer, startHttpServer } from "../../js/http/server.node.ts";
import { tokensAreEqual } from "../../js/http/access.ts";
import { raw, send } from "../mcp/serving.ts";

const servers: HttpServer[] = [];
const sockets: Socket[] = [];

async function server(
  answer: (request: Request) => Promise<Response>,
  limits: Partial<HttpLimits> = {},
): Promise<HttpServer> {
  const made = await startHttpServer(answer, { host: "127.0.0.1", port: 0, limits });
  servers.push(made);
  return made;
}

/** A connection that sends these bytes and stays. */
async function open(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const one of servers.splice(0)) await one.close();
});

const text = async (request: Request): Promise<Response> => new Response(`got ${await request.text()}`);
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/u.exec(answer)?.[1] ?? 0);

describe("a request", () => {
  test.each([
    ["two slashes", "//", 400],
    ["another host behind two slashes", "//evil.example/mcp", 400],
    ["a URL that is none", "http://[bad", 400],
    ["a URL of another host", "http://evil.example/mcp", 400],
    ["a star", "*", 400],
    ["no slash", "mcp", 400],
    ["a path", "/x", 200],
    ["a path with bytes that are no UTF-8", "/%ff%00%zz?%", 200],
    ["two slashes further on", "/a//b", 200],
  ])("whose target is %s is answered", async (_, target, status) => {
    const { port } = await server(async () => new Response("ok"));
    const answer = await raw(port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(statusOf(answer)).toBe(status);
  });

  test.each(["TRACE", "CONNECT", "PUT", "PATCH", "PROPFIND"])("with method %s is refused", async (method) => {
    let asked = 0;
    const { port } = await server(async () => {
      asked += 1;
      return new Response("ok");
    });
    const answer = await raw(port, `${method} / HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(statusOf(answer)).toBe(405);
    expect(asked).toBe(0);
  });

  test("is refused before it is read when its body is too large", async () => {
    let read = 0;
    const { url } = await server(
      async (request) => {
        read += (await request.arrayBuffer()).byteLength;
        return new Response("ok");
      },
      { bodyBytes: 1000 },
    );
    expect((await send(url, {}, { body: "x".repeat(1001) })).status).toBe(413);
    expect(read).toBe(0);
    expect((await send(url, {}, { body: "x".repeat(1000) })).status).toBe(200);
  });

  test("is refused while it is read when its body says no length and is too large", async () => {
    const { url } = await server(text, { bodyBytes: 1000 });
    const chunked = await send(url, { "transfer-encoding": "chunked" }, { body: "x".repeat(5000) });
    expect(chunked.status).toBe(413);
  });

  test("gets the bytes back that the bodies before it had", async () => {
    const { url } = await server(text, { bodyBytes: 1000, allBodiesBytes: 1500 });
    for (let round = 0; round < 5; round++)
      expect((await send(url, {}, { body: "x".repeat(900) })).status).toBe(200);
  });

  test("is answered with 503 while the bodies of others take all bytes", async () => {
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let began = (): void => {};
    const reading = new Promise<void>((resolve) => {
      began = resolve;
    });
    const { url } = await server(
      async (request) => {
        const body = await request.text();
        began();
        if (body.startsWith("h")) await held;
        return new Response("ok");
      },
      { bodyBytes: 1000, allBodiesBytes: 1500 },
    );
    const first = send(url, {}, { body: "h".repeat(900) });
    await reading;
    const second = await send(url, {}, { body: "x".repeat(900) });
    expect(second).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect((await send(url, {}, { body: "small" })).status).toBe(200);
    finish();
    expect((await first).status).toBe(200);
    expect((await send(url, {}, { body: "x".repeat(900) })).status).toBe(200);
  });

  test("is answered with 503 while as many as allowed are being answered", async () => {
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let running = 0;
    const { url } = await server(
      async () => {
        running += 1;
        await held;
        return new Response("ok");
      },
      { requests: 3 },
    );
    const first = [1, 2, 3].map(() => send(url, {}));
    await expect.poll(() => running).toBe(3);
    expect((await send(url, {})).status).toBe(503);
    finish();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test("is ended when its headers or its body do not come in time", async () => {
    const { port } = await server(text, { headersMs: 200, requestMs: 400 });
    const slowHead = raw(port, "POST / HTTP/1.1\r\nHost: localhost\r\n", 20_000);
    const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n";
    const slowBody = raw(port, `${head}x`, 20_000);
    expect(statusOf(await slowHead)).toBe(408);
    expect(statusOf(await slowBody)).toBe(408);
  });

  test("is answered with 500 when its handler throws, and the server goes on", async () => {
    const { url } = await server(async (request) => {
      if (request.url.endsWith("bad")) throw new Error("/an/absolute/path is not told");
      return new Response("ok");
    });
    const answer = await send(`${url}/bad`, {});
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("absolute");
    expect((await send(url, {})).status).toBe(200);
  });
});

describe("an answer", () => {
  test("is produced only as fast as it is read", async () => {
    let produced = 0;
    const chunk = new Uint8Array(64 * 1024);
    const { port } = await server(async () => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          produced += chunk.length;
          controller.enqueue(chunk);
          if (produced >= 512 * 1024 * 1024) controller.close();
        },
      });
      return new Response(body);
    });
    const socket = await open(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.pause();
    await expect.poll(() => produced).toBeGreaterThan(0);
    let before = -1;
    // Until the buffers of both ends are full.
    await expect
      .poll(
        () => {
          const isStill = produced === before;
          before = produced;
          return isStill;
        },
        { interval: 300, timeout: 20_000 },
      )
      .toBe(true);
    expect(produced).toBeLessThan(64 * 1024 * 1024);
  });

  test("that no client reads is ended, with the work that produces it", async () => {
    let cancelled = false;
    const { port } = await server(
      async () =>
        new Response(
          new ReadableStream<Uint8Array>({
            pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
            cancel() {
              cancelled = true;
            },
          }),
        ),
      { unreadMs: 100 },
    );
    const socket = await open(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.pause();
    await expect.poll(() => cancelled, { timeout: 20_000 }).toBe(true);
  });
});

test("2,000 idle connections lock no client out, and some are closed", async () => {
  const { url, port } = await server(text, { connections: 64 });
  let closed = 0;
  for (let at = 0; at < 2000; at++) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).on("close", () => closed++);
    sockets.push(socket);
    if (at % 100 === 99) await once(socket, "connect").catch(() => {});
    socket.write("POST / HTTP/1.1\r\nHost: lo");
  }
  expect(await send(url, {}, { body: "through" })).toMatchObject({ status: 200, text: "got through" });
  await expect.poll(() => closed, { timeout: 20_000 }).toBeGreaterThanOrEqual(2000 - 64);
}, 60_000);

test("a connection whose request is being answered is not closed to make room", async () => {
  let finish = (): void => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let running = 0;
  const { url, port } = await server(
    async () => {
      running += 1;
      await held;
      return new Response("answered");
    },
    { connections: 4 },
  );
  const answer = send(url, {});
  await expect.poll(() => running).toBe(1);
  for (let at = 0; at < 20; at++) await open(port, "");
  finish();
  expect((await answer).text).toBe("answered");
});

describe("a server that drains", () => {
  test("answers what runs, takes no more, and says so", async () => {
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let running = 0;
    const one = await server(async () => {
      running += 1;
      await held;
      return new Response("whole");
    });
    const answer = send(one.url, {});
    await expect.poll(() => running).toBe(1);
    const idle = await open(one.port, "");
    const idleClosed = once(idle, "close");
    const drained = one.drain(30_000);
    await idleClosed;
    const late = await send(one.url, {}).catch((error: NodeJS.ErrnoException) => error.code);
    expect(late).toBe("ECONNREFUSED");
    finish();
    expect(await answer).toMatchObject({ status: 200, text: "whole", headers: { connection: "close" } });
    expect(await drained).toBe(true);
  });

  test("says that it is not done when a request goes on for longer than it waits", async () => {
    let running = 0;
    const one = await server(() => {
      running += 1;
      return new Promise(() => {});
    });
    const answer = send(one.url, {}).catch(() => "cut");
    await expect.poll(() => running).toBe(1);
    expect(await one.drain(50)).toBe(false);
    await one.close();
    expect(await answer).toBe("cut");
  });
});

describe("the approval queue over HTTP", () => {
  test("answers only to its own names, its own origin, and with its token", async () => {
    const queue = approvalQueue();
    const served = await serveApprovals(queue, { origins: ["https://app.example"] });
    const { port } = new URL(served.url);
    const token = { authorization: `Bearer ${queue.token}` };
    const cases: readonly [headers: Record<string, string>, status: number][] = [
      [token, 200],
      [{}, 401],
      [{ authorization: `Bearer ${queue.token}x` }, 401],
      [{ ...token, host: `evil.example:${port}` }, 403],
      [{ ...token, origin: "https://evil.example" }, 403],
      [{ ...token, origin: "https://app.example" }, 200],
      [{ ...token, origin: `http://127.0.0.1:${port}` }, 200],
    ];
    try {
      for (const [headers, status] of cases)
        expect((await send(served.url, headers, { method: "GET" })).status, JSON.stringify(headers)).toBe(
          status,
        );
      expect((await send(served.url, token, { body: "x".repeat(9 * 1024 * 1024) })).status).toBe(413);
    } finally {
      await served.close();
    }
  });

  test("ends its event streams when the queue closes", async () => {
    const queue = approvalQueue();
    const served = await serveApprovals(queue);
    try {
      const headers = { authorization: `Bearer ${queue.token}` };
      const { body } = await fetch(`${served.url}/events`, { headers });
      const reader = body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"state"');
      queue.close();
      expect(await reader?.read()).toMatchObject({ done: true });
    } finally {
      await served.close();
    }
  });
});

test("tokens are equal only when every character is", () => {
  expect(tokensAreEqual("0123456789abcdef", "0123456789abcdef")).toBe(true);
  for (const given of [
    "",
    "0",
    "0123456789abcde",
    "0123456789abcdeg",
    "0123456789abcdef0",
    "0123456789abcdef".repeat(2),
  ])
    expect(tokensAreEqual(given, "0123456789abcdef"), given).toBe(false);
  expect(tokensAreEqual("", "")).toBe(false);
});
