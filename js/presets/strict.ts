/**
 * Schemas for vendors that require "strict" ones: every property required, nothing else allowed,
 * only types, choices and structure. Optional properties become nullable; the tools treat null as
 * missing.
 */
import type { ObjectSchema, Schema, SchemaType } from "../tools/lib/schema.ts";

/** A strict schema: instead of a list of types, one schema for each. */
export interface StrictSchema extends Omit<ObjectSchema, "properties" | "required"> {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/**
 * Returns the strict form of a tool's schema. Limits that it cannot express are added to the
 * descriptions, and still enforced when the tool is called.
 *
 * @example
 * const parameters = strictSchema(ws.tools[0].inputSchema);
 */
export function strictSchema(schema: ObjectSchema): StrictSchema {
  return strictObject(schema) as StrictSchema;
}

function strictObject({ properties = {}, required = [], description }: Schema): Schema {
  const names = Object.keys(properties);
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(
      names.map((name) => [name, strict(properties[name] as Schema, !required.includes(name))]),
    ),
    required: names,
    additionalProperties: false,
  };
}

function strict(schema: Schema, optional: boolean): Schema {
  const types = [schema.type].flat() as readonly SchemaType[];
  const solid = types.filter((type) => type !== "null");
  const nullable = optional || solid.length < types.length;
  const description = described(schema, optional);
  if (solid.length > 1) {
    const anyOf = [...solid.map((type) => bare(schema, type)), ...(nullable ? [{ type: "null" }] : [])];
    return { description, anyOf } as unknown as Schema;
  }
  const [type = "string"] = solid;
  const words = description === "" ? {} : { description };
  const { enum: choices } = schema;
  if (choices === undefined) {
    const one = bare(schema, type);
    return { ...one, ...(nullable ? { type: [one.type, "null"].flat() as SchemaType[] } : {}), ...words };
  }
  const chosen = { type, enum: choices.filter((choice) => choice !== null) };
  // Not every vendor accepts null among the choices of a string.
  return (nullable ? { ...words, anyOf: [chosen, { type: "null" }] } : { ...chosen, ...words }) as Schema;
}

/** Returns the structure of one type, without descriptions and limits. */
function bare(schema: Schema, type: SchemaType): Schema {
  // A closed object of unknown shape could contain nothing; the tools accept its JSON text as well.
  if (type === "object" && schema.properties === undefined) return { type: "string" };
  if (type === "object") return strictObject({ ...schema, type });
  if (type === "array")
    return { type, ...(schema.items === undefined ? {} : { items: strict(schema.items, false) }) };
  return { type };
}

/** Describes constraints that a strict schema cannot express. */
function described(schema: Schema, optional: boolean): string {
  const { description = "", minimum, maximum, default: byDefault } = schema;
  const isOpen = [schema.type].flat().includes("object") && schema.properties === undefined;
  const limits = [
    isOpen ? "as JSON text" : "",
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    optional && byDefault !== undefined ? `default ${JSON.stringify(byDefault)}` : "",
  ].filter((limit) => limit !== "");
  return limits.length === 0 ? description : `${description} (${limits.join(", ")})`.trimStart();
}
