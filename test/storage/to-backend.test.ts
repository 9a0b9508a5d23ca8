/** The contract of backends over a storage, and what the adapter adds to it. */
import { describe, expect, it, test } from "vitest";
import "../../js/engine/index.node.ts";
import { FilewrightError } from "../../js/engine/errors.ts";
import { memoryStorage, type Storage, toBackend } from "../../js/storage/index.ts";
import { backendContract } from "../../js/testing/index.ts";

describe("toBackend(memoryStorage())", () => {
  backendContract(
    async () => {
      const storage = memoryStorage();
      await storage.commit([{ op: "mkdir", path: "/ws" }]);
      return { backend: toBackend(storage), root: "/ws" };
    },
    {
      test,
      requires: ["conditions", "links", "modes"],
    },
  );
});

/** Counts the round trips of a storage; `lose` loses the answer of a commit that happened. */
function counting(inner: Storage, lose: () => boolean = () => false) {
  const trips: string[] = [];
  const storage: Pick<Storage, "readMany" | "list" | "commit"> = {
    readMany: (...args) => {
      trips.push("readMany");
      return inner.readMany(...args);
    },
    list: (...args) => {
      trips.push("list");
      return inner.list(...args);
    },
    commit: async (...args) => {
      trips.push("commit");
      const answer = await inner.commit(...args);
      if (!lose()) return answer;
      throw new FilewrightError("IO_ERROR", "the connection was cut", { details: { outcome: "unknown" } });
    },
  };
  return { storage, trips };
}

describe("toBackend", () => {
  it("reads in one round trip and changes in two, however deep the path is", async () => {
    const { storage, trips } = counting(memoryStorage());
    const backend = toBackend(storage);
    const took = async (run: () => unknown): Promise<readonly string[]> => {
      trips.length = 0;
      await run();
      return [...trips];
    };
    const path = "/a/b/c/d/f";
    expect(await took(() => backend.writeBytes(path, new Uint8Array(1), { createDirs: true }))).toEqual([
      "readMany",
      "commit",
    ]);
    expect(await took(() => backend.read(path))).toEqual(["readMany"]);
    expect(await took(() => backend.hash(path))).toEqual(["readMany"]);
    expect(await took(() => backend.rename(path, "/a/g"))).toEqual(["readMany", "commit"]);
    expect(await took(() => backend.delete("/a/g"))).toEqual(["readMany", "commit"]);
  });

  it("repeats a commit whose answer was lost, with the same key, and gives up after three tries", async () => {
    const inner = memoryStorage();
    let losses = 2;
    const { storage, trips } = counting(inner, () => losses-- > 0);
    const backend = toBackend(storage);
    await backend.writeText("/f", "1", { ifAbsent: true });
    expect(trips.filter((one) => one === "commit").length).toBe(3);
    expect((await inner.history({ limit: 10 })).length).toBe(1);
    losses = 3;
    await expect(backend.writeText("/g", "1")).rejects.toMatchObject({ code: "IO_ERROR" });
    expect((await inner.history({ limit: 10 })).length).toBe(2);
  });
});
