// Forks of a workspace on the disk and on Postgres: changes of forks and parents are generated, and each merge is
// compared with a model of the files that knows no forks. A case is a merge.
//
// Afterwards it measures, in the same run: making a fork, the first search in one, the merge of a hundred paths, and
// a thousand forks with ten changes each. The figures are printed and no case depends on them.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace, postgresStorage } from "../../dist/cli/library.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { startPostgres } from "../storage/postgres/server.mjs";

const FILES = 24;
const encoder = new TextEncoder();

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "merges of forks on the disk and on Postgres against a model, and what forks cost",
  count: 600,
  share: 24,
  async run({ seed, count, isOver }) {
    const failures = [];
    const server = await startPostgres();
    const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-deep-forks-")));
    let cases = 0;
    try {
      for (let round = 0; cases < count && !isOver() && failures.length === 0; round++) {
        const workspace = `forks-${round}`;
        const root = join(base, String(round));
        await mkdir(root, { recursive: true });
        const kinds = [
          ["disk", await openWorkspace({ root, stateDir: join(base, "state") }), root],
          [
            "Postgres",
            await openWorkspace({
              storage: await postgresStorage({ client: server.pool(), workspace }),
              root: "/repo",
            }),
            "/repo",
          ],
        ];
        for (const [name, ws, cwd] of kinds) {
          const fault = await mergesAsTheModel(ws, cwd, seededRandom(seed + round));
          if (fault !== undefined) failures.push(`${name}, round ${round}: ${fault}`);
          cases += MERGES_PER_ROUND;
          await ws.close();
        }
      }
      if (count > MEASURED_FROM) await measure(base, server, postgresStorage);
      return { cases, failures };
    } finally {
      await server.stop();
      rmSync(base, { recursive: true, force: true });
    }
  },
};

const MERGES_PER_ROUND = 6;
/** A share of CI measures nothing. */
const MEASURED_FROM = 100;

/** Changes a fork and its parent by turns and merges. @returns what differs from the model, if anything does */
async function mergesAsTheModel(ws, cwd, random) {
  const model = new Map();
  for (let i = 0; i < FILES; i++) model.set(`d${i % 4}/f${i}.txt`, textOf(random));
  await writeAll(ws, cwd, model);
  const fork = await ws.fork();
  for (let merge = 0; merge < MERGES_PER_ROUND; merge++) {
    // Each side changes files of its own, so no merge has a conflict: a fork of a storage does not see its parent's.
    const paths = [...model.keys()];
    const mine = paths.filter((path) => !/[13579]\.txt$/u.test(path) || path.includes("new"));
    for (const path of mine.filter(() => random.below(3) === 0)) await change(fork, cwd, model, path, random);
    const added = `d${random.below(6)}/new${merge}.txt`;
    await change(fork, cwd, model, added, random);
    for (const path of paths.filter((one) => !mine.includes(one) && random.below(3) === 0))
      await change(ws, cwd, model, path, random);
    const { changes } = await fork.diff();
    const { conflicts } = await fork.merge();
    if (conflicts.length > 0)
      return `merge ${merge} has conflicts: ${conflicts.map(({ path }) => path).join(", ")}`;
    if (!changes.some(({ path }) => path === added)) return `merge ${merge}: the diff lacks ${added}`;
    const left = (await fork.diff()).changes;
    if (left.length > 0) return `merge ${merge} left ${left.map(({ path }) => path).join(", ")}`;
    const fault = await differs(ws, cwd, model);
    if (fault !== undefined) return `merge ${merge}: ${fault}`;
  }
  await fork.drop();
  return undefined;
}

async function change(ws, cwd, model, path, random) {
  if (model.has(path) && random.below(4) === 0) {
    model.delete(path);
    await ws.fs.delete(`${cwd}/${path}`);
    return;
  }
  const text = textOf(random);
  model.set(path, text);
  await ws.fs.writeBytes(`${cwd}/${path}`, encoder.encode(text), { createDirs: true });
}

