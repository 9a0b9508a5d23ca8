import { execFile, spawnSync } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openWorkspace, terminalApprover } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { fakeTerminal, type TerminalStep } from "../support/fake-terminal.ts";
import { type Seed, temporary } from "../tools/harness.ts";

const python = spawnSync("python3", ["-c", "import pty, os; os.waitstatus_to_exitcode"]).status === 0;
const driver = fileURLToPath(new URL("pseudo-terminal.py", import.meta.url));
const entry = new URL("../../dist/cli/library.js", import.meta.url).href;

/** A call of a program: the name of a tool and its arguments. */
type Call = readonly [tool: string, args: Record<string, unknown>];

interface Options {
  readonly seed?: Seed;
  readonly env?: Record<string, string>;
  readonly rows?: number;
  readonly permissions?: boolean;
  readonly parallel?: boolean;
}

/** Makes calls in a workspace whose approver asks at a fake terminal, where the steps type. */
async function atTerminal(
  calls: readonly Call[],
  steps: readonly TerminalStep[],
  { seed = { f: "a\nb\n" }, env, rows, permissions, parallel }: Options = {},
) {
  const { base, root, stateDir } = await temporary(seed);
  const terminal = fakeTerminal(steps, rows === undefined ? {} : { rows });
  const { confirm, ask } = terminalApprover({
    input: terminal.input,
    output: terminal.output,
    env: { TERM: "xterm", NO_COLOR: "1", ...env },
    settleMs: 10,
  });
  const ws = await openWorkspace({
    root,
    stateDir,
    confirm,
    permissions: permissions === true ? { mode: "prompt", ask } : undefined,
  });
  afterThisTest(() => ws.close());
  const make = async ([tool, args]: Call) => {
    // A key that is no answer leaves the question open: then what was shown is the failure.
    const { ok, error, meta } = await ws.call(tool, args, { signal: AbortSignal.timeout(20_000) });
    return {
      ok,
      code: error?.code,
      why: error?.message.split(": ")[1],
      meta: { ...meta } as Record<string, unknown>,
    };
  };
  const results = parallel === true ? await Promise.all(calls.map(make)) : [];
  if (parallel !== true) for (const call of calls) results.push(await make(call));
  const output = terminal.shown();
  expect(terminal.left(), output).toEqual([]);
  const grants = (await ws.grants.list()) as readonly unknown[];
  return { output, results, grants, base, root, text: (path: string) => readFile(join(root, path), "utf8") };
}

/** Runs calls in a program at a pseudo-terminal, and types when the text of a step is shown. */
async function atPseudoTerminal(
  calls: readonly Call[],
  steps: readonly TerminalStep[],
  env: Record<string, string> = {},
) {
  const { base, root, stateDir } = await temporary({ f: "a\nb\n" });
  const script = join(base, "program.mjs");
  await writeFile(
    script,
    `import { openWorkspace, terminalApprover } from ${JSON.stringify(entry)};
const { confirm } = terminalApprover();
const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(stateDir)}, confirm });
for (const [tool, args] of ${JSON.stringify(calls)}) {
  const { ok, meta } = await ws.call(tool, args);
  console.log("RESULT " + JSON.stringify({ ok, meta }));
}
await ws.close();
console.log("END");
`,
  );
  const job = {
    command: [process.execPath, script],
    env: { TERM: "xterm", NO_COLOR: "1", ...env },
    unset: ["FORCE_COLOR"],
    steps: [...steps, { wait: "END" }],
  };
  const { stdout } = await promisify(execFile)("python3", [driver, JSON.stringify(job)]);
  const { output, left } = JSON.parse(stdout) as { output: string; left: number };
  expect(left, output).toBe(0);
  const results = [...output.matchAll(/RESULT (.*)\r\n/gu)].map(
    ([, json]) => JSON.parse(json!) as { ok: boolean; meta: Record<string, unknown> },
  );
  return { output, results, text: (path: string) => readFile(join(root, path), "utf8") };
}

