/** The backend over HTTP, against a server on loopback. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HttpBackend, type HttpManifest, OverlayBackend, openWorkspace } from "../../js/index.node.ts";
import { backendContract } from "../../js/testing/index.ts";

/** How a server answers: all of HTTP, without ranges, or without tags and times. */
type Manner = "full" | "no ranges" | "bare";

const sites = new Map<string, { readonly files: Map<string, string>; readonly manner: Manner }>();
const asked: { readonly method: string; readonly range: string | undefined }[] = [];
let address = "";

function answer(request: IncomingMessage, response: ServerResponse): void {
  const [, site = "", ...rest] = new URL(request.url ?? "/", "http://x").pathname.split("/");
  const name = rest.map(decodeURIComponent).join("/");
  const { files, manner } = sites.get(site) ?? { files: new Map<string, string>(), manner: "bare" };
  asked.push({ method: request.method ?? "", range: request.headers.range });
  if (name.startsWith("status-")) return void response.writeHead(Number(name.slice(7))).end();
  const content =
    name === "filewright.json"
      ? JSON.stringify({ files: [...files.keys()], directories: ["ws"] })
      : files.get(name);
  if (content === undefined) return void response.writeHead(404).end();
  const bytes = Buffer.from(content);
  const etag = `"${createHash("sha1").update(bytes).digest("hex")}"`;
  const facts: Record<string, string> =
    manner === "bare" ? {} : { etag, "last-modified": new Date(0).toUTCString() };
  if (manner !== "bare" && request.headers["if-none-match"] === etag)
    return void response.writeHead(304, facts).end();
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (first !== undefined && manner === "full") {
    const part = bytes.subarray(Number(first), Number(last) + 1);
    response.writeHead(206, { ...facts, "content-length": part.length });
    return void response.end(part);
  }
  response.writeHead(200, manner === "bare" ? {} : { ...facts, "content-length": bytes.length });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

const server = createServer(answer);
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

let count = 0;
function site(manner: Manner, files: Readonly<Record<string, string>> = {}) {
  const name = `site-${++count}`;
  const held = new Map(Object.entries(files));
  sites.set(name, { files: held, manner });
  return { files: held, url: `${address}/${name}` };
}

describe.each<Manner>(["full", "no ranges", "bare"])("contract: over HTTP, %s", (manner) => {
  backendContract(
    () => {
      const { files, url } = site(manner);
      return {
        backend: new HttpBackend({ url }),
        root: "/ws",
        seed: (given) => {
          for (const [path, content] of Object.entries(given)) files.set(`ws/${path}`, content);
        },
      };
    },
    { test: it, readOnly: true, requires: ["ranges"] },
  );
});

describe("contract: an overlay over HTTP", () => {
  backendContract(
    () => ({ backend: new OverlayBackend(new HttpBackend({ url: site("full").url })), root: "/ws" }),
    {
      test: it,
      requires: ["conditions", "ranges"],
    },
  );
});

describe("over HTTP", () => {
  it("a part of a file is a part of the transfer", async () => {
    const { url } = site("full", { big: "0123456789".repeat(1000) });
    const backend = new HttpBackend({ url });
    asked.length = 0;
    const part = await backend.read("/big", { range: { start: 5000, end: 5004 } });
    expect(new TextDecoder().decode(part?.bytes)).toBe("0123");
    expect(asked.map(({ method, range }) => range ?? method)).toEqual(["GET", "HEAD", "bytes=5000-5003"]);
  });

  it("a version follows the server, and the same one is not sent again", async () => {
    const { files, url } = site("full", { f: "one" });
    const backend = new HttpBackend({ url });
    const first = await backend.read("/f");
    expect(await backend.read("/f", { ifNoneMatch: first?.version ?? "" })).toBeNull();
    files.set("f", "two");
    expect((await backend.read("/f", { ifNoneMatch: first?.version ?? "" }))?.version).not.toBe(
      first?.version,
    );
    files.set("g", "new");
    expect(await backend.exists("/g")).toBe(false);
    backend.refresh();
    expect(await backend.exists("/g")).toBe(true);
  });

  it("names of any kind are asked for as they are", async () => {
    const names = ["a b", "q?x=1#y", "100%", "%2e%2e", "é", "back\\slash", "a&b+c"];
    const { url } = site("full", Object.fromEntries(names.map((name) => [`d/${name}`, name])));
    const backend = new HttpBackend({ url });
    for (const name of names) expect(await backend.readText(`/d/${name}`)).toBe(name);
  });

  it.for<readonly [number, string]>([
    [404, "NOT_FOUND"],
    [401, "PERMISSION_DENIED"],
    [403, "PERMISSION_DENIED"],
    [500, "IO_ERROR"],
  ])("an answer of %i is %s", async ([status, code]) => {
    const file = `status-${status}`;
    const backend = new HttpBackend({ url: site("full").url, manifest: { files: [file] } });
    await expect(backend.readBytes(`/${file}`)).rejects.toMatchObject({ code, details: { status } });
  });

  it("a server that is not there is IO_ERROR, a signal CANCELLED", async () => {
    const manifest = { files: ["f"] };
    const gone = new HttpBackend({ url: "http://127.0.0.1:9/", manifest });
    await expect(gone.readBytes("/f")).rejects.toMatchObject({ code: "IO_ERROR" });
    const stop = new AbortController();
    const waiting = new HttpBackend({
      url: "http://127.0.0.1:9/",
      manifest,
      fetch: (_, { signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
          queueMicrotask(() => stop.abort());
        }),
    });
    await expect(waiting.read("/f", { signal: stop.signal })).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it.for<readonly [string, unknown]>([
    ["a path that climbs", { files: ["../secret"] }],
    ["a path with a climb inside", { files: ["a/../../b"] }],
    ["an absolute one", { files: ["/etc/passwd"] }],
    ["a NUL", { files: ["a\0b"] }],
    ["a file that is a directory too", { files: ["a", "a/b"] }],
    ["no list", {}],
  ])("a manifest with %s is refused", async ([, manifest]) => {
    const backend = new HttpBackend({ url: site("full").url, manifest: manifest as HttpManifest });
    await expect(backend.listDir("/")).rejects.toMatchObject({ code: "IO_ERROR" });
  });

  it("a workspace searches it, and edits a copy", async () => {
    const { files, url } = site("full", { "src/a.ts": "const retries = 3;\n", "b.md": "retries\n" });
    const overlay = new OverlayBackend(new HttpBackend({ url }));
    const ws = await openWorkspace({ backend: overlay, root: "/" });
    expect((await ws.grep({ pattern: "retries" })).matches?.map(({ path }) => path)).toEqual([
      "b.md",
      "src/a.ts",
    ]);
    await ws.editFile({ path: "src/a.ts", edits: [{ old_text: "retries = 3", new_text: "retries = 5" }] });
    expect(await overlay.changes()).toEqual([{ path: "/src/a.ts", change: "changed", type: "file" }]);
    await expect(overlay.commit()).rejects.toMatchObject({ code: "READ_ONLY" });
    expect(files.get("src/a.ts")).toBe("const retries = 3;\n");
    await ws.close();
  });
});
