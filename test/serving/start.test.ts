/** `filewright serve --storage` with what it cannot serve: one line before it listens, and no password in it. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { COMMAND } from "../mcp/harness.ts";
import { startProxy } from "../storage/s3/proxy.ts";
import { LACKS_VERSITYGW, startVersitygw } from "../storage/s3/versitygw.mjs";
import { missingServer, PORT, startPostgres, type TestServer } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";
import { postgresUrl } from "./server.ts";

const SECRET = "s3cr3t-of-this-test";
const KEYS = { AWS_ACCESS_KEY_ID: "access", AWS_SECRET_ACCESS_KEY: SECRET };

/** Returns options of Node with which it finds none of these packages, as where they are not installed. */
function without(...names: readonly string[]): string {
  const hooks = `export const resolve = (name, context, next) => {
    if (${JSON.stringify(names)}.includes(name)) throw new Error("no " + name);
    return next(name, context);
  };`;
  const url = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
  return `--import=${url(`import { register } from "node:module"; register(${JSON.stringify(url(hooks))});`)}`;
}

/** Starts a server that must not start, and returns its exit status and what it said. */
async function refused(
  argv: readonly string[],
  env: Record<string, string> = {},
  command: string = COMMAND,
): Promise<{ readonly status: number | null; readonly said: string }> {
  const child = spawn(process.execPath, [command, "serve", ...argv, "--port", "0"], {
    env: { ...process.env, FILEWRIGHT_TOKEN: "a-token-that-only-this-test-knows", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes) => {
      said += bytes;
      // It listens: the test fails by what it said.
      if (said.includes(" at http://")) child.kill("SIGKILL");
    });
  const status = await new Promise<number | null>((done) => child.once("close", done));
  return { status, said };
}

describe("a command line that is wrong", () => {
  test.each([
    [["--storage", "nonsense"], /--storage must be a URL/u],
    [["--storage", `postgres://app:${SECRET}@h/d?shema=x`], /did you mean schema/u],
    [["/tmp", "--storage", "postgres://h/d"], /directories or --storage, not both/u],
    [["--workspace", "w", "/tmp"], /--workspace needs --storage/u],
    [["--storage", "postgres://h/d", "--workspace", " w"], /--workspace must not/u],
    [["--storage", "postgres://h/d", "--workspace-claim", "repo"], /--workspace-claim needs --tenant-claim/u],
    [["--storage", "postgres://h/d", "--tenant-claim", "org"], /--tenant-claim needs --oauth-issuer/u],
    [["--storage", "postgres://h/d", "--calls-per-minute", "0"], /from 1 to/u],
    [["--max-files", "9", "/tmp"], /--max-files needs --storage/u],
    [["--storage", "postgres://h/d", "--max-bytes=-1"], /--max-bytes must be from 0/u],
    [["--storage", "s3+https://h/b", "--max-bytes", "9"], /need a postgres: storage/u],
    [["--storage", "postgres://h/d", "--approve"], /--approve is for directories/u],
    [
      ["--storage", "s3+https://h/b"],
      /AWS_ACCESS_KEY_ID/u,
      { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    ],
    [[], /name the directories to serve, or --storage/u],
    [["/tmp", "--metrics=9464"], /--metrics takes HOST:PORT/u],
  ])("%j is refused with 2", async (argv, message, env: Record<string, string> = {}) => {
    const { status, said } = await refused(argv, { FILEWRIGHT_STORAGE: "", ...env });
    expect(said).toMatch(message);
    expect(said.trim().split("\n")).toHaveLength(1);
    expect(said).not.toContain(SECRET);
    expect(status).toBe(2);
  });
});

describe("an engine that cannot be used", () => {
  test.each([
    [
      `postgres://app:${SECRET}@127.0.0.1:1/agents`,
      /postgres:\/\/127\.0\.0\.1:1\/agents .*ECONNREFUSED.*check the address/u,
    ],
    [`postgres://app:${SECRET}@localhost:1/agents`, /localhost:1\/agents .*ECONNREFUSED/u],
    [`postgres://app:${SECRET}@no-such-host.invalid/agents`, /no-such-host\.invalid.*check the address/u],
    ["s3+http://127.0.0.1:1/bucket", /s3\+http:\/\/127\.0\.0\.1:1\/bucket.*check the address/u],
  ])("%s is refused with 1", async (url, message) => {
    const { status, said } = await refused(["--storage", url], { ...KEYS, PGPASSWORD: SECRET });
    expect(said).toMatch(message);
    expect(said.trim().split("\n")).toHaveLength(1);
    expect(said).not.toContain(SECRET);
    expect(status).toBe(1);
  });

  test("a missing package is named with the command that mends it", async () => {
    const env = { ...KEYS, NODE_OPTIONS: without("pg", "aws4fetch", "prom-client", "@opentelemetry/api") };
    for (const [argv, message] of [
      [["--storage", "postgres://127.0.0.1:1/d"], /pg is not installed; npm install pg$/mu],
      [["--storage", "s3+http://127.0.0.1:1/b"], /aws4fetch is not installed; npm install aws4fetch$/mu],
      [["/tmp", "--metrics"], /prom-client is not installed; npm install prom-client$/mu],
      [["/tmp", "--traces"], /@opentelemetry\/api is not installed; npm install @opentelemetry\/api$/mu],
    ] as const) {
      const { status, said } = await refused(argv, env);
      expect(said).toMatch(message);
      expect(status).toBe(1);
    }
  });
});

test("without the package of the storages, the command that installs it in the right version is named", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  // The modules of the command: in its bundle of the checkout the package is a part.
  const command = new URL("../../dist/cli/main.node.js", import.meta.url).pathname;
  const NODE_OPTIONS = without("@filewright/storage/postgres", "@filewright/storage/s3");
  for (const [address, peer] of [
    ["postgres://127.0.0.1:1/d", "pg"],
    ["s3+http://127.0.0.1:1/b", "aws4fetch"],
  ] as const) {
    const { status, said } = await refused(["--storage", address], { ...KEYS, NODE_OPTIONS }, command);
    const remedy = `npm install @filewright/storage@${version} ${peer}`;
    expect(said.trim()).toMatch(
      new RegExp(`the package @filewright/storage is not installed; ${remedy.replaceAll(".", "\\.")}$`, "u"),
    );
    expect(status).toBe(1);
  }
});

describe.skipIf(missingServer() !== undefined)("a database that cannot be used", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres(["password_encryption='scram-sha-256'"]);
  });
  afterAll(() => server.stop());

  test("a schema of a newer version, a missing database and a name that is no schema", async () => {
    await postgresStorage({ client: server.pool(), workspace: "w", schema: "newer" });
    await server.pool().query("update newer.meta set version = 99");
    const url = postgresUrl(server.host, "&schema=newer");
    const newer = await refused(["--storage", url]);
    expect(newer.said).toMatch(/the newer version 99; install the version of filewright that made it/u);
    expect(newer.status).toBe(1);
    const missing = await refused([
      "--storage",
      `postgres://postgres@localhost:${PORT}/gone?host=${encodeURIComponent(server.host)}`,
    ]);
    expect(missing.said).toMatch(/database "gone" does not exist/u);
    const bad = await refused(["--storage", postgresUrl(server.host, "&schema=a-b")]);
    expect([bad.status, bad.said]).toEqual([2, expect.stringContaining("'schema'")]);
  });

  test("a login that is refused names the user and PGPASSWORD, and shows no password", async () => {
    await server.pool().query("create role app login password 'right'");
    const { rows } = await server.pool().query("show hba_file");
    const { hba_file: file } = rows[0] as { hba_file: string };
    writeFileSync(file, `local all app scram-sha-256\n${readFileSync(file, "utf8")}`);
    await server.pool().query("select pg_reload_conf()");
    const url = postgresUrl(server.host).replace("postgres@", "app@");
    const { status, said } = await refused(["--storage", url], { PGPASSWORD: SECRET });
    expect(said).toMatch(/refused the login; check the user in --storage and the password in PGPASSWORD/u);
    expect(said).not.toContain(SECRET);
    expect(status).toBe(1);
  });
});

describe.skipIf(LACKS_VERSITYGW)("a store without conditions", () => {
  test("is refused before the server listens", async () => {
    const store = await startVersitygw();
    afterThisTest(() => store.stop());
    const proxy = await startProxy(store.endpoint);
    afterThisTest(() => proxy.stop());
    // It takes every write, as a store does that ignores conditions.
    proxy.rule = ({ method }) => (method === "PUT" ? { status: 200 } : undefined);
    const { accessKeyId, secretAccessKey } = store.credentials;
    const { status, said } = await refused(["--storage", `s3+${proxy.endpoint}/${store.bucket}`], {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    });
    expect(said).toMatch(/the store cannot be used: it creates an object where one is .*conditional writes/u);
    expect(said).not.toContain(secretAccessKey);
    expect(status).toBe(1);
  });
});
