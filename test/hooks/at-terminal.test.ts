import { execFile, spawnSync } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Seed, temporary } from "../tools/harness.ts";

const python = spawnSync("python3", ["-c", "import pty, os; os.waitstatus_to_exitcode"]).status === 0;
const driver = fileURLToPath(new URL("pseudo-terminal.py", import.meta.url));
const entry = new URL("../../dist/index.node.js", import.meta.url).href;

interface Step {
  readonly wait: string;
  readonly send?: string;
}

/** Runs calls in a program at a terminal, and types when what is waited for is there. */
async function atTerminal(
  calls: readonly (readonly [tool: string, args: Record<string, unknown>])[],
  steps: readonly Step[],
  options: {
    seed?: Seed;
    env?: Record<string, string>;
    rows?: number;
    permissions?: boolean;
    parallel?: boolean;
  } = {},
) {
  const { base, root, stateDir } = await temporary(options.seed ?? { f: "a\nb\n" });
  const script = join(base, "program.mjs");
  await writeFile(
    script,
    `import { openWorkspace, terminalApprover } from ${JSON.stringify(entry)};
const { confirm, ask } = terminalApprover();
const permissions = ${options.permissions === true} ? { mode: "prompt", ask } : undefined;
const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(stateDir)}, confirm, permissions });
const say = ([tool, args]) => ws.call(tool, args).then(({ ok, error, meta }) => console.log("RESULT " + JSON.stringify({ ok, code: error?.code, why: error?.message.split(": ")[1], meta })));
const calls = ${JSON.stringify(calls)};
if (${options.parallel === true}) await Promise.all(calls.map(say));
else for (const call of calls) await say(call);
console.log("GRANTS " + JSON.stringify(await ws.grants.list()));
await ws.close();
console.log("END");
`,
  );
  const job = {
    command: [process.execPath, script],
    env: { TERM: "xterm", NO_COLOR: "1", ...options.env },
    unset: options.env?.["NO_COLOR"] === "" ? ["NO_COLOR", "FORCE_COLOR"] : ["FORCE_COLOR"],
    steps,
    rows: options.rows ?? 40,
  };
  const { stdout } = await promisify(execFile)("python3", [driver, JSON.stringify(job)]);
  const { output, status, left } = JSON.parse(stdout) as { output: string; status: number; left: number };
  expect(left, output).toBe(0);
  const results = [...output.matchAll(/RESULT (.*)\r\n/gu)].map(
    ([, json]) =>
      JSON.parse(json!) as { ok: boolean; code?: string; why?: string; meta: Record<string, unknown> },
  );
  return { output, status, results, base, root, text: (path: string) => readFile(join(root, path), "utf8") };
}

const write = (content: string, path = "f") => ["write_file", { path, content }] as const;

describe.skipIf(!python)("the command at a real terminal (needs python3)", () => {
  test("a question stays unchanged until its answer, and undo asks too", async () => {
    const { root, base } = await temporary({ f: "a\nb\n" });
    const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
    const at = async (argv: readonly string[]): Promise<string> => {
      const job = {
        command: [process.execPath, main, ...argv, "--root", root, "--ask"],
        env: { TERM: "xterm", NO_COLOR: "1", XDG_STATE_HOME: join(base, "state") },
        unset: ["FORCE_COLOR"],
        steps: [
          { wait: "this? [", send: "?", after: 1.5 },
          { wait: "this? [", send: "y" },
        ],
      };
      const { stdout } = await promisify(execFile)("python3", [driver, JSON.stringify(job)]);
      return (JSON.parse(stdout) as { output: string }).output;
    };
    const edited = await at(["edit", "f", "--old", "b", "--new", "B"]);
    expect(edited).toContain("Write this? [y/");
    expect(edited).not.toContain("working");
    expect(await readFile(join(root, "f"), "utf8")).toBe("a\nB\n");
    const undone = await at(["undo"]);
    expect(undone).toContain("Undo edit_file of f");
    expect(undone).toContain("-B\r\n+b");
    expect(await readFile(join(root, "f"), "utf8")).toBe("a\nb\n");
  });
});

