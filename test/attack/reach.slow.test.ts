/** Ways out that a sandboxed command can find. The test compiles the program that looks for them, which takes a while. */
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { LocalBackend, linuxSandbox, openWorkspace, SandboxPolicy } from "../../js/index.node.ts";
import { attacker } from "./attacker.ts";

const { landlock } = new LocalBackend({ policy: SandboxPolicy.workspaceOnly(tmpdir()) }).capabilities()
  .kernel;
/** The answers to `attacker reach`: errno, 0 for success. SIGSYS is 31. */
const [EPERM, EACCES] = [1, 13];
const KEYED = "add_key request_key keyctl shmget shmat msgget msgrcv semget semop mq_open mount fsopen".split(
  " ",
);
const OTHER_CONVENTIONS =
  process.arch === "x64"
    ? [`unix of x32 ${EPERM}`, "socket of 32 bits killed 31", "socketcall of 32 bits killed 31"]
    : [];
/** What is left when neither the network nor Unix sockets are allowed. */
const CLOSED = {
  ...{ raw: EPERM, packet: EPERM, netlink: EPERM, unix: EACCES, "unix datagram": EACCES, io_uring: EPERM },
  ...{ "stream pair": 0, "packet pair": 0, "datagram pair": EACCES, "raw pair": EACCES },
  ...Object.fromEntries(KEYED.map((name) => [name, EPERM])),
};
const OPEN_SOCKETS = { unix: 0, "unix datagram": 0, "datagram pair": 0, "raw pair": 0 };

interface Ran {
  readonly stdout: string;
}

test.skipIf(landlock === 0)(
  "no raw sockets, packets, io_uring, Unix sockets, keys or the shell's connections, and no descriptor of ours",
  { timeout: 300_000 },
  async () => {
    const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-reach-")));
    const root = join(base, "ws");
    fs.mkdirSync(root);
    fs.writeFileSync(join(base, "out"), "out");
    const opened = (options: object) =>
      openWorkspace({
        root,
        stateDir: join(base, "state"),
        commands: linuxSandbox({ writableRoots: [root], degrade: "allow", ...options }),
      });
    const ws = await opened({});
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const held = fs.openSync(join(base, "out"), "r");
    const run = async (command: readonly string[]): Promise<unknown> =>
      (await ws.call("run_command", { command })).data;
    try {
      const found = (await run([attacker(), "reach"])) as Ran;
      expect(found.stdout.trim().split("\n")).toEqual([
        "descriptors 3",
        ...Object.entries(CLOSED).map(([name, errno]) => `${name} ${errno}`),
        ...OTHER_CONVENTIONS,
      ]);
      // Each option opens its own sockets and no others.
      for (const [options, opens] of [
        [{ sockets: true }, OPEN_SOCKETS],
        [{ network: true }, { netlink: 0 }],
        [
          { network: true, sockets: true },
          { netlink: 0, io_uring: 0, ...OPEN_SOCKETS },
        ],
      ] as const) {
        await using wide = await opened(options);
        const { stdout } = (await wide.call("run_command", { command: [attacker(), "reach"] })).data as Ran;
        const rest = (text: string) =>
          text.split("\n").filter((line) => !/^(?:desc|raw |packet )/u.test(line));
        const expected = Object.entries({ ...CLOSED, ...opens }).map(([name, errno]) => `${name} ${errno}`);
        expect(rest(stdout.trim())).toEqual(rest([...expected, ...OTHER_CONVENTIONS].join("\n")));
      }
      const through = await run(["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port} && echo through`]);
      expect(through).toMatchObject({ stdout: "", exit_code: 1 });
    } finally {
      await ws.close();
      fs.closeSync(held);
      server.close();
      fs.rmSync(base, { recursive: true, force: true });
    }
  },
);
