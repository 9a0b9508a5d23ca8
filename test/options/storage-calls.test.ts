/** The options of single calls of a storage: a mistake is refused, names its nearest valid form, and changes nothing. */
import { describe, expect, test } from "vitest";
import { MemoryBackend } from "../../js/index.node.ts";
import { filesOf, memoryStorage, observeStorage, type Storage } from "../../js/storage/index.ts";
import { PostgresStorageEngine } from "../../packages/storage/src/postgres/storage.ts";
import { s3Storage } from "@filewright/storage/s3";
import { mapDriver } from "../storage/map-driver.ts";

/** The engines. A remote one is never reached: a mistake is refused before anything is sent. */
const engines: readonly (readonly [title: string, name: string, make: () => Promise<Storage> | Storage])[] = [
  ["memoryStorage", "memoryStorage", memoryStorage],
  ["an observed storage", "memoryStorage", () => observeStorage(memoryStorage(), { trip: () => undefined })],
  ["a driver", "filesOf", () => filesOf(mapDriver())],
  ["a backend", "filesOf", () => filesOf(new MemoryBackend())],
  ["Postgres", "postgresStorage", () => new PostgresStorageEngine({ database: {} } as never)],
  [
    "S3",
    "s3Storage",
    () =>
      s3Storage({
        endpoint: "http://127.0.0.1:9",
        bucket: "bucket",
        credentials: { accessKeyId: "a", secretAccessKey: "s" },
        workspace: "w",
      }),
  ],
];

const put = { op: "put", path: "/a", body: new Uint8Array(1) } as const;
const shared: readonly (readonly [options: object, says: RegExp])[] = [
  [{ sginal: 1 }, /did you mean 'signal'/],
  [{ signal: new AbortController() }, /'signal'.*AbortSignal/],
];

/** The arguments of each method, and the mistakes of its own. */
const calls: Readonly<
  Record<
    string,
    readonly [
      call: (storage: Storage, given: never) => unknown,
      mistakes: readonly (readonly [object, RegExp])[],
    ]
  >
> = {
  probe: [(storage, given) => storage.probe(given), [[{ mode: "fast" }, /'mode'.*"full", "trust"/]]],
  readMany: [
    (storage, given) => storage.readMany(["/a"], given),
    [
      [{ bodeis: false }, /did you mean 'bodies'/],
      [{ bodies: "no" }, /'bodies'.*true or false/],
    ],
  ],
  list: [
    (storage, given) => storage.list({ limit: 1, ...(given as object) }),
    [
      [{ perfix: "/" }, /did you mean 'prefix'/],
      [{ limit: undefined }, /'limit'.*required/],
    ],
  ],
  changes: [
    (storage, given) => storage.changes(null, { limit: 1, ...(given as object) }),
    [[{ limti: 1 }, /did you mean 'limit'/]],
  ],
  commit: [
    (storage, given) => storage.commit([put], given),
    [
      [{ expct: [{ path: "/a", version: "x" }] }, /did you mean 'expect'/],
      [{ expect: { path: "/a", version: "x" } }, /'expect'.*list/],
      [{ keys: "k" }, /did you mean 'key'/],
      [{ actor: { agnet: "a" } }, /'actor.agnet'.*'agent'/],
      [{ release: 1 }, /'release'.*true or false/],
    ],
  ],
  statMany: [(storage, given) => storage.statMany?.(["/a"], given), []],
  lockAll: [
    (storage, given) => storage.lockAll?.([{ path: "/a" }], { timeoutMs: 1, ...(given as object) }),
    [[{ forMS: 1 }, /did you mean 'forMs'/]],
  ],
  snapshot: [(storage, given) => storage.snapshot?.(given), []],
  fork: [(storage, given) => storage.fork?.("f", given), [[{ att: "1" }, /did you mean 'at'/]]],
  merge: [
    (storage, given) => storage.merge?.(storage, given),
    [
      [{ favor: "ours" }, /did you mean 'favour'/],
      [{ favour: "mine" }, /'favour'.*"ours", "theirs"/],
    ],
  ],
  drop: [(storage, given) => storage.drop?.(given), []],
  history: [
    (storage, given) => storage.history?.({ limit: 1, ...(given as object) }),
    [[{ agents: "a" }, /did you mean 'agent'/]],
  ],
  readContents: [(storage, given) => storage.readContents?.([], given), []],
};

describe.each(engines)("%s", (_title, name, make) => {
  test.each(Object.entries(calls))("%s refuses every mistake", async (method, [call, mistakes]) => {
    const storage = await make();
    if (storage[method as keyof Storage] === undefined) return;
    for (const [options, says] of [...shared, ...mistakes]) {
      const refusal = await Promise.resolve()
        .then(() => call(storage, options as never))
        .catch((error: unknown) => error);
      expect([options, refusal]).toEqual([options, expect.objectContaining({ code: "INVALID_ARGUMENT" })]);
      expect((refusal as Error).message).toMatch(says);
      expect((refusal as Error).message).toMatch(new RegExp(`^${name}\\.${method}: `, "u"));
    }
    if (name !== "memoryStorage" && name !== "filesOf") return;
    expect((await storage.list({ limit: 10 })).entries).toEqual([]);
  });
});
