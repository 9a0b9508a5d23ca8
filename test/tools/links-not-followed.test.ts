/** Searches and listings follow no links, and name those behind which there may be more. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LocalBackend, NodeBackend, openWorkspace, type Workspace } from "../../js/index.node.ts";

let base: string;
let ws: Workspace;
const at = (path: string): string => join(base, path);
const put = (path: string, text = "word\n"): void => {
  fs.mkdirSync(dirname(at(path)), { recursive: true });
  fs.writeFileSync(at(path), text);
};
const link = (path: string, target: string): void => {
  fs.mkdirSync(dirname(at(path)), { recursive: true });
  fs.symlinkSync(target, at(path));
};
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-links-")));
});
afterEach(async () => {
  await ws.close();
  fs.rmSync(base, { recursive: true, force: true });
});

/** The note about links in an answer. */
async function noteOf(tool: "glob" | "grep" | "list_directory", args: object): Promise<string | undefined> {
  const answer = await ws.call(tool, args as never);
  if (!answer.ok) throw new Error(answer.text);
  const { warnings = [] } = answer.data as { readonly warnings?: readonly string[] };
  const note = warnings.find((one) => one.includes("not followed"));
  if (note !== undefined) expect(answer.text).toContain(`[${note}]`);
  else expect(answer.text).not.toContain("not followed");
  return note;
}

const DISKS = { "the addon": () => new LocalBackend(), "no addon": () => new NodeBackend() } as const;

describe.each(Object.entries(DISKS))("with %s", (_, disk) => {
  const open = async (): Promise<void> => {
    ws = await openWorkspace({ root: at("w"), backend: disk(), stateDir: at("state") });
  };
  const TWO = "2 symbolic links were not followed: projects/a, projects/b";

  test("a directory of links only names them", async () => {
    for (const name of ["a", "b"]) {
      put(`w/real/${name}/x.ts`);
      link(`w/projects/${name}`, `../real/${name}`);
    }
    await open();
    expect(await noteOf("glob", { pattern: "projects/**" })).toBe(TWO);
    expect(await noteOf("glob", { pattern: "**", path: "projects" })).toBe(TWO);
    expect(await noteOf("grep", { pattern: "word", path: "projects" })).toBe(TWO);
    expect(await noteOf("grep", { pattern: "word", glob: "projects/**" })).toBe(TWO);
    expect(await noteOf("list_directory", { path: "projects", depth: 3 })).toBe(TWO);
    expect(await noteOf("list_directory", { path: "projects", depth: 3, format: "tree" })).toBe(TWO);
  });

  test("many links are counted, and three are named", async () => {
    put("w/real/x.ts");
    for (let n = 100; n < 250; n++) link(`w/many/l${n}`, "../real");
    await open();
    const many = "150 symbolic links were not followed: many/l100, many/l101, many/l102 and 147 more";
    expect(await noteOf("grep", { pattern: "word", path: "many" })).toBe(many);
  });

  test("a link that leads out of the roots is named, without what is there", async () => {
    put("elsewhere/x.ts");
    link("w/d/there", at("elsewhere"));
    link("w/d/nowhere", at("missing"));
    await open();
    const note = "2 symbolic links were not followed: d/nowhere, d/there";
    expect(await noteOf("grep", { pattern: "word" })).toBe(note);
    expect(await noteOf("list_directory", { depth: 3 })).toBe(note);
  });

  test("nothing is said where nothing can be missing", async () => {
    put("w/real/x.ts");
    put("w/a.txt", "other\n");
    link("w/b.txt", "a.txt");
    link("w/same", "real");
    link("w/broken", "missing");
    link("w/loop", "loop");
    link("w/.hidden/x", "../real");
    await open();
    expect(await noteOf("grep", { pattern: "absent" })).toBe(undefined);
    expect(await noteOf("grep", { pattern: "word" })).toBe(undefined);
    expect(await noteOf("grep", { pattern: "absent", path: "a.txt" })).toBe(undefined);
    expect(await noteOf("glob", { pattern: "real/*.md" })).toBe(undefined);
    expect(await noteOf("glob", { pattern: "*.ts" })).toBe(undefined);
    expect(await noteOf("list_directory", { depth: 3 })).toBe(undefined);
    expect(await noteOf("list_directory", {})).toBe(undefined);
  });

  test("ignored, excluded and denied links are left out", async () => {
    put("w/real/x.ts");
    put("w/d/.gitignore", "gone\n");
    for (const name of ["gone", "excluded", "denied", "seen"]) link(`w/d/${name}`, "../real");
    ws = await openWorkspace({
      root: at("w"),
      backend: disk(),
      stateDir: at("state"),
      access: { deny: ["d/denied"] },
    });
    const one = "1 symbolic link was not followed: d/seen";
    expect(await noteOf("grep", { pattern: "word", path: "d", exclude: ["excluded"] })).toBe(one);
    expect(await noteOf("glob", { pattern: "*.ts", path: "d", exclude: ["excluded"] })).toBe(one);
  });

  test("a name that forges a line is escaped", async () => {
    put("w/real/x.ts");
    link("w/d/a\n[all searched]", "../real");
    await open();
    expect(await noteOf("grep", { pattern: "word", path: "d" })).toBe(
      "1 symbolic link was not followed: d/a\\n[all searched]",
    );
  });
});
