/**
 * Converts the schema of a tool to the forms that frameworks expect: strict, that of Gemini, and a Standard
 * Schema.
 */
import { type StrictSchema, strictSchema } from "../presets/index.ts";
import { strictWithOptional } from "../presets/strict.ts";
import type { ObjectSchema, Schema, SchemaType } from "../tools/lib/schema.ts";

/** The schema of a tool that is offered, and whether it is strict. */
export interface ChosenSchema {
  readonly schema: ObjectSchema | StrictSchema;
  readonly strict: boolean;
}

/**
 * Returns the strict form of a schema, when it is requested and exists. A tool with an argument that is
 * an object of unknown shape, such as a batch, keeps its own schema: the strict form would need JSON
 * text there, and adapters can mark a tool as "not strict".
 */
export function chooseStrict(schema: ObjectSchema, wanted: boolean): ChosenSchema {
  return wanted && !hasOpenObject(schema)
    ? { schema: strictSchema(schema), strict: true }
    : { schema, strict: false };
}

/**
 * The limits of Anthropic for all strict tools of one request: tools, optional properties, and properties of
 * several types.
 */
const ANTHROPIC_LIMITS = { tools: 20, optional: 24, unions: 16 } as const;

/**
 * Returns the strict forms that one request to Anthropic may have, by the schema they were made
 * of: schemas with few optional properties first, until a limit is reached.
 */
export function strictWithinLimits(
  schemas: readonly ObjectSchema[],
): ReadonlyMap<ObjectSchema, StrictSchema> {
  const forms = schemas
    .filter((schema) => !hasOpenObject(schema))
    .map((schema) => {
      const form = strictWithOptional(schema);
      return { schema, form, cost: strictCostOf(form) };
    })
    .sort((a, b) => a.cost.optional - b.cost.optional || a.cost.unions - b.cost.unions);
  const chosen = new Map<ObjectSchema, StrictSchema>();
  const used = { optional: 0, unions: 0 };
  for (const { schema, form, cost } of forms) {
    if (
      chosen.size === ANTHROPIC_LIMITS.tools ||
      used.optional + cost.optional > ANTHROPIC_LIMITS.optional ||
      used.unions + cost.unions > ANTHROPIC_LIMITS.unions
    )
      continue;
    chosen.set(schema, form);
    used.optional += cost.optional;
    used.unions += cost.unions;
  }
  return chosen;
}

/** Returns the numbers of optional properties and of properties of several types in a schema, at every depth. */
function strictCostOf(schema: object): { readonly optional: number; readonly unions: number } {
  const {
    properties = {},
    required = [],
    items,
    anyOf = [],
  } = schema as Partial<ObjectSchema> & {
    readonly anyOf?: readonly object[];
  };
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf].map(
    strictCostOf,
  );
  return {
    optional: inner.reduce(
      (sum, { optional }) => sum + optional,
      Object.keys(properties).length - required.length,
    ),
    unions: inner.reduce((sum, { unions }) => sum + unions, anyOf.length > 0 ? 1 : 0),
  };
}

function hasOpenObject({ type, properties, items }: Schema): boolean {
  if ([type].flat().includes("object") && properties === undefined) return true;
  if (items !== undefined && hasOpenObject(items)) return true;
  return Object.values(properties ?? {}).some(hasOpenObject);
}

/** The schema of a value in the form of the Gemini API. */
export interface GeminiSchema {
  type?: string;
  description?: string;
  nullable?: boolean;
  enum?: string[];
  items?: GeminiSchema;
  properties?: Record<string, GeminiSchema>;
  required?: string[];
  anyOf?: GeminiSchema[];
}

/**
 * Converts a JSON Schema, also a strict one, to Gemini's `Schema`: upper-case types, `nullable` for null.
 * Limits are omitted: they are enforced when a tool is called.
 */
export function geminiSchema(schema: Schema & { readonly anyOf?: readonly Schema[] }): GeminiSchema {
  if (schema.anyOf !== undefined) {
    const solid = schema.anyOf.filter(({ type }) => type !== "null");
    const [only] = solid;
    const forms = solid.map(geminiSchema);
    return {
      ...(schema.description === undefined ? {} : { description: schema.description }),
      ...(solid.length < schema.anyOf.length ? { nullable: true } : {}),
      ...(forms.length === 1 && only !== undefined ? geminiSchema(only) : { anyOf: forms }),
    };
  }
  const types = [schema.type].flat() as readonly SchemaType[];
  const solid = types.filter((type) => type !== "null");
  const about: GeminiSchema = {
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...(solid.length < types.length ? { nullable: true } : {}),
  };
  if (solid.length > 1) return { ...about, anyOf: solid.map((type) => withGeminiType(schema, type)) };
  return { ...about, ...withGeminiType(schema, solid[0] ?? "string") };
}

function withGeminiType(schema: Schema, type: SchemaType): GeminiSchema {
  const { enum: choices, items, properties, required } = schema;
  return {
    type: type.toUpperCase(),
    ...(type === "string" && choices !== undefined ? { enum: choices.map(String) } : {}),
    ...(type === "array" ? { items: items === undefined ? { type: "STRING" } : geminiSchema(items) } : {}),
    ...(type === "object" && properties !== undefined
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, geminiSchema(one)]),
          ),
          ...(required === undefined || required.length === 0 ? {} : { required: [...required] }),
        }
      : {}),
  };
}

/** The members of Standard Schema and its JSON Schema extension that are used. */
export interface StandardSchema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "filewright";
    readonly types?: { readonly input: Value; readonly output: Value };
    validate(
      value: unknown,
    ): { readonly value: Value; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };
    readonly jsonSchema: {
      input(options: { readonly target: string }): Record<string, unknown>;
      output(options: { readonly target: string }): Record<string, unknown>;
    };
  };
}

/** The reason why a value is refused. */
export interface StandardIssue {
  readonly message: string;
}

/**
 * Wraps a JSON Schema of an object as a Standard Schema, which frameworks accept as an alternative to
 * zod. It only carries the schema: the tool checks arguments and words the errors when it is called.
 */
export function standardSchema<Value extends object>(schema: object): StandardSchema<Value> {
  const json = (): Record<string, unknown> => structuredClone(schema) as Record<string, unknown>;
  return {
    "~standard": {
      version: 1,
      vendor: "filewright",
      validate: (value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? { value: value as Value }
          : { issues: [{ message: "the arguments must be an object" }] },
      jsonSchema: { input: json, output: json },
    },
  };
}
