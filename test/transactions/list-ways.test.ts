import { describe, expect, test } from "vitest";
import { tryLock } from "../../js/backends/local/lock.node.ts";
import { LocalBackend, NodeBackend } from "../../js/index.node.ts";
import { makeRecordLog, newCallId } from "../../js/log/index.ts";
import { undoableChange, undoChange } from "../../js/log/past.ts";
import { decodeRecord, recordKeyOf } from "../../js/log/record-file.node.ts";
import { FileJournal } from "../../js/log/store.node.ts";
import { listedChanges } from "../../js/tools/change/list.ts";
import { carryOut } from "../../js/tools/change/make.ts";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { compareWays, makeCase } from "../deep/lists/cases.mjs";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const FILEWRIGHT = {
  ...{ FileJournal, makeRecordLog, LocalBackend, NodeBackend, tryLock, carryOut, listedChanges, newCallId },
  ...{ decodeRecord, recordKeyOf, undoChange, undoableChange },
};

describe("a list that the disk makes in one job leaves what the same list leaves by steps and over a driver", () => {
  test.each([1, 2, 3, 4])("generated lists of seed %i", async (seed) => {
    const random = seededRandom(seed);
    const base = temporaryDirectory();
    const counts = { job: 0, transfers: 0, failed: 0, made: 0 };
    for (let round = 0; round < 40; round++) {
      const made = makeCase(random);
      const { ways, failed, differences } = await compareWays(FILEWRIGHT, made, `${base}/${round}`);
      expect(differences, JSON.stringify(made)).toEqual([]);
      const hasTransfer = made.list.some((change: { do: string }) => ["move", "copy"].includes(change.do));
      counts.job += ways === "job " ? 1 : 0;
      counts.transfers += ways === "job " && hasTransfer ? 1 : 0;
      counts[failed ? "failed" : "made"] += 1;
    }
    // Most lists are made by the disk, and many of each kind end.
    expect(counts.job).toBeGreaterThan(20);
    expect(counts.transfers).toBeGreaterThan(3);
    expect(counts.failed).toBeGreaterThan(3);
    expect(counts.made).toBeGreaterThan(10);
  });
});
