// A backend on an S3-style object store: a complete one, which passes the contract
// suite. Entity tags are versions, so a write says what it expects and loses no
// change; directories are prefixes, kept by an empty object of their own. Give
// `fetch` one that signs requests (such as aws4fetch) to use it on a real bucket.
import { pathToFileURL } from "node:url";
import { FilewrightError, openWorkspace } from "filewright";
import {
  checkPath,
  compareCodePoints,
  textOfBytes,
  bytesOfText,
  isLongName,
  sortEntries,
} from "filewright/backends";
import { glob } from "filewright/engine";
import { backendContract } from "filewright/testing";
import { startObjectStore } from "./object-store.mjs";

const parentOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
const fail = (code, path, details) => {
  throw new FilewrightError(code, "the object store refuses", { path, ...(details ? { details } : {}) });
};

export function objectBackend({ url, fetch = globalThis.fetch }) {
  /** One request. Whatever is no answer of the store is an error of its own: an absent object is one too, and told apart. */
  async function ask(method, path, { headers = {}, body, query = "", signal } = {}) {
    const key = path.slice(1).split("/").map(encodeURIComponent).join("/");
    try {
      const options = { method, headers, ...(body ? { body } : {}), ...(signal ? { signal } : {}) };
      const response = await fetch(`${url}/${key}${query}`, options);
      if (response.status >= 500) fail("IO_ERROR", path);
      if (response.status === 401 || response.status === 403) fail("PERMISSION_DENIED", path);
      return response;
    } catch (error) {
      if (signal?.aborted) fail("CANCELLED", path);
      throw error instanceof FilewrightError
        ? error
        : new FilewrightError("IO_ERROR", "the store does not answer", { path, cause: error });
    }
  }

  /** What a directory holds, page by page: objects and prefixes. */
  async function* list(path, { delimiter = "/", most = 1000 } = {}) {
    const prefix = path === "/" ? "" : `${path.slice(1)}/`;
    for (let token = ""; ; ) {
      const search = new URLSearchParams({
        "list-type": "2",
        "encoding-type": "url",
        prefix,
        "max-keys": String(most),
      });
      if (delimiter) search.set("delimiter", delimiter);
      if (token) search.set("continuation-token", token);
      const xml = await (await ask("GET", "/", { query: `?${search}` })).text();
      for (const [, key, modified, size] of xml.matchAll(
        /<Contents><Key>(.*?)<\/Key><LastModified>(.*?)<\/LastModified>.*?<Size>(\d+)<\/Size><\/Contents>/g,
      )) {
        const full = `/${decodeURIComponent(key)}`;
        // A directory's own object is not in it.
        if (full !== `${path}/`) yield { path: full, size: Number(size), mtime: Date.parse(modified) };
      }
      for (const [, key] of xml.matchAll(/<Prefix>(.*?)<\/Prefix>/g))
        yield { path: `/${decodeURIComponent(key)}`.replace(/\/$/, "") };
      const [, next] = /<NextContinuationToken>(.*?)<\/NextContinuationToken>/.exec(xml) ?? [];
      if (next === undefined) return;
      token = decodeURIComponent(next);
    }
  }

  const fileStat = (path, headers) => {
    const size = Number(
      /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1] ?? headers.get("content-length"),
    );
    const mtime = Date.parse(headers.get("last-modified"));
    return Object.freeze({
      path,
      type: "file",
      size,
      isDir: false,
      isFile: true,
      mtime,
      version: headers.get("etag"),
    });
  };
  const dirStat = (path) =>
    Object.freeze({ path, type: "dir", size: 0, isDir: true, isFile: false, mtime: 0 });

  /** The facts of a path, or undefined. */
  async function look(path) {
    checkPath(path);
    if (path === "/") return dirStat(path);
    const head = await ask("HEAD", path);
    if (head.ok) return fileStat(path, head.headers);
    if ((await ask("HEAD", `${path}/`)).ok) return dirStat(path);
    for await (const _ of list(path, { most: 1 })) return dirStat(path);
    return undefined;
  }
  /** Why a path is not there. */
  async function absent(path) {
    if (isLongName(nameOf(path))) fail("NAME_TOO_LONG", path);
    if (path !== "/" && (await look(parentOf(path)))?.isFile) fail("NOT_DIRECTORY", path);
    if (path !== "/" && (await look(parentOf(path))) === undefined) await absent(parentOf(path));
    return fail("NOT_FOUND", path);
  }
  const stat = async (path) => (await look(path)) ?? absent(path);

  async function read(path, { range, ifNoneMatch, maxBytes, signal } = {}) {
    checkPath(path);
    if (range !== undefined && !(range.start >= 0 && range.end >= range.start))
      fail("INVALID_ARGUMENT", path);
    const headers = {
      ...(range === undefined || range.end === range.start
        ? {}
        : { range: `bytes=${range.start}-${range.end - 1}` }),
      ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
    };
    const nothing = range !== undefined && range.end === range.start;
    const response = await ask(nothing ? "HEAD" : "GET", path, { headers, signal });
    if (response.status === 304) return null;
    if (response.status === 404) return (await stat(path)).isDir ? fail("IS_DIRECTORY", path) : absent(path);
    if (response.status === 416 || nothing) {
      const facts = await stat(path);
      return Object.freeze({ bytes: new Uint8Array(), version: facts.version, stat: facts });
    }
    const size = Number(response.headers.get("content-length"));
    if (maxBytes !== undefined && size > maxBytes) {
      await response.body?.cancel();
      fail("TOO_LARGE", path, { size, limit: maxBytes });
    }
    const facts = fileStat(path, response.headers);
    return Object.freeze({
      bytes: new Uint8Array(await response.arrayBuffer()),
      version: facts.version,
      stat: facts,
    });
  }

  async function writeBytes(path, content, { ifVersion, ifAbsent, createDirs, signal } = {}) {
    if (signal?.aborted) fail("CANCELLED", path);
    const there = await look(path);
    if (isLongName(nameOf(path))) fail("NAME_TOO_LONG", path);
    if (ifAbsent && there !== undefined) fail("ALREADY_EXISTS", path);
    if (there?.isDir) fail("IS_DIRECTORY", path);
    if (there === undefined && ifVersion !== undefined) fail("CONFLICT", path);
    const parent = await look(parentOf(path));
    if (parent?.isFile) fail("NOT_DIRECTORY", path);
    if (parent === undefined) await (createDirs ? backend.mkdir(parentOf(path)) : absent(path));
    const headers = {
      ...(ifVersion === undefined ? {} : { "if-match": ifVersion }),
      ...(ifAbsent ? { "if-none-match": "*" } : {}),
    };
    // The store decides, at the moment of the write: what was looked at above may be old.
    const response = await ask("PUT", path, {
      headers,
      body: content.length === 0 ? new Uint8Array() : content,
      signal,
    });
    if (response.status === 412 || response.status === 404)
      fail(ifAbsent ? "ALREADY_EXISTS" : "CONFLICT", path);
    return Object.freeze({ version: response.headers.get("etag") });
  }

  async function entries(path) {
    if (!(await stat(path)).isDir) fail("NOT_DIRECTORY", path);
    const found = [];
    for await (const { path: full, size, mtime } of list(path)) {
      const isDir = size === undefined;
      const facts = isDir ? {} : { size, mtime };
      found.push(
        Object.freeze({
          name: nameOf(full),
          path: full,
          type: isDir ? "dir" : "file",
          isDir,
          isFile: !isDir,
          ...facts,
        }),
      );
    }
    return sortEntries(found);
  }

  const backend = {
    async exists(path) {
      try {
        return (await look(path)) !== undefined;
      } catch (error) {
        if (error.code === "INVALID_ARGUMENT") return false;
        throw error;
      }
    },
    stat,
    read,
    readBytes: async (path) => (await read(path)).bytes,
    readText: async (path, { encoding } = {}) => textOfBytes((await read(path)).bytes, encoding, path),
    writeBytes,
    writeText: async (path, text, options) =>
      writeBytes(path, bytesOfText(text, options?.encoding, path), options),
    async delete(path) {
      const { isDir } = await stat(path);
      if (isDir) for await (const _ of list(path, { most: 2 })) fail("NOT_EMPTY", path);
      await ask("DELETE", isDir ? `${path}/` : path);
    },
    async mkdir(path, { parents = true, existOk = true } = {}) {
      const there = await look(path);
      if (there !== undefined) return existOk && there.isDir ? undefined : fail("ALREADY_EXISTS", path);
      if (isLongName(nameOf(path))) fail("NAME_TOO_LONG", path);
      const parent = await look(parentOf(path));
      if (parent?.isFile) fail("NOT_DIRECTORY", path);
      if (parent === undefined) await (parents ? backend.mkdir(parentOf(path)) : absent(path));
      await ask("PUT", `${path}/`, { body: new Uint8Array() });
    },
    listDir: (path) => entries(path),
    async *iterFiles(root) {
      if (!(await stat(root)).isDir) fail("NOT_DIRECTORY", root);
      // One flat list instead of a walk: that is what object stores are fast at.
      for await (const { path } of list(root, { delimiter: "" })) if (!path.endsWith("/")) yield path;
    },
    async glob(pattern, { root = "/" } = {}) {
      const globs = glob([pattern]);
      const found = [];
      for await (const path of backend.iterFiles(root))
        if (globs.matches(path.slice(root === "/" ? 1 : root.length + 1))) found.push(path);
      return Object.freeze(found.sort(compareCodePoints));
    },
  };
  return backend;
}

