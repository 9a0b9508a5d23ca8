// The storage on Postgres behind PgBouncer in transaction mode: it says that locks are leases and goes on. A case is one
// of the contract of storages, or one edit of a file that agents of four replicas change, of which none may be lost.
import { startPostgres } from "../storage/postgres/server.mjs";
import { contractFailures } from "./storage/contract.mjs";
import { startPgbouncer } from "./storage/pgbouncer.mjs";

const REPLICAS = 4;
const AGENTS = 16;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "the contract of storages and edits of one file behind PgBouncer in transaction mode",
  count: 400,
  share: 0,
  async run({ count, isOver }) {
    const { postgresStorage } = await import("../../dist/storage/postgres/index.node.js");
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
      return { cases: contract.cases + edits.cases, failures };
    } finally {
      await pooler.stop();
      await server.stop();
    }
  },
};

/** Lets agents edit lines of one file. Every answered edit has to be in the file at the end. */
async function race(open, { count, isOver }) {
  const { openWorkspace } = await import("../../dist/index.node.js");
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
