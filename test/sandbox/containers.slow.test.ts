/** Commands in real containers, by podman: what a workspace denies, protects and limits holds in them. */
import process from "node:process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { containerSandbox } from "../../js/backends/index.node.ts";
import { run, World } from "../commands/world.ts";
import { LACKS_PODMAN, makeImage } from "./podman.ts";

describe.skipIf(LACKS_PODMAN)("commands in containers of podman", () => {
  let made: ReturnType<typeof makeImage>;
  beforeAll(() => {
    made = makeImage();
  });
  afterAll(() => made.remove());
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(async () => {
    await world.close();
    // No container outlives its command, whatever became of it.
    expect(made.podman("ps", "--all", "--quiet", "--filter", "name=filewright-")).toBe("");
  });

  const opened = async (more: object = {}, options: Parameters<World["open"]>[0] = {}) =>
    world.open({
      commands: await containerSandbox({ engine: "podman", image: made.image, ...more }),
      ...options,
    });

  test("see the workspace at its own path and nothing else of the machine", async () => {
    world.put("src/x", "x\n");
    const ws = await opened();
    process.env["FILEWRIGHT_TEST_LEAK"] = "of the host";
    const ran = await run(
      ws,
      `pwd; cat a ../src/x; echo new > made; ls ${world.base}; cat ${import.meta.filename}; env; exit 3`,
      {
        cwd: "src",
      },
    );
    delete process.env["FILEWRIGHT_TEST_LEAK"];
    expect(ran).toMatchObject({ exit_code: 3, tier: "podman" });
    expect(ran.stdout).toMatch(new RegExp(`^${world.root}/src\nx\nws\n`, "u"));
    expect(ran.stdout).not.toContain("of the host");
    expect(world.read("src/made")).toBe("new\n");
    expect(ws.capabilities().sandbox.commands).toMatchObject({ policy: "enforced", files: "enforced" });
  });

  test("find secrets and denied places empty, and protected ones read-only", async () => {
    world.put(".env", "hidden content\n");
    world.put("private/x", "hidden content\n");
    world.put("deep/private/x", "hidden content\n");
    world.git("config", "user.name", "before");
    const ws = await opened({}, { access: { deny: ["private"] } });
    const script = [
      "cat .env private/x deep/private/x",
      "echo y > private/y",
      "rm -rf private",
      "mv private other",
      "echo '[alias] x = !id' >> .git/config",
      "mkdir -p .vscode",
      "echo x > .vscode/tasks.json",
      "echo ok > fine",
    ].join("; ");
    const ran = await run(ws, script);
    expect(JSON.stringify(ran)).not.toContain("hidden content");
    expect(ran.removed).toEqual([".vscode/tasks.json"]);
    expect([world.read("private/x"), world.has("private/y"), world.has("other")]).toEqual([
      "hidden content\n",
      false,
      false,
    ]);
    expect(world.read(".git/config")).not.toContain("alias");
    expect(world.read("fine")).toBe("ok\n");
  });

  test("have no network, no capabilities, and a bounded /tmp", async () => {
    const ws = await opened();
    const ran = await run(
      ws,
      "ls /sys/class/net; grep CapEff /proc/self/status; dd if=/dev/zero of=/tmp/x bs=1M count=300; wget -T 2 http://127.0.0.1:1/",
      { max_output_bytes: 4_000 },
    );
    expect(ran.stdout.split("\n").slice(0, 2)).toEqual(["lo", "CapEff:\t0000000000000000"]);
    expect(ran.stderr).toContain("No space left on device");
    expect(ran.exit_code).not.toBe(0);
    expect((await run(ws, "echo x > /bin/x")).exit_code).not.toBe(0);
  });

  test("keep to their limits of memory, processes and size", async () => {
    const ws = await opened({ limits: { memoryBytes: 64 * 1024 * 1024, processes: 20, fileBytes: 100_000 } });
    const memory = await run(ws, "x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done");
    // Podman does not report the reason on every system; the kernel's signal is the exit code then.
    expect([undefined, "memory"]).toContain(memory.exceeded);
    expect(memory.exceeded === "memory" ? memory.signal : memory.exit_code).toBe(
      memory.exceeded === "memory" ? 9 : 137,
    );
    const processes = await run(
      ws,
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do sleep 60 & done",
    );
    expect(processes.stderr).toMatch(/fork/u);
    await run(ws, "yes > big");
    expect(world.read("big").length).toBeLessThanOrEqual(100_000);
  });

  test("end with everything they started: at their end, at their time, and when they are cancelled", async () => {
    const ws = await opened();
    const ended = await run(ws, "(sleep 20; echo late > late) & echo begun");
    expect(ended).toMatchObject({ exit_code: 0, stdout: "begun\n" });
    expect(
      await run(ws, "(sleep 20; echo late > late) & exec sleep 600", { timeout_ms: 1_000 }),
    ).toMatchObject({
      timed_out: true,
    });
    const stop = new AbortController();
    const running = ws.call(
      "run_command",
      { command: "trap : TERM; echo begun > begun; sleep 20; echo late > late", shell: true },
      { signal: stop.signal },
    );
    while (!world.has("begun")) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect(await running).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    // No process is left that could write it.
    expect(made.podman("ps", "--all", "--quiet", "--filter", "name=filewright-")).toBe("");
    expect(world.has("late")).toBe(false);
  });

  test("of an agent are kept to what the agent may do", async () => {
    world.put("src/x", "x");
    const ws = await opened();
    const agent = await ws.agent("one", { access: { write: ["src"], deny: ["x"] } });
    const result = await agent.call("run_command", {
      command: "cat x ../a; echo y > y; echo y > ../y",
      shell: true,
      cwd: "src",
    });
    expect(result.data).toMatchObject({ stdout: "a\n" });
    expect([world.has("src/y"), world.has("y")]).toEqual([true, false]);
  });

  test("take a program that is missing for that, and an image that is missing for a refusal", async () => {
    const ws = await opened();
    expect(await ws.call("run_command", { command: ["no-such-program"] })).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
    await expect(containerSandbox({ engine: "podman", image: "localhost/none" })).rejects.toMatchObject({
      code: "SANDBOX_SETUP_FAILED",
    });
  });
});
