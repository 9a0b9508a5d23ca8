/** Ways out that a sandboxed command can find. The test compiles the program that looks for them, which takes a while. */
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LocalBackend, linuxSandbox, openWorkspace, SandboxPolicy } from "../../js/index.node.ts";
import { attacker } from "./attacker.ts";

const { landlock } = new LocalBackend({ policy: SandboxPolicy.workspaceOnly(tmpdir()) }).capabilities()
  .kernel;
const EPERM = 1;

test.skipIf(landlock === 0)(
  "no raw sockets, packets, io_uring or the shell's connections, and no descriptor of ours",
  { timeout: 300_000 },
  async () => {
    const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-reach-")));
    const root = join(base, "ws");
    fs.mkdirSync(root);
    fs.writeFileSync(join(base, "out"), "out");
    const commands = linuxSandbox({ writableRoots: [root], degrade: "allow" });
    const ws = await openWorkspace({ root, stateDir: join(base, "state"), commands });
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const held = fs.openSync(join(base, "out"), "r");
    const run = async (command: readonly string[]): Promise<unknown> =>
      (await ws.call("run_command", { command })).data;
    try {
      const found = (await run([attacker(), "reach"])) as { readonly stdout: string };
      expect(found.stdout.trim().split("\n")).toEqual([
        "descriptors 3",
        ...["raw", "packet", "netlink"].map((name) => `${name} ${EPERM}`),
        "unix 0",
        `io_uring ${EPERM}`,
      ]);
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
