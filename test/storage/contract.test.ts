/** The contract of storages on those of this package, and that it finds the faults of broken ones. */
import { describe, expect, it, test } from "vitest";
import "../../js/engine/index.node.ts";
import { memoryRecords } from "../../js/records/memory.ts";
import { memoryStorage, probeStorage, type Storage } from "../../js/storage/index.ts";
import {
  recordsContract,
  storageCases,
  storageContract,
  type StorageSubject,
} from "../../js/testing/index.ts";
import { BROKEN } from "./broken.ts";

describe("memoryRecords", () => {
  recordsContract(() => ({ records: memoryRecords() }), { test });
});

describe("memoryStorage", () => {
  storageContract(() => ({ storage: memoryStorage() }), {
    test,
    requires: ["statMany", "lockAll", "snapshot", "fork", "merge", "drop", "history", "records"],
  });
});

/** Returns the names of the cases that a storage fails. */
async function failedCases(make: () => StorageSubject): Promise<readonly string[]> {
  const cases: (readonly [string, () => Promise<void>])[] = [];
  storageContract(make, { test: (name, run) => cases.push([name, run]) });
  expect(cases.length).toBe(storageCases.length + 1);
  // Each has a storage of its own.
  const outcomes = await Promise.allSettled(cases.map(([, run]) => run()));
  return cases.filter((_, index) => outcomes[index]?.status === "rejected").map(([name]) => name);
}

// At once: nearly all of their time is waiting.
describe.concurrent.each(BROKEN)("a storage that $fault", ({ broken, probe, cases }) => {
  it("fails the cases that show it", async () => {
    const failed = await failedCases(() => ({ storage: broken(memoryStorage()) }));
    for (const name of cases) expect(failed).toContain(name);
    expect(failed.length).toBeLessThan(storageCases.length / 2);
  });

  it(
    probe === undefined ? "passes the probe, which does not look for it" : "is refused by the probe",
    async () => {
      const probed = probeStorage(broken(memoryStorage()));
      if (probe === undefined) await probed;
      else
        await expect(probed).rejects.toMatchObject({
          code: "UNSUPPORTED_OPERATION",
          details: { failed: probe },
        });
    },
  );
});

describe("probeStorage", () => {
  it("leaves nothing behind and says nothing of a sound storage", async () => {
    const storage: Storage = memoryStorage();
    await probeStorage(storage);
    expect((await storage.list({ limit: 10 })).entries).toEqual([]);
  });

  it("skips the race where the host runs it elsewhere", async () => {
    const racing = BROKEN.find(({ probe }) => probe === "race");
    await probeStorage(racing?.broken(memoryStorage()) as Storage, { mode: "trust" });
  });
});
