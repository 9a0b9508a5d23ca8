/**
 * The container driver against a double of the program docker (`docker-double.mjs`), because no docker daemon runs on
 * the machines of the tests: which arguments it gives, and what it makes of an engine that fails or lies. Commands in
 * real containers are tested with podman (`containers.slow.test.ts`).
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { containerSandbox, type ContainerSandboxOptions } from "../../js/backends/index.node.ts";

let base: string;
let root: string;
let program: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-docker-")));
  root = join(base, 'ws, with "commas"');
  fs.mkdirSync(root);
  fs.writeFileSync(join(root, "a"), "a\n");
  fs.writeFileSync(join(root, ".env"), "PASSWORD=1\n");
  fs.mkdirSync(join(base, "engine"));
  program = join(base, "engine/docker.mjs");
  fs.copyFileSync(join(import.meta.dirname, "docker-double.mjs"), program);
  fs.chmodSync(program, 0o755);
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const mode = (text: string): void => fs.writeFileSync(join(base, "engine/mode"), text);
const calls = (): readonly (readonly string[])[] =>
  fs
    .readFileSync(join(base, "engine/calls"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const containers = (): readonly string[] =>
  fs.readdirSync(join(base, "engine")).filter((name) => name.endsWith(".json"));
const made = (more: Partial<ContainerSandboxOptions> = {}) =>
  containerSandbox({ engine: "docker", program, image: "the-image", ...more });
const opened = async (more: Partial<ContainerSandboxOptions> = {}) =>
  openWorkspace({ root, stateDir: join(base, "state"), commands: await made(more) });
const refused = (text: RegExp) =>
  expect.objectContaining({ code: "SANDBOX_SETUP_FAILED", message: expect.stringMatching(text) });

describe.skipIf(process.platform !== "linux")("docker, by a double of its program", () => {
  test("is given roots, covers, limits and no network, and every container is removed", async () => {
    process.env["FILEWRIGHT_TEST_LEAK"] = "a variable of the host";
    await using ws = await opened({
      user: "1000:1000",
      limits: { processes: 7, memoryBytes: 64_000_000, fileBytes: 9 },
    });
    delete process.env["FILEWRIGHT_TEST_LEAK"];
    expect((await ws.call("run_command", { command: ["cat", "a"] })).data).toMatchObject({
      exit_code: 0,
      stdout: "a\n",
      tier: "docker",
    });
    const create = calls().findLast(([name]) => name === "create") ?? [];
    const given = create.join(" ");
    for (const part of [
      "--pull never --entrypoint ",
      "--user 1000:1000",
      "--network none",
      "--cap-drop ALL --security-opt no-new-privileges",
      "--read-only --tmpfs /tmp:",
      "--pids-limit 7 --memory 64000000b --memory-swap 64000000b --ulimit fsize=9:9",
      "the-image cat a",
    ])
      expect(given).toContain(part);
    const quoted = (path: string): string => path.replaceAll('"', '""');
    const mounts = create.filter((_, index) => create[index - 1] === "--mount");
    expect(mounts).toContain(`type=bind,"source=${quoted(root)}","target=${quoted(root)}"`);
    expect(mounts.some((one) => one.endsWith(`,"target=${quoted(join(root, ".env"))}",readonly`))).toBe(true);
    expect(given).not.toContain("FILEWRIGHT_TEST_LEAK");
    expect(containers()).toEqual([]);
  });

  test("with network only where that is asked for, and the status says so", async () => {
    const open = await made({ network: true });
    expect(open.status.network).toBe("none");
    expect(calls().some((call) => call.includes("--network"))).toBe(false);
  });

  test("an engine that is missing, is none, runs for another system or sees other files is refused", async () => {
    await expect(made({ program: join(base, "nothing") })).rejects.toEqual(refused(/No container engine/u));
    for (const [name, text] of [
      ["no daemon", /Cannot connect to the Docker daemon/u],
      ["no engine", /does not answer as a container engine/u],
      ["windows", /does not answer as a container engine/u],
      ["other files", /cannot run commands in the-image/u],
    ] as const) {
      mode(name);
      await expect(made(), name).rejects.toEqual(refused(text));
    }
    mode("");
    await expect(made({ image: "other" })).rejects.toEqual(refused(/No such image/u));
    expect(containers()).toEqual([]);
  });

  test("a missing program is told from a program that exits with 127", async () => {
    await using ws = await opened();
    expect(await ws.call("run_command", { command: ["no-such-program"] })).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
    const ran = await ws.call("run_command", { command: "exit 127", shell: true });
    expect(ran.data).toMatchObject({ exit_code: 127 });
  });

  test("the exit code is that of the container, whatever the program of the engine exits with", async () => {
    await using ws = await opened();
    mode("wrong status");
    expect((await ws.call("run_command", { command: "exit 5", shell: true })).data).toMatchObject({
      exit_code: 5,
    });
    mode("out of memory");
    expect((await ws.call("run_command", { command: "exit 137", shell: true })).data).toMatchObject({
      exit_code: null,
      signal: 9,
      exceeded: "memory",
    });
  });

  test("an engine that is lost, or does not tell how the command ended, leaves no success", async () => {
    await using ws = await opened();
    for (const name of ["lost daemon", "garbage"]) {
      mode(name);
      expect(await ws.call("run_command", { command: ["true"] }), name).toMatchObject({
        ok: false,
        error: { code: "IO_ERROR" },
      });
    }
    expect(containers()).toEqual([]);
  });

  test("a container that cannot be ended is told", async () => {
    await using ws = await opened();
    mode("no removal");
    const late = await ws.call("run_command", { command: ["sleep", "30"], timeout_ms: 300 });
    expect(late).toMatchObject({
      ok: false,
      error: { code: "IO_ERROR", message: expect.stringContaining("may still run") },
    });
  });

  test("without a workspace it runs nothing, and wrong options are refused", async () => {
    const bare = await made();
    const command = { argv: ["true"], cwd: root, timeoutMs: 1_000, maxOutputBytes: 10 };
    await expect(bare.run(command)).rejects.toEqual(refused(/roots of a workspace/u));
    for (const wrong of [
      { image: "--privileged" },
      { user: "root" },
      { engine: "lxc" },
      { imgae: "x" },
      { limits: { memory: 3 } },
    ])
      await expect(made(wrong as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
