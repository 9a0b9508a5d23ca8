// The storage on Postgres behind PgBouncer in transaction mode: it says that locks are leases and goes on. A case is one
// of the contract of storages, or one edit of a file that agents of four replicas change, of which none may be lost.
import { startPostgres } from "../storage/postgres/server.mjs";
import { contractFailures } from "./storage/contract.mjs";
import { startPgbouncer } from "./storage/pgbouncer.mjs";

const REPLICAS = 4;
const AGENTS = 16;
/** The sessions of the pooler behind which two workspaces of one process edit a file, a pool each. */
const POOLER_SESSIONS = [2, 5, 10, 20];
/** The edits of a round, and how long one may take: a call that waits for a lost lock waits for ever. */
const ROUND_EDITS = 40;
const ROUND_MS = 30_000;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "the contract of storages and edits of one file behind PgBouncer in transaction mode",
  count: 400,
  share: 0,
  async run({ count, isOver }) {
    const { postgresStorage } = await import("../../dist/cli/library.js");
    const server = await startPostgres();
    const pooler = await startPgbouncer(server.host);
    const open = (workspace) => postgresStorage({ client: pooler.pool(), workspace });
    const failures = [];
    try {
      const facts = await (await open("facts")).probe();
      console.log(`the probe says: ${JSON.stringify(facts)}`);
      if (facts.locks !== "lease") failures.push(`locks are ${facts.locks}, not leases`);
      let workspaces = 0;
      const contract = await contractFailures("PgBouncer", async () => {
        const workspace = `contract${workspaces++}`;
        return { storage: await open(workspace), second: await open(workspace) };
      });
      failures.push(...contract.failures);
      const edits = await race(open, { count, isOver });
      failures.push(...edits.failures);
      const pairs = await pairsOfPools(server, Math.max(1, Math.ceil(count / 80)), isOver);
      failures.push(...pairs.failures);
      return { cases: contract.cases + edits.cases + pairs.cases, failures };
    } finally {
      await pooler.stop();
      await server.stop();
    }
  },
};

/** Lets two workspaces of this process, with a pool each, edit one file behind poolers of several sizes. */
async function pairsOfPools(server, rounds, isOver) {
  const { postgresStorage } = await import("../../dist/cli/library.js");
  const admin = server.pool({ max: 1 });
  const failures = [];
  let cases = 0;
  for (const sessions of POOLER_SESSIONS) {
    const pooler = await startPgbouncer(server.host, sessions);
    try {
      for (let round = 0; round < rounds && !isOver() && failures.length === 0; round++) {
        const workspace = `pair-${sessions}-${round}`;
        const open = () => postgresStorage({ client: pooler.pool(), workspace });
        const failed = await pairOfPools(open, admin);
        failures.push(...failed.map((one) => `${sessions} sessions, round ${round}: ${one}`));
        cases += ROUND_EDITS;
      }
    } finally {
      await pooler.stop();
    }
  }
  console.log(`${cases} edits by pairs of pools, ${failures.length} failures`);
  return { cases, failures };
}

/** One round: edits by two workspaces, after whose close no lock is left. Returns what failed. */
async function pairOfPools(open, admin) {
  const { openWorkspace } = await import("../../dist/cli/library.js");
  const storages = await Promise.all([open(), open()]);
  const body = new TextEncoder().encode(
    Array.from({ length: ROUND_EDITS }, (_, i) => `line ${i} old\n`).join(""),
  );
  await storages[0].commit([{ op: "put", path: "/repo/one.txt", body }]);
  const workspaces = await Promise.all(
    storages.map((storage) => openWorkspace({ storage, root: "/repo", guard: "off" })),
  );
  const edits = Array.from({ length: ROUND_EDITS }, async (_, i) => {
    const args = { path: "one.txt", old_text: `line ${i} old\n`, new_text: `line ${i} new\n` };
    return await workspaces[i % 2].call("edit_file", args, { agent: `agent ${i}` });
  });
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve("hangs"), ROUND_MS);
  });
  const results = await Promise.race([Promise.all(edits), late]);
  clearTimeout(timer);
  if (results === "hangs") return [`the edits take more than ${ROUND_MS} ms`];
  for (const ws of workspaces) await ws.close();
  for (const storage of storages) await storage.close();
  const { rows } = await admin.query("select mode, granted from pg_locks where locktype = 'advisory'");
  const failures = results.filter(({ ok }) => !ok).map(({ text }) => text);
  if (rows.length > 0) failures.push(`locks are left: ${JSON.stringify(rows)}`);
  return failures;
}

/** Lets agents edit lines of one file. Every answered edit has to be in the file at the end. */
async function race(open, { count, isOver }) {
  const { openWorkspace } = await import("../../dist/cli/library.js");
  const failures = [];
  const direct = await open("race");
  const lineOf = (agent, edits) => `agent ${agent} has ${edits} edits.\n`;
  const edits = new Array(AGENTS).fill(0);
  const textNow = () => edits.map((each, agent) => lineOf(agent, each)).join("");
  const body = new TextEncoder().encode(textNow());
  await direct.commit([{ op: "put", path: "/repo/one.txt", body }]);
  const replicas = [];
  for (let i = 0; i < REPLICAS; i++) {
    replicas.push(await openWorkspace({ storage: await open("race"), root: "/repo" }));
  }
  const total = () => edits.reduce((sum, each) => sum + each, 0);
  const started = performance.now();
  await Promise.all(
    edits.map(async (_, agent) => {
      const ws = replicas[agent % REPLICAS];
      while (total() < count && !isOver() && failures.length === 0) {
        const had = edits[agent];
        const args = { path: "one.txt", old_text: lineOf(agent, had), new_text: lineOf(agent, had + 1) };
        const result = await ws.call("edit_file", args, { agent: `agent ${agent}` });
        if (result.ok) edits[agent]++;
        else failures.push(`agent ${agent} after ${had} edits: ${result.text}`);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const [found] = (await direct.readMany(["/repo/one.txt"])).results;
  if (new TextDecoder().decode(found.body) !== textNow()) failures.push("the file lacks an answered edit");
  console.log(
    `${total()} edits in ${seconds.toFixed(1)} s through ${REPLICAS} replicas, ${failures.length} lost`,
  );
  for (const ws of replicas) await ws.close();
  return { cases: total(), failures };
}
