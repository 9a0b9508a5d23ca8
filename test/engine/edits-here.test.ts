/** Small edits are applied on the calling thread where their text stands once; all others on another one. */
import { expect, test } from "vitest";
import { type EditBinding, type EditInput, makeEditEngine } from "../../js/engine/text/edit.ts";
import { requireAddon } from "../../js/engine/load.node.ts";

const TEXT = "one\ntwo\nthree\ntwo and a half\n";
const CASES: readonly [
  name: string,
  isHere: boolean,
  edits: readonly EditInput[],
  text?: string | Uint8Array,
  encoding?: string,
][] = [
  ["a text that stands there once", true, [{ oldText: "three", newText: "3" }]],
  [
    "two such texts",
    true,
    [
      { oldText: "three", newText: "3" },
      { oldText: "one", newText: "1" },
    ],
  ],
  ["a text that occurs twice", false, [{ oldText: "two", newText: "2" }]],
  ["a text that is missing", false, [{ oldText: "four", newText: "4" }]],
  ["two texts of which one is missing", false, [{ oldText: "three" }, { oldText: "four" }]],
  [
    "a text that an earlier edit has replaced",
    false,
    [
      { oldText: "three", newText: "3" },
      { oldText: "three", newText: "4" },
    ],
  ],
  ["a line that an anchor names", false, [{ from: "1#aaaaaa", newText: "1" }]],
  ["a long new text", false, [{ oldText: "three", newText: "3".repeat(3000) }]],
  ["a large text", false, [{ oldText: "three", newText: "3" }], TEXT + "x\n".repeat(10_000)],
  ["another encoding", false, [{ oldText: "three", newText: "3" }], TEXT, "iso-8859-1"],
  ["another line ending", false, [{ oldText: "one\ntwo", newText: "1" }], TEXT.replaceAll("\n", "\r\n")],
  [
    "bytes that are not UTF-8",
    true,
    [{ oldText: "three", newText: "3" }],
    Buffer.from("three\n\xff", "latin1"),
  ],
];

test.each(CASES)("%s: %s", async (_, isHere, edits, text = TEXT, encoding = undefined) => {
  const addon = requireAddon("this test");
  const asked: string[] = [];
  const binding = {
    planEdits: (...given: Parameters<typeof addon.planEdits>) => {
      asked.push("here");
      return addon.planEdits(...given);
    },
    planEditsAsync: (...given: Parameters<typeof addon.planEditsAsync>) => {
      asked.push("elsewhere");
      return addon.planEditsAsync(given[0], given[1]);
    },
  } as unknown as EditBinding;
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const engine = makeEditEngine(binding);
  const plan = await engine.planEditsBytesAsync(bytes, edits, { encoding });
  expect(asked).toEqual([isHere ? "here" : "elsewhere"]);
  expect(plan).toEqual(engine.planEditsBytes(bytes, edits, { encoding }));
});
