// A workspace in an S3-compatible object store, shared by many writers. Every write says which version it was made
// for, and one conditional object decides; so twenty writers at once lose nothing. Give the address, the bucket and
// the credentials of your own store instead of the small one on loopback.
import { s3Storage } from "filewright/s3";
import { startObjectStore } from "./object-store.mjs";

const store = await startObjectStore();
const credentials = { accessKeyId: "example", secretAccessKey: "example" };
const storage = await s3Storage({ endpoint: store.url, bucket: "bucket", credentials, workspace: "notes" });
// Refuses a store in which two writers can win the same condition.
const { atomic, shared } = await storage.probe();
console.log(`commits are ${atomic ? "atomic" : "not atomic"} and ${shared ? "shared" : "not shared"}`);

/** Adds a line to a file, whoever else writes to it. */
async function append(path, line) {
  for (;;) {
    const [found] = (await storage.readMany([path])).results;
    const text = found === null ? "" : new TextDecoder().decode(found.body);
    const body = new TextEncoder().encode(text + line);
    const expect = [{ path, version: found === null ? null : found.entry.version }];
    try {
      return await storage.commit([{ op: "put", path, body }], { expect });
    } catch (error) {
      // Another writer was faster: again, on what is there now.
      if (error.code !== "CONFLICT") throw error;
    }
  }
}

await append("/notes/today.md", "- buy milk\n");
const lines = Array.from({ length: 20 }, (_, index) => `- item ${index}\n`);
await Promise.all(lines.map((line) => append("/notes/today.md", line)));
const [file] = (await storage.readMany(["/notes/today.md"])).results;
console.log(`${new TextDecoder().decode(file.body).split("\n").length - 1} lines after 20 writers`);

// A fork copies nothing; its changes come back as one commit.
const fork = await storage.fork("notes-tidied");
await fork.commit([{ op: "move", from: "/notes/today.md", to: "/notes/done.md" }]);
const { entries, conflicts } = await storage.merge(fork);
console.log(
  `merged ${entries.map(({ path, type }) => `${path} (${type})`).join(", ")}; ${conflicts.length} conflicts`,
);
store.close();