// Run by itself: the contract suite against a store on loopback, then a workspace.
if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  // Small pages, so that every list goes on to a second one.
  const store = await startObjectStore({ pageSize: 50 });
  let buckets = 0;
  const cases = [];
  backendContract(
    async () => {
      const backend = objectBackend(store);
      buckets += 1;
      await backend.mkdir(`/case-${buckets}`);
      return { backend, root: `/case-${buckets}` };
    },
    { test: (name, run) => cases.push({ name, run }), requires: ["read"] },
  );
  let failed = 0;
  for (const { name, run } of cases) {
    await run().catch((error) => {
      failed += 1;
      console.log(`not ok: ${name}: ${error.message}`);
    });
  }
  console.log(`${cases.length} cases of the contract, ${failed} failed`);

  const ws = await openWorkspace({ backend: objectBackend(store), root: "/project" });
  await ws.writeFile({ path: "notes/today.md", content: "- buy milk\n" });
  // Twenty at once: each write names the version it was made for, and none is lost.
  const texts = Array.from({ length: 20 }, (_, index) => `- item ${index}\n`);
  await Promise.all(texts.map((content) => ws.writeFile({ path: "notes/today.md", content, append: true })));
  const { total_lines } = await ws.readFile({ path: "notes/today.md" });
  console.log(`${total_lines} lines after 20 writers`);
  const { matches } = await ws.grep({ pattern: "item 1\\d$" });
  console.log(`${matches?.length} found by grep`);
  await ws.close();
  store.close();
  process.exitCode = failed === 0 ? 0 : 1;
}
