// Commits from four processes on versitygw that are killed with kill -9, as is the server, and fewer of them and the
// contract of storages on SeaweedFS. A case is a commit; none may be lost, given twice or seen torn.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { s3Storage } from "../../dist/cli/library.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { BuildError } from "../../scripts/lib/run.mjs";
import { VERSITYGW_PROGRAM } from "../../scripts/versitygw.mjs";
import { runCrashes } from "../storage/s3/crash.mjs";
import { startSeaweedfs } from "../storage/s3/seaweedfs.mjs";
import { startVersitygw } from "../storage/s3/versitygw.mjs";
import { contractFailures } from "./storage/contract.mjs";

const WRITERS = 4;
/** The part of the commits that SeaweedFS gets, which takes many times as long for each. */
const SEAWEEDFS_PART = 0.05;

const openAt = ({ endpoint, bucket, credentials }, workspace, prefix = "") =>
  s3Storage({ endpoint, bucket, credentials, workspace, prefix });

/** Makes commits with crashes on a server. @returns one line for each failure */
async function crash(name, server, commits, random) {
  const workspace = randomUUID();
  const all = commits * WRITERS;
  // Few commits have as many kills, so that the server is one of them as well.
  const commitsPerKill = Math.max(3, Math.min(60, all / 12));
  const plan = { writers: WRITERS, commits, commitsPerKill, serverEvery: 6, random };
  const report = await runCrashes(server, workspace, () => openAt(server, workspace), plan);
  console.log(`${name}: ${JSON.stringify(report)}`);
  const { answered, committed, total, lost, twice, torn } = report;
  return [
    ...(answered === all && committed === all && total === all ? [] : [`${name}: not ${all} commits`]),
    ...lost.map((key) => `${name}: ${key} is lost`),
    ...twice.map((key) => `${name}: ${key} was given twice`),
    ...(torn === 0 ? [] : [`${name}: ${torn} torn reads`]),
  ];
}

/** Runs the contract of storages on a server. @returns one line for each failure */
async function contract(name, server) {
  const { failures } = await contractFailures(name, async () => {
    const workspace = randomUUID();
    const open = () => openAt(server, workspace, `${workspace}/`);
    return { storage: await open(), second: await open() };
  });
  console.log(`${name}: ${JSON.stringify(await (await openAt(server, "abilities")).abilities())}`);
  return failures;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "commits of killed processes on versitygw and SeaweedFS, and the contract on SeaweedFS",
  count: 10_000,
  share: 0,
  async run({ seed, count }) {
    if (!existsSync(VERSITYGW_PROGRAM))
      throw new BuildError("versitygw is missing: node scripts/versitygw.mjs");
    const random = seededRandom(seed).next;
    const failures = [];
    let cases = 0;
    for (const [name, start, part] of [
      ["versitygw", startVersitygw, 1],
      ["SeaweedFS", startSeaweedfs, SEAWEEDFS_PART],
    ]) {
      const server = await start();
      try {
        if (name === "SeaweedFS") failures.push(...(await contract(name, server)));
        const commits = Math.max(1, Math.round((count * part) / WRITERS));
        failures.push(...(await crash(name, server, commits, random)));
        cases += commits * WRITERS;
      } finally {
        await server.stop();
      }
    }
    return { cases, failures };
  },
};
