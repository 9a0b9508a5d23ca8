// Uses each optional package through an installed Filewright, on files that the test has made. Runs in
// the folder where the packages are installed, and prints what came out as JSON.
import { spawn } from "node:child_process";
import { trace } from "@opentelemetry/api";
import { createElement } from "react";
import { renderToString as renderReact } from "react-dom/server";
import { createSSRApp, h } from "vue";
import { renderToString as renderVue } from "vue/server-renderer";
import { postgresStorage } from "@filewright/storage/postgres";
import { s3Storage } from "@filewright/storage/s3";
import { openWorkspace } from "filewright";
import { openTelemetry } from "filewright/hooks";
import * as inReact from "filewright/review/react";
import * as inVue from "filewright/review/vue";
import pg from "pg";

const spans = [];
const span = { setAttributes() {}, setStatus() {}, end() {} };
const tracer = {
  startSpan(name) {
    spans.push(name);
    return span;
  },
};
trace.setGlobalTracerProvider({ getTracer: () => tracer });

const ws = await openWorkspace({ root: process.argv[2], observers: [await openTelemetry()] });
const pdf = await ws.readFile({ path: "a.pdf" });
const yaml = await ws.readFile({ path: "a.yaml", json_pointer: "/servers/1/port" });
const image = await ws.call("read_file", { path: "a.png" });
await ws.close();

const client = new pg.Pool({ host: process.argv[3], user: "postgres", database: "postgres" });
const database = await postgresStorage({ client, workspace: "peers" });
const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
await database.commit([{ op: "put", path: "/every-byte", body }]);
const [stored] = (await database.readMany(["/every-byte"])).results;
const sameBytes = Buffer.from(stored?.body ?? []).equals(body);
await client.end();

let signature = "";
const storage = await s3Storage({
  endpoint: "https://store.invalid",
  bucket: "bucket",
  credentials: { accessKeyId: "access", secretAccessKey: "secret" },
  workspace: "repo",
  async fetch(request) {
    signature = request.headers.get("authorization") ?? "";
    return new Response(null, { status: 404 });
  },
});
await storage.readMany(["/a.txt"]);

const command = new URL("node_modules/filewright/dist/bin/filewright.js", import.meta.url).pathname;
const options = ["--no-token", "--port", "0", "--metrics=127.0.0.1:0"];
const server = spawn(process.execPath, [command, "serve", process.argv[2], ...options]);
const at = await new Promise((resolve, reject) => {
  let said = "";
  server.stderr.on("data", (bytes) => {
    said += bytes;
    const found = /Metrics are at (\S+)/u.exec(said)?.[1];
    if (found !== undefined) resolve(found);
  });
  server.once("exit", () => reject(new Error(said)));
});
const metrics = await (await fetch(at)).text();
server.kill("SIGKILL");

// On a server, without a DOM: the tags of the elements, and the first view of the hook.
function ReactPage() {
  const { connection, pending } = inReact.useReview("/review");
  const text = `${connection}, ${pending.length} wait`;
  return createElement("main", null, createElement(inReact.FilewrightReview, { src: "/review" }), text);
}
const vuePage = createSSRApp({
  setup() {
    const { view } = inVue.useReview("/review");
    const text = () => `${view.value.connection}, ${view.value.pending.length} wait`;
    return () => h("main", [h(inVue.FilewrightReview, { src: "/review" }), text()]);
  },
});
const pages = [renderReact(createElement(ReactPage)), await renderVue(vuePage)];

console.log(
  JSON.stringify({
    pages,
    metrics,
    sameBytes,
    signature,
    pdf: pdf.content,
    yaml: yaml.content,
    image: image.data?.image?.sent,
    spans,
  }),
);
