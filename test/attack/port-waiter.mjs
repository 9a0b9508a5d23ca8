// Waits for a port of 127.0.0.1 and takes it as soon as it is free, as another user of the machine can. It writes every
// request to standard output, a line each. `node port-waiter.mjs PORT silent|refusing|agreeing`
import { createServer } from "node:http";

const [port, manner] = process.argv.slice(2);

/** Answers everything with what a page would like to hear. */
const AGREEABLE = {
  answered: true,
  session: "0".repeat(64),
  proof: "0".repeat(64),
  run: "r",
  state: { seq: 0, waiting: [], settled: [], calls: [] },
};

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const { method, url, rawHeaders } = request;
    process.stdout.write(`${JSON.stringify({ method, url, rawHeaders, body })}\n`);
    if (manner === "silent") return;
    response.writeHead(manner === "refusing" ? 401 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(AGREEABLE));
  });
});
let isWaiting = false;
server.on("error", () => {
  if (!isWaiting) process.stdout.write('"waiting"\n');
  isWaiting = true;
  setImmediate(listen);
});
server.on("listening", () => process.stdout.write('"listening"\n'));
const listen = () => void server.listen(Number(port), "127.0.0.1");
listen();
