/** Characters that cannot be seen or that reorder others: one class for the page, the terminal, the form and listings. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { escapeForTerminal } from "../../js/cli/person/style.ts";
import { escapeControls } from "../../js/engine/escape.ts";
import { escapeForPrinting } from "../../js/hooks/question.ts";
import { openWorkspace } from "../../js/index.node.ts";
import { visibleText } from "../../js/review/page/diff/escapes.ts";

const UNSEEN: readonly (readonly [name: string, characters: string, escapes: string])[] = [
  ["an escape sequence", "\u001b[31m", "\\x1b[31m"],
  ["a C1 control", "\u009b31m", "\\x9b31m"],
  ["a mark of Arabic letters", "\u061c", "\\u{061c}"],
  ["marks of direction", "\u200e\u200f", "\\u{200e}\\u{200f}"],
  ["embeddings", "\u202a\u202e\u202c", "\\u{202a}\\u{202e}\\u{202c}"],
  ["isolates", "\u2066\u2069", "\\u{2066}\\u{2069}"],
  ["zero width", "\u200b\u200c\u200d\u2060\ufeff", "\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}"],
  ["tags", "\u{e0001}\u{e0041}\u{e007f}", "\\u{e0001}\\u{e0041}\\u{e007f}"],
  ["variation selectors", "\ufe0f\u{e0100}", "\\u{fe0f}\\u{e0100}"],
  ["fillers", "\u115f\u1160\u3164\uffa0", "\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}"],
  ["a soft hyphen and a joiner", "\u00ad\u034f", "\\xad\\u{034f}"],
  ["separators", "\u2028\u2029", "\\u{2028}\\u{2029}"],
  ["characters of music and shorthand", "\u{1d173}\u{1bca0}", "\\u{1d173}\\u{1bca0}"],
  ["annotations", "\ufff9\ufffb", "\\u{fff9}\\u{fffb}"],
];

test.each(UNSEEN)("%s are shown as escapes to people and to models", async (_, characters, escapes) => {
  for (const shown of [escapeControls, escapeForTerminal, escapeForPrinting, visibleText])
    expect(shown(`a${characters}b`), shown.name).toBe(`a${escapes}b`);
  const root = realpathSync(mkdtempSync(join(tmpdir(), "filewright-escapes-")));
  try {
    const name = `a${characters}b.txt`;
    writeFileSync(join(root, name), "text\n");
    await using ws = await openWorkspace({
      root,
      preset: "canonical",
      history: false,
      stateDir: `${root}-state`,
    });
    for (const [tool, args] of [
      ["list_directory", {}],
      ["glob", { pattern: "*" }],
      ["grep", { pattern: "text" }],
      ["find_files", { query: "a" }],
      ["read_file", { path: `${name}x` }],
      ["edit_file", { path: name, old_text: "absent", new_text: "x" }],
      ["apply_patch", { patch: `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-absent\n+x\n` }],
    ] as const) {
      const { text } = await ws.call(tool, args);
      for (const character of characters)
        if (!/[ -~]/u.test(character))
          expect(text, `${tool}: ${JSON.stringify(text)}`).not.toContain(character);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
    rmSync(`${root}-state`, { recursive: true, force: true });
  }
});

test("text that is seen stays as it is", () => {
  for (const text of ["plain", "é ü ß", "日本語", "مرحبا", "שלום", "🎉", "a\u0301", "\ud83d\ude00"]) {
    expect(escapeControls(text)).toBe(text);
    expect(visibleText(text)).toBe(text);
  }
  expect(escapeControls("\ud800x")).toBe("\\u{d800}x");
});
