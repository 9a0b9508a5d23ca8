// One of several processes whose agents edit one file on Postgres: `edit-one-file.mjs HOST FIRST STEP AGENTS`. It
// says that it is open, gets a time in milliseconds on its standard input, and says how many edits each agent made.
import { text } from "node:stream/consumers";
import pg from "pg";
import { openWorkspace, postgresStorage } from "../../dist/cli/library.js";

const [host, ...numbers] = process.argv.slice(2);
const [first, step, agents] = numbers.map(Number);
const CONNECTIONS = 8;

const client = new pg.Pool({ host, port: 5432, user: "postgres", database: "postgres", max: CONNECTIONS });
const storage = await postgresStorage({ client, workspace: "edits" });
const ws = await openWorkspace({ storage, root: "/repo" });
console.log("open");
const until = performance.now() + Number(await text(process.stdin));
const times = [];

async function edit(agent) {
  const line = (count) => `agent ${agent} has ${count} edits.\n`;
  let count = 0;
  while (performance.now() < until) {
    const began = performance.now();
    const args = { path: "one.txt", old_text: line(count), new_text: line(count + 1) };
    const result = await ws.call("edit_file", args, { agent: `agent ${agent}` });
    if (!result.ok) throw new Error(result.text);
    times.push(performance.now() - began);
    count++;
  }
  return [agent, count];
}

const own = Array.from({ length: agents }, (_, agent) => agent).filter((agent) => agent % step === first);
const edits = await Promise.all(own.map(edit));
console.log(JSON.stringify({ edits, times }));
await ws.close();
await client.end();