describe.skipIf(!python)("the approver at a real terminal (needs python3)", () => {
  test("the diff is shown, and y writes it", async () => {
    const { output, results, text } = await atTerminal(
      [write("a\nB\n")],
      [{ wait: "refuse", send: "y" }, { wait: "END" }],
    );
    expect(output).toContain("Replace f (write_file, medium risk)");
    expect(output).toContain("-b\r\n+B\r\n");
    expect(output).toContain("y  this call only");
    expect(output).not.toContain("\u001b[3");
    expect(results).toMatchObject([{ ok: true, meta: { approval: { outcome: "proceed_once" } } }]);
    expect(await text("f")).toBe("a\nB\n");
  });

  const refusals: readonly [name: string, keys: string][] = [
    ["n", "n"],
    ["Escape", "\u001b"],
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
    ["N", "N"],
  ];
  test.each(refusals)("%s refuses", async (_, keys) => {
    const { results, text } = await atTerminal(
      [write("x")],
      [{ wait: "refuse", send: keys }, { wait: "END" }],
    );
    expect(results).toMatchObject([{ ok: false, code: "APPROVAL_DENIED" }]);
    expect(await text("f")).toBe("a\nb\n");
  });

  test("r refuses with the reason that is typed, and tells the model", async () => {
    const { output, results, text } = await atTerminal(
      [write("x")],
      [{ wait: "refuse", send: "r" }, { wait: "Why? ", send: "use camelCasf\u007fe\r" }, { wait: "END" }],
    );
    expect(output).toContain("Why? use camelCasf\b \be\r\n");
    expect(results).toMatchObject([{ ok: false, code: "APPROVAL_DENIED" }]);
    expect(results[0]?.why).toBe("use camelCase. Nothing was written.");
    expect(await text("f")).toBe("a\nb\n");
  });

  test.each(["\u0003", "\u001b", "\r"])("r and then %j refuses without a reason", async (keys) => {
    const { results } = await atTerminal(
      [write("x")],
      [{ wait: "refuse", send: "r" }, { wait: "Why? ", send: keys }, { wait: "END" }],
    );
    expect(results).toMatchObject([{ ok: false, code: "APPROVAL_DENIED" }]);
  });

  describe("part by part", () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join("");
    const edited = (...lines: readonly number[]): string =>
      lines.reduce((text, line) => text.replace(`line ${line}\n`, `LINE ${line}\n`), before);
    const parts = (...keys: readonly string[]) => [
      { wait: "tell the model why", send: "p" },
      ...keys.map((key, index) => ({ wait: `Take this part (${index + 1} of 3)?`, send: key })),
    ];
    const seed = { f: before };

    test("only what was taken is written, and the model is told what was not", async () => {
      const { output, results, text } = await atTerminal(
        [write(edited(2, 15, 28))],
        [...parts("y", "n", "y"), { wait: "END" }],
        { seed },
      );
      expect(output).toContain("only some parts of the change");
      expect(results).toMatchObject([{ ok: true, meta: { modified_by_user: true } }]);
      expect(await text("f")).toBe(edited(2, 28));
    });

    test.each<[string, readonly string[], boolean]>([
      ["all of them are the change itself", ["y", "y", "y"], true],
      ["none of them is a refusal", ["n", "n", "n"], false],
      ["Ctrl-C is a refusal", ["y", "\u0003"], false],
    ])("%s", async (_, keys, isWritten) => {
      const { results, text } = await atTerminal(
        [write(edited(2, 15, 28))],
        [...parts(...keys), { wait: "END" }],
        { seed },
      );
      expect(results[0]?.ok).toBe(isWritten);
      expect(results[0]?.meta["modified_by_user"]).toBeUndefined();
      expect(await text("f")).toBe(isWritten ? edited(2, 15, 28) : before);
    });
  });

  test("what was typed before the question, and pasted text, is no answer", async () => {
    const { results } = await atTerminal(
      [write("1"), write("2")],
      [
        { wait: "refuse", send: "yyyy" },
        { wait: "", send: "\r" },
        { wait: "", send: "n" },
        { wait: "refuse", send: "n" },
        { wait: "END" },
      ],
    );
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
  });

  test("an approval that lasts is not asked for again", async () => {
    const { output, results } = await atTerminal(
      [write("1"), write("2"), ["mkdir", { path: "d" }]],
      [
        { wait: "refuse", send: "t" },
        { wait: "Make directory d" },
        { wait: "refuse", send: "n" },
        { wait: "END" },
      ],
    );
    expect(output.match(/Replace f/gu)).toHaveLength(1);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false]);
  });

  test("calls at the same time ask one after another", async () => {
    const { output, results } = await atTerminal(
      [write("1", "p"), write("2", "q")],
      [{ wait: "refuse", send: "y" }, { wait: "refuse", send: "n" }, { wait: "END" }],
      { parallel: true },
    );
    expect(output.indexOf("RESULT")).toBeGreaterThan(0);
    expect(results.map(({ ok }) => ok).sort()).toEqual([false, true]);
  });

  test("colours, unless they are not wanted", async () => {
    const { output } = await atTerminal([write("a\nB\n")], [{ wait: "refuse", send: "n" }, { wait: "END" }], {
      env: { NO_COLOR: "" },
    });
    expect(output).toContain("\u001b[31m-b\u001b[0m");
    expect(output).toContain("\u001b[32m+B\u001b[0m");
  });

  test("a long diff is cut to the window, and shown whole on request", async () => {
    const long = Array.from({ length: 60 }, (_, at) => `line ${at}\n`).join("");
    const { output, results } = await atTerminal(
      [write(long)],
      [
        { wait: "more lines" },
        { wait: "show all of it", send: "v" },
        { wait: "line 59" },
        { wait: "refuse", send: "y" },
        { wait: "END" },
      ],
      { rows: 24 },
    );
    expect(output.indexOf("line 59")).toBeGreaterThan(output.indexOf("more lines"));
    expect(results[0]?.ok).toBe(true);
  });

  test("content cannot move the cursor or hide", async () => {
    const { output } = await atTerminal(
      [write("\u001b[2J\u001b]0;title\u0007\rhidden\u202e\n", "n\u001b[1m")],
      [{ wait: "refuse", send: "n" }, { wait: "END" }],
    );
    expect(output).toContain("+\\x1b[2J\\x1b]0;title\\x07\\rhidden\\u{202e}");
    expect(output).toContain("Create n\\x1b[1m");
    expect(output).not.toContain("\u001b[2J");
  });

  describe("in the editor", () => {
    const editor = async (body: string): Promise<string> => {
      const { base } = await temporary();
      const file = join(base, "editor");
      await writeFile(file, `#!/bin/sh\n${body}\n`);
      await chmod(file, 0o755);
      return file;
    };

    test("what is saved is asked about again, and written", async () => {
      const EDITOR = `${await editor('case "$2" in *.txt) printf "human\\n" > "$2";; esac')} --wait`;
      const { output, results, text } = await atTerminal(
        [write("model\n", "f.txt")],
        [
          { wait: "refuse", send: "e" },
          { wait: "as you changed it" },
          { wait: "+human" },
          { wait: "refuse", send: "y" },
          { wait: "END" },
        ],
        { env: { EDITOR } },
      );
      expect(output).toContain("+model");
      expect(results).toMatchObject([{ ok: true, meta: { modified_by_user: true } }]);
      expect(await text("f.txt")).toBe("human\n");
    });

    test("an editor that fails, or changes nothing, asks again", async () => {
      for (const [body, words] of [
        ["exit 3", "failed"],
        ["exit 0", "The content was not changed."],
      ] as const) {
        const { results } = await atTerminal(
          [write("model\n")],
          [{ wait: "refuse", send: "e" }, { wait: words }, { wait: "refuse", send: "n" }, { wait: "END" }],
          { env: { EDITOR: await editor(body) } },
        );
        expect(results).toMatchObject([{ code: "APPROVAL_DENIED" }]);
      }
      const { results } = await atTerminal(
        [write("model\n")],
        [{ wait: "refuse", send: "e" }, { wait: "failed" }, { wait: "refuse", send: "n" }, { wait: "END" }],
        { env: { VISUAL: "/no/such/editor" } },
      );
      expect(results).toMatchObject([{ code: "APPROVAL_DENIED" }]);
    });
  });

  const grants: readonly [
    key: string,
    expected: readonly Record<string, unknown>[],
    code: string | undefined,
  ][] = [
    ["y", [{ access: "write" }], undefined],
    ["r", [{ access: "read" }], undefined],
    ["s", [{ access: "write" }], undefined],
    ["n", [], "GRANT_DENIED"],
    ["\u0003", [], "GRANT_DENIED"],
  ];
  test.each(grants)("a directory is asked for: %j", async (key, expected, code) => {
    const { output, results, root } = await atTerminal(
      [["read_file", { path: "f" }]],
      [{ wait: "Allow filesystem access to" }, { wait: "refuse", send: key }, { wait: "END" }],
      { permissions: true },
    );
    expect(results[0]?.code).toBe(code);
    expect(output).toContain(`y  read and write below ${root}, until it is taken back`);
    const kept = JSON.parse(/GRANTS (.*)\r\n/u.exec(output)![1]!) as unknown[];
    expect(kept).toMatchObject(expected.map((one) => ({ dir: root, ...one })));
    expect(kept).toHaveLength(expected.length);
  });
});

