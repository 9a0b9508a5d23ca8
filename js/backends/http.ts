/**
 * Read-only files over HTTP: a static site, a public bucket, a release. HTTP lists nothing, so a
 * manifest names the files. Contents are requested when they are read, parts of them by range, and
 * an entity tag is the version.
 */
import { checkCalls, standardChecks } from "./call-options.ts";
import { CompleteFiles } from "./complete.ts";
import { concatBytes } from "../engine/wire/bytes.ts";
import {
  callback,
  either,
  optionChecker,
  instance,
  type Options,
  options as described,
  required,
  text,
  urlOption,
} from "../schema/option.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { FsEntry, FsStat, ReadOptions, VersionedBytes, WriteResult } from "./backend.ts";
import { checkRange, checkSignal, backendError, tooLargeError } from "./failure.ts";
import { type HttpFile, type HttpManifest, indexManifest, type ManifestIndex } from "./http-manifest.ts";
import { checkPath, normalise, sortCodePoints } from "./paths.ts";

/** The options of {@link HttpBackend}. */
export interface HttpOptions {
  /** The address to which every path is relative. */
  readonly url: string | URL;
  /** The list of files, or its address relative to `url`. Default `filewright.json`. */
  readonly manifest?: HttpManifest | string | URL | undefined;
  /** Sends the requests. Default: the global `fetch`. A function of the host can add credentials and time limits. */
  readonly fetch?: ((url: URL, init: RequestInit) => Promise<Response>) | undefined;
}

/**
 * The options of {@link HttpBackend}.
 *
 * @printed
 */
export const HTTP_OPTIONS: Options<HttpOptions> = described("HttpOptions", {
  url: required(either(text(), urlOption)),
  manifest: either(
    either(text(), urlOption),
    // The content of a manifest is checked where it is read, as is one that a server sends.
    instance<HttpManifest>("HttpManifest", "a manifest", {}),
  ),
  fetch: callback(),
});

const checkOptions = optionChecker("HttpBackend", HTTP_OPTIONS);

interface FileResponse {
  readonly response: Response;
  readonly file: HttpFile;
  readonly path: string;
}

/**
 * Reads over HTTP. Every change is READ_ONLY; lay an `OverlayBackend` over it to
 * work on a copy.
 *
 * @example
 * const backend = new HttpBackend({ url: "https://example.org/project/", manifest: { files: ["a.txt", "src/b.ts"] } });
 * await backend.readText("/src/b.ts");
 */
export class HttpBackend extends CompleteFiles {
  readonly #base: URL;
  readonly #given: HttpManifest | string | URL;
  readonly #fetch: (url: URL, init: RequestInit) => Promise<Response>;
  #index: Promise<ManifestIndex> | undefined;

  constructor(given: HttpOptions) {
    super({ conditions: true, ranges: true });
    const options = checkOptions(given);
    const base = new URL(options.url);
    if (!base.pathname.endsWith("/")) base.pathname += "/";
    this.#base = base;
    this.#given = options.manifest ?? "filewright.json";
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  /** Loads the manifest again at the next access. */
  refresh(): void {
    this.#index = undefined;
  }

  override async exists(path: string): Promise<boolean> {
    try {
      await this.#entry(path);
      return true;
    } catch (error) {
      const absent = ["NOT_FOUND", "NOT_DIRECTORY", "INVALID_ARGUMENT", "NAME_TOO_LONG"];
      if (error instanceof FilewrightError && absent.includes(error.code)) return false;
      throw error;
    }
  }
  /** Returns the current facts from the server. */
  async stat(path: string): Promise<FsStat> {
    const { at, file } = await this.#entry(path);
    if (file === null) return directoryStat(at);
    const response = await this.#ask(path, at, { method: "HEAD" });
    const version = versionOfResponse(response);
    const size = response.headers.get("content-length");
    if (version !== undefined && size !== null)
      return fileStat(at, Number(size), timeOf(response, file), version);
    // If the response lacks a version or a size, the content is read.
    return (await this.#whole(path, {})).stat;
  }
  /** Returns the facts about a path from the manifest, without a request where the manifest states the size. */
  override async lstat(path: string): Promise<FsStat> {
    const { at, file } = await this.#entry(path);
    if (file === null) return directoryStat(at);
    if (file.size === undefined) return this.stat(path);
    return Object.freeze({
      path: at,
      type: "file",
      size: file.size,
      isDir: false,
      isFile: true,
      mtime: file.mtime ?? 0,
    });
  }
  override async readBytes(path: string): Promise<Uint8Array> {
    return (await this.#whole(path, {})).bytes;
  }
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    const { range, ifNoneMatch, maxBytes = Number.POSITIVE_INFINITY, signal } = options;
    checkSignal(signal, path);
    checkRange(range, path);
    if (range !== undefined) return this.#part(path, range.start, range.end, options);
    const whole = await this.#whole(path, {
      signal,
      maxBytes,
      ...(ifNoneMatch?.includes('"') ? { headers: { "if-none-match": ifNoneMatch } } : {}),
    });
    return whole.version === ifNoneMatch ? null : whole;
  }

