// A writer of the test of crashes, in a process of its own that is killed: it adds 1 to a number in two files until
// it has done so as often as asked, each time under a key, and prints each key once its commit was answered.
import { s3Storage } from "../../../dist/cli/library.js";

const { id, from, count, ...options } = JSON.parse(process.argv[2]);
const storage = await s3Storage({ ...options, timeoutMs: 5_000 });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (let number = from; number < count; ) {
  const key = `${id}:${number}`;
  try {
    const { results } = await storage.readMany(["/total"]);
    const [found] = results;
    if (found instanceof Error) throw found;
    const body = new TextEncoder().encode(String(Number(new TextDecoder().decode(found?.body) || 0) + 1));
    await storage.commit(
      [
        { op: "put", path: "/total", body },
        { op: "put", path: "/copy", body },
        { op: "put", path: `/writers/${id}`, body: new TextEncoder().encode(key) },
      ],
      { key, expect: [{ path: "/total", version: found?.entry.version ?? null }], actor: { agent: id } },
    );
  } catch (error) {
    // The server was killed, or another writer was faster: the same key again.
    if (!["CONFLICT", "IO_ERROR", "LOCK_TIMEOUT"].includes(error.code)) throw error;
    await pause(Math.random() * 40);
    continue;
  }
  process.stdout.write(`${key}\n`);
  number += 1;
}