describe.skipIf(!python)("the command line at a real terminal (needs python3)", () => {
  const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));

  async function command(argv: readonly string[], steps: readonly Step[], state: string) {
    const job = {
      command: [process.execPath, main, ...argv],
      env: { NO_COLOR: "1", XDG_STATE_HOME: state },
      steps,
    };
    const { stdout } = await promisify(execFile)("python3", [driver, JSON.stringify(job)]);
    const said = JSON.parse(stdout) as { output: string; status: number; left: number };
    expect(said.left, said.output).toBe(0);
    return said;
  }

  test("--ask shows the change and follows the answer", async () => {
    const { base, root } = await temporary({ f: "a\n" });
    const edit = ["edit", "f", "--old", "a", "--new", "b", "--root", root, "--ask"];
    const no = await command(edit, [{ wait: "+b" }, { wait: "refuse", send: "n" }], base);
    expect(no.status).toBe(2);
    expect(await readFile(join(root, "f"), "utf8")).toBe("a\n");
    const yes = await command(edit, [{ wait: "refuse", send: "y" }], base);
    expect(yes.status).toBe(0);
    expect(await readFile(join(root, "f"), "utf8")).toBe("b\n");
  });

  test("--ask-dirs asks once, grants lists it, revoke has it asked again", async () => {
    const { base, root } = await temporary({ "d/f": "content\n" });
    const read = ["read", "d/f", "--root", root, "--ask-dirs"];
    const first = await command(
      read,
      [{ wait: "Allow filesystem access to" }, { wait: "refuse", send: "r" }],
      base,
    );
    expect(first.output).toContain("content");
    expect((await command(read, [], base)).output).not.toContain("Allow");
    expect((await command(["grants"], [], base)).output).toContain(`${root}/d  read, since `);
    expect((await command(["grants", "revoke", `${root}/d`], [], base)).output).toContain(
      `Took back ${root}/d`,
    );
    const again = await command(read, [{ wait: "refuse", send: "n" }], base);
    expect(again.status).toBe(2);
  });
});

if (!python) {
  test("approvals at a real pseudo-terminal are not driven here", () => {
    console.warn("skipped: this needs python3 with its module pty");
  });
}
