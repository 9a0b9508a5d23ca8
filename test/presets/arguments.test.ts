/**
 * Every argument that a preset declares has an effect: setting it, another value, or leaving out an optional one
 * makes another canonical call, or is refused. The few on which only the text of the answer depends are shown by a
 * call with and one without, whose texts differ.
 */
import { describe, expect, test } from "vitest";
import { PRESET_NAMES, PRESETS } from "../../js/presets/index.ts";
import type { PresetTool } from "../../js/presets/preset.ts";
import type { Schema } from "../../js/tools/lib/schema.ts";
import { open } from "./harness.ts";

type Args = Readonly<Record<string, unknown>>;

/** A value of a schema; `which` (0 to 2) gives different ones where there are several. A string is a path. */
function sample(schema: Schema, which: number): unknown {
  const type = [schema.type].flat().find((one) => one !== "null");
  if (schema.enum !== undefined) return schema.enum[which % schema.enum.length];
  switch (type) {
    case "boolean":
      return which % 2 === 1;
    case "integer":
    case "number":
      return Math.min((schema.minimum ?? 1) + 1 + which, schema.maximum ?? Infinity);
    case "array":
      return schema.items === undefined ? [] : [sample(schema.items, which)];
    case "object":
      return samples(schema.properties ?? {}, Object.keys(schema.properties ?? {}), which);
    default:
      return `/w/${"abc"[which]}.txt`;
  }
}

const samples = (
  properties: Readonly<Record<string, Schema>>,
  names: readonly string[],
  which: number,
): Args => Object.fromEntries(names.map((name) => [name, sample(properties[name] as Schema, which)]));

/** The canonical call that a call becomes, with the filters of the preset, or the reason why it is refused. */
function becomes(tool: PresetTool, given: Args): string {
  // The paths of the memory tool begin with /memories.
  const args =
    tool.name === "memory" ? JSON.parse(JSON.stringify(given).replaceAll("/w/", "/memories/")) : given;
  try {
    const { tool: of, args: ours, ignoreFiles, excludeLines } = tool.expand(args, { home: "/home/u" });
    return JSON.stringify([of.name, ours, excludeLines, ignoreFiles?.([".gitignore"])]);
  } catch (error) {
    return String(error);
  }
}

/** Calls of a tool: with what is required, and with everything; of a tool with commands, for each command. */
function callsOf({ inputSchema: { properties, required } }: PresetTool): readonly Args[] {
  const names = Object.keys(properties);
  const commands = properties["command"]?.enum;
  if (commands === undefined) return [samples(properties, required, 0), samples(properties, names, 0)];
  return commands.map((command) => {
    const ofCommand = names.filter((name) => {
      const [, words] = /^With ([^:]+):/u.exec(properties[name]?.description ?? "") ?? [];
      return words === undefined || words.includes(String(command));
    });
    return { ...samples(properties, ofCommand, 0), command };
  });
}

function hasEffect(tool: PresetTool, name: string): boolean {
  const schema = tool.inputSchema.properties[name] as Schema;
  return callsOf(tool).some(({ [name]: given, ...others }) => {
    const values = given === undefined ? [] : [{ ...others, [name]: given }];
    // Leaving out a required argument is refused whatever its value does.
    const forms = [
      ...(tool.inputSchema.required.includes(name) ? [] : [others]),
      ...values,
      ...[0, 1, 2].map((which) => ({ ...others, [name]: sample(schema, which) })),
    ];
    return new Set(forms.map((form) => becomes(tool, form))).size > 1;
  });
}

/** Arguments that only the text of the answer depends on. */
const TEXTS: readonly (readonly [
  preset: keyof typeof PRESETS,
  tool: string,
  name: string,
  args: Args,
  value: unknown,
])[] = [
  ["claude", "Grep", "-n", { pattern: "one", output_mode: "content" }, false],
  ["gemini", "write_file", "modified_by_user", { file_path: "/w/a.txt", content: "two\n" }, true],
  [
    "gemini",
    "replace",
    "modified_by_user",
    { file_path: "/w/a.txt", old_string: "one", new_string: "two" },
    true,
  ],
  [
    "gemini-cli",
    "replace",
    "instruction",
    { file_path: "a.txt", old_string: "none", new_string: "" },
    "Do it.",
  ],
];

const tools = PRESET_NAMES.flatMap((preset) =>
  preset === "canonical" ? [] : PRESETS[preset].tools.map((tool) => [preset, tool.name, tool] as const),
);

/** Arguments that each preset refuses for another reason: no object, an unknown key, wrong types, a path outside. */
const REFUSED: readonly unknown[] = [
  undefined,
  "text",
  {},
  { unknown: 1 },
  { command: "view", path: "/memories/../a.txt" },
  { command: "view", path: 5 },
  { file_path: "a.txt", old_string: 5, new_string: "x" },
  { file_path: "relative.txt", old_string: "", new_string: "x" },
];

describe("a call that ends before its arguments are read is answered", () => {
  test.each(tools)("%s %s", async (preset, name) => {
    const { ws } = await open(preset, { "a.txt": "one\n" });
    const answers = async (signal?: AbortSignal) => {
      const codes: unknown[] = [];
      for (const args of REFUSED) codes.push((await ws.call(name, args as never, { signal })).error?.code);
      return new Set(codes);
    };
    expect(await answers(AbortSignal.abort())).toEqual(new Set(["CANCELLED"]));
    await ws.close();
    expect([...(await answers())]).not.toContain(undefined);
  });
});

describe("every declared argument has an effect", () => {
  test.each(tools)("%s %s", (preset, name, tool) => {
    const without = Object.keys(tool.inputSchema.properties).filter((one) => !hasEffect(tool, one));
    const told = TEXTS.filter((one) => one[0] === preset && one[1] === name).map((one) => one[2]);
    expect(without).toEqual(told);
  });

  test.each(TEXTS)("%s %s %s, in the text", async (preset, tool, name, args, value) => {
    const texts = [];
    for (const given of [args, { ...args, [name]: value }]) {
      const { ws } = await open(preset, { "a.txt": "one\n" });
      texts.push((await ws.call(tool, given)).text);
      await ws.close();
    }
    expect(texts[0]).not.toBe(texts[1]);
  });
});
