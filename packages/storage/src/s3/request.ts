/**
 * Requests to an S3-compatible store: signed, limited in time and size, and repeated a bounded number of times when
 * the store is busy or silent.
 */
import { FilewrightError, importPackage, type NeededPackage } from "filewright/files";
import { concatBytes } from "../values.ts";
import {
  cancelledError,
  damageError,
  type Failure,
  isTransient,
  silentError,
  statusError,
} from "./failure.ts";
import type { S3Credentials, S3StorageOptions } from "./options.ts";
import { parseErrorCode } from "./xml.ts";

/** One request. */
export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** The key of the object; absent for the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The SHA-256 of the body in hexadecimal digits, which the store compares. */
  readonly sha256?: string;
  /** The size of the largest answer. Default 64 KiB. */
  readonly maxBytes?: number;
  /** The statuses besides 2xx that are an answer and no error. */
  readonly accept?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a request. */
export interface S3Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const MAX_ERROR_BYTES = 65_536;
const FIRST_DELAY_MS = 100;
/** The age in milliseconds that a `Date` can have when it is sent: the second that it omits, and one until it is written again. */
const MAX_DATE_AGE_MS = 3000;
/** The longest wait that a store may ask for. One that asks for more is an error at once. */
const MAX_DELAY_MS = 20_000;
const EMPTY_BYTES = new Uint8Array();

const BUCKET_FORM = /^[A-Za-z\d][\w.-]{0,253}[A-Za-z\d]$/u;

/** The part of `AwsClient` of aws4fetch that is used. Its own types would need those of the DOM in every project. */
type Client = new (options: {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly service: string;
  readonly region: string;
  readonly cache: Map<string, ArrayBuffer>;
  readonly retries: number;
}) => { sign(url: string, init: RequestInit): Promise<Request> };

/** The package that signs requests. */
export const SIGNER: NeededPackage = {
  name: "aws4fetch",
  least: "1.0.20",
  exports: ["AwsClient"],
  install: "aws4fetch",
};

/** Loads the package that signs requests. */
export async function loadSigner(): Promise<Client> {
  return (await importPackage(SIGNER, () => import("aws4fetch"))).AwsClient;
}

/** Sends requests to one bucket. */
export class S3Client {
  readonly #base: string;
  readonly #region: string;
  readonly #credentials: S3StorageOptions["credentials"];
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #timeoutMs: number;
  readonly #attempts: number;
  readonly #Signer: Client;
  /** The derived keys of the signature, kept from one request to the next. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  /** The clock of the store less that of this machine, by its answers, in milliseconds. */
  #clockOffset = 0;
  #lastNow = 0;

  constructor(options: S3StorageOptions, Signer: Client) {
    const base = new URL(options.endpoint);
    if (
      (base.protocol !== "https:" && base.protocol !== "http:") ||
      base.username !== "" ||
      base.password !== ""
    )
      throw new FilewrightError("INVALID_ARGUMENT", "`endpoint` is an http or https address without a user");
    if (!BUCKET_FORM.test(options.bucket))
      throw new FilewrightError("INVALID_ARGUMENT", "`bucket` is no name of a bucket");
    this.#base = `${base.origin}${base.pathname.replace(/\/+$/u, "")}/${encodeURIComponent(options.bucket)}`;
    this.#region = options.region ?? "us-east-1";
    this.#credentials = options.credentials;
    this.#fetch = options.fetch ?? ((request) => fetch(request));
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#attempts = options.attempts ?? 4;
    this.#Signer = Signer;
  }

  /** Returns the time of the store in milliseconds since 1970, by its answers; it never goes back. */
  now(): number {
    this.#lastNow = Math.max(this.#lastNow, Math.round(Date.now() + this.#clockOffset));
    return this.#lastNow;
  }

