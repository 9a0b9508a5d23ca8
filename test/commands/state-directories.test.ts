/**
 * The state directories: that of a workspace and the default ones of its user hold keys, tokens, grants and sockets.
 * No tool reads or names what is in them, and no command of either tier.
 */
import * as fs from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NodeBackend } from "../../js/index.node.ts";
import { run, World } from "./world.ts";

const VARIABLES = ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] as const;
const SECRET = "a token of the approver";
/** The directories that can be the default one, below the home directory of the test, and the own one. */
const PLACES = ["xdg/filewright", ".local/state/filewright", "run/filewright", "named"] as const;
const NAMES = ["serve-4747.approve.token", "approvals/key", "grants.json", "review/page.json"] as const;

let world: World;
let home: string;
let server: Server;
const before = VARIABLES.map((name) => [name, process.env[name]] as const);

beforeEach(async () => {
  world = new World();
  home = join(world.base, "home");
  for (const place of PLACES) {
    for (const name of NAMES) {
      fs.mkdirSync(join(home, place, name, ".."), { recursive: true, mode: 0o700 });
      fs.writeFileSync(join(home, place, name), SECRET, { mode: 0o600 });
    }
  }
  fs.writeFileSync(join(home, "note"), "a note");
  fs.symlinkSync(join(home, PLACES[0]), join(home, "link"));
  process.env["HOME"] = home;
  process.env["XDG_STATE_HOME"] = join(home, "xdg");
  process.env["XDG_RUNTIME_DIR"] = join(home, "run");
  server = createServer((socket) => socket.destroy()).listen(join(home, PLACES[0], "s.sock"));
  await new Promise((done) => server.once("listening", done));
});
afterEach(async () => {
  await world.close();
  server.close();
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

/** The options of a workspace that can read the home directory, each with another state directory than the default. */
const OPENED: readonly (readonly [name: string, options: () => Parameters<World["open"]>[0]])[] = [
  ["the home directory as root", () => ({ root: home })],
  ["everything readable", () => ({ access: { read: null } })],
  ["the home directory readable", () => ({ access: { read: [home] } })],
  ["a link to a default one readable", () => ({ access: { read: [join(home, "link")] } })],
  ["the default directory itself as root", () => ({ root: join(home, PLACES[1]) })],
];
const ENGINES = ["native", "checked"] as const;

describe.each(ENGINES)("with the %s disk", (engine) => {
  test.each(OPENED)("no tool reads or names a state directory: %s", async (_, options) => {
    const stateDir = join(home, "named");
    const backend = engine === "checked" ? { backend: new NodeBackend({ stateDir }) } : {};
    const ws = await world.open({ stateDir, ...backend, ...options() });
    const texts: string[] = [];
    const call = async (tool: string, args: object): Promise<string> => {
      const text = JSON.stringify(await ws.call(tool, args));
      texts.push(text);
      return text;
    };
    const listings: string[] = [];
    for (const place of [...PLACES, "link"]) {
      listings.push(await call("list_directory", { path: join(home, place) }));
      for (const name of NAMES) {
        const path = join(home, place, name);
        expect(await ws.call("read_file", { path })).toMatchObject({ ok: false });
        expect(await ws.call("stat", { path })).toMatchObject({ ok: false });
        await call("read_many_files", { paths: [path] });
        await call("copy", { source: path, destination: "copied" });
        await call("write_file", { path, content: "forged", mode: "overwrite" });
      }
    }
    listings.push(await call("grep", { pattern: "token of", path: home, output: "content" }));
    listings.push(await call("glob", { pattern: "**/*.token", path: home }));
    listings.push(await call("find_files", { query: "approve token" }));
    listings.push(await call("list_directory", { path: home, depth: 5 }));
    expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
    expect(listings.filter((text) => NAMES.some((name) => text.includes(name)))).toEqual([]);
    for (const place of PLACES)
      for (const name of NAMES) expect(fs.readFileSync(join(home, place, name), "utf8")).toBe(SECRET);
  });
});

const COMMANDS = [
  ["strict", { tier: "strict" }],
  ["strict with the network", { tier: "strict", network: true }],
  ["fast", { tier: "fast", degrade: "allow" }],
  ["fast with sockets", { tier: "fast", degrade: "allow", sockets: true, network: true }],
] as const;

describe.skipIf(process.platform !== "linux").each(COMMANDS)("a command of the tier: %s", (_, tier) => {
  test.each([
    ["everything", { read: null }],
    ["the home directory", { read: "home" }],
  ] as const)("reads and names nothing of a state directory, and may read %s", async (__, { read }) => {
    const commands = { ...tier, read: read === null ? null : [home] };
    const ws = await world.open({ stateDir: join(home, "named"), commands });
    for (const place of [...PLACES, "link"]) {
      const at = join(home, place);
      const names = `ls -A ${at}/ ${at}/approvals; find ${at}/; echo ${at}/*`;
      const reads = NAMES.map((name) => `cat ${join(at, name)}; echo x > ${join(at, name)}`).join("; ");
      const { stdout } = await run(
        ws,
        `(${names}; ${reads}; cd ${at} && ls; cat ${NAMES.join(" ")}) 2>/dev/null`,
      );
      expect(stdout).not.toContain(SECRET);
      expect(NAMES.filter((name) => stdout.includes(name))).toEqual([]);
    }
    const socket = join(home, PLACES[0], "s.sock");
    const connect = `node -e 'require("net").connect("${socket}").on("error", (e) => console.log(e.code)).on("connect", () => { console.log("through"); process.exit() })'`;
    if (!("sockets" in tier)) expect((await run(ws, connect)).stdout).not.toContain("through");
    expect((await run(ws, `cat ${join(home, "note")}`)).stdout).toBe("a note");
    for (const place of PLACES)
      for (const name of NAMES) expect(fs.readFileSync(join(home, place, name), "utf8")).toBe(SECRET);
  });
});
