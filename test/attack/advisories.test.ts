/**
 * Attacks that advisories about other agents and servers describe, where no other table of these folders has them. The
 * number of the advisory stands beside each.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveMentions, type Workspace } from "../../js/index.node.ts";
import { run, TIERS, World } from "../commands/world.ts";
import { connect, COMMAND } from "../mcp/harness.ts";
import { runInProcess } from "../support/in-process.ts";
import { reviewer } from "../support/reviewer.ts";

let world: World;
beforeEach(() => {
  world = new World();
  fs.mkdirSync(join(world.base, "out"));
  fs.writeFileSync(join(world.base, "out/secret"), "SECRET");
});
afterEach(() => world.close());

const codeOf = async (ws: Workspace, tool: string, args: object): Promise<string> => {
  const result = await ws.call(tool as "read_file", args as { readonly path: string });
  return result.ok ? "ok" : result.error.code;
};
/** The names in a directory outside the root. */
const outside = (): readonly string[] => fs.readdirSync(join(world.base, "out"));

describe.skipIf(process.platform !== "linux").each(TIERS)("commands of the %s tier", (_, commands) => {
  test("begin only in a directory that the caller may change (CVE-2026-25722, CVE-2026-50548)", async () => {
    fs.symlinkSync("../out", join(world.root, "link"));
    const ws = await world.open({ commands, access: { deny: ["denied"] } });
    world.put("denied/x", "");
    const codes: Record<string, string> = {};
    for (const cwd of [".git/hooks", "../out", "link", "denied", "/", "/tmp", "missing", "a"])
      codes[cwd] = await codeOf(ws, "run_command", { command: ["sh", "-c", "echo x > planted"], cwd });
    expect(codes).toEqual({
      ".git/hooks": "PROTECTED_PATH",
      "../out": "OUTSIDE_ALLOWED",
      link: "OUTSIDE_ALLOWED",
      denied: "OUTSIDE_ALLOWED",
      "/": "OUTSIDE_ALLOWED",
      "/tmp": "OUTSIDE_ALLOWED",
      missing: "NOT_FOUND",
      a: "NOT_DIRECTORY",
    });
    expect(outside()).toEqual(["secret"]);
  });

  test("leave no settings that were not there before (CVE-2026-25725)", async () => {
    const ws = await world.open({ commands });
    const places = [".claude/settings.json", ".vscode/tasks.json", "sub/.cursor/mcp.json", ".envrc"];
    await run(ws, places.map((path) => `mkdir -p "$(dirname ${path})"; echo x > ${path}`).join("; "));
    expect(places.filter((path) => world.has(path))).toEqual([]);
    await run(ws, "cd .git && mkdir -p hooks && cd hooks && echo x > pre-commit; chmod +x pre-commit; true");
    expect(world.has(".git/hooks/pre-commit")).toBe(false);
  });
});

test("a path that cannot be resolved is refused, not judged by its text (CVE-2026-50549)", async () => {
  world.put("denied/x", "DENIED");
  fs.symlinkSync("loop", join(world.root, "loop"));
  fs.symlinkSync("../out/later", join(world.root, "later"));
  const ws = await world.open({ access: { deny: ["denied/**"] } });
  const paths = ["loop/x", "missing/../denied/x", "loop/../denied/x", "a/../denied/x", "later", "later/x"];
  for (const path of paths) {
    expect(await codeOf(ws, "read_file", { path }), path).not.toBe("ok");
    expect(await codeOf(ws, "write_file", { path, content: "PWN" }), path).not.toBe("ok");
  }
  expect(world.read("denied/x")).toBe("DENIED");
  expect(outside()).toEqual(["secret"]);
});

test("what stands in the place of the root later is not reached (CVE-2026-77179)", async () => {
  const ws = await world.open();
  fs.renameSync(world.root, join(world.base, "old"));
  fs.symlinkSync("out", world.root);
  expect(await codeOf(ws, "read_file", { path: "secret" })).toBe("NOT_FOUND");
  expect(await codeOf(ws, "grep", { pattern: "SECRET" })).toBe("ok");
  expect((await ws.grep({ pattern: "SECRET" })).matches).toEqual([]);
  await ws.call("write_file", { path: "new", content: "x" });
  await ws.call("delete", { path: "secret" });
  expect(outside()).toEqual(["secret"]);
  fs.unlinkSync(world.root);
  fs.renameSync(join(world.base, "old"), world.root);
});

