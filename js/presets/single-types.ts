/**
 * Schemas in which each value has one type. Several clients pass the schema of a tool on to an API
 * whose `type` is a single word, and whose `anyOf` takes no other keyword beside it.
 */
import type { ObjectSchema, Schema, SchemaType } from "../tools/lib/schema.ts";

/** The keywords that say something about one type alone. */
const KEYWORDS: Readonly<Record<SchemaType, readonly (keyof Schema)[]>> = {
  string: ["enum", "minLength", "pattern"],
  integer: ["enum", "minimum", "maximum"],
  number: ["enum", "minimum", "maximum"],
  boolean: [],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties"],
  null: [],
};

/** Returns the schema with an alternative of `anyOf` for each of several types. */
export function singleTypes(schema: ObjectSchema): ObjectSchema {
  return split(schema) as ObjectSchema;
}

function split(schema: Schema): Schema {
  const { type, description, default: byDefault, items, properties } = schema;
  const inner = {
    ...(items === undefined ? {} : { items: split(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, split(one)])),
        }),
  };
  if (typeof type === "string") return { ...schema, ...inner };
  const about = {
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
  const all: Schema = { ...schema, ...inner };
  const anyOf = type.map((one, index) => ({
    type: one,
    ...(index === 0 ? about : {}),
    ...Object.fromEntries(KEYWORDS[one].filter((key) => key in all).map((key) => [key, all[key]])),
  }));
  return { anyOf } as unknown as Schema;
}
