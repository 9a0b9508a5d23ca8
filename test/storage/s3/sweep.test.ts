/** What a sweep removes and what it leaves, on versitygw, whose files are made old by hand. */
import { randomUUID } from "node:crypto";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FilewrightError } from "../../../js/engine/errors.ts";
import { type S3Storage, s3Storage } from "@filewright/storage/s3";
import type { Op, Storage } from "../../../js/storage/storage.ts";
import { startMiniflare } from "./miniflare.ts";
import { type FaultProxy, startProxy } from "./proxy.ts";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "./versitygw.mjs";

const HOUR_MS = 3_600_000;

describe.skipIf(LACKS_VERSITYGW)("a sweep", () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let prefix: string;
  beforeAll(async () => {
    server = await startVersitygw();
    proxy = await startProxy(server.endpoint);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });
  beforeEach(() => {
    prefix = `${randomUUID()}/`;
    proxy.rule = undefined;
  });

  const open = (workspace = "w"): Promise<S3Storage> => {
    const { bucket, credentials } = server;
    return s3Storage({ endpoint: proxy.endpoint, bucket, credentials, workspace, prefix });
  };
  const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });
  async function text(storage: Storage, path: string): Promise<string | FilewrightError | null> {
    const [result] = (await storage.readMany([path])).results;
    if (result === null || result === undefined || result instanceof FilewrightError) return result ?? null;
    return new TextDecoder().decode(result.body);
  }
  /** Stores a content and a log that nothing names: their commit fails at the last request. */
  async function lose(ops: readonly Op[]): Promise<void> {
    proxy.rule = ({ method, key }) =>
      method === "PUT" && key.endsWith("/root") ? { status: 400 } : undefined;
    await expect((await open()).commit(ops)).rejects.toMatchObject({ code: "IO_ERROR" });
    proxy.rule = undefined;
  }
  /** Returns the files of the store below a folder of the prefix. */
  async function stored(folder: string): Promise<readonly string[]> {
    const top = join(server.folder, server.bucket, prefix, folder);
    const entries = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }
  /** Makes every object of the store as old as if it had been written two days ago. */
  async function age(): Promise<void> {
    const old = new Date(Date.now() - 48 * HOUR_MS);
    for (const file of await stored("")) await utimes(file, old, old);
  }

  test("removes contents that nothing names, and nothing else", async () => {
    const storage = await open();
    await storage.commit([put("/kept.txt", "kept"), put("/young.txt", "young")]);
    await lose([put("/x.txt", "lost")]);
    expect(await stored("blobs")).toHaveLength(3);
    // All are young.
    expect(await storage.sweep({ olderThanMs: HOUR_MS })).toMatchObject({ removed: 0 });
    await age();
    expect(await storage.sweep({ olderThanMs: HOUR_MS })).toMatchObject({ removed: 2, kept: 3 });
    expect(await stored("blobs")).toHaveLength(2);
    const fresh = await open();
    expect([await text(fresh, "/kept.txt"), await text(fresh, "/young.txt")]).toEqual(["kept", "young"]);
  });

  test("keeps what forks, kept states and young commits name", async () => {
    const storage = await open();
    await storage.commit([put("/fork.txt", "in the fork")]);
    await storage.fork("fork");
    await storage.commit([put("/fork.txt", "2"), put("/state.txt", "in the state")]);
    const kept = await storage.snapshot();
    await storage.commit([put("/state.txt", "3"), put("/undo.txt", "in the history")]);
    await storage.commit([put("/undo.txt", "4")]);
    await age();
    // The objects are old, the commits are not.
    expect(await storage.sweep({ olderThanMs: HOUR_MS })).toMatchObject({ removed: 0 });
    const fork = await open("fork");
    expect(await text(fork, "/fork.txt")).toBe("in the fork");
    const { results } = await (await open()).readMany(["/state.txt"], { at: kept.at });
    expect(new TextDecoder().decode((results[0] as { body: Uint8Array }).body)).toBe("in the state");
    const [past] = await storage.history({ limit: 1 });
    const [named] = await storage.history({ version: past?.version, limit: 1 });
    const before = named?.changes?.[0]?.before;
    await storage.commit([
      { op: "link", path: "/undo.txt", hash: before?.hash ?? "", size: before?.size ?? 0 },
    ]);
    expect(await text(await open(), "/undo.txt")).toBe("in the history");
    expect(await text(await open(), "/fork.txt")).toBe("2");
  });

  test("removes pages that were replaced, and the workspace is whole", async () => {
    const storage = await open();
    for (let round = 0; round < 3; round += 1) {
      const ops = Array.from({ length: 400 }, (_, index) => put(`/d${index}/f.txt`, `${round}`));
      await storage.commit(ops);
    }
    const before = await stored("pages");
    await age();
    const { removed } = await storage.sweep({ olderThanMs: HOUR_MS });
    expect(removed).toBeGreaterThan(0);
    expect((await stored("pages")).length).toBe(before.length - removed);
    const fresh = await open();
    expect((await fresh.list({ limit: 5000 })).entries).toHaveLength(800);
    expect(await text(fresh, "/d399/f.txt")).toBe("2");
  });

  test("does not take what a commit names while it runs: the commit waits and stores it again", async () => {
    const storage = await open();
    await lose([put("/x.txt", "again")]);
    await age();
    const writer = await open();
    let wrote: Promise<unknown> | undefined;
    // The sweep has found the content old, and is about to remove it, when the commit comes.
    proxy.rule = async ({ method, key }) => {
      if (method !== "DELETE" || !key.includes("/blobs/") || wrote !== undefined) return undefined;
      wrote = writer.commit([put("/y.txt", "again")]);
      await new Promise((resolve) => setTimeout(resolve, 400));
      return undefined;
    };
    expect(await storage.sweep({ olderThanMs: HOUR_MS })).toMatchObject({ removed: 2 });
    await wrote;
    expect(await text(await open(), "/y.txt")).toBe("again");
  });

  test("leaves a content that a commit has made young after it was listed", async () => {
    const storage = await open();
    await lose([put("/x.txt", "again")]);
    await age();
    const writer = await open();
    let isWritten = false;
    proxy.rule = async ({ method, key }) => {
      if (method !== "PUT" || !key.endsWith("/sweep") || isWritten) return undefined;
      isWritten = true;
      await writer.commit([put("/y.txt", "again")]);
      return undefined;
    };
    expect(await storage.sweep({ olderThanMs: HOUR_MS })).toMatchObject({ removed: 1 });
    expect(await text(await open(), "/y.txt")).toBe("again");
  });

  test("is one at a time, and not of less than an hour", async () => {
    const storage = await open();
    await expect(storage.sweep({ olderThanMs: HOUR_MS - 1 })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await lose([put("/x.txt", "x")]);
    await age();
    let second: Promise<unknown> | undefined;
    proxy.rule = async ({ method, key }) => {
      if (method !== "DELETE" || !key.includes("/blobs/") || second !== undefined) return undefined;
      second = (await open()).sweep({ olderThanMs: HOUR_MS });
      await second.catch(() => {});
      return undefined;
    };
    await storage.sweep({ olderThanMs: HOUR_MS });
    await expect(second).rejects.toMatchObject({ code: "CONFLICT", details: { reason: "sweep" } });
  });
});

test("a listing is read to its end, page by page", async () => {
  const server = await startMiniflare();
  try {
    const { endpoint, bucket, credentials } = server;
    let pages = 0;
    const fetchSmall = (request: Request): Promise<Response> => {
      const url = new URL(request.url);
      if (!url.searchParams.has("list-type")) return fetch(request);
      pages += 1;
      url.searchParams.set("max-keys", "3");
      return fetch(url, { headers: request.headers });
    };
    const open = (workspace: string): Promise<S3Storage> =>
      s3Storage({ endpoint, bucket, credentials, workspace, fetch: fetchSmall });
    const names = Array.from({ length: 10 }, (_, index) => `w${index}`);
    for (const name of names) await (await open(name)).commit([{ op: "mkdir", path: "/d" }]);
    expect(await (await open("w0")).workspaces()).toEqual(names);
    expect(pages).toBeGreaterThan(2);
    expect(await (await open("w0")).sweep()).toMatchObject({ removed: 0, kept: 10 });
  } finally {
    await server.stop();
  }
});
