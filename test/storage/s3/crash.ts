/** Writers in processes of their own that are killed with kill -9, as is the server; and what is there afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { S3Storage } from "../../../js/storage/s3/index.node.ts";
import type { S3Server } from "./versitygw.ts";

/** How the crashes are made. */
export interface CrashPlan {
  readonly writers: number;
  /** The number of commits of each writer. */
  readonly commits: number;
  /** The mean time in milliseconds between two kills. */
  readonly killEveryMs: number;
  /** One of so many kills is that of the server. */
  readonly serverEvery: number;
  readonly random: () => number;
}

/** What was found after the crashes. */
export interface CrashReport {
  /** The commits that were answered, and those in the history. */
  readonly answered: number;
  readonly committed: number;
  /** Answered commits that are not in the history. */
  readonly lost: readonly string[];
  /** Keys that are in the history more than once. */
  readonly twice: readonly string[];
  /** Reads that saw the two files of a commit with different content. */
  readonly torn: number;
  readonly reads: number;
  /** The number in the files. */
  readonly total: number;
  readonly kills: { readonly writers: number; readonly server: number };
}

const WRITER = fileURLToPath(new URL("crash-writer.mjs", import.meta.url));

/** Lets writers and the server crash until every writer has made its commits. */
export async function runCrashes(
  server: S3Server,
  workspace: string,
  open: () => Promise<S3Storage>,
  { writers, commits, killEveryMs, serverEvery, random }: CrashPlan,
): Promise<CrashReport> {
  const answered = new Map<string, number>();
  const kills = { writers: 0, server: 0 };
  const running = new Map<string, ChildProcess>();
  const errors: string[] = [];

  const start = (id: string): Promise<void> =>
    new Promise((resolve) => {
      const { endpoint, bucket, credentials } = server;
      const from = answered.get(id) ?? 0;
      const argument = JSON.stringify({ endpoint, bucket, credentials, workspace, id, from, count: commits });
      const child = spawn(process.execPath, [WRITER, argument], { stdio: ["ignore", "pipe", "pipe"] });
      running.set(id, child);
      createInterface({ input: child.stdout }).on("line", (key) => {
        answered.set(id, Number(key.split(":")[1]) + 1);
      });
      child.stderr.on("data", (text: Buffer) => errors.push(String(text)));
      child.once("close", (code, signal) => {
        running.delete(id);
        if (code !== 0 && signal !== "SIGKILL") errors.push(`writer ${id} ended with ${code}`);
        resolve();
      });
    });
  const work = async (id: string): Promise<void> => {
    while ((answered.get(id) ?? 0) < commits && errors.length === 0) await start(id);
  };

  let isOver = false;
  const killing = (async () => {
    for (let round = 1; !isOver; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, killEveryMs * (0.5 + random())));
      if (isOver) return;
      if (round % serverEvery === 0) {
        await server.crash();
        kills.server += 1;
        continue;
      }
      const children = [...running.values()];
      if (children[Math.floor(random() * children.length)]?.kill("SIGKILL")) kills.writers += 1;
    }
  })();
  let torn = 0;
  let reads = 0;
  const reading = (async () => {
    const storage = await open();
    while (!isOver) {
      try {
        const [total, copy] = (await storage.readMany(["/total", "/copy"])).results.map((result) =>
          result !== null && "body" in result
            ? new TextDecoder().decode(result.body)
            : result && "message" in result
              ? result.message
              : null,
        );
        reads += 1;
        if (total !== copy) torn += 1;
      } catch {
        // The server is down.
      }
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
      found !== null && found !== undefined && "body" in found ? new TextDecoder().decode(found.body) : -1,
    ),
    kills,
  };
}
