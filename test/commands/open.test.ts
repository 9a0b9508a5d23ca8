/** How a workspace gets the sandbox of its commands from its policy, and which it refuses. */
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type CommandPolicy,
  linuxSandbox,
  MemoryBackend,
  openWorkspace,
  sandboxFor,
  type SandboxProvider,
} from "../../js/index.node.ts";
import { run, World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const refused = (text: RegExp) =>
  expect.objectContaining({ code: "SANDBOX_SETUP_FAILED", message: expect.stringMatching(text) });
const outcome = {
  exitCode: 0,
  signal: null,
  timedOut: false,
  truncated: false,
  stdout: "there\n",
  stderr: "",
};
const elsewhere = (more: object = {}, status: object = {}): SandboxProvider => ({
  status: { tier: "container", files: "enforced", network: "enforced", ...status },
  run: async () => outcome,
  ...more,
});

describe("a provider of the host", () => {
  test("is refused when it says nothing of what the workspace denies, protects or keeps secret", async () => {
    await expect(world.open({ commands: elsewhere() })).rejects.toEqual(
      refused(/protected places, secrets/u),
    );
    const access = { protect: false, secrets: "allow", deny: ["x"] } as const;
    await expect(world.open({ access, commands: elsewhere() })).rejects.toEqual(refused(/denied paths/u));
  });

  test("is taken when it declares that the policy holds, when less will do, and when there is none", async () => {
    for (const commands of [elsewhere({}, { policy: "enforced" }), elsewhere({ degrade: "allow" })]) {
      const ws = await world.open({ commands });
      expect(await ws.call("run_command", { command: ["x"] })).toMatchObject({
        ok: true,
        data: { stdout: "there\n" },
      });
    }
    const access = { protect: false, secrets: "allow" } as const;
    const ws = await world.open({ access, commands: elsewhere() });
    expect(ws.tools.some(({ name }) => name === "run_command")).toBe(true);
  });

  test("is given the policy of the workspace and of each agent", async () => {
    const given: unknown[] = [];
    const within: SandboxProvider["within"] = (policy) => {
      given.push(policy);
      return elsewhere({}, { policy: "enforced" });
    };
    const ws = await world.open({ access: { deny: ["x"] }, commands: elsewhere({ within }) });
    await ws.agent("one", { access: { write: ["src"], deny: ["y"] } });
    expect(given[0]).toEqual({
      cwd: world.root,
      read: [world.root],
      write: [world.root],
      repositories: [],
      deny: ["x"],
      protect: true,
      secrets: true,
      stateDirs: expect.arrayContaining([join(world.base, "state"), expect.stringContaining("filewright")]),
    });
    expect(given.at(-1)).toMatchObject({ write: [join(world.root, "src")], deny: ["x", "y"] });
  });

  test("is given what rules deny, and is refused where they deny in a way that it cannot hold", async () => {
    const given: CommandPolicy[] = [];
    const within: SandboxProvider["within"] = (policy) => {
      given.push(policy);
      return elsewhere({}, { policy: "enforced" });
    };
    const rules = [{ path: "secret/**", decision: "deny" }] as const;
    await world.open({ rules, commands: elsewhere({ within }) });
    expect(given[0]?.deny.join()).toContain("secret");
    const excepted = [{ path: "secret/open", decision: "allow" }, ...rules] as const;
    await expect(world.open({ rules: excepted, commands: elsewhere({ within }) })).rejects.toEqual(
      refused(/deny rules with an exception/u),
    );
  });
});

test("commands on another storage than the disk take a provider", async () => {
  const backend = new MemoryBackend();
  await backend.mkdir("/w");
  const options = { root: "/w", backend };
  for (const commands of [
    true,
    { fallback: "remote", remote: elsewhere({}, { policy: "enforced" }) },
  ] as const)
    await expect(openWorkspace({ ...options, commands })).rejects.toEqual(refused(/local disk alone/u));
  const remote = elsewhere({}, { policy: "enforced" });
  await using ws = await openWorkspace({ ...options, commands: { provider: "remote", remote } });
  expect((await ws.call("run_command", { command: ["x"] })).data).toMatchObject({ tier: "container" });
});

describe("a remote sandbox", () => {
  const remote = elsewhere({}, { policy: "enforced" });
  const tierOf = async (commands: object): Promise<string | undefined> =>
    (await world.open({ commands })).capabilities().sandbox.commands?.tier;

  test("is used where it is named, on every system", async () => {
    expect(await tierOf({ provider: "remote", remote })).toBe("container");
    await expect(tierOf({ provider: "remote" })).rejects.toEqual(refused(/no remote sandbox was given/u));
    await expect(tierOf({ provider: "remote", remote: elsewhere() })).rejects.toEqual(
      refused(/does not hold/u),
    );
  });

  test("is never used because it is there: it is the fallback only where that is said", async () => {
    await expect(tierOf({ remote })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("'remote': is never used"),
    });
    await expect(tierOf({ provider: "remote", remote, fallback: "remote" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(tierOf({ fallback: "remote" })).rejects.toEqual(refused(/no remote sandbox was given/u));
    // A system without the requested sandbox fails closed, and the fallback is held to the policy, too.
    const provider = process.platform === "darwin" ? "linux" : "seatbelt";
    await expect(tierOf({ provider })).rejects.toEqual(refused(/no sandbox of that kind/u));
    expect(await tierOf({ provider, fallback: "remote", remote })).toBe("container");
    await expect(tierOf({ provider, fallback: "remote", remote: elsewhere() })).rejects.toEqual(
      refused(/does not hold/u),
    );
  });

  test("takes whatever policy where no file of the workspace is", async () => {
    const service = elsewhere({}, { workspaceFiles: "absent" });
    const rules = [
      { path: "secret/open", decision: "allow" },
      { path: "secret/**", decision: "deny" },
    ] as const;
    const ws = await world.open({ rules, access: { deny: ["x"] }, commands: service });
    const { description } = ws.tools.find(({ name }) => name === "run_command") ?? {};
    expect(description).toContain("no file of this workspace is there");
  });
});

test("misspelt and wrong options of commands are refused", async () => {
  for (const commands of [
    { teir: "fast" },
    { provider: "bubblewrap" },
    { fallback: "local" },
    { fallback: "remote", remote: {} },
    { tier: "Strict" },
    { limits: { process: 3 } },
    { limits: { processes: 0 } },
    { read: ["x"] },
    false,
    "strict",
    [],
  ]) {
    await expect(world.open({ commands } as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
});

describe.skipIf(process.platform !== "linux")("on Linux", () => {
  const missing = { bubblewrap: "/nonexistent/bwrap" };

  test("the strict tier without bubblewrap is refused with what to do", async () => {
    await expect(world.open({ commands: missing })).rejects.toMatchObject({
      code: "SANDBOX_SETUP_FAILED",
      message: expect.stringContaining("it is not installed"),
      hint: expect.stringContaining("install the package bubblewrap"),
    });
  });

  test("the strict tier without bubblewrap becomes the fast one where less will do, and says partial", async () => {
    const ws = await world.open({ commands: { ...missing, degrade: "allow" } });
    expect((await ws.call("access_info", {})).data).toMatchObject({
      sandbox: { commands: { tier: "landlock+seccomp", files: "partial", policy: "partial" } },
    });
    expect(ws.capabilities().sandbox.commands).toMatchObject({ files: "partial" });
  });

  test("the strictest sandbox of this system is chosen, and a fallback only where it is missing", async () => {
    const remote = elsewhere({}, { policy: "enforced" });
    const tierOf = async (commands: object): Promise<string | undefined> =>
      (await world.open({ commands })).capabilities().sandbox.commands?.tier;
    expect(await tierOf({ provider: "auto" })).toBe("bubblewrap");
    expect(await tierOf({ provider: "linux", fallback: "remote", remote })).toBe("bubblewrap");
    expect(await tierOf({ ...missing, fallback: "remote", remote })).toBe("container");
    // The fallback comes before a weaker sandbox of this system.
    expect(await tierOf({ ...missing, fallback: "remote", remote, degrade: "allow" })).toBe("container");
  });

  test("the fast tier is refused beside a policy unless less will do", async () => {
    await expect(world.open({ commands: { tier: "fast" } })).rejects.toEqual(
      refused(/landlock.*protected places, secrets/u),
    );
    const sandbox = linuxSandbox({ writableRoots: [world.root] });
    await expect(world.open({ commands: sandbox })).rejects.toEqual(refused(/landlock/u));
    const access = { protect: false, secrets: "allow" } as const;
    const ws = await world.open({ access, commands: { tier: "fast" } });
    expect(ws.capabilities().sandbox.commands).toMatchObject({ files: "enforced", policy: "enforced" });
  });

  test("a model is told what holds in the tier, and no more", async () => {
    const description = async (commands: object): Promise<string> => {
      const ws = await world.open({ commands });
      return ws.tools.find(({ name }) => name === "run_command")?.description ?? "";
    };
    const strict = await description({ tier: "strict" });
    expect(strict).toContain("denied or secret are empty or unreadable");
    expect(strict).toContain("cannot reach the network");
    const fast = await description({ tier: "fast", degrade: "allow", network: true });
    expect(fast).toContain("is not kept from it");
    expect(fast).toContain("may reach the network");
    expect(fast).not.toContain("cannot reach");
  });

  test("a sandbox made by hand never allows more than it was made for", async () => {
    world.put("src/x", "x");
    const commands = sandboxFor({ tier: "strict", writableRoots: [join(world.root, "src")] });
    const ws = await world.open({ commands });
    expect((await run(ws, "echo y > src/y; echo y > a")).exit_code).not.toBe(0);
    expect([world.has("src/y"), world.read("a")]).toEqual([true, "a\n"]);
  });

  test("an agent's commands are kept to what the agent may do", async () => {
    world.put("src/x", "x");
    world.put("private/x", "hidden content");
    const ws = await world.open({ commands: true });
    const agent = await ws.agent("one", { access: { write: ["src"], deny: ["private"] } });
    const result = await agent.call("run_command", {
      command: "cat ../private/x; echo y > y; echo y > ../y",
      shell: true,
      cwd: "src",
    });
    expect(JSON.stringify(result)).not.toContain("hidden content");
    expect([world.has("src/y"), world.has("y")]).toEqual([true, false]);
  });

  test("a rule that denies a path holds in commands", async () => {
    world.put("secret/x", "hidden content");
    const ws = await world.open({ commands: true, rules: [{ path: "secret/**", decision: "deny" }] });
    expect(JSON.stringify(await run(ws, "cat secret/x; echo y > secret/y"))).not.toContain("hidden content");
    expect(world.has("secret/y")).toBe(false);
  });

  test("read-only places that a lesser tier does not hold are told", () => {
    fs.mkdirSync(join(world.root, "kept"));
    const options = { writableRoots: [world.root], readOnlyPaths: [join(world.root, "kept")] };
    expect(() => sandboxFor(options)).toThrow(refused(/strict/u));
    expect(sandboxFor({ ...options, degrade: "allow" }).status.files).toBe("partial");
    expect(sandboxFor({ ...options, tier: "strict" }).status.files).toBe("enforced");
  });

  test("commands read the system and what they are given, not the home directory", async () => {
    const home = join(world.base, "home");
    fs.mkdirSync(home);
    fs.writeFileSync(join(home, "note"), "private note");
    const closed = await world.open({ commands: true });
    expect((await run(closed, `cat ${home}/note`)).exit_code).not.toBe(0);
    const wide = await world.open({ commands: { read: [home] } });
    expect(await run(wide, `cat ${home}/note`)).toMatchObject({ stdout: "private note" });
  });
});
