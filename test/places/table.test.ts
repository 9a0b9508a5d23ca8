/** The table of places: what is printed of it, how the host changes it, and what it costs. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type Code,
  MemoryBackend,
  openWorkspace,
  type PlacesOptions,
  placeRows,
  SandboxPolicy,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { placesPage } from "../../scripts/places.mjs";

const memory = (files: Record<string, string> = {}): Pick<WorkspaceOptions, "root" | "backend"> => ({
  root: "/w",
  backend: new MemoryBackend({ "/w/f": "f\n", ...files }),
});

async function codeOf(run: () => Promise<unknown>): Promise<Code | "OK"> {
  try {
    await run();
    return "OK";
  } catch (error) {
    return (error as { code: Code }).code;
  }
}

describe("the table of places", () => {
  test("is what the documentation says", () => {
    const page = readFileSync(`${import.meta.dirname}/../../docs/reference/places.md`, "utf8");
    expect(page, "run: node scripts/places.mjs").toBe(placesPage(placeRows()));
  });

  test("has a reason for each row", () => {
    expect(placeRows().length).toBeGreaterThan(100);
    for (const { decision, pattern, reason } of placeRows()) {
      expect(["refuse", "ask", "allow", "secret", "readable"]).toContain(decision);
      expect(reason, pattern).toMatch(/^[A-Za-z].{8,}\.$/);
    }
  });
});

/** Files that programs run or obey without a question, and files that they run but people edit in ordinary work. */
const REFUSED = `
  .git/HEAD .git/commondir .git/gitdir .git/index .git/packed-refs .git/info/attributes
  .git/objects/info/alternates .git/modules/x/commondir .git/worktrees/x/commondir
  .hg/hgrc .jj/config .githooks/pre-commit .gdbinit .lldbinit .emacs.d/init.el .vim/vimrc
  .config/zed/tasks.json .config/Code/User/settings.json .vs/tasks.vs.json .gradle/init.gradle
  .config/autostart/x.desktop .config/systemd/user/x.service .config/zsh/x .local/bin/x
  .opencode/x opencode.json .crush.json .goose/x .trae/x .qwen/settings.json .factory/x
  .hg/hgrc-not-shared .hg/sharedpath .HG/requires .sl/config .bzr/branch/branch.conf sub/.hg/store/x
  .github/hooks/a.json .GitHub/Hooks/a.json .copilot/mcp-config.json .agents/hooks.json .agents/mcp_config.json
  .agent/mcp_config.json .agents/hooks/x .clinerules/hooks/x .codebuddy/x .iflow/x .tabnine/x .pi/x .omp/x
  kilo.json kilo.jsonc .kilo/x .openclaw/x .config/mcp/x .codeium/windsurf/x .antigravity/x .run/a.run.xml
  .helix/config.toml .ocamlinit .ripgreprc lib/site-packages/x.pth node_modules/filewright/package.json
  node_modules/@filewright/linux-x64-gnu/x.node node_modules/.bin/filewright node_modules/.bin/filewright.cmd
  NODE_MODULES/Filewright/x sub/node_modules/.bin/FileWright.ps1 git.exe GIT.EXE sub/git.bat ssh.cmd node.com
  .augment/x .junie/x .tmux.conf .Rprofile .irbrc .direnvrc .bashrc.d/x .xsession .pam_environment
`;
const ASKED = `
  .cargo/config.toml .npmrc .yarnrc.yml .yarn/releases/yarn.cjs lefthook.yml .lefthook.yml
  AGENTS.md agents.md sub/AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md .goosehints
  .github/copilot-instructions.md .github/instructions/a.instructions.md .github/agents/a.md .github/skills/a/SKILL.md
  .github/prompts/a.md .agents/skills/a/SKILL.md .agents/rules/a.md .agent/a.md .clinerules/a.md skills/a/SKILL.md
  .claude-plugin/plugin.json node_modules/.bin/eslint .venv/bin/python venv/Scripts/x pyvenv.cfg
  pnpm-workspace.yaml .corepack.env
  .overcommit.yml mise.toml .tool-versions x.code-workspace .bazelrc .mvn/maven.config .gitattributes
`;

describe("a file that other programs run or obey", () => {
  test.each([
    ["refused", REFUSED, "PROTECTED_PATH"],
    ["asked about", ASKED, "APPROVAL_DENIED"],
  ])("is %s when a rule allows the call and the person says no", async (_what, names, code) => {
    const paths = names.trim().split(/\s+/u);
    const rules = [{ decision: "allow" }] as const;
    const ws = await openWorkspace({ ...memory(), rules, confirm: () => ({ outcome: "cancel" }) });
    const codes: [string, string][] = [];
    for (const path of paths) {
      const result = await ws.call("write_file", { path, content: "x", create_dirs: true });
      codes.push([path, result.ok ? "OK" : result.error.code]);
    }
    await ws.close();
    expect(codes).toEqual(paths.map((path) => [path, code]));
  });
});

/** A directory whose entries become protected where it is moved or copied, and the place where they would be. */
describe.each([
  [".hg", "hgrc-not-shared"],
  [".github", "hooks/a.json"],
  [".agents", "mcp_config.json"],
  ["node_modules", "filewright/index.js"],
  ["node_modules", ".bin/filewright"],
  [".clinerules", "hooks/x"],
])("a directory with %s in a place of its own", (name, below) => {
  test.each(["move", "copy"])("is not brought there by %s", async (tool) => {
    const ws = await openWorkspace(memory({ [`/w/tmp/${below}`]: "x" }));
    const result = await ws.call(tool, { source: "tmp", destination: name });
    expect(result.error?.code).toBe("PROTECTED_PATH");
    await ws.close();
  });
});