test("a lock that was exchanged for a link tells and changes nothing (CVE-2026-112912)", async () => {
  const locks = join(world.base, "state/locks");
  const first = await world.open();
  await first.call("write_file", { path: "b", content: "1" });
  await first.close();
  // Every name of a lock that there ever was leads outside, to a file that exists or to none.
  for (const [index, name] of fs.readdirSync(locks).entries()) {
    fs.rmSync(join(locks, name), { recursive: true });
    fs.symlinkSync(index % 2 === 0 ? "../../out/secret" : "../../out/none", join(locks, name));
  }
  const ws = await world.open();
  await ws.call("write_file", { path: "b", content: "2" }, { timeoutMs: 2000 } as object);
  expect(outside()).toEqual(["secret"]);
  expect(fs.readFileSync(join(world.base, "out/secret"), "utf8")).toBe("SECRET");
});

test("an answer is about the change that was shown, not what stands there later (CVE-2025-54136)", async () => {
  const { shown, confirm } = reviewer("proceed_once", "proceed_once");
  const ws = await world.open({ confirm, rules: [{ tool: "edit_file", decision: "ask" }] });
  await ws.call("edit_file", { path: "a", old_text: "a", new_text: "b" });
  fs.writeFileSync(join(world.root, "a"), "a, and something else\n");
  await ws.call("read_file", { path: "a" });
  await ws.call("edit_file", { path: "a", old_text: "something", new_text: "b" });
  expect(shown).toHaveLength(2);
  expect(shown[0]?.digest).not.toBe(shown[1]?.digest);
});

test("modules of the workspace are not loaded to read its files (CVE-2025-65099)", async () => {
  const evil = `globalThis.planted = true; throw new Error("loaded");`;
  for (const name of ["sharp", "unpdf", "yaml", "pg", "@opentelemetry/api"]) {
    world.put(`node_modules/${name}/package.json`, '{"main":"index.js"}');
    world.put(`node_modules/${name}/index.js`, evil);
  }
  world.put("x.png", "\x89PNG\r\n\x1a\n");
  world.put("x.pdf", "%PDF-1.4\n");
  world.put("x.yaml", "a: 1\n");
  world.put(".npmrc", "x\n");
  const before = process.cwd();
  process.chdir(world.root);
  try {
    const ws = await world.open();
    for (const path of ["x.png", "x.pdf", "x.yaml"]) await ws.call("read_file", { path });
    await resolveMentions(ws, "see @x.pdf and @x.yaml and @`touch planted`");
  } finally {
    process.chdir(before);
  }
  expect((globalThis as { planted?: boolean }).planted).toBeUndefined();
  expect(world.has("planted")).toBe(false);
});

test("resources reach no further than tools (CVE-2025-66389)", async () => {
  world.put("denied/x", "DENIED");
  fs.symlinkSync("../out/secret", join(world.root, "link"));
  await using server = await connect([COMMAND, "mcp", "--deny", "denied", world.root]);
  const url = (path: string): string => pathToFileURL(path).href;
  const uris = [
    url(join(world.base, "out/secret")),
    url(join(world.root, "link")),
    url(join(world.root, "denied/x")),
    `${url(world.root)}/../out/secret`,
    `${url(world.root)}/%2e%2e/out/secret`,
    `${url(world.root)}/..%2fout/secret`,
    `file://localhost${join(world.base, "out/secret")}`,
    `file://host${join(world.root, "a")}`,
    `http://127.0.0.1/${join(world.root, "a")}`,
    "file:///etc/passwd",
  ];
  for (const uri of uris) await expect(server.client.readResource({ uri }), uri).rejects.toThrow(/./u);
  await expect(server.client.readResource({ uri: url(join(world.root, "a")) })).resolves.toMatchObject({
    contents: [{ text: "a\n" }],
  });
});

test("settings that every user of the machine may write are refused (CVE-2026-35603)", async () => {
  const file = join(world.base, "config.json");
  fs.writeFileSync(file, JSON.stringify({ access: { secrets: "allow" } }));
  fs.chmodSync(file, 0o666);
  const refused = await runInProcess(["config", "--config", file], { cwd: world.root, env: {} });
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining("chmod o-w")]);
  fs.chmodSync(file, 0o644);
  const taken = await runInProcess(["config", "--config", file], { cwd: world.root, env: {} });
  expect(taken.status).toBe(0);
});
