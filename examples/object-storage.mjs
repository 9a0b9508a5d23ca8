// A workspace in an S3-compatible object store, which any number of programs share. Give the address, the bucket and the
// credentials of your own store instead of the small one on loopback.
import { openWorkspace } from "filewright";
import { s3Storage } from "@filewright/storage/s3";
import { startObjectStore } from "./object-store.mjs";

const store = await startObjectStore();
const credentials = { accessKeyId: "example", secretAccessKey: "example" };
const storage = await s3Storage({ endpoint: store.url, bucket: "bucket", credentials, workspace: "notes" });
const ws = await openWorkspace({ storage, root: "/" });
await ws.writeFile({ path: "today.md", content: "- buy milk\n" });
const edits = Array.from({ length: 20 }, (_, n) => ({ old_text: "milk\n", new_text: `milk\n- item ${n}\n` }));
await Promise.all(edits.map((edit) => ws.editFile({ path: "today.md", ...edit })));
console.log(`${(await ws.fs.readText("/today.md")).split("\n").length - 1} lines after 20 writers`);
await ws.close();
store.close();
