// Commits from four processes to one workspace on Postgres, while writers and the engine are killed with SIGKILL.
//
// A case is one commit of five files. Afterwards, every answered commit is in the history with the version of its
// answer, numbers have no gaps, a record counted each commit once, and no read saw files of two commits.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { startPostgres } from "../storage/postgres/server.mjs";

const WRITERS = 4;
const FILES = [1, 2, 3, 4, 5].map((file) => `/dir${file}/file`);
/** One writer is killed after about so many commits of all, and the engine after about so many. */
const COMMITS_PER_KILL = 60;
const COMMITS_PER_CRASH = 400;
const PAGE = 500;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "commits to Postgres from four processes, with writers and the engine killed: none lost, none twice, none torn",
  count: 10_000,
  share: 150,
  async run({ seed, count, isOver }) {
    const { postgresStorage } = await import("../../dist/cli/library.js");
    const server = await startPostgres(["fsync=on"]);
    try {
      return await killAndCheck(server, postgresStorage, { seed, count, isOver });
    } finally {
      await server.stop();
    }
  },
};

async function killAndCheck(server, postgresStorage, { seed, count, isOver }) {
  const random = seededRandom(seed);
  const failures = [];
  const storage = await postgresStorage({ client: server.pool(), workspace: "crash" });
  const writers = Array.from({ length: WRITERS }, (_, id) => ({
    id,
    answered: new Map(),
    last: Math.ceil(count / WRITERS),
  }));
  const seen = { kills: 0, crashes: 0, reads: 0 };
  let stopping = false;
  const total = () => writers.reduce((sum, { answered }) => sum + answered.size, 0);
  const running = writers.map((writer) => keepWriting(server.host, writer, failures, () => stopping));
  const reading = readUntil(storage, seen, failures, () => stopping);
  let nextKill = COMMITS_PER_KILL;
  let nextCrash = Math.min(COMMITS_PER_CRASH, count / 2);
  // A short run goes on until the engine has crashed once.
  const isLate = () => isOver() && seen.crashes > 0;
  while (total() < WRITERS * Math.ceil(count / WRITERS) && !isLate() && failures.length === 0) {
    await sleep(5);
    if (total() >= nextKill) {
      nextKill = total() + 1 + random.below(2 * COMMITS_PER_KILL);
      if (random.pick(writers).child?.kill("SIGKILL")) seen.kills++;
    }
    if (total() >= nextCrash) {
      nextCrash = total() + COMMITS_PER_CRASH;
      await server.crash();
      seen.crashes++;
    }
  }
  stopping = true;
  for (const { child } of writers) child?.kill("SIGKILL");
  await Promise.all([...running, reading]);
  await endOfSessions(server.pool(), "writer");
  await check(storage, writers, failures);
  console.log(
    `${total()} commits answered to ${WRITERS} processes, with ${seen.kills} kills of them and ${seen.crashes} of the engine`,
  );
  console.log(
    `${failures.length} were lost, given twice or torn; ${seen.reads} reads of all files of a commit were whole`,
  );
  return { cases: total(), failures };
}

/** Runs a writer, and starts it again at the first commit without an answer when it has been killed. */
async function keepWriting(host, writer, failures, isOver) {
  while (writer.answered.size < writer.last && !isOver()) {
    const first = writer.answered.size + 1;
    const script = join(import.meta.dirname, "storage/writer.mjs");
    const args = [script, host, "crash", String(writer.id), String(first), String(writer.last)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    writer.child = child;
    const ended = once(child, "close");
    for await (const line of createInterface({ input: child.stdout })) {
      const [key, version] = line.split(" ");
      if (version !== undefined) writer.answered.set(key, version);
    }
    const [code] = await ended;
    if (code !== 0 && code !== null) failures.push(`writer ${writer.id} ended with ${code}`);
    if (code !== 0 && code !== null) return;
  }
}

/** Reads the files that every commit writes. All of them must be of one commit. */
async function readUntil(storage, seen, failures, isOver) {
  while (!isOver()) {
    try {
      const { results } = await storage.readMany(FILES);
      const texts = new Set(results.map((one) => (one === null ? null : new TextDecoder().decode(one.body))));
      if (texts.size === 1) seen.reads++;
      else failures.push(`a read saw files of ${[...texts].join(" and ")}`);
    } catch (error) {
      if (error.code !== "IO_ERROR") failures.push(`a read failed: ${error.message}`);
      await sleep(20);
    }
    await sleep(1);
  }
}

/** Waits until the server has read all that the killed writers had sent: the last commit may yet happen. */
async function endOfSessions(pool, name) {
  for (;;) {
    const { rows } = await pool.query("select 1 from pg_stat_activity where application_name = $1", [name]);
    if (rows.length === 0) return;
    await sleep(20);
  }
}

async function check(storage, writers, failures) {
  const versionByKey = new Map();
  let before;
  for (let expected = Number((await storage.changes(null, { limit: 0 })).head); expected > 0; ) {
    const page = await storage.history({ limit: PAGE, before });
    if (page.length === 0) failures.push(`the history ends at ${expected}`);
    for (const { version, key } of page) {
      if (version !== String(expected)) failures.push(`a gap: ${version} where ${expected} was expected`);
      if (versionByKey.has(key)) failures.push(`the commit ${key} happened twice`);
      versionByKey.set(key, version);
      expected -= 1;
    }
    if (failures.length > 0) return;
    before = page.at(-1).version;
  }
  for (const { answered } of writers)
    for (const [key, version] of answered)
      if (versionByKey.get(key) !== version)
        failures.push(
          `the answered commit ${key} of version ${version} is ${versionByKey.get(key) ?? "lost"}`,
        );
  const counted = await storage.records.get("count", "commits");
  if (counted?.value !== versionByKey.size)
    failures.push(`${versionByKey.size} commits happened and ${counted?.value} were counted`);
}
