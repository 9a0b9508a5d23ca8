/**
 * The options of `definePreset`, as tables. A parameter with a misspelt target would be lost without an
 * error, so names are checked against their targets when a preset is defined.
 */
import {
  anyText,
  anything,
  callback,
  choice,
  choiceOf,
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
import type { Schema } from "../tools/lib/schema.ts";
import type { Meaning } from "./meaning.ts";
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

const PARAM: Options<Param> = options("Param", {
  schema: required(SCHEMA),
  to: required(nullable(text())),
  convert: callback(),
  back: callback(),
  keys: mapOf(text()),
  called: text(),
  path: choice("absolute", "home"),
  aliases: list(text()),
});

const MEANING: OptionalOption<Meaning> = instance<Meaning>("Meaning", "the meaning of a tool", {
  tools: required(list(choiceOf(TOOLS.map(({ name }) => name as ToolName)), { minItems: 1 })),
  fixed: required(mapOf(anything())),
  call: required(callback()),
});

const TOOL_SPEC: Options<ToolSpec> = options<ToolSpec>(
  "ToolSpec",
  {
    name: required(text()),
    title: required(anyText()),
    description: required(anyText()),
    params: required(mapOf(PARAM)),
    required: required(list(text())),
    means: required(MEANING),
  },
  { test: nameMistake },
);

/**
 * Returns an error message for a name in a tool's specification that has no target; undefined when all have
 * one.
 */
function nameMistake({ params, required: needed, means }: ToolSpec): string | undefined {
  const argumentsOf = (tools: readonly ToolName[]): readonly string[] =>
    TOOLS.filter(({ name }) => tools.includes(name as ToolName)).flatMap(({ inputSchema }) =>
      Object.keys(inputSchema.properties),
    );
  const ours = argumentsOf(means.tools.slice(0, 1));
  const any = argumentsOf(means.tools);
  const names: readonly (readonly [where: string, name: string, known: readonly string[]])[] = [
    ...Object.keys(means.fixed).map((name) => ["means.fixed", name, ours] as const),
    ...needed.map((name) => ["required", name, Object.keys(params)] as const),
    ...Object.entries(params).flatMap(([name, { to, called }]) => [
      ...(to === null ? [] : [[`params.${name}.to`, to, ours] as const]),
      ...(called === undefined ? [] : [[`params.${name}.called`, called, any] as const]),
    ]),
  ];
  const [where, given, known] = names.find(([, name, all]) => !all.includes(name)) ?? [];
  return given === undefined || known === undefined
    ? undefined
    : `has a name in '${where}' that nothing has, '${given}'; ${didYouMeanClause(given, known)}`;
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
