/** What a disk does with entries of other users, and with an owner or a mode that another program changes meanwhile. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { LocalBackend, NodeBackend } from "../../js/index.node.ts";
import { newTempName } from "../../js/backends/node/temp.node.ts";

const NOBODY = 65_534;
/** Only root can start a process as another user, and give a file away. */
const canBecome = process.getuid?.() === 0;
const ENTRY = new URL("../../dist/cli/library.js", import.meta.url).href;

const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-users-")));
fs.chmodSync(base, 0o755);
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let root: string;
let count = 0;
const at = (name: string): string => join(root, name);

beforeEach(() => {
  root = join(base, String(count++));
  fs.mkdirSync(root);
});

const BACKENDS = { LocalBackend, NodeBackend };
const names = Object.keys(BACKENDS) as readonly (keyof typeof BACKENDS)[];

/** The name of a temporary file of a process that has ended. */
function staleName(): string {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const [prefix, realm, , , nonce] = newTempName().split("-");
  return [prefix, realm, pid.toString(16), "1", nonce].join("-");
}

describe.each(names)("%s", (name) => {
  test.skipIf(!canBecome)("a stale temporary file of another user stays, one of one's own goes", () => {
    fs.chmodSync(root, 0o777);
    const [own, others] = [staleName(), staleName()];
    for (const one of [own, others]) fs.writeFileSync(at(one), "x");
    fs.chownSync(at(own), NOBODY, NOBODY);
    const script = `import { ${name} } from ${JSON.stringify(ENTRY)};
      const disk = new ${name}();
      await disk.writeText(${JSON.stringify(at("a"))}, "x");
      await disk.sweep(${JSON.stringify(root)});`;
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: root,
      // Another user cannot write where lines are counted, and says so.
      env: { NODE_V8_COVERAGE: "", HOME: root },
      uid: NOBODY,
      gid: NOBODY,
      encoding: "utf8",
    });
    expect(child).toMatchObject({ status: 0, stderr: "" });
    expect(
      fs
        .readdirSync(root)
        .filter((one) => !one.startsWith(".local"))
        .sort(),
    ).toEqual([others, "a"].sort());
  });

  /** Writes a large file, and calls `change` after the beginning of the write and before its end. */
  const changeDuringWrite = async (change: () => void, how?: { readonly mode: number }): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      fs.rmSync(at("a"), { force: true });
      fs.writeFileSync(at("a"), "old\n");
      fs.chmodSync(at("a"), 0o644);
      const writing = new BACKENDS[name]().writeBytes(at("a"), new Uint8Array(32 << 20), how);
      let hasEnded = false;
      void writing.finally(() => {
        hasEnded = true;
      });
      while (!hasEnded && fs.readdirSync(root).length === 1)
        await new Promise((resolve) => setImmediate(resolve));
      change();
      const isMeanwhile = fs.statSync(at("a")).size === 4;
      await writing;
      expect(fs.statSync(at("a")).size).toBe(32 << 20);
      if (isMeanwhile) return;
      // A machine under load let the write end first: that shows nothing.
      expect(attempt).toBeLessThan(200);
    }
  };

  test.skipIf(process.platform === "win32")("a mode that is set during a write is kept", async () => {
    await changeDuringWrite(() => fs.chmodSync(at("a"), 0o600));
    expect(fs.statSync(at("a")).mode & 0o777).toBe(0o600);
    await changeDuringWrite(() => fs.chmodSync(at("a"), 0o600), { mode: 0o640 });
    expect(fs.statSync(at("a")).mode & 0o777).toBe(0o640);
  });

  test.skipIf(!canBecome)("an owner that is set during a write is kept", async () => {
    await changeDuringWrite(() => {
      fs.chownSync(at("a"), NOBODY, NOBODY);
      fs.chmodSync(at("a"), 0o660);
    });
    const { uid, gid, mode } = fs.statSync(at("a"));
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: NOBODY, gid: NOBODY, mode: 0o660 });
    expect(fs.readdirSync(root)).toEqual(["a"]);
  });
});
