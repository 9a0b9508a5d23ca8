/** Ordinary work with default options and no reviewer: nothing is refused, and changes of files that programs obey are reported. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type ToolResult, type WorkspaceOptions } from "../../js/index.node.ts";

/** A file, and true where a write to it is reported because programs take from it what they run. */
const CHORES: readonly (readonly [chore: string, path: string, told: boolean])[] = [
  ["pin a tool", ".tool-versions", true],
  ["pin a tool with mise", "mise.toml", true],
  ["add a build flag", ".cargo/config.toml", true],
  ["pin a toolchain", "rust-toolchain.toml", true],
  ["edit a workflow", ".github/workflows/ci.yml", true],
  ["add an action", ".github/actions/setup/action.yml", true],
  ["edit a pipeline", ".gitlab-ci.yml", true],
  ["add updates of dependencies", ".github/dependabot.yml", false],
  ["add a template for issues", ".github/ISSUE_TEMPLATE/bug.yml", false],
  ["add owners", ".github/CODEOWNERS", false],
  ["ignore a file", ".gitignore", false],
  ["ignore a file in one clone", ".git/info/exclude", false],
  ["set attributes", ".gitattributes", true],
  ["edit a package's scripts", "package.json", false],
  ["edit a lock file", "package-lock.json", false],
  ["set a registry", ".npmrc", true],
  ["set the linker of yarn", ".yarnrc.yml", true],
  ["edit a Makefile", "Makefile", false],
  ["edit a justfile", "justfile", false],
  ["edit a Dockerfile", "Dockerfile", false],
  ["edit a compose file", "docker-compose.yml", false],
  ["add a hook of pre-commit", ".pre-commit-config.yaml", true],
  ["add a hook of lefthook", "lefthook.yml", true],
  ["set the form of a file", ".editorconfig", false],
  ["set a linter", ".eslintrc.json", false],
  ["set a formatter", "biome.json", false],
  ["edit a workspace of VS Code", "app.code-workspace", true],
  ["recommend an extension", ".vscode/extensions.json", true],
  ["write the text of a commit", ".git/COMMIT_EDITMSG", false],
  ["write the text of a merge", ".git/MERGE_MSG", false],
  ["instruct agents", "AGENTS.md", true],
  ["instruct one agent", "CLAUDE.md", true],
  ["instruct Copilot", ".github/copilot-instructions.md", true],
  ["add a skill", ".agents/skills/a/SKILL.md", true],
  ["set what pnpm builds", "pnpm-workspace.yaml", true],
  ["share what tests need", "conftest.py", false],
  ["save a model", "model.pth", false],
  ["add a build for Windows", "docs/make.bat", false],
  ["translate a form", "src/locales/en/auth.json", false],
  ["instruct agents the old way", ".cursorrules", true],
  ["add an example of variables", ".env.example", false],
  ["set a variable", ".env", false],
  ["set a variable of Terraform", "prod.tfvars", false],
  ["edit a build of Python", "pyproject.toml", false],
  ["set options of Bazel", ".bazelrc", true],
  ["pin the wrapper of Gradle", "gradle/wrapper/gradle-wrapper.properties", true],
  ["add a program", "bin/tool", false],
];

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-chores-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const STORAGE: readonly (readonly [string, () => Pick<WorkspaceOptions, "root" | "backend">])[] = [
  ["the disk", () => ({ root: mkdtempSync(join(base, "w-")) })],
  ["memory", () => ({ root: "/w", backend: new MemoryBackend({ "/w": { type: "dir" } }) })],
];

const warningsOf = (result: ToolResult): readonly string[] =>
  (result as { data?: { warnings?: readonly string[] } }).data?.warnings ?? [];

describe.each(STORAGE)("chores on %s", (_, storage) => {
  test("none is refused without an approver", async () => {
    const { root, backend } = storage();
    // A clone has its own directories of git.
    const open = await openWorkspace({ root, backend, access: { protect: false } });
    await open.call("mkdir", { path: ".git/info" });
    await open.close();
    const ws = await openWorkspace({ root, backend });
    for (const [chore, path, told] of CHORES) {
      const made = await ws.call("write_file", { path, content: "one\n" });
      expect(made.ok ? "OK" : made.error.code, chore).toBe("OK");
      expect(warningsOf(made).length > 0, `${chore}: ${warningsOf(made)}`).toBe(told);
      expect(made.text.includes("Nobody was there to be asked"), chore).toBe(told);
      const [patch, moved] = [`*** Begin Patch\n*** Add File: x/${path}\n+one\n*** End Patch`, `y/${path}`];
      if (path.startsWith(".git/")) continue;
      const patched = await ws.call("apply_patch", { patch });
      expect(patched.ok ? "OK" : patched.error.code, `patch: ${chore}`).toBe("OK");
      expect(warningsOf(patched).length > 0, `patch: ${chore}`).toBe(told);
      const batch = await ws.call("batch", {
        operations: [{ tool: "move", args: { source: `x/${path}`, destination: moved } }],
      });
      expect(batch.ok ? "OK" : batch.error.code, `batch: ${chore}`).toBe("OK");
      expect(warningsOf(batch).length > 0, `batch: ${chore}`).toBe(told);
    }
    await ws.close();
  });

  test("a dry run tells nothing of places", async () => {
    const ws = await openWorkspace(storage());
    await ws.call("write_file", { path: "mise.toml", content: "one\n" });
    const tried = await ws.call("edit_file", {
      path: "mise.toml",
      old_text: "one",
      new_text: "two",
      dry_run: true,
    });
    expect(tried.ok && warningsOf(tried)).toEqual([]);
    await ws.close();
  });
});

