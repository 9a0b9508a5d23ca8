/**
 * The schemas of every tool, held against what three families of models publish that they take: the strict form
 * against each family's rules, and the form that `tools/list` of the protocol has against Gemini's, because clients
 * pass it on as it is and the two other families take any JSON Schema where none is enforced.
 *
 * - OpenAI, "Structured outputs: supported schemas": the root is an object; every object is closed and names all its
 *   properties as required; types, enum, anyOf, items; at most ten levels, 5,000 properties, 1,000 choices.
 * - Gemini, `Schema` of function declarations: one type for each value, no `not` and no `const`; nothing beside
 *   `anyOf`; choices are strings of a string; a list has items. `geminiSchema` makes the form that is sent to the API:
 *   capitals, `nullable`, and nothing that `Schema` does not have.
 * - Anthropic, "Strict tool use: JSON Schema limitations": objects are closed; no limits of numbers, lengths or items,
 *   no patterns, no references to other documents, no choices that are objects or lists. All strict tools of a request
 *   together: at most 20 tools, 24 properties that may be left out and 16 of several types.
 */
import { describe, expect, test } from "vitest";
import { toAnthropicRunnable } from "../../js/adapters/anthropic.ts";
import { geminiSchema, type GeminiSchema } from "../../js/adapters/schemas.ts";
import { leanPreset } from "../../js/presets/lean.ts";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { PRESET_NAMES, PRESETS } from "../../js/presets/index.ts";
import { singleTypes, strictSchema } from "../../js/presets/strict.ts";
import { TOOLS } from "../../js/tools/index.ts";
import type { ObjectSchema, Schema } from "../../js/tools/lib/schema.ts";

type Json = Readonly<Record<string, unknown>>;

const objectsIn = (value: unknown): Json[] => {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value as Json, ...Object.values(value).flatMap(objectsIn)];
};

/** Each schema within a schema, with its depth; names of properties are no schemas. */
function* schemasIn(schema: Json, depth = 1): Generator<{ readonly schema: Json; readonly depth: number }> {
  yield { schema, depth };
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: Json[];
  };
  for (const one of Object.values(properties)) yield* schemasIn(one, depth + 1);
  if (items !== undefined) yield* schemasIn(items, depth + 1);
  for (const one of anyOf) yield* schemasIn(one, depth);
}

const onlyKeys = (schema: Json, allowed: readonly string[]): string[] =>
  Object.keys(schema)
    .filter((key) => !allowed.includes(key))
    .map((key) => `the keyword ${key}`);

function openai(root: Json): string[] {
  const wrong: string[] = root["type"] === "object" && root["anyOf"] === undefined ? [] : ["the root"];
  let [properties, choices] = [0, 0];
  for (const { schema, depth } of schemasIn(root)) {
    wrong.push(
      ...onlyKeys(schema, [
        ...["type", "description", "enum", "const", "anyOf", "items", "properties", "required"],
        ...[
          "additionalProperties",
          "minimum",
          "maximum",
          "multipleOf",
          "pattern",
          "format",
          "minItems",
          "maxItems",
        ],
      ]),
    );
    const types = [schema["type"]].flat();
    if (schema["type"] === undefined && schema["anyOf"] === undefined) wrong.push("a schema without a type");
    if (types.includes("array") && schema["items"] === undefined) wrong.push("a list without items");
    if (types.includes("object")) {
      const names = Object.keys((schema["properties"] as Json | undefined) ?? {});
      properties += names.length;
      if (schema["additionalProperties"] !== false) wrong.push("an open object");
      if (JSON.stringify(schema["required"]) !== JSON.stringify(names))
        wrong.push("a property that may be left out");
    }
    choices += (schema["enum"] as unknown[] | undefined)?.length ?? 0;
    if (depth > 10) wrong.push("more than ten levels");
  }
  if (properties > 5000) wrong.push("more than 5,000 properties");
  if (choices > 1000) wrong.push("more than 1,000 choices");
  return wrong;
}

/** A schema as JSON that a client hands to Gemini without knowing our tools. */
function listed(root: Json): string[] {
  const wrong: string[] = [];
  for (const { schema } of schemasIn(root)) {
    const { type, anyOf } = schema;
    if (anyOf !== undefined && Object.keys(schema).length > 1) wrong.push("a keyword beside anyOf");
    if (anyOf === undefined && typeof type !== "string") wrong.push(`the type ${JSON.stringify(type)}`);
    for (const key of ["not", "const", "oneOf", "allOf"]) if (key in schema) wrong.push(`the keyword ${key}`);
    if (schema["enum"] !== undefined && type !== "string") wrong.push("choices of another type than string");
    if (type === "array" && schema["items"] === undefined) wrong.push("a list without items");
    if (anyOf === undefined && type !== "array" && schema["items"] !== undefined)
      wrong.push("items of no list");
  }
  return wrong;
}

