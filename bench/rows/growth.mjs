// Measures what workspaces, files, commits and calls cost in a real Postgres server and in a replica: bytes, which do not
// depend on what else the machine does, and processor time, which does so less than other times.
// docs/guides/scale.md computes from them.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startIssuer } from "../../test/serving/issuer.mjs";
import { startReplica } from "../../test/serving/replica-processes.mjs";
import { Skip } from "../lib/skip.mjs";
import { startStorages } from "../lib/postgres.mjs";

export const title =
  "growth: the cost of a workspace, a file, a commit and a call in Postgres and in a replica";

const [WORKSPACES, FILES, COMMITS, FILE_BYTES] = [2000, 50_000, 5000, 1000];
const FILES_PER_COMMIT = 1000;
/** The calls of each tool, the clients that make them at once, and the calls before the measurement. */
const [CALLS, CLIENTS, WARM_UP] = [1500, 8, 200];
/** The length of a tick of processor time in /proc, in milliseconds. */
const TICK_MS = 10;
const SCHEMA = "filewright";

export async function* rows({ load }) {
  if (process.platform !== "linux") throw new Skip("the processor time of processes is read from /proc");
  const { openWorkspace, postgresStorage, server } = await startStorages(load);
  const issuer = await startIssuer();
  let replica;
  try {
    const client = server.pool();
    const storageOf = (tenant, workspace) => postgresStorage({ client, tenant, workspace });
    const files = await storageOf("growth", "files");
    const workspaces = await costOf(client, WORKSPACES, async () => {
      for (let at = 0; at < WORKSPACES; at++) await storageOf("growth", `w${at}`);
    });
    yield { name: "an empty workspace", note: shownBytes(workspaces) };
    const perFile = await costOf(client, FILES, async () => {
      for (let at = 0; at < FILES; at += FILES_PER_COMMIT)
        await files.commit(Array.from({ length: FILES_PER_COMMIT }, (_, index) => put(at + index)));
    });
    yield { name: `a file of ${FILE_BYTES} bytes, ${FILES_PER_COMMIT} a commit`, note: shownBytes(perFile) };
    const perCommit = await costOf(client, COMMITS, async () => {
      for (let at = 0; at < COMMITS; at++) await files.commit([put((at * 7919) % FILES)]);
    });
    yield { name: `a commit that replaces ${FILE_BYTES} bytes`, note: shownBytes(perCommit) };

    const ws = await openWorkspace({ storage: files, root: "/" });
    const idle = heapBytes();
    await ws.call("glob", { pattern: "d7/f7.txt" });
    yield {
      name: `memory of a replica for ${FILES} names`,
      note: `${((heapBytes() - idle) / FILES).toFixed(0)} bytes a name`,
    };
    await ws.close();

    const argv = ["--preset", "canonical"];
    replica = await startReplica({ host: server.host, issuer: issuer.url, argv });
    const callTool = clientOf(replica.url, issuer.token({ org: "growth", repo: "files" }));
    let connections = 0;
    for (const [name, args] of [
      ["read_file", (at) => ({ path: pathOf(at % FILES) })],
      ["list_directory of 100", (at) => ({ path: `/d${at % 500}` })],
      ["glob", () => ({ pattern: "d7/f7*.txt" })],
      ["edit_file", (at) => ({ path: pathOf(at), old_text: `file ${at}.`, new_text: `file ${at}!` })],
      ["write_file, new", (at) => ({ path: `/new/${newName(at)}`, content: "1\n".repeat(500) })],
    ]) {
      const [tool] = name.split(/[ ,]/u);
      for (let at = 0; at < WARM_UP; at++) await callTool(tool, args(FILES - 1 - at));
      const before = { replica: cpuOf(replica.pid), engine: engineCpu(server.host) };
      let next = 0;
      const work = async () => {
        for (let at = next++; at < CALLS; at = next++) {
          await callTool(tool, args(at));
          if (at % 100 === 0) connections = Math.max(connections, await connectionsOf(client));
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, work));
      const [mine, engine] = [
        (cpuOf(replica.pid) - before.replica) / CALLS,
        (engineCpu(server.host) - before.engine) / CALLS,
      ];
      yield {
        name: `processor time of ${name}`,
        note: `${mine.toFixed(2)} ms of the replica, ${engine.toFixed(2)} ms of Postgres`,
      };
    }
    yield { name: "connections of a replica under load", note: `${connections}` };
  } finally {
    replica?.kill("SIGTERM");
    await replica?.ended;
    issuer.close();
    await server.stop();
  }
}

const newName = (at) => `n${at}-${randomBytes(4).toString("hex")}.txt`;
const pathOf = (at) => `/d${Math.floor(at / 100)}/f${at % 100}.txt`;

/** Returns a change that writes content which no other file has. */
function put(at) {
  const text = `file ${at}. ${randomBytes(FILE_BYTES / 2).toString("hex")}`.slice(0, FILE_BYTES);
  return { op: "put", path: pathOf(at), body: new TextEncoder().encode(text) };
}

/** Runs work, and returns the bytes and rows that each of so many items added to the tables, and its bytes of WAL. */
async function costOf(client, items, run) {
  const before = await sizeOf(client);
  await run();
  const after = await sizeOf(client);
  return Object.fromEntries(Object.keys(after).map((key) => [key, (after[key] - before[key]) / items]));
}

/** Returns the size of the tables with their indexes, after the space of replaced rows was made free for new ones. */
async function sizeOf(client) {
  const wal = await client.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes");
  await client.query("vacuum analyze");
  const { rows: tables } = await client.query(
    `select c.oid::regclass::text as name, pg_total_relation_size(c.oid)::float8 as bytes
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
    [SCHEMA],
  );
  let rowCount = 0;
  for (const { name } of tables)
    rowCount += (await client.query(`select count(*)::int as count from ${name}`)).rows[0].count;
  return {
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    rows: rowCount,
    wal: wal.rows[0].bytes,
  };
}

const shownBytes = ({ bytes, rows, wal }) =>
  `${bytes.toFixed(0)} bytes in ${rows.toFixed(1)} rows, ${wal.toFixed(0)} bytes of WAL`;

/** Returns a function that calls a tool of a server, and throws where the call fails. */
function clientOf(url, token) {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return async (name, args) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
    const { result } = await answer.json();
    if (result === undefined || result.isError === true)
      throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(result)}`);
  };
}

/** Returns the processor time of a process in milliseconds, its ended children included. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
}

/** Returns the processor time of a Postgres server with its processes. */
function engineCpu(host) {
  const [first = ""] = readFileSync(`${host}/data/postmaster.pid`, "utf8").split("\n");
  let sum = cpuOf(first);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      if (stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === first) sum += cpuOf(pid);
    } catch {
      // The process has ended, and its time is part of that of the server.
    }
  }
  return sum;
}

/** Returns the memory of this process that is in use, after everything else was freed. */
function heapBytes() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function connectionsOf(client) {
  const { rows: found } = await client.query(
    "select count(*)::int as count from pg_stat_activity where application_name = 'filewright'",
  );
  return found[0].count;
}
