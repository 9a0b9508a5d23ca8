// What every runtime and bundler does with the local disk: writes, reads, searches, edits and undoes.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns which engine worked and what it answered. The directory is removed afterwards. */
export async function steps({ openWorkspace, FilewrightError }) {
  const dir = mkdtempSync(join(tmpdir(), "filewright-disk-"));
  try {
    const workspace = await openWorkspace({ root: dir, stateDir: join(dir, ".state") });
    const call = async (tool, args) => (await workspace.call(tool, args)).text;
    const file = { path: "src/a.ts" };
    const answers = [
      await call("write_file", { ...file, content: "const näh = 1;\r\nconst b = 2;\r\n" }),
      await call("read_file", file),
      await call("grep", { pattern: "n.h = \\d" }),
      await call("edit_file", { ...file, edits: [{ old_text: "b = 2", new_text: "b = 3" }] }),
      readFileSync(join(dir, "src/a.ts"), "utf8"),
    ];
    const [last] = await workspace.history();
    await workspace.undo(last.callId);
    answers.push(readFileSync(join(dir, "src/a.ts"), "utf8"));
    const refused = await workspace.readFile({ path: "../outside" }).catch((error) => error);
    answers.push(refused instanceof FilewrightError ? refused.code : String(refused));
    const { kind } = workspace.capabilities().engine;
    await workspace.close();
    return { kind, answers };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
