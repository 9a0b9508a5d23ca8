import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { type Confirmation, terminalApprover } from "../../js/index.node.ts";
import { keyChoicesOf, renderQuestion, renderChoices } from "../../js/hooks/terminal-view.ts";

describe("without a terminal", () => {
  test("every question is refused", async () => {
    const input = new PassThrough() as never;
    const output = new PassThrough() as never;
    const { confirm, ask } = terminalApprover({ input, output });
    const reply = await confirm({ scopes: [] } as never as Confirmation);
    expect(reply).toEqual({ outcome: "cancel", payload: { reason: "there is no terminal to ask in" } });
    expect(await ask("?", [], { dir: "/", access: "read" } as never)).toEqual({ answer: "no" });
  });
});

describe("how a question looks", () => {
  const change = {
    title: "Run bash",
    tool: "bash",
    risk: "high" as const,
    fileDiff: "",
    args: { command: "ls\n\u001b[0m", n: 3, list: ["a"] },
  };
  test("arguments, one a line", () => {
    expect(renderQuestion(change, { colour: false, maxLines: 2 })).toEqual({
      text: "\nRun bash (bash, high risk)\n  command: ls\\n\\x1b[0m\n  n: 3\n… 1 more line\n",
      cut: true,
    });
  });
  test("the lines of a diff by what they are, whatever they say", () => {
    const fileDiff = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n---- a\n+\ttab\n\\ No newline at end of file\n";
    const { text } = renderQuestion(
      { title: "Edit f", tool: "edit_file", risk: "low", fileDiff },
      { colour: true, maxLines: 99 },
    );
    expect(text).toContain("\u001b[1m--- a/f\u001b[0m");
    expect(text).toContain("\u001b[31m---- a\u001b[0m");
    expect(text).toContain("\u001b[32m+\ttab\u001b[0m");
    expect(text).toContain("\u001b[36m@@ -1,2 +1,2 @@\u001b[0m");
  });
  test("the words of a line that changed are in reverse video", () => {
    const fileDiff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-const count = 1;\n+const total = 1;\n";
    const { text } = renderQuestion(
      { title: "Edit f", tool: "edit_file", risk: "low", fileDiff },
      { colour: true, maxLines: 99 },
    );
    expect(text).toContain("\u001b[31;7mcount\u001b[0m\u001b[31m = 1;\u001b[0m");
    expect(text).toContain("\u001b[32;7mtotal\u001b[0m\u001b[32m = 1;\u001b[0m");
  });
  test("choices", () => {
    const choices = keyChoicesOf([
      { outcome: "proceed_once", label: "this\u0007" },
      { outcome: "cancel", label: "no" },
    ]);
    expect(renderChoices(choices, false)).toBe("  y  this\\x07\n  n  no\n");
  });
});