describe("rows that ask", () => {
  const options = () => ({ root: "/w", backend: new MemoryBackend({ "/w": { type: "dir" } }) });

  test("ask a person although a rule allows the tool, and need no warning then", async () => {
    const asked: string[] = [];
    const ws = await openWorkspace({
      ...options(),
      rules: [{ tool: "write_file", decision: "allow" }],
      confirm: ({ path }) => {
        asked.push(path);
        return { outcome: path.endsWith("mise.toml") ? "proceed_once" : "cancel" };
      },
    });
    const made = await ws.call("write_file", { path: "mise.toml", content: "x" });
    expect(made.ok && warningsOf(made)).toEqual([]);
    const refused = await ws.call("write_file", { path: ".tool-versions", content: "x" });
    expect(refused.ok ? "OK" : refused.error.code).toBe("APPROVAL_DENIED");
    expect((await ws.call("write_file", { path: "a.ts", content: "x" })).ok).toBe(true);
    expect(asked).toEqual(["/w/mise.toml", "/w/.tool-versions"]);
    const batch = await ws.call("batch", {
      operations: [{ tool: "write_file", args: { path: "sub/mise.toml", content: "x" } }],
    });
    expect(batch.ok).toBe(true);
    expect(asked).toHaveLength(3);
    await ws.close();
  });

  test("are free when the host takes them out", async () => {
    const ws = await openWorkspace({ ...options(), access: { places: { allow: ["mise.toml"] } } });
    const made = await ws.call("write_file", { path: "sub/mise.toml", content: "x" });
    expect(made.ok && warningsOf(made)).toEqual([]);
    await ws.close();
  });

  test.each([
    ["canonical", true],
    ["claude", true],
    ["gemini-cli", true],
    ["gemini", false],
    ["adk", false],
    ["go", false],
  ] as const)("preset %s tells of them in its text: %s", async (preset, told) => {
    const ws = await openWorkspace({
      ...options(),
      preset,
      permissions: { mode: "off" },
    });
    const tool = ws.tools.find(({ name }) =>
      /^(?:write_file|Write|writeFile|file_write|fs_write)$/.test(name),
    );
    if (tool === undefined) throw new Error(`${preset} writes no files`);
    const properties = Object.keys(tool.inputSchema.properties);
    const path = properties.find((name) => /path/i.test(name)) as string;
    const content = properties.find((name) => /content/i.test(name)) as string;
    const made = await tool.execute({
      [path]: "/w/mise.toml",
      [content]: "x\n",
    });
    expect(made.ok, made.text).toBe(true);
    expect(warningsOf(made)).toHaveLength(1);
    expect(made.text.includes("Nobody was there")).toBe(told);
    await ws.close();
  });
});

describe("rows that ask, below a directory that comes to lie there", () => {
  const options = () => ({
    root: "/w",
    backend: new MemoryBackend({
      "/w/stage/workflows/ci.yml": "one\n",
      "/w/other/.github/workflows/ci.yml": "one\n",
    }),
  });
  const TRANSFERS = [
    ["move", { source: "stage", destination: ".github" }, ".github/workflows/ci.yml"],
    ["copy", { source: "stage", destination: ".github" }, ".github/workflows/ci.yml"],
    ["copy", { source: "other", destination: "sub/deep" }, "sub/deep/.github/workflows/ci.yml"],
  ] as const;

  test.each(TRANSFERS)("%s %j names them where no approver is set", async (tool, args, path) => {
    for (const batch of [false, true]) {
      const ws = await openWorkspace(options());
      const made = batch
        ? await ws.call("batch", { operations: [{ tool, args }] })
        : await ws.call(tool, args);
      expect(made.ok ? "OK" : made.error.code).toBe("OK");
      expect(warningsOf(made).join()).toContain(path);
      await ws.close();
    }
  });

  test.each(TRANSFERS)("%s %j asks about them although a rule allows the tool", async (tool, args) => {
    let asked = 0;
    const ws = await openWorkspace({
      ...options(),
      rules: [{ decision: "allow" }],
      confirm: () => {
        asked += 1;
        return { outcome: "cancel" };
      },
    });
    const made = await ws.call(tool, args);
    expect(made.ok ? "OK" : made.error.code).toBe("APPROVAL_DENIED");
    expect(asked).toBe(1);
    await ws.close();
  });
});
