/** Protection by default: files that other programs execute or obey, and secrets. */
import { describe, expect, test } from "vitest";
import { ARMS, type Row, runRows, type Step, world } from "./world.ts";

const OBEYED = [
  ".claude/settings.json",
  ".CLAUDE/settings.json",
  ".claude./settings.json",
  ".cursor/rules/x.mdc",
  ".mcp.json",
  ".Mcp.JSON",
  ".vscode/settings.json",
  ".vscode/./tasks.json",
  ".vscode/tasks.json ",
  "sub/.vscode/launch.json",
  ".idea/workspace.xml",
  ".bashrc",
  ".zshenv",
  "home/.profile",
  ".envrc",
  ".husky/pre-commit",
  ".gitconfig",
  ".ssh/authorized_keys",
  ".config/fish/config.fish",
  ".devcontainer/devcontainer.json",
  ".git/modules/sub/hooks/x",
  ".c\u200claude/x",
];
const PROTECTED = "PROTECTED_PATH";
const SECRETS = [
  ".env",
  ".env.production",
  "deploy/server.key",
  "tls/cert.pem",
  ".npmrc",
  ".aws/credentials",
  "id_rsa",
];
const DENIED = "GRANT_DENIED";

const changes = (path: string): readonly Step[] => [
  ["write_file", { path, content: "PWN" }, PROTECTED],
  ["write_file", { path, content: "PWN", append: true }, PROTECTED],
  ["copy", { source: "f", destination: path, overwrite: true }, PROTECTED],
  ["move", { source: "f", destination: path, overwrite: true }, PROTECTED],
  ["mkdir", { path }, PROTECTED],
];

const ROWS: readonly Row[] = [
  {
    n: 92,
    title: "what agents, editors and shells obey is not written, though it is not there",
    steps: OBEYED.flatMap(changes),
  },
  {
    n: 91,
    title: "nor through links, nor under another name",
    seed: {
      c: { link: ".claude" },
      ".claude/x": "x",
      "evil/tasks.json": "PWN",
      "deep/fish/config.fish": "PWN",
      r: { link: ".bashrc" },
    },
    steps: [
      ["write_file", { path: "c/settings.json", content: "PWN" }, PROTECTED],
      ["write_file", { path: "r", content: "PWN" }, PROTECTED],
      ["move", { source: "evil", destination: ".vscode" }, PROTECTED],
      ["copy", { source: "evil", destination: ".vscode" }, PROTECTED],
      ["move", { source: "deep", destination: ".config" }, PROTECTED],
      ["copy", { source: "deep", destination: ".config" }, PROTECTED],
      ["delete", { path: ".claude", recursive: true }, PROTECTED],
      ["move", { source: ".claude", destination: "gone" }, PROTECTED],
    ],
    after: (at) => expect(at.tree(".")).toContain(".claude/x"),
  },
  {
    n: 93,
    title: "trees that are thrown away may hold configuration of others, but not of git",
    seed: {
      "node_modules/p/.vscode/settings.json": "{}",
      "node_modules/p/.claude/x": "x",
      "other/.git/config": "",
    },
    steps: [
      ["delete", { path: "node_modules", recursive: true }, "OK"],
      ["delete", { path: "other", recursive: true }, PROTECTED],
    ],
  },
  {
    n: 92,
    title: "neighbours are free, and reading is",
    seed: { ".vscode/settings.json": "{}\n" },
    steps: [
      ["read_file", { path: ".vscode/settings.json" }, "OK"],
      ["write_file", { path: ".vscode/notes.md", content: "x" }, "OK"],
      ["write_file", { path: "AGENTS.md", content: "x" }, "OK"],
      ["write_file", { path: ".github/workflows/ci.yml", content: "x" }, "OK"],
      ["write_file", { path: ".gitignore", content: "x" }, "OK"],
      ["write_file", { path: ".env.example", content: "x" }, "OK"],
    ],
  },
  {
    n: 94,
    title: "secrets are not read, by any tool and any way",
    seed: {
      ...Object.fromEntries(SECRETS.map((path) => [path, "SECRET=1\n"])),
      l: { link: ".env" },
      "t/.env": "SECRET=2\n",
      "t/.ssh/config": "SECRET\n",
    },
    steps: [
      ...[...SECRETS, "l", ".ENV/../.env"].flatMap((path): Step[] => [
        ["read_file", { path }, DENIED],
        ["read_file", { path, force_text: true, start_byte: 0 }, DENIED],
        ["edit_file", { path, old_text: "=1", new_text: "=2" }, DENIED],
        ["apply_patch", { path, patch: "@@ -1 +1 @@\n-x\n+y\n" }, DENIED],
        ["diff", { a: path, b: "f" }, DENIED],
        ["grep", { pattern: "SECRE[T]", path }, DENIED],
        ["stat", { path, hash: true }, DENIED],
        ["stat", { path }, "OK"],
        ["copy", { source: path, destination: "copied" }, DENIED],
        ["read_many_files", { paths: [path] }, "OK"],
      ]),
      ["move", { source: ".env", destination: "env.txt" }, DENIED],
      ["move", { source: "t/.ssh", destination: "t/open" }, [DENIED, PROTECTED]],
      [
        "grep",
        { pattern: "SECRE[T]" },
        (result) =>
          expect(result).toMatchObject({
            ok: true,
            data: { total_matches: 0, unreadable: SECRETS.length + 2 },
          }),
      ],
      ["read_many_files", { paths: ["**/*", ".env"] }, "OK"],
      ["read_many_files", { paths: ["t"] }, "OK"],
      ["list_directory", {}, (result) => expect(result.text).toContain(".env")],
    ],
    after: (at) => expect(at.text("copied")).toBeUndefined(),
  },
  {
    n: 94,
    title: "secrets are made, removed, and taken along with what they are in",
    seed: { "p/.env": "SECRET=1\n", "q/.env": "SECRET=1\n", ".env.local": "SECRET=1\n" },
    steps: [
      ["write_file", { path: "new/.env", content: "MINE=1\n" }, "OK"],
      ["delete", { path: ".env.local" }, "OK"],
      ["move", { source: "p", destination: "p2" }, "OK"],
      ["copy", { source: "p2", destination: "p3" }, "OK"],
      ["delete", { path: "q", recursive: true }, "OK"],
    ],
    after: (at) => {
      expect(at.text("p2/.env")).toBe("SECRET=1\n");
      expect(at.text("p3/.env")).toBe("SECRET=1\n");
      expect(at.text("q/.env")).toBeUndefined();
    },
  },
];

