/** Calls of the functions in one schema: each is one statement, so one round trip. */
import { checkAborted, FilewrightError } from "filewright/files";
import {
  abortable,
  type Connection,
  isPglite,
  type PgliteClient,
  type PostgresClient,
  type Row,
  type Runner,
  runnerOf,
} from "./client.ts";
import { codeOf, fromPostgres, isCut, isRetryable } from "./errors.ts";
import { migration, quoteIdentifier } from "./sql/migrations.ts";

/** How often two transactions in each other's way are repeated. */
const MAX_ATTEMPTS = 8;

/** The size of a pool of `pg` without the option `max`. */
const DEFAULT_POOL_SIZE = 10;

/** The functions of one schema. */
export class Database {
  readonly client: PostgresClient | PgliteClient;
  readonly #runner: Runner;
  readonly #schema: string;
  readonly #name: string;

  constructor(client: PostgresClient | PgliteClient, schema: string) {
    this.client = client;
    this.#runner = runnerOf(client);
    this.#name = schema;
    this.#schema = quoteIdentifier(schema);
  }

  /** True when the client has several connections, so that one can hold locks. */
  get hasPool(): boolean {
    const { options } = this.client as { readonly options?: { readonly max?: unknown } };
    return this.#runner.connect !== undefined && options?.max !== 1;
  }

  /** The number of connections that locks may use: half of the pool, as far as it tells its size. */
  get maxLockConnections(): number {
    const { options } = this.client as { readonly options?: { readonly max?: unknown } };
    return Math.max(1, Math.floor((typeof options?.max === "number" ? options.max : DEFAULT_POOL_SIZE) / 2));
  }

  /** Cancels the statement of another connection. */
  async cancel(processId: number): Promise<void> {
    await this.#runner.run("select pg_cancel_backend($1)", [processId]).catch(() => undefined);
  }

  /** The statement that calls a function with so many values. */
  statement(name: string, count: number): string {
    const places = Array.from({ length: count }, (_, index) => `$${index + 1}`).join(", ");
    return `select * from ${this.#schema}.${name}(${places})`;
  }

  /**
   * Calls a function that only reads. It is repeated once when the connection ends, as it does when the engine
   * is started again.
   */
  async read(name: string, values: unknown[], signal?: AbortSignal): Promise<readonly Row[]> {
    const text = this.statement(name, values.length);
    try {
      return await this.#repeated(() => this.#runner.run(text, values, signal), signal);
    } catch (error) {
      if (error instanceof FilewrightError || !isCut(error) || signal?.aborted === true)
        throw fromPostgres(error, false);
    }
    try {
      return await this.#runner.run(text, values, signal);
    } catch (error) {
      throw fromPostgres(error, false);
    }
  }

  /**
   * Calls a function that changes something. `convert` makes the error of a failure that it knows; `connection` is the
   * one to use, by default any.
   */
  async change(
    name: string,
    values: unknown[],
    signal?: AbortSignal,
    convert?: (thrown: unknown) => FilewrightError | undefined,
    connection?: Connection,
  ): Promise<readonly Row[]> {
    const text = this.statement(name, values.length);
    const run = (): Promise<readonly Row[]> =>
      connection === undefined
        ? this.#runner.run(text, values, signal)
        : abortable(signal, () => connection.run(text, values));
    try {
      return await this.#repeated(run, signal);
    } catch (error) {
      throw convert?.(error) ?? fromPostgres(error, true);
    }
  }

  /** Takes a connection for itself. */
  async connect(): Promise<Connection> {
    const { connect } = this.#runner;
    if (connect === undefined)
      throw new FilewrightError("UNSUPPORTED_OPERATION", "the client has only one connection");
    try {
      return await connect();
    } catch (error) {
      throw fromPostgres(error, false);
    }
  }

  /** Makes the schema, or brings it up to the present version. @throws UNSUPPORTED_OPERATION for a newer one */
  async migrate(): Promise<void> {
    const text = migration(this.#name, this.#schema);
    try {
      await this.#repeated(
        () => (isPglite(this.client) ? this.client.exec(text) : this.#runner.run(text, [])),
        undefined,
      );
    } catch (error) {
      throw fromPostgres(error, true);
    }
  }

  /** Repeats what failed because another transaction was in the way; nothing of it has happened then. */
  async #repeated<T>(run: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (!isRetryable(error) || attempt === MAX_ATTEMPTS) throw error;
        checkAborted(signal);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt));
      }
    }
  }
}

/** Returns true when the functions are missing: the schema has not been made. */
export function isMissing(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return ["3F000", "42883", "42P01"].includes(String(codeOf(cause)));
}
