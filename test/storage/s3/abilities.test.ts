/** What the start-up probe finds out, and which stores it refuses: the real ones, and some that a proxy spoils. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type S3Storage, s3Storage } from "@filewright/storage/s3";
import { startMiniflare } from "./miniflare.ts";
import { type FaultProxy, startProxy } from "./proxy.ts";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "./versitygw.mjs";

const openAt = ({ bucket, credentials }: S3Server, endpoint: string): Promise<S3Storage> =>
  s3Storage({ endpoint, bucket, credentials, workspace: "w", prefix: `${randomUUID()}/` });

describe.skipIf(LACKS_VERSITYGW)("versitygw", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startVersitygw();
  });
  afterAll(() => server.stop());

  test("does everything, and is left as it was", async () => {
    const storage = await openAt(server, server.endpoint);
    expect(await storage.abilities()).toEqual({
      if_none_match: true,
      if_match: true,
      if_match_on_delete: true,
      absent_key: 404,
      conditional_read: true,
      race_winners: 1,
    });
    expect(await storage.probe()).toMatchObject({ cas: true, atomic: true, shared: true, locks: "process" });
    expect(await storage.workspaces()).toEqual([]);
  });

  test("hostile names of workspaces are names and nothing else", async () => {
    const names = [
      "..",
      ".",
      "a/../../b",
      "/root",
      "a?x=1#y",
      "%2e%2e",
      "ü 💥",
      "a=2f",
      "x".repeat(200),
      "*",
      "root",
    ];
    const prefix = `${randomUUID()}/`;
    const open = (workspace: string): Promise<S3Storage> => {
      const { endpoint, bucket, credentials } = server;
      return s3Storage({ endpoint, bucket, credentials, workspace, prefix });
    };
    for (const name of names)
      await (await open(name)).commit([{ op: "mkdir", path: `/${names.indexOf(name)}` }]);
    expect(await (await open("other")).workspaces()).toEqual(names.toSorted());
    for (const name of names) {
      const { entries } = await (await open(name)).list({ limit: 10 });
      expect(entries.map(({ path }) => path)).toEqual([`/${names.indexOf(name)}`]);
    }
    const { endpoint, bucket, credentials } = server;
    for (const bad of [".", "..", "a/../b/", "a//b", "/a", "a?b", "a b", "%2e/", "ü"]) {
      const given = { endpoint, bucket, credentials, workspace: "w", prefix: bad };
      await expect(s3Storage(given)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const bad of ["..", "a/b", "a?b", "", "a#"]) {
      const given = { endpoint, bucket: bad, credentials, workspace: "w" };
      await expect(s3Storage(given)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const bad of ["", "a\0b", "a\nb", "x".repeat(201), "\ud800"])
      await expect(open(bad)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

// Its worker checks no signature, so a proxy can take conditions out of requests.
describe("R2 in workerd", () => {
  let server: S3Server;
  let proxy: FaultProxy;
  beforeAll(async () => {
    server = await startMiniflare();
    proxy = await startProxy(server.endpoint);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  test("is fit; a deletion with a condition is not, and the storage does without", async () => {
    const storage = await openAt(server, server.endpoint);
    expect(await storage.abilities()).toMatchObject({
      if_match: true,
      if_match_on_delete: false,
      absent_key: 412,
      race_winners: 1,
    });
    expect(await storage.probe()).toMatchObject({ cas: true });
  });

  test.each([
    ["does not know If-None-Match", ["if-none-match"], "it creates an object where one is (If-None-Match)"],
    ["does not know If-Match", ["if-match"], "it replaces an object that has changed (If-Match)"],
  ])("a store that %s is refused", async (_, drop, why) => {
    proxy.rule = ({ method }) => (method === "PUT" ? { drop } : undefined);
    const storage = await openAt(server, proxy.endpoint);
    expect((await storage.abilities()).refusal).toBe(why);
    await expect(storage.probe()).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
      details: { failed: "conditions", abilities: { [(drop[0] as string).replaceAll("-", "_")]: false } },
    });
  });

  test("a store that compares first and writes later is refused: two writers win one condition", async () => {
    // The proxy compares the condition itself, and lets the write go on without it.
    proxy.rule = async ({ method, key }, { headers }) => {
      const condition = headers["if-match"] ?? headers["if-none-match"];
      if (method !== "PUT" || condition === undefined) return undefined;
      const found = present.get(key);
      const holds = condition === "*" ? found === undefined : found === condition;
      await new Promise((resolve) => setTimeout(resolve, 5));
      return holds ? { drop: ["if-match", "if-none-match"] } : { status: 412 };
    };
    const present = new Map<string, string>();
    proxy.onAnswer = ({ method, key }, answer) => {
      const etag = answer.headers.etag;
      if (method === "PUT" && answer.status === 200 && etag !== undefined) present.set(key, etag);
    };
    const storage = await openAt(server, proxy.endpoint);
    const {
      race_winners: winners,
      if_match: ifMatch,
      if_none_match: ifNoneMatch,
      refusal,
    } = await storage.abilities();
    expect([ifMatch, ifNoneMatch, winners > 1]).toEqual([true, true, true]);
    expect(refusal).toBe(`${winners} of 4 writers at once won one condition`);
    await expect(storage.probe()).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
    // Those who test their store elsewhere can go on.
    expect((await storage.probe({ mode: "trust" })).cas).toBe(true);
    proxy.onAnswer = undefined;
    proxy.rule = undefined;
  });
});
