/**
 * The options of `definePreset`, as tables. A parameter with a misspelt target would be lost without an
 * error, so names are checked against their targets when a preset is defined.
 */
import {
  anything,
  anyText,
  callback,
  choice,
  choiceOf,
  exactly,
  either,
  flag,
  instance,
  list,
  mapOf,
  nullable,
  type OptionalOption,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { nearest } from "../schema/nearest.ts";
import { TOOLS, type ToolName } from "../tools/index.ts";
import { LIMIT_OPTIONS } from "../tools/lib/limits.ts";
import type { ObjectSchema, Schema } from "../tools/lib/schema.ts";
import type { Annotations } from "../tools/lib/tool.ts";
import { type Param, PRESET_ACCESS_OPTIONS, type PresetSpec, type ToolSpec } from "./preset.ts";

/**
 * The keywords of JSON Schema that are enforced. A schema with any other is refused, because it would be
 * ignored.
 */
const ENFORCED_KEYWORDS: Readonly<Record<keyof Schema, true>> = {
  type: true,
  description: true,
  enum: true,
  default: true,
  minimum: true,
  maximum: true,
  minLength: true,
  pattern: true,
  minItems: true,
  maxItems: true,
  items: true,
  properties: true,
  required: true,
  additionalProperties: true,
};

/** Returns what is wrong with a schema or one inside it; undefined when nothing is. */
function schemaMistake(schema: object): string | undefined {
  const unknown = Object.keys(schema).find((key) => !Object.hasOwn(ENFORCED_KEYWORDS, key));
  if (unknown !== undefined)
    return `has an unknown keyword; ${didYouMeanClause(unknown, Object.keys(ENFORCED_KEYWORDS))}`;
  const { items, properties, additionalProperties: others } = schema as Partial<Schema>;
  const inner = [items, ...Object.values(properties ?? {}), others].filter((one) => typeof one === "object");
  for (const one of inner) {
    const wrong = one === null || Array.isArray(one) ? "must hold schemas" : schemaMistake(one);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function didYouMeanClause(given: string, known: readonly string[]): string {
  const close = nearest(given, known);
  return close === undefined ? `'${given}' is none of ${known.join(", ")}` : `did you mean '${close}'?`;
}

const SCHEMA_TYPE = choice("string", "integer", "number", "boolean", "array", "object", "null");

const SCHEMA: OptionalOption<Schema> = instance<Schema>(
  "Schema",
  "a JSON Schema",
  { type: required(either(SCHEMA_TYPE, list(SCHEMA_TYPE, { minItems: 1 }))) },
  { test: schemaMistake },
);

const OBJECT_SCHEMA: OptionalOption<ObjectSchema> = instance<ObjectSchema>(
  "ObjectSchema",
  "a JSON Schema of an object",
  { properties: required(mapOf(SCHEMA)) },
  { test: schemaMistake },
);

const PARAM: Options<Param> = options("Param", {
  schema: required(SCHEMA),
  to: required(nullable(text())),
  convert: callback(),
  back: callback(),
  keys: mapOf(text()),
});

const ANNOTATIONS: Options<Annotations> = options("Annotations", {
  readOnlyHint: required(flag()),
  destructiveHint: required(flag()),
  idempotentHint: required(flag()),
  openWorldHint: required(exactly(false)),
});

const TOOL_SPEC: Options<ToolSpec> = options<ToolSpec>(
  "ToolSpec",
  {
    name: required(text()),
    of: required(choiceOf(TOOLS.map(({ name }) => name as ToolName))),
    title: anyText(),
    description: required(anyText()),
    params: required(mapOf(PARAM)),
    required: required(list(text())),
    fixed: mapOf(anything()),
    aliases: mapOf(text()),
    called: mapOf(text()),
    absolute: list(text()),
    home: list(text()),
    brief: flag(),
    json: flag(),
    text: callback(),
    refuse: callback(),
    arrange: callback(),
    ignoreFiles: callback(),
    excludeLines: callback(),
    route: callback(),
    instead: callback(),
    outputSchema: OBJECT_SCHEMA,
    annotations: ANNOTATIONS,
    kind: choice("read", "change"),
  },
  { test: nameMistake },
);

/**
 * Returns an error message for a name in a tool's specification that has no target; undefined when all have
 * one.
 */
function nameMistake(spec: ToolSpec): string | undefined {
  const params = Object.keys(spec.params);
  const ours = Object.keys(TOOLS.find(({ name }) => name === spec.of)?.inputSchema.properties ?? {});
  const names: readonly (readonly [where: string, names: readonly string[], known: readonly string[]])[] = [
    ["required", spec.required, params],
    ["absolute", spec.absolute ?? [], params],
    ["home", spec.home ?? [], params],
    ["aliases", Object.values(spec.aliases ?? {}), params],
    ["fixed", Object.keys(spec.fixed ?? {}), ours],
    ...Object.entries(spec.params).flatMap(([name, { to }]) =>
      to === null ? [] : [[`params.${name}.to`, [to], ours] as const],
    ),
  ];
  for (const [where, given, known] of names) {
    const unknown = given.find((name) => !known.includes(name));
    if (unknown !== undefined)
      return `has a name in '${where}' that nothing has, '${unknown}'; ${didYouMeanClause(unknown, known)}`;
  }
  return undefined;
}

/** The options of `definePreset`. */
export const PRESET_SPEC_OPTIONS: Options<PresetSpec> = options(
  "PresetSpec",
  {
    name: required(text()),
    about: required(anyText()),
    tools: required(list(TOOL_SPEC, { test: toolNamedTwice })),
    limits: LIMIT_OPTIONS,
    access: PRESET_ACCESS_OPTIONS,
    fixedText: flag(),
    guard: choice("off", "warn", "refuse"),
  },
  { noun: "an object that describes a preset" },
);

function toolNamedTwice(tools: readonly ToolSpec[]): string | undefined {
  const names = tools.map(({ name }) => name);
  const again = names.find((name, at) => names.indexOf(name) !== at);
  return again === undefined ? undefined : `has two tools of the name '${again}'`;
}
