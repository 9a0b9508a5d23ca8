/**
 * The clients that a storage on Postgres works with: those in the shape of `pg` (a pool, or one connection) and
 * PGlite. Both become one `run`, which sends one parametrised statement in one round trip.
 */
import { checkAborted, FilewrightError } from "filewright/files";

/** A statement with its values, in the form of the client `pg`. */
export interface PostgresQuery {
  /** The text of a statement, with `$1` for the first value. */
  readonly text: string;
  /** The values of a statement. */
  readonly values?: unknown[];
  /** The parsers of the columns of a result. */
  readonly types?: { getTypeParser(id: number): (value: never) => unknown };
}

/** The rows of a statement. */
export interface PostgresResult {
  /** The rows of a result, by the names of their columns. */
  // biome-ignore lint/suspicious/noExplicitAny: the rows of any client
  readonly rows: any[];
}

/** A connection of a pool. */
export interface PostgresConnection {
  /** Runs a statement on a connection. */
  query(query: PostgresQuery): Promise<PostgresResult>;
  /** Gives a connection back to its pool; with true, closes it. */
  release(destroy?: boolean): void;
}

/**
 * A client in the shape of `pg`: `new Pool()`, or a connected `new Client()`. Locks with a line of waiters need
 * the `connect` of a pool.
 */
export interface PostgresClient {
  /** Runs a statement on any connection. */
  query(query: PostgresQuery): Promise<PostgresResult>;
  /** Takes a connection out of a pool. */
  connect?(): Promise<unknown>;
}

/** PGlite: Postgres in the process. */
export interface PgliteClient {
  /** Runs a statement in the process. */
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  /** Runs several statements in the process. */
  exec(text: string): Promise<unknown>;
}

/** One row. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs statements. */
export interface Runner {
  /** Runs one statement and returns its rows. */
  run(text: string, values: unknown[], signal?: AbortSignal): Promise<readonly Row[]>;
  /** Takes a connection for itself; undefined where the client has only one. */
  readonly connect: (() => Promise<Connection>) | undefined;
}

/** A connection taken for itself. */
export interface Connection {
  /** The process of the server that serves the connection, where the client tells it. */
  readonly processId: number | undefined;
  run(text: string, values: unknown[]): Promise<readonly Row[]>;
  /** Calls `lost` when the connection ends by itself. */
  onLost(lost: () => void): void;
  /** Gives the connection back; with true, closes it. */
  release(destroy?: boolean): void;
}

/**
 * The parsers of what our functions answer: a host's own parsers are not used. Everything comes as text. The option
 * `binary` of `pg` is not used either: version 8.23 decodes bytes as UTF-8 on the way, which destroys them.
 */
const TYPES = {
  getTypeParser: (id: number): ((value: never) => unknown) => PARSERS.get(id) ?? ((value: string) => value),
};

const PARSERS = new Map<number, (value: never) => unknown>([
  [16, (value: string) => value === "t"],
  [17, (value: string) => bytesOf(value)],
  [23, Number],
  [701, Number],
]);

/** The part of `Buffer` that is used where the platform has it. */
interface HexDecoder {
  from(text: string, encoding: "hex"): Uint8Array;
}

/** Returns the bytes of a `bytea`, whatever form a client gives it. */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const hex = String(value).replace(/^\\x/u, "");
  const { Buffer } = globalThis as { readonly Buffer?: HexDecoder };
  if (Buffer !== undefined) return new Uint8Array(Buffer.from(hex, "hex"));
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/** Makes the runner of a client. */
export function runnerOf(client: PostgresClient | PgliteClient): Runner {
  if (isPglite(client)) {
    return {
      connect: undefined,
      run: async (text, values, signal) =>
        (await abortable(signal, () => client.query(text, values))).rows as Row[],
    };
  }
  const ask = (of: PostgresClient | PostgresConnection, text: string, values: unknown[]) =>
    // Without values `pg` sends a statement in the simple form, which may be several.
    of.query(values.length === 0 ? { text, types: TYPES } : { text, values, types: TYPES });
  return {
    run: async (text, values, signal) =>
      (await abortable(signal, () => ask(client, text, values))).rows as Row[],
    connect: isPool(client) ? () => take(client, ask) : undefined,
  };
}

/** What a connection of `pg` has besides. */
interface ConnectionEvents {
  readonly processID: unknown;
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}

async function take(
  client: PostgresClient,
  ask: (of: PostgresConnection, text: string, values: unknown[]) => Promise<PostgresResult>,
): Promise<Connection> {
  const taken = (await client.connect?.()) as PostgresConnection & Partial<ConnectionEvents>;
  let released = false;
  let whenLost = (): void => undefined;
  // A connection that nobody listens to would end the process when the server ends it.
  const lost = (): void => whenLost();
  taken.on?.("error", lost);
  return {
    processId: typeof taken.processID === "number" ? taken.processID : undefined,
    run: async (text, values) => (await ask(taken, text, values)).rows as Row[],
    onLost: (call) => {
      whenLost = call;
    },
    release: (destroy) => {
      if (released) return;
      released = true;
      taken.release(destroy);
      // The pool listens to those that it holds; one that was closed may still report its end.
      if (destroy !== true) taken.off?.("error", lost);
    },
  };
}

/** Returns true for PGlite, whose `query` takes a text. */
export function isPglite(client: PostgresClient | PgliteClient): client is PgliteClient {
  return typeof (client as Partial<PgliteClient>).exec === "function";
}

/** Returns true for a pool: `connect` of a single connection opens that connection and returns nothing. */
function isPool(client: PostgresClient): boolean {
  return typeof client.connect === "function" && !("processID" in client);
}

/**
 * Waits for a call until the signal aborts. The statement goes on: its result is not needed, and the connection
 * stays usable.
 */
export async function abortable<T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
  checkAborted(signal);
  if (signal === undefined) return await run();
  let cancel = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    cancel = () => reject(new FilewrightError("CANCELLED", "the call was cancelled"));
    signal.addEventListener("abort", cancel, { once: true });
  });
  try {
    return await Promise.race([run(), aborted]);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
