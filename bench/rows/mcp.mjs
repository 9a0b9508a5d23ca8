// Measures our MCP server against the reference server `server-filesystem`. Both run as processes
// and are called by the same client over pipes.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeLinuxTree, makeSmallFiles, makeSmallTree } from "../lib/corpora.mjs";
import { startAndConnect, referenceServerScript } from "../lib/mcp-client.mjs";
import { compareShortCalls, median, assertSameResult, timeRun } from "../lib/measure.mjs";
import { processorMs, processMemory } from "../lib/process.mjs";

export const title = "mcp: filewright mcp beside the MCP filesystem server";

const BYTES_PER_MB = 1024 * 1024;
const sleepMs = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const textOfResult = (result) => {
  if (result.isError) throw new Error(result.content[0].text);
  return result.content[0].text;
};

/**
 * Returns functions with the command line of each server (`ours`, `theirs`), and a temporary
 * directory for their files, which `end` removes.
 */
export function bothServers(root) {
  const scratch = mkdtempSync(join(tmpdir(), "filewright-bench-mcp-"));
  return {
    ours: (...dirs) => [join(root, "dist/bin/filewright.js"), "mcp", "--preset", "mcp", ...dirs],
    theirs: (...dirs) => [referenceServerScript(), ...dirs],
    scratch,
    end: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

export async function* rows({ full, root }) {
  const { ours, theirs, scratch, end } = bothServers(root);
  try {
    yield* serverStartRows(ours, theirs, scratch);
    yield* smallCallRows(ours, theirs, scratch);
    yield await compareSearchFiles(ours, theirs, full);
    yield await compareCancellation(ours, theirs, full);
    yield await compareParallelEdits(ours, theirs, scratch);
    yield await largeFileEditRows(ours, theirs, scratch);
  } finally {
    end();
  }
}

/**
 * Measures the time from the start to the end of the initialization, and the memory of an idle
 * server above that of Node alone.
 */
export async function* serverStartRows(ours, theirs, dir) {
  const bare = await bareNodeMemory();
  const samples = [];
  for (let round = 0; round < 7; round++) {
    const sample = {};
    for (const [who, argv] of round % 2
      ? [
          ["ours", ours(dir)],
          ["peer", theirs(dir)],
        ]
      : [
          ["peer", theirs(dir)],
          ["ours", ours(dir)],
        ]) {
      const server = await startAndConnect(argv);
      await sleepMs(400);
      sample[who] = { ms: server.start_ms, ...processMemory(server.pid) };
      server.close();
    }
    samples.push(sample);
  }
  const middle = (who, field) => median(samples.map((sample) => sample[who][field]));
  yield {
    name: "start to initialized",
    peer: "server-filesystem",
    goal: 2,
    ours_ms: middle("ours", "ms"),
    peer_ms: middle("peer", "ms"),
    faster: median(samples.map(({ ours: a, peer: b }) => b.ms / a.ms)),
  };
  for (const [name, field, goal] of [
    ["resident memory above bare node", "resident", undefined],
    ["memory of its own above bare node", "own", 2],
  ]) {
    const [a, b] = [middle("ours", field) - bare[field], middle("peer", field) - bare[field]];
    yield {
      name,
      peer: "server-filesystem",
      goal,
      faster: b / a,
      note: `${a.toFixed(1)} against ${b.toFixed(1)} MiB`,
    };
  }
}

/** Returns the memory of a Node process that only reads its input. */
async function bareNodeMemory() {
  const code = "process.stdin.on('data', () => {}); process.stdout.write('.')";
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await sleepMs(400);
  const taken = processMemory(child.pid);
  child.kill();
  return taken;
}

/** Measures calls that take a few milliseconds. */
export async function* smallCallRows(ours, theirs, scratch) {
  const paths = makeSmallFiles(50, 4096);
  const [path] = paths;
  const dir = join(path, "..");
  const [a, b] = [await startAndConnect(ours(dir, scratch)), await startAndConnect(theirs(dir, scratch))];
  const lines = Array.from({ length: 2000 }, (_, n) => `line ${n} of a file that is edited`);
  const flip = (server) => {
    const edited = join(scratch, server === a ? "ours.txt" : "theirs.txt");
    writeFileSync(edited, lines.join("\n"));
    let on = false;
    return async () => {
      on = !on;
      const [oldText, newText] = on ? ["line 1000 of", "LINE 1000 of"] : ["LINE 1000 of", "line 1000 of"];
      textOfResult(await server.call("edit_file", { path: edited, edits: [{ oldText, newText }] }));
    };
  };
  try {
    const reads = (server) => server.call("read_text_file", { path }).then(textOfResult);
    assertSameResult("texts", await reads(a), await reads(b));
    const rows = [
      ["get_file_info", (server) => () => server.call("get_file_info", { path }).then(textOfResult)],
      [
        "list_directory, 50 entries",
        (server) => () => server.call("list_directory", { path: dir }).then(textOfResult),
      ],
      ["read_text_file, 4 KB", (server) => () => reads(server)],
      ["edit_file, one of 2,000 lines", flip],
    ];
    for (const [name, make] of rows)
      yield {
        name,
        peer: "server-filesystem",
        goal: 1,
        ...(await compareShortCalls(make(a), make(b), { milliseconds: 300 })),
      };
    yield {
      name: "resident memory after these calls",
      peer: "server-filesystem",
      faster: processMemory(b.pid).resident / processMemory(a.pid).resident,
      note: `${processMemory(a.pid).resident.toFixed(0)} against ${processMemory(b.pid).resident.toFixed(0)} MiB in all`,
    };
  } finally {
    a.close();
    b.close();
  }
}

/** Measures `search_files` against that of the reference server. */
async function compareSearchFiles(ours, theirs, full) {
  const path = full ? makeLinuxTree() : makeSmallTree();
  const pattern = full ? "**/*.rst" : "**/*.d.ts";
  const [a, b] = [await startAndConnect(ours(path)), await startAndConnect(theirs(path))];
  const run = (server) =>
    server.call("search_files", { path, pattern, excludePatterns: [".git/**"] }).then(textOfResult);
  try {
    const sorted = (list) => list.split("\n").sort();
    assertSameResult("names", sorted(await run(a)), sorted(await run(b)));
    const ours_ms = median([
      await timeRun(() => run(a)),
      await timeRun(() => run(a)),
      await timeRun(() => run(a)),
    ]);
    const peer_ms = await timeRun(() => run(b));
    return {
      name: `search_files ${pattern}`,
      peer: "server-filesystem",
      goal: full ? 50 : undefined,
      ours_ms,
      peer_ms,
      faster: peer_ms / ours_ms,
    };
  } finally {
    a.close();
    b.close();
  }
}

/** Measures the processor time that a server uses in the 1.5 seconds after a call was cancelled. */
async function compareCancellation(ours, theirs, full) {
  const path = full ? makeLinuxTree() : makeSmallTree();
  const burned = async (argv) => {
    const server = await startAndConnect(argv);
    await server.call("get_file_info", { path });
    const call = server.call("directory_tree", { path });
    call.catch(() => {});
    await sleepMs(full ? 60 : 20);
    server.cancel(call.id);
    const before = processorMs(server.pid);
    await sleepMs(1500);
    const ms = processorMs(server.pid) - before;
    server.close();
    return ms;
  };
  const [ours_ms, peer_ms] = [await burned(ours(path)), await burned(theirs(path))];
  return {
    name: "processor time after a cancelled tree",
    peer: "server-filesystem",
    ours_ms,
    peer_ms,
    faster: peer_ms / Math.max(ours_ms, 10),
  };
}

/** Counts how many of 20 edits of one file that are sent at once are in it afterwards. */
async function compareParallelEdits(ours, theirs, scratch) {
  const path = join(scratch, "parallel.txt");
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n};`);
  const kept = async (argv) => {
    writeFileSync(path, lines.join("\n"));
    const server = await startAndConnect(argv);
    const edits = (n) => [{ oldText: `line ${n};`, newText: `done ${n};` }];
    await Promise.all(lines.map((_, n) => server.call("edit_file", { path, edits: edits(n) })));
    server.close();
    return readFileSync(path, "utf8").match(/^done/gm)?.length ?? 0;
  };
  const [a, b] = [await kept(ours(scratch)), await kept(theirs(scratch))];
  if (a !== 20) throw new Error(`${a} of 20 parallel edits survived`);
  return {
    name: "20 parallel edits of one file",
    peer: "server-filesystem",
    faster: a / Math.max(b, 1),
    note: `${a} against ${b} survive`,
  };
}

/** Measures an edit of one line in a file of just under 100 MiB. */
export async function largeFileEditRows(ours, theirs, scratch) {
  const path = join(scratch, "large.txt");
  const edits = [{ oldText: "the line that is looked for", newText: "the line that was found" }];
  const line = "some text in a line that nobody is interested in\n";
  const half = line.repeat(Math.floor((49.9 * BYTES_PER_MB) / line.length));
  const run = async (argv) => {
    writeFileSync(path, `${half}${edits[0].oldText}\n${half}`);
    const server = await startAndConnect(argv);
    await server.call("get_file_info", { path });
    const ms = await timeRun(async () => textOfResult(await server.call("edit_file", { path, edits })));
    const { peak } = processMemory(server.pid);
    server.close();
    return { ms, peak };
  };
  const [a, b] = [await run(ours(scratch)), await run(theirs(scratch))];
  const size = Math.round(statSync(path).size / BYTES_PER_MB);
  return {
    name: `edit_file, one line of ${size} MiB`,
    peer: "server-filesystem",
    goal: 20,
    ours_ms: a.ms,
    peer_ms: b.ms,
    faster: b.ms / a.ms,
    note: `peak ${a.peak.toFixed(0)} against ${b.peak.toFixed(0)} MiB`,
  };
}