test("what is installed can be deleted and moved aside", async () => {
  for (const name of ["node_modules", ".github", ".agents"]) {
    const files = { [`/w/${name}/filewright/x`]: "x", [`/w/${name}/hooks/x`]: "x" };
    const ws = await openWorkspace(memory(files));
    expect(await ws.call("delete", { path: name, recursive: true }), name).toMatchObject({ ok: true });
    await ws.close();
  }
});

describe("access.places", () => {
  const write = async (places: PlacesOptions, path: string) => {
    const ws = await openWorkspace({ ...memory(), access: { places } });
    const result = await ws.call("write_file", { path, content: "x" });
    await ws.close();
    return result.ok ? "OK" : result.error.code;
  };

  test("widens and narrows row by row", async () => {
    expect(await write({}, ".vscode/settings.json")).toBe("PROTECTED_PATH");
    expect(await write({ allow: [".vscode/settings.json"] }, ".vscode/settings.json")).toBe("OK");
    expect(await write({ allow: [".vscode/settings.json"] }, ".vscode/tasks.json")).toBe("PROTECTED_PATH");
    expect(await write({ ask: [".husky"] }, ".husky/pre-commit")).toBe("OK");
    expect(await write({ refuse: ["mise.toml"] }, "sub/mise.toml")).toBe("PROTECTED_PATH");
    expect(await write({ refuse: ["deploy/prod"] }, "a/deploy/PROD/x")).toBe("PROTECTED_PATH");
    expect(await write({ refuse: ["/w/only"] }, "a/only")).toBe("OK");
    expect(await write({ refuse: ["/w/only"] }, "only/x")).toBe("PROTECTED_PATH");
  });

  test.each([
    [{ allow: [".vscdoe/settings.json"] }, ".vscode/settings.json"],
    [{ readable: [".enw"] }, ".env"],
    [{ allow: ["src"] }, "src"],
    [{ refuse: ["a/../b"] }, "a/../b"],
    [{ refuse: ["*"] }, "*"],
    [{ refuse: [""] }, "refuse"],
    [{ ask: ["x"], refuse: ["x"] }, "twice"],
    [{ refused: ["x"] }, "refuse"],
    [{ refuse: "x" }, "refuse"],
    [["x"], "places"],
  ])("%j is refused when the workspace opens, and the message names it", async (places, named) => {
    const opening = openWorkspace({ ...memory(), access: { places: places as PlacesOptions } });
    await expect(opening).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(named),
    });
  });

  test("of a policy holds, and an intersection loosens nothing", async () => {
    const wide = SandboxPolicy.workspaceOnly("/w", { protect: true, places: { allow: [".husky"] } });
    const strict = SandboxPolicy.workspaceOnly("/w", { protect: true, places: { refuse: ["deploy"] } });
    expect(SandboxPolicy.intersect(wide, strict).places).toEqual(["refuse deploy"]);
    expect(SandboxPolicy.intersect(wide, wide).places).toEqual(["allow .husky"]);
    const open = SandboxPolicy.workspaceOnly("/w");
    expect(SandboxPolicy.intersect(wide, open).places).toEqual(["allow .husky"]);
    expect(await codeOf(async () => SandboxPolicy.workspaceOnly("/w", { places: { allow: ["x"] } }))).toBe(
      "INVALID_ARGUMENT",
    );
  });

  test("holds for agents too", async () => {
    const ws = await openWorkspace({ ...memory(), access: { places: { refuse: ["deploy"] } } });
    const agent = await ws.agent("a", { access: { write: ["/w"] } });
    const result = await agent.call("write_file", { path: "deploy/x", content: "x" });
    expect(result.ok ? "OK" : result.error.code).toBe("PROTECTED_PATH");
    await ws.close();
  });
});

describe("refusals", () => {
  test("say which program would run the file, and how the host allows it", async () => {
    const ws = await openWorkspace(memory());
    const result = await ws.call("write_file", { path: ".husky/pre-commit", content: "x" });
    expect(result.ok).toBe(false);
    expect(result.text).toContain("git hooks");
    expect(result.text).toContain("access.places");
    expect((result as { error: { details: unknown } }).error.details).toMatchObject({ reason: "place" });
    await ws.close();
  });
});

describe("roots inside places", () => {
  test("are the host's choice: only what is below counts", async () => {
    const backend = new MemoryBackend({
      "/r/.claude/worktrees/x/a.ts": "x\n",
      "/r/project.git/main/a.ts": "x\n",
    });
    for (const root of ["/r/.claude/worktrees/x", "/r/project.git/main"]) {
      const ws = await openWorkspace({ root, backend });
      expect((await ws.call("write_file", { path: "a.ts", content: "y" })).ok, root).toBe(true);
      const hook = await ws.call("write_file", { path: ".git/hooks/x", content: "y" });
      expect(hook.ok ? "OK" : hook.error.code, root).toBe("PROTECTED_PATH");
      await ws.close();
    }
  });

  test("of reading do not open what they are in for writing", async () => {
    const ws = await openWorkspace({
      ...memory({ "/w/.git/hooks/a": "x" }),
      root: undefined,
      roots: ["/w", { path: "/w/.git/hooks", access: "read" }],
    });
    const hook = await ws.call("write_file", { path: "/w/.git/hooks/b", content: "y" });
    expect(hook.ok ? "OK" : hook.error.code).toBe("PROTECTED_PATH");
    await ws.close();
  });
});
