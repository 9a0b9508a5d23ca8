/** File tools on the disk, also while other processes run. */
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { place, temporary } from "../tools/harness.ts";
import { ENTRY, node } from "./node.ts";

test("in this process: no other program, no package, no server", async () => {
  const { root, stateDir } = await temporary({ a: "one\n" });
  const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  expect(manifest.dependencies ?? {}).toEqual({});
  // Node's permission model refuses child processes and workers to the script.
  const flags = ["--experimental-permission", "--allow-fs-read=*", "--allow-fs-write=*", "--allow-addons"];
  const said = await node(
    `import { spawn } from "node:child_process";
      import { openWorkspace } from ${JSON.stringify(ENTRY)};
      const [root, stateDir] = process.argv.slice(1);
      let refused = false;
      try { spawn("true"); } catch { refused = true; }
      const ws = await openWorkspace({ root, stateDir });
      await ws.editFile({ path: "a", old_text: "one", new_text: "two" });
      const { matches } = await ws.grep({ pattern: "two" });
      const open = process.getActiveResourcesInfo().filter((name) => /TCP|Process|Pipe.*Server/.test(name));
      console.log(JSON.stringify([refused, matches.length, open]));`,
    flags,
    root,
    stateDir,
  );
  expect(JSON.parse(said)).toEqual([true, 1, []]);
});

test("relative paths mean the directory of the workspace, wherever the process goes", async () => {
  const { root, outside, stateDir } = await temporary({
    "d/a": "in d",
    a: "in root",
    "../out/a": "outside",
  });
  await using ws = await openWorkspace({ root, cwd: join(root, "d"), stateDir });
  const before = process.cwd();
  try {
    process.chdir(outside);
    expect((await ws.readFile({ path: "a" })).content).toBe("in d");
    expect((await ws.readFile({ path: "../a" })).content).toBe("in root");
    await ws.writeFile({ path: "n", content: "x" });
  } finally {
    process.chdir(before);
  }
  expect(await readdir(outside)).toEqual(["a"]);
  expect(await readFile(join(root, "d/n"), "utf8")).toBe("x");
});

test("an edit is another file under the same name, with the mode kept and nothing beside it", async () => {
  const { ws, root } = await place("local", { "d/a": "one\n" });
  await ws.fs.chmod?.(`${root}/d/a`, 0o640);
  const before = await stat(`${root}/d/a`);
  await ws.editFile({ path: "d/a", old_text: "one", new_text: "uno", dry_run: true });
  expect((await stat(`${root}/d/a`)).ino).toBe(before.ino);
  await ws.editFile({ path: "d/a", old_text: "one", new_text: "two" });
  const after = await stat(`${root}/d/a`);
  expect(after.ino).not.toBe(before.ino);
  expect(after.mode & 0o777).toBe(0o640);
  expect(await readdir(`${root}/d`)).toEqual(["a"]);
});

test("two processes that edit one file lose none of their edits", async () => {
  const { root, stateDir } = await temporary();
  await writeFile(join(root, "a"), Array.from({ length: 30 }, (_, at) => `<${at}>\n`).join(""));
  await mkdir(join(root, "go"));
  const script = `
      import { readdirSync, mkdirSync } from "node:fs";
      import { openWorkspace } from ${JSON.stringify(ENTRY)};
      const [root, stateDir, who] = process.argv.slice(1);
      const ws = await openWorkspace({ root, stateDir });
      mkdirSync(root + "/go/" + who);
      while (readdirSync(root + "/go").length < 2) await new Promise((done) => setTimeout(done, 5));
      for (let at = Number(who); at < 30; at += 2)
        await ws.editFile({ path: "a", old_text: "<" + at + ">", new_text: "[" + at + "]" });`;
  await Promise.all(["0", "1"].map((who) => node(script, [], root, stateDir, who)));
  const all = Array.from({ length: 30 }, (_, at) => `[${at}]\n`).join("");
  expect(await readFile(join(root, "a"), "utf8")).toBe(all);
});
