/** memfs and ZenFS under `fromNodeFs`: the whole backend contract, and a workspace. */
import { openWorkspace } from "filewright";
import { fromNodeFs, type NodeFs } from "filewright/node-fs";
import { backendContract } from "filewright/testing";
import { createFsFromVolume, Volume } from "memfs";
import { fs as zenfs, InMemory, mount, resolveMountConfig, umount } from "@zenfs/core";
import { ok } from "./scene.js";

/** Known differences of each imitation from POSIX, with the reason. */
const EXCEPT: Readonly<Record<string, readonly string[]>> = {
  memfs: [],
  // A backslash separates names there, so a name that holds one is refused.
  zenfs: ["names: whatever a name is made of, it is the same name again"],
};

const HOSTS: Readonly<Record<string, () => Promise<NodeFs>>> = {
  memfs: async () => createFsFromVolume(new Volume()) as unknown as NodeFs,
  zenfs: async () => {
    umount("/");
    mount("/", await resolveMountConfig({ backend: InMemory }));
    return zenfs;
  },
};

let failed = 0;
for (const [name, make] of Object.entries(HOSTS)) {
  const cases: { name: string; run: () => Promise<void> }[] = [];
  backendContract(
    async () => {
      const fs = await make();
      await fs.promises.mkdir("/contract", { recursive: true });
      return { backend: fromNodeFs(fs), root: "/contract" };
    },
    { test: (title, run) => cases.push({ name: title, run }), except: EXCEPT[name] ?? [] },
  );
  for (const one of cases) {
    try {
      await one.run();
    } catch (error) {
      failed += 1;
      console.error(`not ok ${name}: ${one.name}: ${String(error)}`);
    }
  }
  console.log(`ok contract of ${name}: ${cases.length} cases`);

  const fs = await make();
  await fs.promises.mkdir("/tree");
  await fs.promises.writeFile("/secret", new TextEncoder().encode("what is outside"));
  const answers = [false, true];
  const ws = await openWorkspace({
    backend: fromNodeFs(fs),
    root: "/tree",
    confirm: ({ tool }) => ({
      outcome: tool !== "delete" || answers.shift() === true ? "proceed_once" : "cancel",
    }),
  });
  const around = await ws.call("read_file", { path: "src\\..\\..\\secret" });
  ok("outside", !around.ok && !around.text.includes("what is outside"), around);
  await ws.writeFile({ path: "src/a.ts", content: "const retries = 3;\n" });
  ok("list", (await ws.listDirectory({})).entries.length === 1);
  ok("read", (await ws.readFile({ path: "src/a.ts" })).total_lines === 1);
  const wrong = await ws.call("edit_file", { path: "src/a.ts", edits: [{ old_text: "no", new_text: "x" }] });
  ok("refused edit", !wrong.ok);
  await ws.editFile({ path: "src/a.ts", edits: [{ old_text: "= 3", new_text: "= 5" }] });
  ok("corrected edit", (await ws.grep({ pattern: "= 5" })).total_matches === 1);
  ok("denial", !(await ws.call("delete", { path: "src/a.ts" })).ok && (await ws.fs.exists("/tree/src/a.ts")));
  ok(
    "approval",
    (await ws.call("delete", { path: "src/a.ts" })).ok && !(await ws.fs.exists("/tree/src/a.ts")),
  );
  const cancelled = await ws.call("read_file", { path: "src/a.ts" }, { signal: AbortSignal.abort() });
  ok("cancel", cancelled.error?.code === "CANCELLED");
  await ws.close();
}
if (failed > 0) process.exit(1);
console.log("done");
process.exit(0);
