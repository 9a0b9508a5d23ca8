// Measures many agents on one Postgres server: searches in forks of 20,000 files, with a copy on this machine and
// without, and edits of one file by 64 agents through four processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assertSameResult, median } from "../lib/measure.mjs";
import { startStorages } from "../lib/postgres.mjs";

export const title = "fleet: forks of 20,000 files, and one file of 64 agents, on Postgres";

const FILES = 20_000;
const FILES_PER_COMMIT = 1000;
/** The changed files of a fork, and the number of forks that are measured. */
const [CHANGED, FORKS] = [5, 9];
/** The goals: the first search in a fork, and edits of one file in a second. */
const [GOAL_FIRST_MS, GOAL_EDITS] = [50, 100];
const [AGENTS, PROCESSES, SECONDS] = [64, 4, 12];
const CHILD = fileURLToPath(new URL("../lib/edit-one-file.mjs", import.meta.url));

export async function* rows({ load }) {
  const { openWorkspace, postgresStorage, server } = await startStorages(load);
  const folder = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  const opened = [];
  try {
    const client = server.pool();
    const open = async (workspace, options) => {
      const storage = await postgresStorage({ client, workspace });
      const ws = await openWorkspace({ root: "/repo", ...options, storage });
      opened.push(ws);
      return ws;
    };
    await fill(await postgresStorage({ client, workspace: "forks" }));
    await client.query("analyze");
    const copied = await open("forks", { stateDir: join(folder, "state") });
    await untilWarm(copied);
    yield* forkRows("a copy on this machine", copied);
    await copied.close();
    const alone = await open("forks", { mirror: false });
    // A content is in the index once two searches have read it.
    for (let times = 0; times < 3; times++) await alone.call("grep", GREP);
    yield* forkRows("no copy", alone);
    yield* editRows(server, await postgresStorage({ client, workspace: "edits" }));
  } finally {
    for (const ws of opened) await ws.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const GREP = { pattern: "value4242x", output: "files" };

async function fill(storage) {
  const encoder = new TextEncoder();
  for (let from = 0; from < FILES; from += FILES_PER_COMMIT)
    await storage.commit(
      Array.from({ length: FILES_PER_COMMIT }, (_, index) => {
        const at = from + index;
        const text = `value${at}x\n${`line of text number ${at} alpha beta gamma\n`.repeat(30)}`;
        const path = `/repo/d${at % 200}/s${at % 7}/f${at}.txt`;
        return { op: "put", path, body: encoder.encode(text) };
      }),
    );
}

async function untilWarm(ws) {
  for (let tries = 0; (await ws.call("grep", GREP)).data.fresh !== "watch"; tries++) {
    if (tries > 600) throw new Error("the copy did not become warm");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Searches some forks with a few changed files each, one after the other. */
async function* forkRows(name, ws) {
  const times = { "first grep": [], "second grep": [], "first glob": [] };
  for (let fork = 0; fork < FORKS; fork++) {
    const made = await ws.fork();
    for (let at = 0; at < CHANGED; at++)
      await made.call("write_file", { path: `d${at}/new.txt`, content: `value4242x of fork ${fork}\n` });
    const search = async (which, run) => {
      const began = performance.now();
      const { data } = await run();
      times[which].push(performance.now() - began);
      return data;
    };
    for (const which of ["first grep", "second grep"]) {
      const { files } = await search(which, () => made.call("grep", GREP));
      assertSameResult("files of a fork", files.length, 1 + CHANGED);
    }
    const { total } = await search("first glob", () => made.call("glob", { pattern: "**/f424?.txt" }));
    assertSameResult("names of a fork", total, 10);
    await made.drop();
  }
  for (const [which, each] of Object.entries(times)) {
    const note = `${median(each).toFixed(1)} ms, the slowest ${Math.max(...each).toFixed(1)} ms`;
    yield { name: `${which} in a fork, ${name}`, met: median(each) <= GOAL_FIRST_MS, note };
  }
}

/** Edits one file by agents in several processes: each agent has a line of its own, so that no edit may be lost. */
async function* editRows(server, storage) {
  const lines = Array.from({ length: AGENTS }, (_, agent) => `agent ${agent} has 0 edits.\n`);
  await storage.commit([
    { op: "put", path: "/repo/one.txt", body: new TextEncoder().encode(lines.join("")) },
  ]);
  const children = Array.from({ length: PROCESSES }, (_, first) =>
    spawn(process.execPath, [CHILD, server.host, String(first), String(PROCESSES), String(AGENTS)], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  const answers = await Promise.all(children.map((child) => editsOf(child, children)));
  const [found] = (await storage.readMany(["/repo/one.txt"])).results;
  const edits = answers.flatMap((answer) => answer.edits).sort(([a], [b]) => a - b);
  const expected = edits.map(([agent, count]) => `agent ${agent} has ${count} edits.\n`).join("");
  assertSameResult("edits in the file", new TextDecoder().decode(found.body), expected);
  const counts = edits.map(([, count]) => count);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rate = total / SECONDS;
  const waits = answers.flatMap((answer) => answer.times).sort((a, b) => a - b);
  const percentile = (share) => waits[Math.floor(waits.length * share)].toFixed(0);
  yield {
    name: "edits of one file by 64 agents through four processes",
    met: rate >= GOAL_EDITS,
    note: `${rate.toFixed(0)} a second, p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, least ${Math.min(...counts)}, most ${Math.max(...counts)}, none lost`,
  };
}

/** Lets a process edit once all of them are open, and returns what it says. */
async function editsOf(child, children) {
  let text = "";
  child.stdout.setEncoding("utf8");
  const ended = once(child, "exit");
  await new Promise((resolve) => {
    child.stdout.on("data", (part) => {
      text += part;
      if (text.startsWith("open\n")) resolve();
    });
  });
  child.isOpen = true;
  if (children.every(({ isOpen }) => isOpen))
    for (const one of children) one.stdin.end(String(SECONDS * 1000));
  const [code] = await ended;
  if (code !== 0) throw new Error(`a process of agents ended with ${code}`);
  return JSON.parse(text.slice("open\n".length));
}
