// The places where a world is made and called: memory, the disk, a server over stdio, and the command line.
import { execFile, spawn } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root as repository } from "../../../scripts/lib/run.mjs";

const program = join(repository, "dist/bin/filewright.js");
const library = join(repository, "dist/cli/library.js");

/**
 * @typedef {{
 *   call: (tool: string, args: object) => Promise<unknown>,
 *   snapshot: () => Map<string, string>,
 *   reset: () => void,
 *   close: () => Promise<void>,
 * }} World
 */

/** @returns {Promise<World>} */
export async function inMemory(tree, policy) {
  const { MemoryBackend, openWorkspace } = await import(library);
  const backend = new MemoryBackend();
  for (const { path, type, content, target } of tree) {
    if (type === "dir") await backend.mkdir(path, { parents: true });
    else if (type === "file") await backend.writeText(path, content);
    else await backend.symlink(target, path);
  }
  const seeded = backend.snapshot();
  const ws = await openWorkspace({ ...optionsOf(policy), backend });
  return {
    call: (tool, args) => ws.call(tool, args),
    snapshot: () =>
      new Map(
        Object.entries(backend.toJSON()).map(([path, { type, b64 = "", target = "" }]) => [
          path,
          type === "file" ? `file ${Buffer.from(b64, "base64").toString()}` : `${type} ${target}`,
        ]),
      ),
    reset: () => backend.restore(seeded),
    close: () => ws.close(),
  };
}

const optionsOf = ({ roots, cwd, deny, rules }) => ({ roots, cwd, access: { deny }, rules, knows: "names" });

/** A directory that trees are made in. @returns {{ base: string, stateDir: string, remove: () => void }} */
export function scratch() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "filewright-policy-")));
  const [base, stateDir] = [join(top, "t"), join(top, "state")];
  mkdirSync(base);
  mkdirSync(stateDir);
  return { base, stateDir, remove: () => rmSync(top, { recursive: true, force: true }) };
}

function plant(tree, base) {
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base);
  for (const { path, type, content, target } of tree) {
    if (type === "dir") mkdirSync(path, { recursive: true });
    else if (type === "file") writeFileSync(path, content);
    else symlinkSync(target, path);
  }
}

function snapshotOf(base) {
  const found = new Map();
  const visit = (path) => {
    const facts = lstatSync(path);
    if (facts.isSymbolicLink()) found.set(path, `symlink ${readlinkSync(path)}`);
    else if (facts.isDirectory()) {
      found.set(path, "dir ");
      for (const name of readdirSync(path)) visit(join(path, name));
    } else found.set(path, `file ${readFileSync(path, "utf8")}`);
  };
  visit(base);
  return found;
}

/** Opens the workspace, again after a reset: a recreated root is another directory. */
async function planted(tree, base, open) {
  plant(tree, base);
  let opened = await open();
  return {
    call: (tool, args) => opened.call(tool, args),
    snapshot: () => snapshotOf(base),
    async reset() {
      await opened.close();
      plant(tree, base);
      opened = await open();
    },
    close: () => opened.close(),
  };
}

/** @returns {Promise<World>} */
export async function onDisk(tree, policy, { base, stateDir }) {
  const { openWorkspace } = await import(library);
  return planted(tree, base, () => openWorkspace({ ...optionsOf(policy), stateDir, history: false }));
}

/** A server over stdio; its directories are the roots. @returns {Promise<World>} */
export async function overMcp(tree, { roots }, { base, stateDir }) {
  return planted(tree, base, async () => {
    const args = [program, "mcp", ...roots, "--preset", "canonical", "--structured", "full"];
    const child = spawn(process.execPath, args, {
      env: environment(stateDir),
      stdio: ["pipe", "pipe", "ignore"],
    });
    const waiting = new Map();
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    });
    let last = 0;
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const request = (method, params) =>
      new Promise((resolve, reject) => {
        const id = ++last;
        const failed = setTimeout(() => reject(new Error(`no answer to ${method}`)), 30_000);
        waiting.set(id, (message) => resolve([message, clearTimeout(failed)][0]));
        send({ id, method, params });
      });
    await request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "deep", version: "1" },
    });
    send({ method: "notifications/initialized" });
    return {
      call: async (name, own) => {
        const { result, error } = await request("tools/call", { name, arguments: own });
        return {
          ok: error === undefined && result?.isError !== true,
          data: result?.structuredContent,
          result,
          error,
        };
      },
      close: () =>
        new Promise((resolve) => {
          child.once("exit", () => resolve());
          child.stdin.end();
        }),
    };
  });
}

/** The command line: a process for each call. @returns {Promise<World>} */
export async function onCommandLine(tree, { cwd }, { base, stateDir }) {
  return planted(tree, base, async () => ({
    call: (tool, args) =>
      new Promise((resolve) => {
        const given = [program, "call", tool, "--args", JSON.stringify(args), "--root", cwd, "--json"];
        execFile(process.execPath, given, { env: environment(stateDir) }, (failed, stdout, stderr) => {
          let parsed;
          try {
            parsed = JSON.parse(stdout);
          } catch {
            parsed = undefined;
          }
          resolve({ ok: failed === null, data: parsed?.data, stdout, stderr });
        });
      }),
    close: async () => {},
  }));
}

const environment = (stateDir) => ({ PATH: process.env["PATH"], HOME: stateDir, XDG_STATE_HOME: stateDir });
