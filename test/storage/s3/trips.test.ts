/** Round trips of the storage in an S3-compatible store, counted by a proxy. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../../js/index.node.ts";
import { type S3Storage, s3Storage } from "@filewright/storage/s3";
import type { Op } from "../../../js/storage/storage.ts";
import { type FaultProxy, startCounter } from "./proxy.ts";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "./versitygw.mjs";

let server: S3Server;
let proxy: FaultProxy;
let workspace: string;

beforeAll(async () => {
  server = await startVersitygw();
  proxy = await startCounter(server.endpoint);
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
});
beforeEach(() => {
  workspace = randomUUID();
});

const open = (name = workspace): Promise<S3Storage> =>
  s3Storage({
    endpoint: proxy.endpoint,
    bucket: server.bucket,
    credentials: server.credentials,
    workspace: name,
  });
/** A change that stores a content, another one in each test. */
const put = (path: string, text: string): Op => ({
  op: "put",
  path,
  body: new TextEncoder().encode(`${workspace} ${text}`),
});

/** Returns the round trips that a call takes. */
async function tripsOf(run: () => Promise<unknown>): Promise<number> {
  proxy.reset();
  await run();
  return proxy.trips();
}

describe.skipIf(LACKS_VERSITYGW)("round trips", () => {
  test("a file is read in 2 trips, 60 files as well, one that is known in 1", async () => {
    const writer = await open();
    const paths = Array.from({ length: 60 }, (_, index) => `/src/${index}.txt`);
    await writer.commit(paths.map((path) => put(path, path)));
    const reader = await open();
    expect(await tripsOf(() => reader.readMany(paths.slice(0, 1)))).toBe(2);
    await writer.commit([put("/src/0.txt", "new")]);
    expect(await tripsOf(() => reader.readMany(paths.slice(0, 1)))).toBe(2);
    expect(await tripsOf(() => reader.readMany(paths.slice(0, 1)))).toBe(1);
    expect(await tripsOf(() => reader.readMany(paths))).toBe(2);
    expect(await tripsOf(() => reader.list({ limit: 100 }))).toBe(1);
    expect(await tripsOf(() => reader.changes(null, { limit: 0 }))).toBe(1);
  });

  test("a change takes 2 trips, the first of a process 3, one that met another writer at most 4", async () => {
    const first = await open();
    expect(await tripsOf(() => first.commit([put("/a.txt", "1")]))).toBeLessThanOrEqual(3);
    expect(await tripsOf(() => first.commit([put("/a.txt", "2")]))).toBe(2);
    const ops = Array.from({ length: 15 }, (_, index) => put(`/patch/${index}.txt`, `${index}`));
    expect(await tripsOf(() => first.commit(ops))).toBe(2);
    const second = await open();
    await second.commit([put("/b.txt", "1")]);
    // The first one still knows an old root.
    expect(await tripsOf(() => first.commit([put("/a.txt", "3")]))).toBeLessThanOrEqual(4);
    await second.commit([put("/b.txt", "2")]);
    const stale = [{ path: "/b.txt", version: null }];
    const refused = (): Promise<unknown> =>
      expect(first.commit([put("/b.txt", "3")], { expect: stale })).rejects.toMatchObject({
        code: "CONFLICT",
      });
    expect(await tripsOf(refused)).toBeLessThanOrEqual(4);
  });

  test("an edit is 2 trips to read and 2 to write; undo the same", async () => {
    const storage = await open();
    await storage.commit([put("/a.txt", "1"), put("/b.txt", "1")]);
    const other = await open();
    const edit = async (): Promise<void> => {
      const { results } = await other.readMany(["/a.txt"]);
      const [found] = results as readonly { readonly entry: { readonly version: string } }[];
      await other.commit([put("/a.txt", "2")], {
        key: "edit",
        expect: [{ path: "/a.txt", version: found?.entry.version ?? null }],
      });
    };
    expect(await tripsOf(edit)).toBeLessThanOrEqual(4);
    const undo = async (): Promise<void> => {
      const [past] = await other.history({ key: "edit", limit: 1 });
      const ops = (past?.changes ?? []).map(({ path, before }): Op => {
        if (before === null) return { op: "remove", path };
        return { op: "link", path, hash: before.hash ?? "", size: before.size ?? 0 };
      });
      await other.commit(ops);
    };
    expect(await tripsOf(undo)).toBeLessThanOrEqual(4);
    const [result] = (await storage.readMany(["/a.txt"])).results as readonly {
      readonly body?: Uint8Array;
    }[];
    expect(new TextDecoder().decode(result?.body)).toBe(`${workspace} 1`);
  });

  test("a content that the store has already takes at most 4 trips, and 2 soon after", async () => {
    const first = await open();
    await first.commit([put("/a.txt", "1")]);
    const second = await open();
    await second.readMany([]);
    expect(await tripsOf(() => second.commit([put("/b.txt", "1")]))).toBeLessThanOrEqual(4);
    await second.commit([put("/b.txt", "2")]);
    expect(await tripsOf(() => second.commit([put("/b.txt", "1")]))).toBe(2);
  });

  test("a fork takes 3 trips, however many files there are, and writes two objects", async () => {
    const storage = await open();
    await storage.commit(
      Array.from({ length: 3000 }, (_, index) => ({ op: "mkdir", path: `/d${index}` }) as const),
    );
    const name = randomUUID();
    expect(await tripsOf(() => storage.fork(name))).toBeLessThanOrEqual(3);
    expect(proxy.seen.filter(({ method }) => method === "PUT")).toHaveLength(2);
  });

  test("tool calls: at most 4 for a change, 2 for the read of a file", async () => {
    const files = Array.from({ length: 60 }, (_, index) => `src/f${index}.ts`);
    const seeding = await open();
    await seeding.commit(files.map((file, index) => put(`/repo/${file}`, `const n = ${index};\n`)));
    const ws = await openWorkspace({ storage: await open(), root: "/repo", agent: "ann" });
    // The first call finds out where the links of the roots lead.
    await ws.call("stat", { path: "." });
    let id = "";
    const tripsOfCall = (tool: string, args: object): Promise<number> =>
      tripsOf(async () => {
        const result = await ws.call(tool as "stat", args as never);
        expect([tool, result.ok ? "" : result.text]).toEqual([tool, ""]);
        id = result.meta.call_id ?? "";
      });
    const path = "src/f1.ts";
    const patched = files.slice(20, 40).map((file, index) => {
      const line = `${workspace} const n = ${index + 20};`;
      return `*** Update File: ${file}\n@@\n-${line}\n+${line.replace("n =", "m =")}\n`;
    });
    const trips = {
      read: await tripsOfCall("read_file", { path }),
      edit: await tripsOfCall("edit_file", { path, old_text: "n = 1", new_text: "n = one" }),
      "new file": await tripsOfCall("write_file", { path: "new/a.ts", content: "a\n" }),
      "patch of 20": await tripsOfCall("apply_patch", {
        patch: `*** Begin Patch\n${patched.join("")}*** End Patch`,
      }),
      "undo of 20": await tripsOf(() => ws.undo(id)),
      glob: await tripsOfCall("glob", { pattern: "**/*.ts" }),
      stat: await tripsOfCall("stat", { path }),
      "read_many of 60": await tripsOfCall("read_many_files", { paths: files }),
    };
    const changes = ["edit", "new file", "patch of 20", "undo of 20"];
    const tooMany = Object.entries(trips).filter(([name, count]) => count > (changes.includes(name) ? 4 : 2));
    expect(tooMany).toEqual([]);
    await ws.close();
  });
});
