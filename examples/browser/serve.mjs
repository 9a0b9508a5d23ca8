// Shows the page of this folder on loopback, with the built package at ./filewright/.
// Node's half of Filewright is not needed: the server hands out files.
//
//   npm run build && npm run build:wasm && node examples/browser/serve.mjs
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, resolve, sep } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};
/** No inline script, no eval, nothing from elsewhere. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Starts the server; gives its address and a way to end it. */
export async function servePage(port = 0) {
  const server = createServer(async (request, response) => {
    const path =
      decodeURIComponent(new URL(request.url, "http://localhost").pathname).slice(1) || "index.html";
    const [base, name] = path.startsWith("filewright/")
      ? [dist, path.slice("filewright/".length)]
      : [here, path];
    const file = resolve(base, name);
    const type = TYPES[extname(file)];
    try {
      if (type === undefined || !file.startsWith(resolve(base) + sep)) throw new Error("not here");
      const body = await readFile(file);
      response.writeHead(200, {
        "content-type": type,
        "content-security-policy": POLICY,
        "cache-control": "no-store",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done, fail) => server.once("error", fail).listen(port, "127.0.0.1", done));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { url } = await servePage(4173);
  console.log(`open ${url}`);
}
