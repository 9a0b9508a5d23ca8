/** What the storage makes of a store that refuses, is busy, is cut off or damaged: by a proxy that makes the faults. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FilewrightError } from "../../../js/engine/errors.ts";
import { type S3Storage, type S3StorageOptions, s3Storage } from "@filewright/storage/s3";
import type { Op } from "../../../js/storage/storage.ts";
import { type FaultProxy, startProxy } from "./proxy.ts";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "./versitygw.mjs";
import { errorOf } from "../../support/calls.ts";

describe.skipIf(LACKS_VERSITYGW)("faults", () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let workspace: string;

  beforeAll(async () => {
    server = await startVersitygw();
    proxy = await startProxy(server.endpoint);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });
  beforeEach(() => {
    workspace = randomUUID();
    proxy.reset();
  });
  afterEach(() => {
    proxy.rule = undefined;
  });

  const open = (more: Partial<S3StorageOptions> = {}): Promise<S3Storage> => {
    const { bucket, credentials } = server;
    return s3Storage({ endpoint: proxy.endpoint, bucket, credentials, workspace, ...more });
  };
  const put = (path: string, text: string): Op => ({
    op: "put",
    path,
    body: new TextEncoder().encode(`${workspace} ${text}`),
  });
  /** Returns the text of a file through a connection without faults. */
  async function textOf(path: string): Promise<string | undefined> {
    const storage = await open({ endpoint: server.endpoint });
    const [result] = (await storage.readMany([path])).results;
    if (result === null || result === undefined || result instanceof FilewrightError) return undefined;
    return new TextDecoder().decode(result.body).slice(workspace.length + 1);
  }
  const isRootWrite = ({ method, key }: { method: string; key: string }): boolean =>
    method === "PUT" && key.endsWith("/root");
  const countOf = async (): Promise<number> =>
    (await (await open({ endpoint: server.endpoint })).history({ limit: 100 })).length;
  const xml = (code: string, more = ""): string =>
    `<?xml version="1.0"?><Error><Code>${code}</Code>${more}</Error>`;

  describe.each([
    ["the write of the root", isRootWrite],
    [
      "the write of a content",
      ({ method, key }: { method: string; key: string }) => method === "PUT" && key.includes("/blobs/"),
    ],
  ])("%s", (_, isIt) => {
    test.each([
      [400, "InvalidRequest", "IO_ERROR"],
      [411, "MissingContentLength", "IO_ERROR"],
      [413, "EntityTooLarge", "TOO_LARGE"],
      [401, "AccessDenied", "PERMISSION_DENIED"],
      [403, "AccessDenied", "PERMISSION_DENIED"],
      [301, "PermanentRedirect", "INVALID_ARGUMENT"],
      [307, "TemporaryRedirect", "INVALID_ARGUMENT"],
      [404, "NoSuchBucket", "INVALID_ARGUMENT"],
      [501, "NotImplemented", "UNSUPPORTED_OPERATION"],
      [507, "QuotaExceeded", "NO_SPACE"],
    ])("answered %i %s is %s, and nothing has changed", async (status, s3Code, code) => {
      const storage = await open();
      proxy.rule = (seen) => (isIt(seen) ? { status, body: xml(s3Code) } : undefined);
      const error = await errorOf(storage.commit([put("/a.txt", "1")]));
      expect([error.code, error.details]).toMatchObject([code, { status, outcome: "none" }]);
      expect(await countOf()).toBe(0);
      proxy.rule = undefined;
      await storage.commit([put("/a.txt", "2")]);
      expect([await textOf("/a.txt"), await countOf()]).toEqual(["2", 1]);
    });

    test.each([
      [429, "TooManyRequests"],
      [503, "SlowDown"],
      [500, "InternalError"],
      [502, ""],
      [504, ""],
      [408, "RequestTimeout"],
      [400, "RequestTimeout"],
    ])("answered %i %s twice is sent again", async (status, code) => {
      const storage = await open();
      let left = 2;
      proxy.rule = (seen) => (isIt(seen) && left-- > 0 ? { status, body: xml(code) } : undefined);
      await storage.commit([put("/a.txt", "1")]);
      expect([await textOf("/a.txt"), await countOf()]).toEqual(["1", 1]);
    });

    test("that is cut off, before or after it was done, happens once", async () => {
      const storage = await open();
      const cuts = ["before", "after"] as const;
      for (const [round, cut] of [...cuts, ...cuts].entries()) {
        let left = 1;
        proxy.rule = (seen) => (isIt(seen) && left-- > 0 ? { cut } : undefined);
        await storage.commit([put("/a.txt", `${round}`)]);
        expect([await textOf("/a.txt"), await countOf()]).toEqual([`${round}`, round + 1]);
      }
    });
  });

  test("too many requests: what the store asks for is waited for, or is an error at once", async () => {
    const storage = await open();
    let left = 1;
    proxy.rule = (seen) =>
      isRootWrite(seen) && left-- > 0 ? { status: 429, headers: { "retry-after": "1" } } : undefined;
    await storage.commit([put("/a.txt", "1")]);
    const [first, second] = proxy.seen.filter(isRootWrite);
    expect((second?.begin ?? 0) - (first?.end ?? 0)).toBeGreaterThanOrEqual(990);

    for (const later of ["3600", new Date(Date.now() + 3_600_000).toUTCString()]) {
      proxy.reset();
      proxy.rule = () => ({ status: 429, headers: { "retry-after": later } });
      const error = await errorOf(storage.readMany(["/a.txt"]));
      expect([error.code, proxy.seen.length]).toEqual(["LIMIT_EXCEEDED", 1]);
    }
  });

  test("a store that is always busy is asked four times, or as often as the option says", async () => {
    proxy.rule = () => ({ status: 503, body: xml("SlowDown") });
    expect((await errorOf((await open()).readMany(["/a"]))).code).toBe("LIMIT_EXCEEDED");
    expect(proxy.seen).toHaveLength(4);
    proxy.reset();
    expect((await errorOf((await open({ attempts: 1 })).readMany(["/a"]))).code).toBe("LIMIT_EXCEEDED");
    expect(proxy.seen).toHaveLength(1);
  });

  test.each([404, 409, 412])(
    "a root write answered %i is planned again, on what is there now",
    async (status) => {
      const storage = await open();
      await storage.commit([put("/a.txt", "1")]);
      let left = 1;
      proxy.rule = (seen) => (isRootWrite(seen) && left-- > 0 ? { status } : undefined);
      await storage.commit([put("/a.txt", "2")]);
      expect([await textOf("/a.txt"), await countOf()]).toEqual(["2", 2]);
    },
  );

  test("a commit whose answer is lost for good is unknown, and its key settles it", async () => {
    const storage = await open({ attempts: 2 });
    await storage.commit([put("/n.txt", "0")]);
    let isCut = false;
    proxy.rule = (seen) => {
      isCut ||= isRootWrite(seen);
      return isCut ? { cut: "after" } : undefined;
    };
    const error = await errorOf(storage.commit([put("/a.txt", "1")], { key: "k" }));
    expect([error.code, error.details?.["outcome"]]).toEqual(["IO_ERROR", "unknown"]);
    proxy.rule = undefined;
    expect(await storage.commit([put("/a.txt", "1")], { key: "k" })).toMatchObject({ repeated: true });
    expect([await textOf("/a.txt"), await countOf()]).toEqual(["1", 2]);
  });

  test("a store that does not answer is an error after the time, and a cancelled call at once", async () => {
    proxy.rule = () => ({ hang: true });
    const slow = await open({ timeoutMs: 100, attempts: 2 });
    const late = await errorOf(slow.readMany(["/a"]));
    expect([late.code, late.message]).toEqual(["IO_ERROR", "the store did not answer in time"]);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    expect((await errorOf((await open()).readMany(["/a"], { signal: abort.signal }))).code).toBe("CANCELLED");
    const cut = new AbortController();
    proxy.rule = (seen) => {
      if (!isRootWrite(seen)) return undefined;
      setTimeout(() => cut.abort(), 20);
      return { hang: true };
    };
    const writing = await errorOf((await open()).commit([put("/a.txt", "1")], { signal: cut.signal }));
    expect([writing.code, writing.details]).toEqual(["CANCELLED", { outcome: "unknown" }]);
  });

  test("a clock that is wrong is named with its minutes", async () => {
    const storage = await open();
    for (const [shift, words] of [
      [17 * 60_000, "17 minutes ahead of the store's"],
      [-90 * 60_000, "90 minutes behind the store's"],
    ] as const) {
      const date = new Date(Date.now() - shift).toUTCString();
      proxy.rule = () => ({ status: 403, headers: { date }, body: xml("RequestTimeTooSkewed") });
      const error = await errorOf(storage.readMany(["/a"]));
      expect([error.code, error.message, error.hint]).toEqual([
        "PERMISSION_DENIED",
        expect.stringContaining(words),
        "set the clock of this machine",
      ]);
    }
  });

  test("a `Date` that a server wrote a second ago does not move the clock by which records end", async () => {
    let isOld = false;
    const storage = await open({
      fetch: async (request) => {
        const response = await fetch(request);
        if (!isOld) return response;
        const headers = new Headers(response.headers);
        headers.set("date", new Date(Date.now() - 1900).toUTCString());
        return new Response(response.body, { status: response.status, headers });
      },
    });
    const { records } = storage;
    await records.put("k", "short", 1, { forMs: 30 });
    isOld = true;
    await records.get("k", "nothing");
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await records.get("k", "short")).toBe(null);
  });

  test("an answer that takes long does not move the clock by which records end", async () => {
    let isSlow = false;
    const storage = await open({
      fetch: async (request) => {
        const response = await fetch(request);
        // Longer than the second to which a `Date` is exact.
        if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1500));
        return response;
      },
    });
    const { records } = storage;
    await records.put("k", "short", 1, { forMs: 30 });
    isSlow = true;
    await records.get("k", "nothing");
    isSlow = false;
    expect(await records.get("k", "short")).toBe(null);
  });

  test("credentials and what was signed show in no error", async () => {
    const secret = server.credentials.secretAccessKey;
    const access = server.credentials.accessKeyId;
    const body = xml(
      "SignatureDoesNotMatch",
      `<AWSAccessKeyId>${access}</AWSAccessKeyId><StringToSign>${secret}</StringToSign><Message>${access}</Message>`,
    );
    const textOfError = (error: unknown): string => {
      const { message, stack, hint, details, cause } = error as FilewrightError;
      return JSON.stringify([
        message,
        stack,
        hint,
        details,
        String(cause),
        (cause as Error | undefined)?.stack,
      ]);
    };
    const storage = await open({ credentials: () => ({ accessKeyId: access, secretAccessKey: secret }) });
    for (const fault of [{ status: 403, body }, { status: 400, body }, { cut: "before" } as const]) {
      proxy.rule = () => fault;
      const text = textOfError(await errorOf(storage.readMany(["/a"])));
      expect(text).not.toContain(access);
      expect(text).not.toContain(secret);
      expect(text).not.toContain("127.0.0.1");
    }
    const wrong = await open({ endpoint: "https://user:pass-word@127.0.0.1/" }).catch(
      (error: unknown) => error,
    );
    expect((wrong as FilewrightError).code).toBe("INVALID_ARGUMENT");
    expect(textOfError(wrong)).not.toContain("pass-word");
  });

  test("wrong credentials are PERMISSION_DENIED, a wrong bucket INVALID_ARGUMENT, a closed port IO_ERROR", async () => {
    const credentials = { ...server.credentials, secretAccessKey: "wrong" };
    expect((await errorOf((await open({ credentials })).probe())).code).toBe("PERMISSION_DENIED");
    const missing = await errorOf((await open({ bucket: "no-such-bucket" })).probe());
    expect([missing.code, missing.message]).toEqual(["INVALID_ARGUMENT", expect.stringContaining("bucket")]);
    const gone = await startProxy(server.endpoint);
    await gone.stop();
    const closed = await errorOf((await open({ endpoint: gone.endpoint, attempts: 1 })).probe());
    expect([closed.code, closed.details?.["cause"]]).toEqual(["IO_ERROR", "ECONNREFUSED"]);
  });

  test("a damaged content is the error of its path, a damaged root that of the call", async () => {
    const storage = await open();
    await storage.commit([put("/a.txt", "1"), put("/b.txt", "2")]);
    const damages = [
      (body: Buffer) => Buffer.from(body.map((byte) => byte ^ 1)),
      (body: Buffer) => Buffer.concat([body, body]),
    ];
    for (const damage of damages) {
      let left = 1;
      proxy.rule = ({ method, key }) =>
        method === "GET" && key.includes("/blobs/") && left-- > 0 ? { spoil: { body: damage } } : undefined;
      const { results } = await (await open()).readMany(["/a.txt", "/b.txt"]);
      const bad = results.filter((result) => result instanceof FilewrightError);
      expect(bad.map(({ code }) => code)).toEqual(["IO_ERROR"]);
    }
    for (const damage of [
      () => Buffer.from('{"format":2}'),
      () => Buffer.from("{"),
      () => Buffer.from("null"),
    ]) {
      proxy.rule = ({ method, key }) =>
        method === "GET" && key.endsWith("/root") ? { spoil: { body: damage } } : undefined;
      expect((await errorOf((await open()).readMany(["/a.txt"]))).code).toBe("IO_ERROR");
    }
  });
});
