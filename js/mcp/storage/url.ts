/**
 * The URL of `--storage`: which engine has the files, and how it is reached.
 *
 *     postgres://USER@HOST:PORT/DATABASE?schema=NAME&pool=NUMBER&sslmode=verify-full
 *     s3+https://HOST/BUCKET/PREFIX?region=NAME
 *
 * A message about a URL repeats neither its user nor its password.
 */
import { isIP } from "node:net";
import { UsageError } from "../../schema/command-line.node.ts";
import { nearest } from "../../schema/nearest.ts";

/** A database of Postgres. */
export interface PostgresTarget {
  readonly engine: "postgres";
  /** The URL for the package `pg`, without the parameters that are ours. */
  readonly connection: string;
  readonly schema: string | undefined;
  /** The maximum number of connections of this process. */
  readonly pool: number;
  /** The address without user and password, for messages. */
  readonly shown: string;
  /** The texts that no message may contain. */
  readonly secrets: readonly string[];
}

/** A bucket of an S3-compatible store. */
export interface S3Target {
  readonly engine: "s3";
  readonly endpoint: string;
  readonly bucket: string;
  /** The beginning of every key; empty, or with a `/` at its end. */
  readonly prefix: string;
  readonly region: string | undefined;
  readonly shown: string;
  /** True when contents pass a network without TLS. */
  readonly isPlain: boolean;
}

/** Where the files of a server are. */
export type StorageTarget = PostgresTarget | S3Target;

/** The connections to a database that a process opens at most, unless the URL says otherwise. */
const DEFAULT_POOL = 10;
const MAX_POOL = 500;

const FORMS =
  "postgres://USER@HOST/DATABASE or s3+https://HOST/BUCKET; the password is in PGPASSWORD, the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
const SCHEMES: readonly string[] = ["postgres", "postgresql", "s3+https", "s3+http"];
/** The parameters of Postgres: ours, and those that `pg` understands. */
const POSTGRES_PARAMETERS: readonly string[] = [
  ...["schema", "pool"],
  ...["host", "sslmode", "sslrootcert", "sslcert", "sslkey", "uselibpqcompat", "application_name", "options"],
];
const S3_PARAMETERS: readonly string[] = ["region"];

/** Parses the URL. @throws UsageError, whose message contains no user and no password */
export function parseStorageUrl(given: string): StorageTarget {
  const scheme = /^([a-z][a-z\d+.-]*):/iu.exec(given)?.[1]?.toLowerCase();
  if (scheme === undefined) throw wrongUrlError(`must be a URL: ${FORMS}`);
  if (scheme === "memory")
    throw wrongUrlError(
      "memory:// would be lost with the process and is no storage of several; serve a directory to try the server",
    );
  if (!SCHEMES.includes(scheme)) {
    const close = nearest(scheme, SCHEMES);
    const meant = scheme === "s3" || scheme === "https" ? "s3+https" : close;
    throw wrongUrlError(
      `begins with ${scheme}:, which is no storage${meant === undefined ? "" : `; did you mean ${meant}:?`} It takes ${FORMS}`,
    );
  }
  if (!URL.canParse(given)) throw wrongUrlError(`is no valid URL; it takes ${FORMS}`);
  const url = new URL(given);
  if (url.hash !== "") throw wrongUrlError("has a part after #; write # in a password as %23");
  return scheme.startsWith("postgres") ? postgresTarget(url) : s3Target(url, scheme === "s3+http");
}

function postgresTarget(url: URL): PostgresTarget {
  const given = parametersOf(url, POSTGRES_PARAMETERS);
  const secrets = [url.password, decoded(url.password)].filter((one) => one !== "");
  const pool = given.get("pool");
  const size = pool === undefined ? DEFAULT_POOL : /^\d{1,4}$/u.test(pool) ? Number(pool) : 0;
  // One connection holds the locks of a change and another one makes it.
  if (size < 2 || size > MAX_POOL) throw wrongUrlError(`has a pool that is no number from 2 to ${MAX_POOL}`);
  const connection = new URL(url);
  for (const name of ["schema", "pool"]) connection.searchParams.delete(name);
  return {
    engine: "postgres",
    connection: connection.href,
    schema: given.get("schema"),
    pool: size,
    shown: `postgres://${url.host}${url.pathname}`,
    secrets,
  };
}

function s3Target(url: URL, isHttp: boolean): S3Target {
  // The command line of a process can be read by every user of its machine.
  if (url.username !== "" || url.password !== "")
    throw wrongUrlError("must not contain keys; they are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  const given = parametersOf(url, S3_PARAMETERS);
  const [bucket = "", ...rest] = decoded(url.pathname).replace(/^\//u, "").split("/");
  if (url.hostname === "" || bucket === "") throw wrongUrlError("names no bucket: s3+https://HOST/BUCKET");
  const prefix = rest.join("/").replace(/\/$/u, "");
  const endpoint = `${isHttp ? "http" : "https"}://${url.host}`;
  if (!URL.canParse(endpoint)) throw wrongUrlError("has no valid host: s3+https://HOST/BUCKET");
  return {
    engine: "s3",
    endpoint,
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    region: given.get("region"),
    shown: `s3+${endpoint}/${[bucket, ...rest].join("/")}`,
    isPlain: isHttp && !isLoopbackName(url.hostname),
  };
}

/** Returns the parameters of a URL. @throws UsageError for an unknown one, and for one that is there twice */
function parametersOf(url: URL, known: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (!known.includes(name)) {
      const close = nearest(name, known);
      // The name is not repeated: it may be the rest of a password with an unescaped `?`.
      throw wrongUrlError(
        `has an unknown parameter${close === undefined ? "" : `; did you mean ${close}?`} It takes ${known.join(", ")}`,
      );
    }
    if (found.has(name)) throw wrongUrlError(`has the parameter ${name} twice`);
    if (value === "") throw wrongUrlError(`has an empty ${name}`);
    found.set(name, value);
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrongUrlError("has a % that is no escape; write % as %25");
  }
}

function isLoopbackName(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/u, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

function wrongUrlError(what: string): UsageError {
  return new UsageError(`--storage ${what}`);
}
