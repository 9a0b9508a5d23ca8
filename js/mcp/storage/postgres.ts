/** The engine of `--storage postgres://…`: one pool of connections for all workspaces of the process. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { importRequired } from "../../schema/optional-packages.ts";
import { loadPostgres } from "./load.ts";
import type { StorageEngine, WorkspaceName, WorkspaceQuota } from "./engine.ts";
import type { PostgresTarget } from "./url.ts";

/** The parts of the package `pg` that are used. */
interface PgModule {
  readonly Pool: new (options: {
    readonly connectionString: string;
    readonly max: number;
    readonly connectionTimeoutMillis: number;
    readonly keepAlive: boolean;
    readonly application_name?: string;
  }) => Pool;
}

interface Pool {
  query(config: { readonly text: string }): Promise<unknown>;
  on(event: "error", listener: () => void): unknown;
  end(): Promise<void>;
}

/** The name of the optional package. It is a variable so that no bundler includes the package. */
const PG_PACKAGE = "pg";
/** The maximum time in milliseconds to wait for a connection. */
const MAX_CONNECT_MS = 10_000;

/** Makes the pool. No connection is opened yet. @throws FilewrightError UNSUPPORTED_OPERATION without the package */
export async function postgresEngine(
  { connection, schema, pool: max, shown }: PostgresTarget,
  quota?: WorkspaceQuota,
): Promise<StorageEngine> {
  const { postgresStorage, setPostgresQuota } = await loadPostgres<Pool>();
  const { Pool } = await loadPg();
  const connect = (connections: number): Pool => {
    const made = new Pool(
      withoutUndefined({
        connectionString: connection,
        max: connections,
        connectionTimeoutMillis: MAX_CONNECT_MS,
        keepAlive: true,
        application_name: connection.includes("application_name=") ? undefined : "filewright",
      }),
    );
    // Without a listener, the end of an idle connection would end the process.
    made.on("error", () => undefined);
    return made;
  };
  const client = connect(max);
  // Probes have a connection of their own: a server whose connections are all at work takes calls all the same.
  const probing = connect(1);
  return {
    shown,
    async open({ tenant, workspace }: WorkspaceName) {
      const place = withoutUndefined({
        client,
        workspace,
        tenant,
        schema,
      });
      const storage = await postgresStorage(place);
      if (quota !== undefined) await setPostgresQuota({ ...place, ...quota });
      return storage;
    },
    async ping(signal) {
      let stop = (): void => undefined;
      const late = new Promise<never>((_, reject) => {
        stop = () => reject(new FilewrightError("TIMEOUT", "the database did not answer in time"));
        signal.addEventListener("abort", stop, { once: true });
      });
      try {
        await Promise.race([probing.query({ text: "select 1" }), late]);
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    async close() {
      await Promise.all([client.end(), probing.end()]);
    },
  };
}

async function loadPg(): Promise<PgModule> {
  type Loaded = PgModule & { readonly default?: PgModule };
  const load = (): Promise<Loaded> => import(/* @vite-ignore */ PG_PACKAGE) as Promise<Loaded>;
  const loaded = await importRequired("pg", load);
  return loaded.default ?? loaded;
}
