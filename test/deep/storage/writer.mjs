// A process that commits to a workspace on Postgres until it is killed: node writer.mjs SOCKET_DIR WORKSPACE ID FIRST LAST
//
// Commit n of writer ID has the key `ID:n`; it writes the same text into five files and counts in a record. After
// each answer the process prints `ID:n VERSION`. A failure is repeated with the same key.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { postgresStorage } from "../../../dist/cli/library.js";

const [host, workspace, id, first, last] = process.argv.slice(2);
const client = new pg.Pool({
  host,
  port: 5432,
  user: "postgres",
  database: "postgres",
  max: 2,
  application_name: "writer",
});
client.on("error", () => undefined);

/** Repeats a call until it succeeds: the engine may be down. */
async function untilDone(run) {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (error.code !== "IO_ERROR") throw error;
      await sleep(20);
    }
  }
}

const storage = await untilDone(() => postgresStorage({ client, workspace }));
for (let n = Number(first); n <= Number(last); n++) {
  const body = new TextEncoder().encode(`${id}:${n}`);
  const ops = [1, 2, 3, 4, 5].map((file) => ({ op: "put", path: `/dir${file}/file`, body }));
  const records = [{ kind: "count", id: "commits", add: 1 }];
  const { version } = await untilDone(() => storage.commit(ops, { key: `${id}:${n}`, records }));
  process.stdout.write(`${id}:${n} ${version}\n`);
}
await client.end();