const textOf = (random) =>
  Array.from({ length: 1 + random.below(20) }, () => `line ${random.below(100)}\n`).join("");

async function writeAll(ws, cwd, files) {
  for (const [path, text] of files)
    await ws.fs.writeBytes(`${cwd}/${path}`, encoder.encode(text), { createDirs: true });
}

async function differs(ws, cwd, model) {
  const found = new Set();
  for await (const path of ws.fs.iterFiles(cwd)) {
    const name = path.slice(cwd.length + 1);
    found.add(name);
    if (Buffer.from(await ws.fs.readBytes(path)).toString() !== model.get(name)) return `${name} differs`;
  }
  const missing = [...model.keys()].filter((path) => !found.has(path));
  return missing.length > 0 ? `${missing.join(", ")} missing` : undefined;
}

const DISK_FILES = 40_000;
const SOURCE_FILES = 11_000;
const MERGED_PATHS = 100;
const MANY_FORKS = 1000;

/** Prints what forks cost. */
async function measure(base, server, postgresStorage) {
  const root = join(base, "large");
  await writeMany(root, DISK_FILES);
  const disk = await openWorkspace({ root, stateDir: join(base, "state"), index: "auto" });
  await disk.grep({ pattern: "needle" });
  await report("disk", disk, root, { many: MANY_FORKS });
  await disk.close();
  const client = server.pool();
  const storage = await postgresStorage({ client, workspace: "measured" });
  await fill(storage, SOURCE_FILES);
  const stateDir = join(base, "mirror-state");
  const shared = await openWorkspace({ storage, root: "/repo", stateDir });
  await shared.grep({ pattern: "needle" });
  await report("Postgres", shared, "/repo", { many: MANY_FORKS, storage, client });
  await shared.close();
}

async function report(name, ws, cwd, { many, storage, client }) {
  const made = [];
  for (let i = 0; i < 200; i++) {
    const before = performance.now();
    const fork = await ws.fork();
    made.push(performance.now() - before);
    await fork.drop();
  }
  line(name, "ws.fork()", made);
  if (storage !== undefined) {
    const own = [];
    for (let i = 0; i < 200; i++) {
      const before = performance.now();
      const fork = await storage.fork(`measured-${i}`);
      own.push(performance.now() - before);
      await fork.drop();
    }
    line(name, "storage.fork()", own);
  }
  const searches = [];
  const later = [];
  for (let i = 0; i < 20; i++) {
    const fork = await ws.fork();
    await fork.fs.writeText(`${cwd}/changed-${i}.txt`, "needle here\n");
    const before = performance.now();
    const { matches } = await fork.grep({ pattern: "needle" });
    searches.push(performance.now() - before);
    if (!matches.some(({ path }) => path === `changed-${i}.txt`))
      throw new Error("the search missed a change");
    const again = performance.now();
    await fork.grep({ pattern: "needle" });
    later.push(performance.now() - again);
    await fork.drop();
  }
  line(name, "first search in a fork", searches);
  line(name, "second search in a fork", later);
  for (const both of [false, true]) {
    const merges = [];
    const engines = [];
    for (let i = 0; i < 20; i++) {
      // Both sides begin with the same.
      if (both) await rewrite(ws, cwd, "first", "last");
      const fork = await ws.fork();
      await rewrite(fork, cwd, `fork ${i} ${both}`, "last");
      if (both) await rewrite(ws, cwd, "first", `parent ${i}`);
      const before = performance.now();
      const { conflicts, changes } = await fork.merge();
      merges.push(performance.now() - before);
      if (conflicts.length > 0 || changes.length < MERGED_PATHS) throw new Error("not merged");
      await fork.drop();
      if (storage === undefined) continue;
      const other = await storage.fork(`engine-${both}-${i}`);
      await rewriteStored(storage, other, i + 1000, both);
      const start = performance.now();
      const merged = await storage.merge(other);
      engines.push(performance.now() - start);
      if (merged.conflicts.length > 0) throw new Error("not merged");
      await other.drop();
    }
    const what = both ? "changed on both sides" : "changed in the fork";
    line(name, `fork.merge() of ${MERGED_PATHS} paths ${what}`, merges);
    if (engines.length > 0) line(name, `storage.merge() of ${MERGED_PATHS} paths ${what}`, engines);
  }
  await manyForks(name, ws, cwd, many, client);
}

