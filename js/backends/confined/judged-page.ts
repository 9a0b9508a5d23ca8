/** Pages and hashes of one file that the storage of a confined backend answers: used if their types are right. */
import { engine } from "../../engine/current.ts";
import type { Page, PageRequest } from "../../engine/read.ts";
import type { FsBackend } from "../backend.ts";
import { readVersioned } from "../fallback/fallback.ts";
import type { VersionedBytes } from "../backend.ts";
import { askOrWalk, listOf, recordOf, unusable } from "./judged.ts";

type Signalled = { readonly signal?: AbortSignal | undefined };

/** The type of each field of a page; with `null`, the field may be null. */
const PAGE_FIELDS: { readonly [K in keyof Page]-?: readonly string[] } = {
  content: ["string"],
  startLine: ["number"],
  endLine: ["number"],
  linesRead: ["number"],
  totalLines: ["number", "null"],
  atLeastLines: ["number"],
  size: ["number"],
  startByte: ["number"],
  encoding: ["string"],
  eol: ["string", "null"],
  bom: ["boolean"],
  truncated: ["boolean"],
  nextStartLine: ["number", "null"],
  nextStartByte: ["number", "null"],
  longLines: ["number"],
  long: ["list"],
  cutLines: ["list"],
  anchors: ["string", "null"],
  hash: ["string", "null"],
  mime: ["string"],
  lossy: ["boolean"],
  nuls: ["boolean"],
  changed: ["boolean"],
  version: ["string", "undefined"],
  mtime: ["number", "undefined"],
  mode: ["number", "undefined"],
};
const EOLS: readonly unknown[] = [null, "none", "lf", "crlf", "mixed"];
const CONTENT_HASH = /^sha256:[0-9a-f]{64}$/;

/** Returns the page that the storage answers. @throws UnusableAnswer for wrong types */
async function judgedPage(inner: FsBackend, path: string, request: PageRequest & Signalled): Promise<Page> {
  const given = recordOf(await inner.readLines?.(path, request));
  const page: Record<string, unknown> = {};
  for (const [name, types] of Object.entries(PAGE_FIELDS)) {
    const value = given[name];
    if (!types.includes(typeOf(value))) unusable(`'${name}' of a page has the wrong type`);
    if (value !== undefined) page[name] = value;
  }
  if (!EOLS.includes(page["eol"])) unusable("the line ends of a page are unknown");
  if (typeof page["hash"] === "string" && !CONTENT_HASH.test(page["hash"])) unusable("the hash is none");
  for (const line of listOf(page["cutLines"]))
    if (typeOf(line) !== "number") unusable("a line has no number");
  page["long"] = listOf(page["long"]).map((long) => {
    const { line, restByte, restBytes } = recordOf(long);
    const isLong = typeOf(line) === "number" && typeOf(restByte) === "number";
    if (!isLong || !["number", "null"].includes(typeOf(restBytes)))
      unusable("a long line has the wrong type");
    return { line, restByte, restBytes };
  });
  return Object.freeze(page) as unknown as Page;
}

/** Returns a page of a file that is read as a whole, as a tool makes it where the storage has no pages. */
async function pageOfWhole(inner: FsBackend, path: string, request: PageRequest & Signalled): Promise<Page> {
  const { signal, ...wanted } = request;
  const { bytes, version, stat } = (await readVersioned(inner, path, { signal })) as VersionedBytes;
  const page = await engine().reading.readPage(bytes, wanted, path, { signal });
  return Object.assign(page, { version, mtime: stat.mtime });
}

/** The hash of a content and its version. */
type HashAndVersion = { readonly hash: string; readonly version: string };

/** Returns the hash that the storage answers. @throws UnusableAnswer for anything else */
async function judgedHash(inner: FsBackend, path: string, options?: Signalled): Promise<HashAndVersion> {
  const { hash, version } = recordOf(await inner.hash?.(path, options));
  if (typeof hash !== "string" || !CONTENT_HASH.test(hash) || typeof version !== "string")
    return unusable("no hash with a version");
  return Object.freeze({ hash, version });
}

/** Returns the hash of a file that is read as a whole. */
async function hashOfWhole(inner: FsBackend, path: string, options: Signalled = {}): Promise<HashAndVersion> {
  const { bytes, version } = (await readVersioned(inner, path, options)) as VersionedBytes;
  return Object.freeze({ hash: engine().sha256(bytes), version });
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "number" && !Number.isFinite(value) ? "no number" : typeof value;
}

/** Returns the page of the storage's `readLines`, or one of the whole file where that answer cannot be used. */
export function pageOfStorage(
  inner: FsBackend,
  path: string,
  request: PageRequest & Signalled,
): Promise<Page> {
  return askOrWalk(
    "readLines",
    () => judgedPage(inner, path, request),
    () => pageOfWhole(inner, path, request),
  );
}

/** Returns the hash of the storage's `hash`, or that of the whole file where that answer cannot be used. */
export function hashOfStorage(inner: FsBackend, path: string, options?: Signalled): Promise<HashAndVersion> {
  return askOrWalk(
    "hash",
    () => judgedHash(inner, path, options),
    () => hashOfWhole(inner, path, options),
  );
}