/** Writes a program for `EDITOR`. */
async function editor(body: string): Promise<string> {
  const { base } = await temporary();
  const file = join(base, "editor");
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
  return file;
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

describe.skipIf(!python)("the approver at a pseudo-terminal (needs python3)", () => {
  test("the diff is shown, and y writes it", async () => {
    const { output, results, text } = await atPseudoTerminal(
      [write("a\nB\n")],
      [{ wait: "refuse", send: "y" }],
    );
    expect(output).toContain("-b\r\n+B\r\n");
    expect(results).toMatchObject([{ ok: true, meta: { approval: { outcome: "proceed_once" } } }]);
    expect(await text("f")).toBe("a\nB\n");
  });

  test("what was typed before the question, and pasted text, is no answer", async () => {
    const { results } = await atPseudoTerminal(
      [write("1"), write("2")],
      [
        { wait: "with a reason", send: "yyyy" },
        { wait: "", send: "\r" },
        { wait: "", send: "n" },
        { wait: "with a reason", send: "n" },
      ],
    );
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
  });

  test("what is saved in the editor is asked about again, and written", async () => {
    const EDITOR = `${await editor('case "$2" in *.txt) printf "human\\n" > "$2";; esac')} --wait`;
    const { output, results, text } = await atPseudoTerminal(
      [write("model\n", "f.txt")],
      [
        { wait: "refuse", send: "e" },
        { wait: "as you changed it" },
        { wait: "+human" },
        { wait: "refuse", send: "y" },
      ],
      { EDITOR },
    );
    expect(output).toContain("+model");
    expect(results).toMatchObject([{ ok: true, meta: { modified_by_user: true } }]);
    expect(await text("f.txt")).toBe("human\n");
  });
});

describe("the approver at a terminal", () => {
  test("the diff is shown, and y writes it", async () => {
    const { output, results, text } = await atTerminal([write("a\nB\n")], [{ wait: "refuse", send: "y" }]);
    expect(output).toContain("Replace f (write_file, medium risk)");
    expect(output).toContain("-b\n+B\n");
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
    const { results, text } = await atTerminal([write("x")], [{ wait: "refuse", send: keys }]);
    expect(results).toMatchObject([{ ok: false, code: "APPROVAL_DENIED" }]);
    expect(await text("f")).toBe("a\nb\n");
  });

  test("r refuses with the reason that is typed, and tells the model", async () => {
    const { output, results, text } = await atTerminal(
      [write("x")],
      [
        { wait: "refuse", send: "r" },
        { wait: "Why? ", send: "use camelCasf\u007fe\r" },
      ],
    );
    expect(output).toContain("Why? use camelCasf\b \be\n");
    expect(results).toMatchObject([{ ok: false, code: "APPROVAL_DENIED" }]);
    expect(results[0]?.why).toBe("use camelCase. Nothing was written.");
    expect(await text("f")).toBe("a\nb\n");
  });

  test.each(["\u0003", "\u001b", "\r"])("r and then %j refuses without a reason", async (keys) => {
    const { results } = await atTerminal(
      [write("x")],
      [
        { wait: "refuse", send: "r" },
        { wait: "Why? ", send: keys },
      ],
    );
    expect(results).toMatchObject([{ ok: false, code: "APPROVAL_DENIED" }]);
  });

  describe("part by part", () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join("");
    const edited = (...lines: readonly number[]): string =>
      lines.reduce((text, line) => text.replace(`line ${line}\n`, `LINE ${line}\n`), before);
    const parts = (...keys: readonly string[]) => [
      { wait: "refuse with a reason", send: "p" },
      ...keys.map((key, index) => ({ wait: `Take this part (${index + 1} of 3)?`, send: key })),
    ];
    const seed = { f: before };

    test("only what was taken is written, and the model is told what was not", async () => {
      const { output, results, text } = await atTerminal(
        [write(edited(2, 15, 28))],
        [...parts("y", "n", "y")],
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
      const { results, text } = await atTerminal([write(edited(2, 15, 28))], [...parts(...keys)], { seed });
      expect(results[0]?.ok).toBe(isWritten);
      expect(results[0]?.meta["modified_by_user"]).toBeUndefined();
      expect(await text("f")).toBe(isWritten ? edited(2, 15, 28) : before);
    });
  });

  test("pasted text is no answer", async () => {
    const { results } = await atTerminal(
      [write("1")],
      [
        { wait: "refuse", send: "yyyy" },
        { wait: "", send: "\r" },
        { wait: "", send: "n" },
      ],
    );
    expect(results.map(({ ok }) => ok)).toEqual([false]);
  });

  test("what was typed before the choices are shown is no answer", async () => {
    const { output, results } = await atTerminal(
      [write("1")],
      [{ wait: "Replace f", send: "y" }, { wait: "refuse" }, { wait: "this? [", send: "n" }],
    );
    expect(output).toContain("] n\n");
    expect(results.map(({ ok }) => ok)).toEqual([false]);
  });

  test("an approval that lasts is not asked for again", async () => {
    const { output, results } = await atTerminal(
      [write("1"), write("2"), ["mkdir", { path: "d" }]],
      [{ wait: "refuse", send: "t" }, { wait: "Make directory d" }, { wait: "refuse", send: "n" }],
    );
    expect(output.match(/Replace f/gu)).toHaveLength(1);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false]);
  });

  test("calls at the same time ask one after another", async () => {
    const { output, results } = await atTerminal(
      [write("1", "p"), write("2", "q")],
      [
        { wait: "with a reason", send: "y" },
        { wait: "with a reason", send: "n" },
      ],
      { parallel: true },
    );
    expect(output).toMatch(/Create [pq] .*\] y\n\nCreate [pq] .*\] n\n$/su);
    expect(results.map(({ ok }) => ok).sort()).toEqual([false, true]);
  });

  test("colours, unless they are not wanted", async () => {
    const { output } = await atTerminal([write("a\nB\n")], [{ wait: "refuse", send: "n" }], {
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
      ],
      { rows: 24 },
    );
    expect(output.indexOf("line 59")).toBeGreaterThan(output.indexOf("more lines"));
    expect(results[0]?.ok).toBe(true);
  });

  test("content cannot move the cursor or hide", async () => {
    const { output } = await atTerminal(
      [write("\u001b[2J\u001b]0;title\u0007\rhidden\u202e\n", "n\u001b[1m")],
      [{ wait: "refuse", send: "n" }],
    );
    expect(output).toContain("+\\x1b[2J\\x1b]0;title\\x07\\rhidden\\u{202e}");
    expect(output).toContain("Create n\\x1b[1m");
    expect(output).not.toContain("\u001b[2J");
  });

  test.each([
    ["fails", "exit 3", "failed"],
    ["changes nothing", "exit 0", "The content was not changed."],
  ])("an editor that %s asks again", async (_, body, words) => {
    const { results } = await atTerminal(
      [write("model\n")],
      [{ wait: "refuse", send: "e" }, { wait: words }, { wait: "refuse", send: "n" }],
      { env: { EDITOR: await editor(body) } },
    );
    expect(results).toMatchObject([{ code: "APPROVAL_DENIED" }]);
  });

  test("an editor that does not exist asks again", async () => {
    const { results } = await atTerminal(
      [write("model\n")],
      [{ wait: "refuse", send: "e" }, { wait: "failed" }, { wait: "refuse", send: "n" }],
      { env: { VISUAL: "/no/such/editor" } },
    );
    expect(results).toMatchObject([{ code: "APPROVAL_DENIED" }]);
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
    const {
      output,
      results,
      root,
      grants: kept,
    } = await atTerminal(
      [["read_file", { path: "f" }]],
      [{ wait: "Allow filesystem access to" }, { wait: "refuse", send: key }],
      { permissions: true },
    );
    expect(results[0]?.code).toBe(code);
    expect(output).toContain(`y  read and write below ${root}, until it is taken back`);
    expect(kept).toMatchObject(expected.map((one) => ({ dir: root, ...one })));
    expect(kept).toHaveLength(expected.length);
  });
});

describe.skipIf(!python)("the command line at a real terminal (needs python3)", () => {
  const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));

  async function command(argv: readonly string[], steps: readonly TerminalStep[], state: string) {
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
