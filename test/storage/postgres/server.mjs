/**
 * A real Postgres server for tests: in a temporary directory, on a Unix socket, as the user `postgres` where the
 * tests run as root, because the server refuses to.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** The port that the name of the socket has. */
export const PORT = 5432;
const DEBIAN_FOLDER = "/usr/lib/postgresql";

/**
 * A running server. `host` is the directory of its socket; `pool` makes a pool of connections, which is ended with the
 * server; `crash` ends the server as the end of its process would, and starts it again.
 * @typedef {{
 *   host: string,
 *   pool: (options?: import("pg").PoolConfig) => import("pg").Pool,
 *   crash: () => Promise<void>,
 *   stop: () => Promise<void>,
 * }} TestServer
 */

/** @returns {string | undefined} the folder of the server's programs */
function programsFolder() {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const folders = [
    ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(DEBIAN_FOLDER, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":"),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/**
 * Returns why the tests with a server cannot run. With `CI` they run in any case, and fail where the server is
 * missing.
 * @returns {string | undefined}
 */
export function missingServer() {
  if (programsFolder() !== undefined || process.env["CI"] === "true") return undefined;
  return "there is no Postgres server; on Debian: apt-get install postgresql";
}

/**
 * Starts a server. `settings` are its own, such as `fsync=on`.
 * @param {readonly string[]} settings
 * @returns {Promise<TestServer>}
 */
export async function startPostgres(settings = []) {
  const programs = programsFolder();
  if (programs === undefined) throw new Error("there is no Postgres server");
  const host = mkdtempSync(join(tmpdir(), "fw-pg-"));
  const user = process.getuid?.() === 0 ? userIds() : undefined;
  if (user !== undefined) chownSync(host, user.uid, user.gid);
  const data = join(host, "data");
  const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" };
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"];
  execFileSync(join(programs, "initdb"), init, { ...user, env, cwd: host, stdio: "pipe" });
  const lines = ["listen_addresses=''", `unix_socket_directories='${host}'`, "fsync=off", ...settings];
  writeFileSync(join(data, "postgresql.auto.conf"), `${lines.join("\n")}\n`);

  /** @type {import("pg").Pool[]} */
  const pools = [];
  const start = async () => {
    const child = spawn(join(programs, "postgres"), ["-D", data], {
      ...user,
      env,
      cwd: host,
      stdio: "ignore",
    });
    for (let attempt = 0; ; attempt++) {
      const client = new pg.Client({ host, port: PORT, user: "postgres", database: "postgres" });
      try {
        await client.connect();
        await client.end();
        return child;
      } catch (error) {
        if (attempt > 400 || child.exitCode !== null) throw error;
        await sleep(50);
      }
    }
  };
  /** @param {import("node:child_process").ChildProcess} child @param {NodeJS.Signals} signal */
  const end = async (child, signal) => {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  let server = await start();
  return {
    host,
    pool: (options = {}) => {
      const pool = new pg.Pool({ host, port: PORT, user: "postgres", database: "postgres", ...options });
      // Without a listener, the end of an idle connection would end the process.
      pool.on("error", () => undefined);
      pools.push(pool);
      return pool;
    },
    crash: async () => {
      await end(server, "SIGQUIT");
      server = await start();
    },
    stop: async () => {
      await Promise.all(pools.map((pool) => pool.end().catch(() => undefined)));
      await end(server, "SIGINT");
      rmSync(host, { recursive: true, force: true });
    },
  };
}

function userIds() {
  /** @param {string} flag */
  const ask = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: ask("-u"), gid: ask("-g") };
}
