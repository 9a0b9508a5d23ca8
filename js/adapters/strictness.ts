/**
 * Strict schemas where a provider can take them. A tool with an argument that is an object of unknown shape, such
 * as a batch, keeps its own: the strict form takes JSON text there, and adapters have a way to say "not strict".
 */
import { type StrictSchema, strictSchema } from "../presets/index.ts";
import type { ObjectSchema, Schema } from "../tools/schema.ts";

/** A schema, and whether it is strict. */
export interface Chosen {
  readonly schema: ObjectSchema | StrictSchema;
  readonly strict: boolean;
}

/** The strict form of a schema, where it is wanted and there is one. */
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