  /** Sends a request, again where that helps, and returns its answer. */
  async send(request: S3Request): Promise<S3Reply> {
    const isChange = request.method === "PUT" || request.method === "DELETE";
    for (let attempt = 1; ; attempt += 1) {
      const { reply, error, delay } = await this.#attempt(request, isChange, attempt);
      if (reply !== undefined) return reply;
      if (delay === undefined || attempt >= this.#attempts) throw error;
      await wait(delay, request.signal, isChange);
    }
  }

  async #attempt(
    request: S3Request,
    isChange: boolean,
    attempt: number,
  ): Promise<{ reply?: S3Reply; error?: unknown; delay?: number }> {
    // Full jitter: clients that failed together do not come back together.
    const backoff = Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
    let response: Response;
    let body: Uint8Array;
    const { signal } = request;
    if (signal?.aborted) throw cancelledError(false);
    // Outside of the attempt: wrong credentials are no failure of the connection.
    const signed = await this.#sign(request);
    const sent = Date.now();
    try {
      response = await this.#fetch(signed);
      const isError = response.status >= 400;
      const limit = isError ? MAX_ERROR_BYTES : (request.maxBytes ?? MAX_ERROR_BYTES);
      body = await readBody(response, request, limit);
    } catch (error) {
      if (signal?.aborted) throw cancelledError(isChange);
      if (error instanceof FilewrightError) throw error;
      return { error: silentError(error, isChange), delay: backoff };
    }
    const now = Date.now();
    this.#adjustClock(Date.parse(response.headers.get("date") ?? ""), sent, now);
    const { status, headers } = response;
    if ((status >= 200 && status < 300) || request.accept?.includes(status)) {
      const missing = status === 404 ? parseErrorCode(decodeAscii(body)) : undefined;
      if (missing !== "NoSuchBucket") return { reply: { status, headers, body } };
    }
    const failure: Failure = { status, headers, now, s3Code: parseErrorCode(decodeAscii(body)) };
    const error = statusError(failure, isChange);
    if (!isTransient(failure)) throw error;
    const asked = retryAfter(headers, now);
    if (asked !== undefined && asked > MAX_DELAY_MS) throw error;
    return { error, delay: asked ?? backoff };
  }

  /**
   * Moves the clock as little as the `Date` of an answer demands. A `Date` has no milliseconds, servers write it once a
   * second, and the answer was made at some time between the request and its arrival, so the clock of the store is only
   * known to lie between two bounds.
   */
  #adjustClock(served: number, sent: number, arrived: number): void {
    if (!Number.isFinite(served)) return;
    const [least, most] = [served - arrived, served + MAX_DATE_AGE_MS - sent];
    this.#clockOffset = Math.min(Math.max(this.#clockOffset, least), most);
  }

  async #sign({ method, key, query, headers, body, sha256, signal }: S3Request): Promise<Request> {
    const given = typeof this.#credentials === "function" ? await this.#credentials() : this.#credentials;
    const { accessKeyId, secretAccessKey, sessionToken }: S3Credentials = given;
    const signer = new this.#Signer({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: "s3",
      region: this.#region,
      cache: this.#signingKeys,
      retries: 0,
    });
    const path = key === undefined ? "" : `/${key.split("/").map(encodeURIComponent).join("/")}`;
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    return signer.sign(`${this.#base}${path}${search}`, {
      method,
      // A redirect is an error: it would send the signature to another host.
      redirect: "manual",
      headers: { ...headers, ...(sha256 === undefined ? {} : { "x-amz-content-sha256": sha256 }) },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    });
  }
}

/** Returns the milliseconds that a store asks to wait. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  const delay = /^\d{1,9}$/u.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(delay) ? Math.max(0, delay) : undefined;
}

/** Waits, and throws as soon as the call is cancelled. */
async function wait(ms: number, signal: AbortSignal | undefined, isChange: boolean): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(cancelledError(isChange));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Reads a body piece by piece, and no further than the limit. */
async function readBody(
  response: Response,
  { key = "", method }: S3Request,
  limit: number,
): Promise<Uint8Array> {
  const length = response.headers.get("content-length");
  const announced = length === null || method === "HEAD" ? undefined : Number(length);
  const tooLarge = (): FilewrightError => damageError(key, `has more than ${limit} bytes`);
  if (announced !== undefined && announced > limit) {
    await response.body?.cancel();
    if (response.status >= 400) return EMPTY_BYTES;
    throw tooLarge();
  }
  if (response.body === null) return EMPTY_BYTES;
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = response.body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.length;
    if (size > limit) {
      await reader.cancel();
      if (response.status >= 400) return EMPTY_BYTES;
      throw tooLarge();
    }
    pieces.push(piece.value);
  }
  if (announced !== undefined && announced !== size && !response.headers.has("content-encoding"))
    throw new TypeError("the answer ended early");
  return concatBytes(pieces);
}

const decoder = new TextDecoder();
/** Decodes the text of an error. */
const decodeAscii = (bytes: Uint8Array): string => decoder.decode(bytes);