runRows(ROWS);

describe.each(ARMS)("$name", (arm) => {
  test("secrets are files like others where the host says so", async () => {
    const at = await world(arm, { ".env": "A=1\n" }, { access: { secrets: "allow" } });
    expect(await at.ws.call("read_file", { path: ".env" })).toMatchObject({
      ok: true,
      data: { content: "A=1\n" },
    });
    expect(await at.ws.call("grep", { pattern: "A=" })).toMatchObject({
      ok: true,
      data: { total_matches: 1 },
    });
  });

  test("undo restores a deleted secret, though no tool may read it", async () => {
    const at = await world(arm, { ".env": "A=1\n" });
    const { meta } = await at.ws.call("delete", { path: ".env" });
    expect(at.text(".env")).toBeUndefined();
    expect(meta).toBeDefined();
    const [last] = await at.ws.history();
    await at.ws.undo((last as { callId: string }).callId);
    expect(at.text(".env")).toBe("A=1\n");
  });

  test("a secret is asked for by itself, and a no is a no", async () => {
    const asked: string[] = [];
    const answers = ["yes", "no", "yes"];
    const at = await world(
      arm,
      { "d/.env": "A=1\n", "d/x": "x\n", "d/id_rsa": "B" },
      {
        permissions: {
          mode: "prompt",
          ask: (question) => {
            asked.push(question.replace(/^(Allow[^:/]*).*\/(d.*)\?$/u, "$1 $2"));
            return answers.shift() ?? "no";
          },
        },
      },
    );
    const read = (path: string) => at.ws.call("read_file", { path });
    expect(await read("d/x")).toMatchObject({ ok: true });
    expect(await read("d/.env")).toMatchObject({ error: { code: DENIED } });
    expect(await read("d/.env")).toMatchObject({ ok: true, data: { content: "A=1\n" } });
    expect(await read("d/.env")).toMatchObject({ ok: true });
    expect(await read("d/id_rsa")).toMatchObject({ error: { code: DENIED } });
    expect(asked.map((one) => one.slice(-8))).toHaveLength(4);
    await at.ws.close();
  });
});