const linesOf = (number, first, last) =>
  `${first}\n${Array.from({ length: 20 }, (_, i) => `line ${i} of ${number}\n`).join("")}${last}\n`;
const mergedPath = (n) => `merged/d${n % 10}/f${n}.txt`;

async function rewrite(to, cwd, first, last) {
  for (let n = 0; n < MERGED_PATHS; n++)
    await to.fs.writeBytes(`${cwd}/${mergedPath(n)}`, encoder.encode(linesOf(n, first, last)), {
      createDirs: true,
    });
}

async function rewriteStored(storage, fork, round, both) {
  const ops = (first, last) =>
    Array.from({ length: MERGED_PATHS }, (_, n) => ({
      op: "put",
      path: `/repo/${mergedPath(n)}`,
      body: encoder.encode(linesOf(n, first, last)),
    }));
  if (both) {
    await fork.commit(ops("first", "last"));
    await storage.merge(fork, { favour: "theirs" });
  }
  await fork.commit(ops(`fork ${round}`, "last"));
  if (both) await storage.commit(ops("first", `parent ${round}`));
}

async function manyForks(name, ws, cwd, count, client) {
  globalThis.gc?.();
  const heap = process.memoryUsage();
  const rows = await sizeOf(client);
  const started = performance.now();
  const forks = [];
  for (let i = 0; i < count; i++) {
    const fork = await ws.fork();
    for (let n = 0; n < 10; n++)
      await fork.fs.writeText(`${cwd}/${mergedPath(n)}`, linesOf(n, `fork ${i}`, ""));
    forks.push(fork);
  }
  globalThis.gc?.();
  const after = process.memoryUsage();
  const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1);
  const inside = `${mebibytes(after.heapUsed + after.external - heap.heapUsed - heap.external)} MiB in the process`;
  const stored =
    client === undefined ? "" : `, ${mebibytes((await sizeOf(client)) - rows)} MiB in the database`;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${name}: ${count} forks with ten changes each: ${inside}${stored}, made in ${seconds} s`);
  for (const fork of forks) await fork.drop();
}

async function sizeOf(client) {
  if (client === undefined) return 0;
  const { rows } = await client.query(
    "select sum(pg_total_relation_size(c.oid)) size from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'filewright' and c.relkind = 'r'",
  );
  return Number(rows[0].size);
}

function line(name, what, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
  console.log(`${name}: ${what}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, of ${times.length}`);
}

async function writeMany(root, count) {
  const folders = 200;
  for (let folder = 0; folder < folders; folder++) {
    const directory = join(root, `src${folder}`);
    await mkdir(directory, { recursive: true });
    await Promise.all(
      Array.from({ length: count / folders }, (_, i) =>
        writeFile(join(directory, `f${i}.ts`), contentOf(folder * 1000 + i)),
      ),
    );
  }
}

const contentOf = (n) =>
  `export const value${n} = ${n};\n${n % 2000 === 7 ? "// needle\n" : ""}${"// filler\n".repeat(10)}`;

async function fill(storage, count) {
  for (let at = 0; at < count; at += 1000) {
    const ops = Array.from({ length: 1000 }, (_, i) => ({
      op: "put",
      path: `/repo/src${Math.floor((at + i) / 100)}/f${at + i}.ts`,
      body: encoder.encode(contentOf(at + i)),
    }));
    await storage.commit(ops);
  }
}
