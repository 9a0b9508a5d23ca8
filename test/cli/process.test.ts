/**
 * The command as a process: its start and end, its streams and signals, and what it does when they break. Other tests of
 * the command line run it in their own process; see test/support/in-process.ts.
 */
import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../js/engine/generated/version.ts";
import { type CliFixture, COMMAND, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\ntwo\nthree\n", "src/b.ts": "const two = 2;\n" });
  await writeFile(join(at.root, "big.txt"), "line\n".repeat(100_000));
});
afterAll(() => at.remove());

test.each<[what: string, args: readonly string[], input: string, status: number, out: RegExp, err: RegExp]>([
  ["success is 0, and a pipe gets no colour", ["grep", "two"], "", 0, /^a\.txt:2:two\nsrc\/b/u, /^$/u],
  ["a search that finds nothing is 1", ["grep", "nowhere"], "", 1, /^$/u, /^No matches/u],
  ["an unknown option is 2", ["read", "--nope"], "", 2, /^$/u, /^filewright: unknown option --nope/u],
  ["a refusal is 2", ["read", "/etc/passwd"], "", 2, /^$/u, /outside the allowed/u],
  ["no command is 2", [], "", 2, /Usage: filewright COMMAND/u, /^$/u],
  ["the version is 0", ["--version"], "", 0, new RegExp(`^${VERSION}\n$`, "u"), /^$/u],
  ["standard input is read", ["write", "w", "-"], "é\n", 0, /^Created w/u, /^$/u],
  ["an empty standard input is no text", ["write", "x", "-"], "", 0, /^Created x/u, /^$/u],
])("%s", async (_, args, input, status, out, err) => {
  expect(await at.start(args, input)).toEqual({
    status,
    out: expect.stringMatching(out),
    err: expect.stringMatching(err),
  });
});

test("the answer is the same in a process as where tests run it", async () => {
  for (const args of [
    ["ls"],
    ["read", "a.txt"],
    ["grep", "two", "--json"],
    ["stat", "nope"],
    ["help", "ls"],
  ]) {
    const [theirs, ours] = [await at.start(args), await at.run(args)];
    const timeless = ({ status, out, err }: typeof ours) => [
      status,
      out.replace(/"duration_ms": [\d.]+/u, ""),
      err,
    ];
    expect(timeless(ours), args.join(" ")).toEqual(timeless(theirs));
  }
});

test("a reader that stops reading is no failure", async () => {
  const child = spawn(process.execPath, [COMMAND, "read", "big.txt", "--lines", "100000"], { cwd: at.root });
  let err = "";
  child.stderr.on("data", (data) => {
    err += data;
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdout.destroy();
  const status = await new Promise((resolve) => child.on("close", resolve));
  expect([status, err]).toEqual([0, ""]);
});

test("a closed standard input is an empty one", () => {
  const command = `exec "$0" "$1" write closed - <&-`;
  const { status, stderr } = spawnSync("sh", ["-c", command, process.execPath, COMMAND], {
    cwd: at.root,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
});

test("NODE_OPTIONS of the user hold, and an unexpected error is one line with what to do", async () => {
  const hook = join(at.root, "hook.cjs");
  await writeFile(hook, `process.stderr.write("hooked\\n");\n`);
  expect(await at.start(["--version"], "", { NODE_OPTIONS: `--require=${hook}` })).toEqual({
    status: 0,
    out: `${VERSION}\n`,
    err: "hooked\n",
  });
  const broken = join(at.root, "broken.cjs");
  await writeFile(broken, `process.cwd = () => { throw new Error("no cwd"); };\n`);
  const { status, err } = await at.start(["read", "a.txt"], "", { NODE_OPTIONS: `--require=${broken}` });
  expect(status).not.toBe(0);
  expect(err).toMatch(/^filewright: failed unexpectedly: .*no cwd; please report it/u);
});

test("doctor tells what is in force", async () => {
  const { out, status } = await at.start(["doctor", "--json"]);
  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    version: expect.stringMatching(/^\d/u),
    engine: { kind: expect.stringMatching(/native|wasm/u) },
    limits: { outputBytes: 1_048_576 },
  });
  expect((await at.start(["doctor"])).out).toMatch(/^ok {2}filewright +\d/mu);
});

test.each(["SIGINT", "SIGTERM"] as const)("a server ends in order with status 0 on %s", async (signal) => {
  const child = spawn(process.execPath, [COMMAND, "serve", at.root, "--port", "0"], {
    env: { ...process.env, FILEWRIGHT_TOKEN: "a-token-that-only-this-test-knows" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = await new Promise<string>((resolve) => {
    let err = "";
    child.stderr.on("data", (data) => {
      err += data;
      const found = /at (http:\S+)\s/u.exec(err)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  // The line is printed a moment before signals are heard.
  await (await fetch(new URL("/health", url))).text();
  child.kill(signal);
  expect(await new Promise((resolve) => child.once("exit", (...end) => resolve(end)))).toEqual([0, null]);
});
