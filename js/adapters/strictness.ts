/**
 * Strict schemas for providers that accept them. A tool with an argument that is an object of
 * unknown shape, such as a batch, keeps its own schema: the strict form would need JSON text
 * there, and adapters can mark a tool as "not strict".
 */
import { type StrictSchema, strictSchema } from "../presets/index.ts";
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

function hasOpenObject({ type, properties, items }: Schema): boolean {
  if ([type].flat().includes("object") && properties === undefined) return true;
  if (items !== undefined && hasOpenObject(items)) return true;
  return Object.values(properties ?? {}).some(hasOpenObject);
}
