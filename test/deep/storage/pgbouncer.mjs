// Starts PgBouncer in transaction mode before a Postgres server, for `npm run deep -- pgbouncer`. On Debian:
// apt-get install pgbouncer.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { BuildError } from "../../../scripts/lib/run.mjs";

const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => existsSync(path));
const PORT = 6432;
/** The sessions of the server that all clients share by default: fewer than these have connections. */
const SERVER_SESSIONS = 4;

/**
 * Starts a pooler before the server with its socket in `host`, with so many sessions of the server. `pool` makes a pool
 * of connections to it.
 */
export async function startPgbouncer(host, sessions = SERVER_SESSIONS) {
  if (PROGRAM === undefined)
    throw new BuildError("there is no PgBouncer; on Debian: apt-get install pgbouncer");
  const folder = mkdtempSync(join(tmpdir(), "fw-bouncer-"));
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  chmodSync(folder, 0o777);
  const config = join(folder, "pgbouncer.ini");
  // With the authentication `any` the sessions of the server have one user.
  writeFileSync(
    config,
    `[databases]
postgres = host=${host} port=5432 user=postgres
[pgbouncer]
listen_port = ${PORT}
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 200
`,
  );
  const child = spawn(PROGRAM, ["--quiet", config], { ...user, cwd: folder, stdio: "inherit" });
  const pools = [];
  const pool = (options = {}) => {
    const made = new pg.Pool({
      host: folder,
      port: PORT,
      user: "postgres",
      database: "postgres",
      ...options,
    });
    made.on("error", () => undefined);
    pools.push(made);
    return made;
  };
  for (let attempt = 0; ; attempt++) {
    try {
      await pool({ max: 1 }).query("select 1");
      break;
    } catch (error) {
      if (attempt > 200 || child.exitCode !== null) throw error;
      await sleep(50);
    }
  }
  return {
    pool,
    async stop() {
      await Promise.all(pools.map((one) => one.end().catch(() => undefined)));
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const idOf = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
