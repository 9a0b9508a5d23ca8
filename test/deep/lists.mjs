// Makes generated lists of changes in one job of the disk, by steps and over a driver, and compares the tree, the error, the
// record and the undo.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryLock } from "../../dist/backends/local/lock.node.js";
import { LocalBackend, NodeBackend } from "../../dist/index.node.js";
import { makeRecordLog, newCallId } from "../../dist/log/index.js";
import { undoableChange, undoChange } from "../../dist/log/past.js";
import { decodeRecord, recordKeyOf } from "../../dist/log/record-file.node.js";
import { FileJournal } from "../../dist/log/store.node.js";
import { listedChanges } from "../../dist/tools/change/list.js";
import { carryOut } from "../../dist/tools/change/make.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { compareWays, makeCase } from "./lists/cases.mjs";

const FILEWRIGHT = {
  ...{ FileJournal, makeRecordLog, LocalBackend, NodeBackend, tryLock, carryOut, listedChanges, newCallId },
  ...{ decodeRecord, recordKeyOf, undoChange, undoableChange },
};

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "lists of changes in one job of the disk, against the same lists by steps and over a driver",
  count: 5_000,
  share: 60,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    const failures = [];
    let cases = 0;
    for (; cases < count && !isOver(); cases++) {
      const base = mkdtempSync(join(tmpdir(), "filewright-lists-"));
      const made = makeCase(random);
      const { differences } = await compareWays(FILEWRIGHT, made, base);
      for (const difference of differences) failures.push(`${JSON.stringify(made)}: ${difference}`);
      rmSync(base, { recursive: true });
    }
    return { cases, failures };
  },
};