  async #whole(
    path: string,
    how: {
      readonly signal?: AbortSignal | undefined;
      readonly maxBytes?: number;
      readonly headers?: Record<string, string>;
    },
  ): Promise<VersionedBytes> {
    const { at, file } = await this.#file(path);
    const { signal, headers, maxBytes = Number.POSITIVE_INFINITY } = how;
    const response = await this.#ask(path, at, { signal, headers });
    const known = versionOfResponse(response);
    if (response.status === 304) {
      const version = known ?? (headers?.["if-none-match"] as string);
      const stat = fileStat(at, file.size ?? 0, timeOf(response, file), version);
      return Object.freeze({ bytes: new Uint8Array(), version: headers?.["if-none-match"] ?? version, stat });
    }
    const bytes = await readBody({ response, file, path }, maxBytes, signal);
    const version = known ?? engine().sha256(bytes);
    return Object.freeze({
      bytes,
      version,
      stat: fileStat(at, bytes.length, timeOf(response, file), version),
    });
  }

  async #part(
    path: string,
    start: number,
    end: number,
    options: ReadOptions,
  ): Promise<VersionedBytes | null> {
    const { signal, maxBytes = Number.POSITIVE_INFINITY, ifNoneMatch } = options;
    const { at, file } = await this.#file(path);
    const facts = await this.stat(path);
    const version = facts.version as string;
    if (version === ifNoneMatch) return null;
    const last = Math.min(end, facts.size);
    if (last <= start) return Object.freeze({ bytes: new Uint8Array(), version, stat: facts });
    if (last - start > maxBytes) throw tooLargeError(path, last - start, maxBytes);
    // The tag ties the part to the version of one content; without one the whole content is read.
    const headers = {
      range: `bytes=${start}-${last - 1}`,
      ...(version.startsWith('"') ? { "if-range": version } : {}),
    };
    const response = await this.#ask(path, at, { signal, headers });
    if (response.status !== 206) {
      const bytes = await readBody({ response, file, path }, Number.POSITIVE_INFINITY, signal);
      const now = versionOfResponse(response) ?? engine().sha256(bytes);
      const stat = fileStat(at, bytes.length, timeOf(response, file), now);
      return Object.freeze({ bytes: bytes.slice(start, end), version: now, stat });
    }
    const bytes = await readBody({ response, file, path }, last - start, signal);
    if (bytes.length !== last - start)
      throw backendError("IO_ERROR", path, "the server gave another part than asked for");
    return Object.freeze({ bytes, version, stat: facts });
  }

  async listDir(path: string): Promise<readonly FsEntry[]> {
    const { at, index } = await this.#entry(path);
    const entries = index.directories.get(at);
    if (entries === undefined) throw backendError("NOT_DIRECTORY", path);
    return entries;
  }
  override async *iterFiles(root: string): AsyncGenerator<string> {
    const { at, index } = await this.#entry(root);
    if (!index.directories.has(at)) throw backendError("NOT_DIRECTORY", root);
    const prefix = at === "/" ? "/" : `${at}/`;
    yield* sortCodePoints([...index.files.keys()].filter((file) => file.startsWith(prefix)));
  }

  async writeBytes(path: string): Promise<WriteResult> {
    throw readOnlyError(path);
  }
  async delete(path: string): Promise<void> {
    throw readOnlyError(path);
  }
  async mkdir(path: string): Promise<void> {
    throw readOnlyError(path);
  }

  /** Returns the manifest's file at a path, or null for a directory. @throws NOT_FOUND, NOT_DIRECTORY */
  async #entry(path: string): Promise<{ at: string; file: HttpFile | null; index: ManifestIndex }> {
    checkPath(path);
    const at = normalise(path).path;
    this.#index ??= this.#load().catch((error: unknown) => {
      this.#index = undefined;
      throw error;
    });
    const index = await this.#index;
    const file = index.files.get(at);
    if (file !== undefined) return { at, file, index };
    if (index.directories.has(at)) return { at, file: null, index };
    throw backendError("NOT_FOUND", path);
  }
  async #file(path: string): Promise<{ at: string; file: HttpFile }> {
    const { at, file } = await this.#entry(path);
    if (file === null) throw backendError("IS_DIRECTORY", path);
    return { at, file };
  }

  async #load(): Promise<ManifestIndex> {
    const given = this.#given;
    if (typeof given === "object" && !(given instanceof URL)) return indexManifest(given);
    const response = await this.#send("/", new URL(given, this.#base), {});
    try {
      return indexManifest((await response.json()) as HttpManifest);
    } catch (error) {
      if (error instanceof FilewrightError) throw error;
      throw backendError("IO_ERROR", "/", "the manifest is not JSON", { cause: error });
    }
  }

  #ask(path: string, at: string, init: RequestSettings): Promise<Response> {
    const url = new URL(this.#base);
    url.pathname += at.slice(1).split("/").map(encodeURIComponent).join("/");
    return this.#send(path, url, init);
  }

  /**
   * Sends one request. A network failure is an error of its own: it does not mean that the file is
   * absent or forbidden.
   */
  async #send(
    path: string,
    url: URL,
    { method = "GET", headers = {}, signal }: RequestSettings,
  ): Promise<Response> {
    let response: Response;
    try {
      response = await this.#fetch(url, { method, headers, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      checkSignal(signal, path);
      throw backendError("IO_ERROR", path, "the server does not answer", { cause: error });
    }
    if (response.ok || response.status === 304) return response;
    await response.body?.cancel();
    const { status } = response;
    const details = { status };
    if (status === 404 || status === 410) throw backendError("NOT_FOUND", path, undefined, { details });
    if (status === 401 || status === 403)
      throw backendError("PERMISSION_DENIED", path, undefined, { details });
    throw backendError("IO_ERROR", path, `the server answered with ${status}`, { details });
  }
}

