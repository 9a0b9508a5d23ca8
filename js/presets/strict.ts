/**
 * Schemas for vendors that demand "strict" ones: every property required,
 * nothing else allowed, no keyword beyond types, choices and structure. What may
 * be left out becomes nullable; our tools take null for left out.
 */
import type { ObjectSchema, Schema, SchemaType } from "../tools/schema.ts";

/** A strict schema: in place of a list of types, one schema for each. */
export interface StrictSchema extends Omit<ObjectSchema, "properties" | "required"> {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/**
 * The strict form of a tool's schema. The limits that it cannot say are put into
 * words, and enforced all the same when the tool is called.
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
  // Not every family takes null among the choices of a string.
  return (nullable ? { ...words, anyOf: [chosen, { type: "null" }] } : { ...chosen, ...words }) as Schema;
}

/** The structure of one type, without words and limits. */
function bare(schema: Schema, type: SchemaType): Schema {
  // Closed, an object of unknown shape could hold nothing; our tools take its JSON text as well.
  if (type === "object" && schema.properties === undefined) return { type: "string" };
  if (type === "object") return strictObject({ ...schema, type });
  if (type === "array")
    return { type, ...(schema.items === undefined ? {} : { items: strict(schema.items, false) }) };
  return { type };
}

/** What a strict schema cannot say is said in words. */
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