function gemini(root: GeminiSchema): string[] {
  const wrong: string[] = [];
  for (const { schema } of schemasIn(root as unknown as Json)) {
    wrong.push(
      ...onlyKeys(schema, [
        "type",
        "description",
        "nullable",
        "enum",
        "items",
        "properties",
        "required",
        "anyOf",
      ]),
    );
    const { type } = schema;
    const types = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"];
    if (type === undefined ? schema["anyOf"] === undefined : !types.includes(String(type))) {
      wrong.push(`the type ${JSON.stringify(type)}`);
    }
    const choices = schema["enum"] as unknown[] | undefined;
    if (choices !== undefined && (type !== "STRING" || choices.some((one) => typeof one !== "string"))) {
      wrong.push("choices that are no strings");
    }
    if (type === "ARRAY" && schema["items"] === undefined) wrong.push("a list without items");
    const names = Object.keys((schema["properties"] as Json | undefined) ?? {});
    // A tool without arguments is declared without a schema.
    if (type === "OBJECT" && names.length === 0 && schema !== (root as unknown as Json)) {
      wrong.push("an object without properties");
    }
    for (const name of (schema["required"] as string[] | undefined) ?? []) {
      if (!names.includes(name)) wrong.push(`${name} is required and not there`);
    }
  }
  return wrong;
}

function anthropic(root: Json): string[] {
  const wrong: string[] = [];
  for (const { schema } of schemasIn(root)) {
    wrong.push(
      ...onlyKeys(schema, [
        ...["type", "description", "enum", "const", "anyOf", "allOf", "items", "properties", "required"],
        ...["additionalProperties", "default", "format"],
      ]),
    );
    if ([schema["type"]].flat().includes("object") && schema["additionalProperties"] !== false) {
      wrong.push("an open object");
    }
    const choices = (schema["enum"] as unknown[] | undefined) ?? [];
    if (choices.some((one) => typeof one === "object" && one !== null))
      wrong.push("a choice that is no plain value");
  }
  return wrong;
}

interface Shown {
  readonly name: string;
  readonly inputSchema: ObjectSchema;
}

const lists = new Map<string, readonly Shown[]>([
  ...PRESET_NAMES.map((name) => [name, name === "canonical" ? TOOLS : PRESETS[name].tools] as const),
  ["the list of filewright mcp", leanPreset().tools],
]);

describe("the strict form of every tool is taken", () => {
  const every = [...lists].flatMap(([list, tools]) => tools.map((tool) => [list, tool.name, tool] as const));
  test.each(every)("%s %s", (_list, _name, { inputSchema }) => {
    const strict = strictSchema(inputSchema);
    expect(openai(strict as unknown as Json), "OpenAI").toEqual([]);
    expect(gemini(geminiSchema(strict as unknown as Schema)), "Gemini").toEqual([]);
    expect(anthropic(strict as unknown as Json), "Anthropic").toEqual([]);
    expect(listed(strict as unknown as Json), "Gemini, as it is").toEqual([]);
    // An object that may hold nothing says that there is nothing to give.
    for (const { type, properties } of objectsIn(strict).slice(1)) {
      if (type === "object") expect(Object.keys(properties as Json)).not.toEqual([]);
    }
  });
});

/** The keywords of a schema and of those in it, sorted, with each of several types. */
const keywordsOf = (root: object): string[] =>
  [...schemasIn(root as Json)]
    .flatMap(({ schema }) =>
      Object.entries(schema).flatMap(([key, value]) => (key === "type" ? [value].flat().map(String) : [key])),
    )
    .filter((key) => key !== "anyOf")
    .sort();

describe("the form of tools/list is taken by Gemini as it is", () => {
  const every = [...lists].flatMap(([list, tools]) => tools.map((tool) => [list, tool.name, tool] as const));
  test.each(every)("%s %s", (_list, _name, { inputSchema }) => {
    const form = singleTypes(inputSchema);
    expect(listed(form as unknown as Json)).toEqual([]);
    // Each keyword of the schema is somewhere in its listed form.
    expect(keywordsOf(form)).toEqual(keywordsOf(inputSchema));
  });
});

describe("the strict tools of a request keep Anthropic's limits", () => {
  test.each(PRESET_NAMES)("%s", async (preset) => {
    const ws = await openWorkspace({ backend: new MemoryBackend({ "/ws/a.txt": "one\n" }), root: "/ws" });
    const tools = toAnthropicRunnable(ws, { preset, strict: true }).filter(({ strict }) => strict === true);
    let [optional, unions] = [0, 0];
    for (const { input_schema: root } of tools) {
      expect(anthropic(root as unknown as Json)).toEqual([]);
      for (const { schema } of schemasIn(root as unknown as Json)) {
        const names = Object.keys((schema["properties"] as Json | undefined) ?? {});
        optional += names.length - ((schema["required"] as unknown[] | undefined)?.length ?? 0);
        if (schema["anyOf"] !== undefined || Array.isArray(schema["type"])) unions += 1;
      }
    }
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.length).toBeLessThanOrEqual(20);
    expect(optional).toBeLessThanOrEqual(24);
    expect(unions).toBeLessThanOrEqual(16);
    await ws.close();
  });
});

test("a call in the strict form is made: null for what is left out, JSON text for an object of unknown shape", async () => {
  const ws = await openWorkspace({ backend: new MemoryBackend({ "/ws/a.txt": "one\n" }), root: "/ws" });
  const args = JSON.stringify({ path: "a.txt", start_line: null, line_numbers: null });
  const made = await ws.call("batch", { operations: [{ tool: "read_file", args }], atomic: null });
  expect(made).toMatchObject({ ok: true, text: expect.stringContaining("one") });
  await ws.close();
});
