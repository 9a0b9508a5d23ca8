/** The texts for models: descriptions and schemas are an API, and cost tokens with every request. */
import { describe, expect, test } from "vitest";
import { PRESET_NAMES, PRESETS } from "../../js/presets/index.ts";
import { strictSchema } from "../../js/presets/strict.ts";
import { TOOLS } from "../../js/tools/index.ts";
import type { ObjectSchema, Schema } from "../../js/tools/lib/schema.ts";

interface Shown {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
}

/** The presets; our own tools are shown by their own tests. */
const NAMES = PRESET_NAMES.filter((name) => name !== "canonical");

const toolsOf = (name: (typeof PRESET_NAMES)[number]): readonly Shown[] =>
  name === "canonical" ? TOOLS : PRESETS[name].tools;

/** A quarter of the bytes: no tokenizer is at hand, and each model has its own. */
const tokens = ({ name, description, inputSchema }: Shown): number =>
  Math.ceil(new TextEncoder().encode(JSON.stringify({ name, description, inputSchema })).length / 4);

describe("what models are shown", () => {
  test("tokens, about, of each list", () => {
    const sums = NAMES.map((name) => {
      const tools = toolsOf(name);
      return `${name}: ${tools.length} tools, ${tools.reduce((sum, tool) => sum + tokens(tool), 0)} tokens`;
    });
    expect(sums.join("\n")).toMatchSnapshot();
  });

  test.each(NAMES)("%s", (name) => {
    const text = toolsOf(name).map((tool) => {
      const params = Object.entries(tool.inputSchema.properties).map(([key, schema]) => {
        const must = tool.inputSchema.required.includes(key) ? "" : "?";
        const byDefault = schema.default === undefined ? "" : ` = ${JSON.stringify(schema.default)}`;
        return `  ${key}${must}: ${[schema.type].flat().join("|")}${byDefault}`;
      });
      return [`${tool.name} (${tokens(tool)})`, ...params, `  "${tool.description}"`].join("\n");
    });
    expect(text.join("\n\n")).toMatchSnapshot();
  });
});

describe("strict schemas", () => {
  const every = PRESET_NAMES.flatMap((name) => toolsOf(name).map((tool) => [name, tool.name, tool] as const));
  test.each(every)("%s %s: everything is required, closed, and of plain keywords", (_preset, _name, tool) => {
    plain(strictSchema(tool.inputSchema));
  });

  function plain(schema: Schema): void {
    const allowed = [
      "type",
      "description",
      "enum",
      "items",
      "properties",
      "required",
      "additionalProperties",
      "anyOf",
    ];
    expect(Object.keys(schema).filter((key) => !allowed.includes(key))).toEqual([]);
    if (schema.properties !== undefined) {
      expect(schema.additionalProperties).toBe(false);
      expect(schema.required).toEqual(Object.keys(schema.properties));
      for (const property of Object.values(schema.properties)) plain(property);
    }
    if (schema.items !== undefined) plain(schema.items);
    for (const one of (schema as { readonly anyOf?: readonly Schema[] }).anyOf ?? []) plain(one);
  }
});
