/** The sockets of other programs, which commands of the fast tier do not reach, and programs that need none. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { linuxSandbox, sandboxFor } from "../../js/index.node.ts";
import { run, World } from "./world.ts";

const MODULES = resolve(import.meta.dirname, "../../node_modules");
let world: World;
const servers: Server[] = [];
beforeEach(() => {
  world = new World();
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await world.close();
});

/** Connects to a Unix socket, by its path or, with a leading `@`, by its abstract name; prints what happens. */
const connect = (path: string): string =>
  `node -e 'require("net").connect(${JSON.stringify(path.replace("@", "\\u0000"))}).on("error", (e) => console.log(e.code)).on("connect", function () { console.log("through"); this.destroy() })'`;

const listen = async (path: string): Promise<string> => {
  const server = createServer((socket) => socket.destroy()).listen(path.replace("@", "\0"));
  servers.push(server);
  await new Promise((done) => server.once("listening", done));
  return path;
};

const FAST = { tier: "fast", degrade: "allow" } as const;

describe.skipIf(process.platform !== "linux")("a command of the fast tier", { timeout: 120_000 }, () => {
  test("connects to no Unix socket, wherever it is, unless sockets are allowed", async () => {
    const [inside, outside] = [
      await listen(join(world.root, "in.sock")),
      await listen(join(world.base, "out.sock")),
    ];
    const abstract = await listen(`@filewright-test-${process.pid}`);
    for (const more of [{}, { network: true }, { read: null }, { sockets: false }]) {
      const ws = await world.open({ commands: { ...FAST, ...more } });
      for (const path of [inside, outside, abstract])
        expect((await run(ws, connect(path))).stdout).toBe("EACCES\n");
    }
    const open = await world.open({ commands: { ...FAST, sockets: true } });
    for (const path of [inside, outside]) expect((await run(open, connect(path))).stdout).toBe("through\n");
  });

  test("connects to none either where the sandbox was made by hand, or is the weaker one", async () => {
    const path = await listen(join(world.root, "in.sock"));
    const writableRoots = [world.root];
    const missing = { tier: "strict", bubblewrap: "/nonexistent/bwrap", degrade: "allow" } as const;
    for (const make of [
      (more: object) => linuxSandbox({ writableRoots, degrade: "allow", ...more }),
      (more: object) => sandboxFor({ writableRoots, degrade: "allow", ...more }),
      (more: object) => sandboxFor({ writableRoots, ...missing, ...more }),
    ]) {
      expect((await run(await world.open({ commands: make({}) }), connect(path))).stdout).toBe("EACCES\n");
      const open = await world.open({ commands: make({ sockets: true }) });
      expect((await run(open, connect(path))).stdout).toBe("through\n");
    }
    const weaker = await world.open({ commands: missing });
    expect((await run(weaker, connect(path))).stdout).toBe("EACCES\n");
  });

  test("is refused another value or spelling of the option", async () => {
    const wrong = [{ sockets: "true" }, { sockets: 1 }, { socket: true }, { unixSockets: true }];
    for (const more of wrong) {
      await expect(world.open({ commands: { ...FAST, ...more } as never })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
      for (const make of [linuxSandbox, sandboxFor])
        expect(() => make({ writableRoots: [world.root], ...more } as never)).toThrow(
          expect.objectContaining({ code: "INVALID_ARGUMENT" }),
        );
    }
  });

  const programs: readonly (readonly [name: string, script: string, said: RegExp])[] = [
    [
      "git",
      "echo b > b && git add b && git -c user.name=A -c user.email=a@b commit -qm two && git stash list && git gc -q && git log --oneline | wc -l",
      /^2$/mu,
    ],
    [
      "node",
      `node -e 'const { fork, execFileSync } = require("child_process");
        if (process.send) { process.send(execFileSync("echo", ["piped"], { encoding: "utf8" })); process.disconnect(); }
        else { const child = fork(process.argv[1] ?? "./fork.js"); child.on("message", (text) => console.log("forked " + text)); }' ./fork.js`,
      /^forked piped/mu,
    ],
    [
      "npm",
      "npm --offline --no-audit --no-fund install ./dep && npm run --silent hello",
      /^hello from npm$/mu,
    ],
    [
      "tsserver",
      `printf '%s\\n' '{"seq":0,"type":"request","command":"open","arguments":{"file":"'$PWD'/t.ts"}}' '{"seq":1,"type":"request","command":"semanticDiagnosticsSync","arguments":{"file":"'$PWD'/t.ts"}}' | node ${MODULES}/typescript/lib/tsserver.js`,
      /is not assignable to type/u,
    ],
    ["pytest", "pytest -q t.py", /^1 passed/mu],
    ["gradle", "gradle --offline --no-daemon -q hello", /hello from gradle/u],
  ];
  const isThere = (name: string): boolean =>
    name === "tsserver" || spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0;

  test.each(programs.filter(([name]) => isThere(name)))(
    "runs %s without sockets",
    async (_, script, said) => {
      world.put("package.json", '{"name":"a","scripts":{"hello":"echo hello from npm"}}');
      world.put("dep/package.json", '{"name":"dep","version":"1.0.0"}');
      world.put("fork.js", 'process.send("piped"); process.disconnect();');
      world.put("t.ts", 'export const wrong: number = "text";\n');
      world.put("t.py", "def test_one(tmp_path):\n    assert tmp_path.exists()\n");
      world.put("build.gradle", 'task hello { doLast { println "hello from gradle" } }\n');
      const read = [MODULES, fs.realpathSync(process.execPath)];
      const ws = await world.open({ commands: { ...FAST, read } });
      const ran = await run(ws, script);
      expect(`${ran.stdout}${ran.stderr}`).toMatch(said);
      expect(ran.exit_code).toBe(0);
    },
  );
});
