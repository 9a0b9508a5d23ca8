/** Writers in processes of their own that are killed with kill -9, as is the server; and what is there afterwards. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
const WRITER = fileURLToPath(new URL("crash-writer.mjs", import.meta.url));

/**
 * How the crashes are made: `commits` are those of each writer, `commitsPerKill` is the mean number between two kills, of
 * which one of `serverEvery` is that of the server.
 * @typedef {{
 *   readonly writers: number,
 *   readonly commits: number,
 *   readonly commitsPerKill: number,
 *   readonly serverEvery: number,
 *   readonly random: () => number,
 * }} CrashPlan
 */

/**
 * What was found after the crashes. `lost` are answered commits that are not in the history, `twice` keys that are in
 * it more than once, `torn` reads that saw the two files of a commit with different content; `total` is the number in
 * the files.
 * @typedef {{
 *   readonly answered: number,
 *   readonly committed: number,
 *   readonly lost: readonly string[],
 *   readonly twice: readonly string[],
 *   readonly torn: number,
 *   readonly reads: number,
 *   readonly total: number,
 *   readonly kills: { readonly writers: number, readonly server: number },
 * }} CrashReport
 */

/**
 * Lets writers and the server crash until every writer has made its commits.
 * @param {import("./versitygw.mjs").S3Server} server
 * @param {string} workspace
 * @param {() => Promise<import("@filewright/storage/s3").S3Storage>} open
 * @param {CrashPlan} plan
 * @returns {Promise<CrashReport>}
 */
export async function runCrashes(
  server,
  workspace,
  open,
  { writers, commits, commitsPerKill, serverEvery, random },
) {
  const answered = /* @__PURE__ */ new Map();
  const kills = { writers: 0, server: 0 };
  const running = /* @__PURE__ */ new Map();
  const errors = [];
  const start = (id) =>
    new Promise((resolve) => {
      const { endpoint, bucket, credentials } = server;
      const from = answered.get(id) ?? 0;
      const argument = JSON.stringify({ endpoint, bucket, credentials, workspace, id, from, count: commits });
      const child = spawn(process.execPath, [WRITER, argument], { stdio: ["ignore", "pipe", "pipe"] });
      running.set(id, child);
      createInterface({ input: child.stdout }).on("line", (key) => {
        answered.set(id, Number(key.split(":")[1]) + 1);
      });
      child.stderr.on("data", (text) => errors.push(String(text)));
      child.once("close", (code, signal) => {
        running.delete(id);
        if (code !== 0 && signal !== "SIGKILL") errors.push(`writer ${id} ended with ${code}`);
        resolve();
      });
    });
  const work = async (id) => {
    while ((answered.get(id) ?? 0) < commits && errors.length === 0) await start(id);
  };
  let isOver = false;
  const killing = (async () => {
    // By the number of answered commits, so that a fast machine has as many kills as a slow one.
    for (let round = 1, next = commitsPerKill; !isOver; ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const total = [...answered.values()].reduce((sum, count) => sum + count, 0);
      if (isOver || total < next) continue;
      next = total + 1 + Math.floor(random() * 2 * commitsPerKill);
      if (round % serverEvery === 0) {
        await server.crash();
        kills.server += 1;
      } else {
        const children = [...running.values()];
        if (children[Math.floor(random() * children.length)]?.kill("SIGKILL")) kills.writers += 1;
      }
      round += 1;
    }
  })();
  let torn = 0;
  let reads = 0;
  const reading = (async () => {
    const storage2 = await open();
    while (!isOver) {
      try {
        const [total, copy] = (await storage2.readMany(["/total", "/copy"])).results.map((result) =>
          result !== null && "body" in result
            ? new TextDecoder().decode(result.body)
            : result && "message" in result
              ? result.message
              : null,
        );
        reads += 1;
        if (total !== copy) torn += 1;
      } catch {}
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  await Promise.all(Array.from({ length: writers }, (_, index) => work(`w${index}`)));
  isOver = true;
  await Promise.all([killing, reading]);
  if (errors.length > 0) throw new Error(errors.join("\n"));
  const storage = await open();
  const past = await storage.history({ limit: writers * commits * 2 });
  const keys = past.map(({ key }) => key ?? "");
  const known = new Set(keys);
  const all = [...answered].flatMap(([id, count]) =>
    Array.from({ length: count }, (_, number) => `${id}:${number}`),
  );
  const [found] = (await storage.readMany(["/total"])).results;
  return {
    answered: all.length,
    committed: keys.length,
    lost: all.filter((key) => !known.has(key)),
    twice: keys.filter((key, index) => keys.indexOf(key) !== index),
    torn,
    reads,
    total: Number(
      found !== null && found !== void 0 && "body" in found ? new TextDecoder().decode(found.body) : -1,
    ),
    kills,
  };
}