checkCalls(HttpBackend.prototype, standardChecks("HttpBackend"));

interface RequestSettings {
  readonly method?: string;
  readonly headers?: Record<string, string> | undefined;
  readonly signal?: AbortSignal | undefined;
}

function readOnlyError(path: string): FilewrightError {
  checkPath(path);
  return backendError("READ_ONLY", path, "files over HTTP are read-only");
}

/** Returns the body of a response. Reads at most `maxBytes`, because the length that a server states may be wrong. */
async function readBody(
  { response, path }: FileResponse,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const told = Number(response.headers.get("content-length") ?? 0);
  if (told > maxBytes && response.headers.get("content-encoding") === null) {
    await response.body?.cancel();
    throw tooLargeError(path, told, maxBytes);
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      parts.push(part.value);
      size += part.value.length;
      if (size <= maxBytes) continue;
      await reader?.cancel();
      throw tooLargeError(path, size, maxBytes);
    }
  } catch (error) {
    if (error instanceof FilewrightError) throw error;
    checkSignal(signal, path);
    throw backendError("IO_ERROR", path, "the answer of the server broke off", { cause: error });
  }
  return concatBytes(parts);
}

/** Returns the entity tag; else time and length, if the server states both; else undefined. */
function versionOfResponse({ headers }: Response): string | undefined {
  const tag = headers.get("etag");
  if (tag !== null) return tag;
  const [time, length] = [headers.get("last-modified"), headers.get("content-length")];
  return time === null || length === null ? undefined : `time:${Date.parse(time)}:${length}`;
}

/** Returns when a file was changed, by the response or else by the manifest, in milliseconds since 1970; 0 if neither says. */
function timeOf({ headers }: Response, file: HttpFile): number {
  const time = Date.parse(headers.get("last-modified") ?? "");
  return Number.isNaN(time) ? (file.mtime ?? 0) : time;
}

function fileStat(path: string, size: number, mtime: number, version: string): FsStat {
  return Object.freeze({ path, type: "file", size, isDir: false, isFile: true, mtime, version });
}

function directoryStat(path: string): FsStat {
  return Object.freeze({ path, type: "dir", size: 0, isDir: true, isFile: false, mtime: 0 });
}
