// Edits of one file by 64 agents through four replicas on Postgres, each with connections of its own.
//
// A case is one edit. Each agent has a line of its own and edits it again and again, so every answered edit has to be
// in the file at the end: none is lost. The edits of the slowest agent are compared with the mean.
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../storage/postgres/server.mjs";

const REPLICAS = 4;
const AGENTS = 64;
const CONNECTIONS = 8;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "edits of one file on Postgres by 64 agents through four replicas: none lost, nobody left behind",
  count: 2000,
  share: 100,
  async run({ count, isOver }) {
    const { openWorkspace, postgresStorage } = await import("../../dist/cli/library.js");
    const server = await startPostgres(["fsync=on"]);
    const replicas = [];
    try {
      const open = (options) => postgresStorage({ client: server.pool(options), workspace: "calls" });
      const direct = await open({});
      const lines = Array.from({ length: AGENTS }, (_, agent) => `agent ${agent} has 0 edits.\n`);
      const body = new TextEncoder().encode(lines.join(""));
      await direct.commit([{ op: "put", path: "/repo/one.txt", body }]);
      for (let i = 0; i < REPLICAS; i++) {
        const storage = await open({ max: CONNECTIONS });
        replicas.push(await openWorkspace({ storage, root: "/repo" }));
      }
      return await editAndCheck(direct, replicas, { count, isOver });
    } finally {
      for (const ws of replicas) await ws.close();
      await server.stop();
    }
  },
};

async function editAndCheck(storage, replicas, { count, isOver }) {
  const failures = [];
  const edits = new Array(AGENTS).fill(0);
  const total = () => edits.reduce((sum, each) => sum + each, 0);
  const started = performance.now();
  const work = edits.map(async (_, agent) => {
    const ws = replicas[agent % REPLICAS];
    while (total() < count && !isOver() && failures.length === 0) {
      const had = edits[agent];
      const text = (n) => `agent ${agent} has ${n} edits.\n`;
      const args = { path: "one.txt", old_text: text(had), new_text: text(had + 1) };
      const result = await ws.call("edit_file", args, { agent: `agent ${agent}` });
      if (result.ok) edits[agent]++;
      else failures.push({ agent, had, text: result.text });
      await sleep(0);
    }
  });
  await Promise.all(work);
  const seconds = (performance.now() - started) / 1000;
  const [found] = (await storage.readMany(["/repo/one.txt"])).results;
  const expected = edits.map((each, agent) => `agent ${agent} has ${each} edits.\n`).join("");
  if (new TextDecoder().decode(found.body) !== expected)
    failures.push({ lost: "the file lacks an answered edit" });
  const mean = total() / AGENTS;
  const least = Math.min(...edits);
  if (total() >= 4 * AGENTS && least < mean / 2)
    failures.push({ starved: edits.indexOf(least), least, mean });
  const rate = total() / seconds;
  console.log(
    `${total()} edits in ${seconds.toFixed(1)} s: ${rate.toFixed(1)} a second, least ${least}, mean ${mean.toFixed(1)}`,
  );
  return { cases: total(), failures };
}
