/** A static server on loopback, as strict with its pages as a careful host is. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The served files, by name. A function writes the response itself. */
export type Files = Readonly<
  Record<string, string | Uint8Array | ((request: IncomingMessage, response: ServerResponse) => void)>
>;

/** A running server. */
export interface Served {
  /** Without a final slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** No inline script, no eval, nothing from elsewhere; WebAssembly may be compiled. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  wasm: "application/wasm",
};

/** Serves files on a free port. A name that ends in `/` answers everything below it. */
export async function serve(files: Files): Promise<Served> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = decodeURIComponent(pathname).slice(1);
    const below = Object.keys(files).find((key) => key.endsWith("/") && name.startsWith(key));
    const file = files[name] ?? (below === undefined ? undefined : files[below]);
    if (typeof file === "function") return file(request, response);
    if (file === undefined) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream",
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    response.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
