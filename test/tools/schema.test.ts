import { describe, expect, test } from "vitest";
import { FilewrightError } from "../../js/engine/errors.ts";
import { withCanonicalKeys, compileArgumentCheck, object } from "../../js/tools/lib/schema.ts";

const checked = compileArgumentCheck<Record<string, unknown>>(
  "try",
  object(
    {
      path: { type: "string", minLength: 1 },
      start: { type: "integer", default: 1 },
      limit: { type: ["integer", "null"], minimum: 1, default: 20 },
      all: { type: "boolean", default: false },
      ratio: { type: "number", minimum: 0, maximum: 1 },
      kind: { type: "string", enum: ["file", "dir"], default: "file" },
      globs: { type: ["string", "array"], items: { type: "string", minLength: 1 } },
      edits: {
        type: "array",
        minItems: 1,
        items: object(
          { old_text: { type: "string", minLength: 1 }, times: { type: "integer", minimum: 1 } },
          ["old_text"],
        ),
      },
    },
    ["path"],
  ),
);
const parse = (given: unknown) => checked(withCanonicalKeys("try", given, { file_path: "path" }));

const accepted: readonly [name: string, given: unknown, values: Record<string, unknown>][] = [
  ["defaults are filled in", { path: "a" }, { path: "a", start: 1, limit: 20, all: false, kind: "file" }],
  [
    "numbers and booleans as strings",
    { path: "a", start: "-3", limit: "7", all: "true", ratio: "0.5" },
    { start: -3, limit: 7, all: true, ratio: 0.5 },
  ],
  ["null where null means something", { path: "a", limit: null }, { limit: null }],
  ["null elsewhere is left out", { path: "a", all: null, kind: null }, { all: false, kind: "file" }],
  ["a float that is whole", { path: "a", start: 2.0 }, { start: 2 }],
  ["one string or several", { path: "a", globs: ["x", "y"] }, { globs: ["x", "y"] }],
  ["a list as JSON text", { path: "a", edits: '[{"old_text":"x"}]' }, { edits: [{ old_text: "x" }] }],
  [
    "line feeds and tabs that stand raw in JSON text",
    { path: "a", edits: '[{"old_text":"x\n\ty\\n\\"z\\""}]' },
    { edits: [{ old_text: 'x\n\ty\n"z"' }] },
  ],
  ["arguments as JSON text", '{"path":"a"}', { path: "a" }],
  ["arguments as JSON text with raw line feeds", '{\n"path":"a\nb"}\n', { path: "a\nb" }],
  ["an alias", { file_path: "a" }, { path: "a" }],
  ["an alias that agrees", { file_path: "a", path: "a" }, { path: "a" }],
];

test.each(accepted)("accepts %s", (_, given, values) => {
  expect(parse(given)).toMatchObject(values);
});

const refused: readonly [name: string, given: unknown, message: RegExp][] = [
  ["a missing argument", {}, /'path': is required/],
  ["no object", [], /must be an object, got a list/],
  ["an unknown argument, with the nearest", { path: "a", strat: 2 }, /'strat'.*did you mean 'start'\?/],
  ["an argument as others call it", { path: "a", offset: 2, limit: 3 }, /'offset'/],
  ["an unknown argument far from all", { path: "a", zzzzzz: 2 }, /known: path, start/],
  [
    "a list whose JSON text is broken",
    { path: "a", edits: '[{"old_text":"x"]' },
    /must be a list; its JSON text is broken/,
  ],
  [
    "a list whose JSON text ends early",
    { path: "a", edits: '[{"old_text":"x' },
    /must be a list; its JSON text is broken/,
  ],
  [
    "a line feed after a backslash, which may mean both",
    { path: "a", edits: '[{"old_text":"x\\\ny"}]' },
    /must be a list; its JSON text is broken after/,
  ],
  ["arguments whose JSON text is broken", '{"path":"a"', /arguments of try must be an object; its JSON/],
  [
    "a name of another system, in a list",
    { path: "a", oldString: "x" },
    /'oldString'.*send edits: \[\{old_text\}\]/,
  ],
  ["a name of another system in camel case", { targetFile: "a" }, /'targetFile'.*did you mean 'path'\?/],
  ["a fraction", { path: "a", start: 1.5 }, /'start': must be an integer/],
  ["words for a number", { path: "a", start: "two" }, /got "two"/],
  ["a number out of range", { path: "a", limit: 0 }, /'limit': must be .*integer/],
  [
    "another word than allowed",
    { path: "a", kind: "dri" },
    /must be one of "file", "dir", got "dri" \(did you mean "dir"\?\)/,
  ],
  ["an empty string", { path: "" }, /'path': must not be empty/],
  ["a number for a string", { path: 3 }, /'path': must be a string, got a number/],
  [
    "a place inside a list",
    { path: "a", edits: [{ old_text: "x" }, { old_text: "" }] },
    /'edits\[1\]\.old_text': must not be empty/,
  ],
  [
    "an unknown property inside",
    { path: "a", edits: [{ old_text: "x", tims: 2 }] },
    /did you mean 'times'\?/,
  ],
  ["an empty list", { path: "a", edits: [] }, /'edits': must not be empty/],
  [
    "two spellings that differ",
    { path: "a", file_path: "b" },
    /'path': 'file_path' is another spelling of it/,
  ],
  ["__proto__", JSON.parse('{"path":"a","__proto__":{"x":1}}'), /unknown argument/],
];

test.each(refused)("refuses %s", (_, given, message) => {
  let error: unknown;
  try {
    parse(given);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(FilewrightError);
  expect((error as FilewrightError).code).toBe("INVALID_ARGUMENT");
  expect((error as FilewrightError).message).toMatch(message);
  expect((error as FilewrightError).message.split("\n")[0]!.length).toBeLessThanOrEqual(200);
});

describe("what was given stays as it was", () => {
  test("the arguments are not changed in place", () => {
    const given = Object.freeze({ path: "a", start: "2" });
    expect(parse(given)).not.toBe(given);
    expect(given.start).toBe("2");
  });
});
