/**
 * Strict schemas for providers that accept them. A tool with an argument that is an object of
 * unknown shape, such as a batch, keeps its own schema: the strict form would need JSON text
 * there, and adapters can mark a tool as "not strict".
 */
import { type StrictSchema, strictSchema } from "../presets/index.ts";
import { strictWithOptional } from "../presets/strict.ts";
import type { ObjectSchema, Schema } from "../tools/lib/schema.ts";

/** A schema, with a flag whether it is strict. */
export interface Chosen {
  readonly schema: ObjectSchema | StrictSchema;
  readonly strict: boolean;
}

/** Returns the strict form of a schema, when it is requested and exists. */
export function strictOrNot(schema: ObjectSchema, wanted: boolean): Chosen {
  return wanted && !hasOpenObject(schema)
    ? { schema: strictSchema(schema), strict: true }
    : { schema, strict: false };
}

/** Anthropic's limits for all strict tools of one request. */
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
      return { schema, form, cost: costOf(form) };
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

/** Counts the optional properties of a schema and those of several types, at every depth. */
function costOf(schema: object): { readonly optional: number; readonly unions: number } {
  const {
    properties = {},
    required = [],
    items,
    anyOf = [],
  } = schema as Partial<ObjectSchema> & {
    readonly anyOf?: readonly object[];
  };
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf].map(costOf);
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
