/** Closing tags of a call at the end of the content that a model sent are told, and what a file may hold is not. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const STRAY = [
  "a\n</content>",
  "a\n</content>\n</write_to_file>\n",
  "a\n</parameter>\n</invoke>\n</function_calls>",
  "a</x:parameter>\n</x:invoke>",
  "a\n<|im_end|>",
  "<p>a</p>\n</content>\n",
  '{"a": 1}\n</file_text>\n',
];
const OWN = [
  "<content>\na\n</content>\n",
  '<content type="x">\na\n</content>\n',
  "<p>a</p>\n",
  "<root>\n</root>",
  "a </content> b\n",
  "x < y && y </re/.test(z)>",
  "a\n",
];

describe.each(KINDS)("on %s", (kind) => {
  test.each(STRAY)("%j is told", async (content) => {
    const { ws, text } = await place(kind, { b: "one\ntwo\n" });
    const written = await ws.call("write_file", { path: "a", content });
    expect(written.text).toMatch(/closes a call and is in the file now/u);
    expect(await text("a")).toBe(content);
    const edited = await ws.call("edit_file", { path: "b", old_text: "two\n", new_text: content });
    expect(edited.text).toMatch(/closes a call and is in the file now/u);
  });

  test.each(OWN)("%j is not", async (content) => {
    const { ws } = await place(kind, { b: "one\ntwo\n" });
    const written = await ws.call("write_file", { path: "a", content });
    expect(written.text).not.toMatch(/closes a call/u);
    const edited = await ws.call("edit_file", { path: "b", old_text: "two\n", new_text: content });
    expect(edited.text).not.toMatch(/closes a call/u);
  });
});
