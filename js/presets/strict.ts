/**
 * Converts schemas for providers that accept only part of JSON Schema: to "strict" schemas, or to schemas in
 * which each value has a single type.
 *
 * A strict schema allows only the declared properties, and contains only types, choices and structure. A
 * value of several types becomes alternatives of `anyOf`. The description is put into the first alternative,
 * because some APIs accept no other keyword beside `anyOf`.
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { ObjectSchema, Schema, SchemaType } from "../tools/lib/schema.ts";

/** A strict schema. A value that may have several types has one schema for each. */
export interface StrictSchema extends Omit<ObjectSchema, "properties" | "required"> {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** How an optional property is declared: `nullable` means required and nullable, `omitted` means not required. */
type OptionalForm = "nullable" | "omitted";

/**
 * Returns the strict form of a tool's schema: every property is required, and those that may be
 * left out are nullable; the tools treat null as missing. Limits that the form cannot express are
 * added to the descriptions, and still enforced when the tool is called.
 *
 * @example
 * const parameters = strictSchema(ws.tools[0].inputSchema);
 */
export function strictSchema(schema: ObjectSchema): StrictSchema {
  return toStrictObject(schema, "nullable") as StrictSchema;
}

/**
 * Returns the strict form of a schema in which optional properties are not required; see {@link strictSchema}
 * for the form in which they are nullable.
 */
export function strictWithOptional(schema: ObjectSchema): StrictSchema {
  return toStrictObject(schema, "omitted") as StrictSchema;
}

function toStrictObject(
  { properties = {}, required = [], description }: Schema,
  optional: OptionalForm,
): Schema {
  const names = Object.keys(properties);
  return withoutUndefined({
    type: "object",
    description,
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        toStrictSchema(properties[name] as Schema, !required.includes(name), optional),
      ]),
    ),
    required: optional === "nullable" ? names : names.filter((name) => required.includes(name)),
    additionalProperties: false,
  });
}

function toStrictSchema(schema: Schema, isOptional: boolean, optional: OptionalForm): Schema {
  const types = [schema.type].flat() as readonly SchemaType[];
  const solid = types.filter((type) => type !== "null");
  const nullable = (isOptional && optional === "nullable") || solid.length < types.length;
  const description = descriptionWithConstraints(schema, isOptional);
  const [first, ...others] = solid.map((type) => singleTypeSchema(schema, type, optional));
  const told = withoutUndefined({ ...first, description: description || first?.description }) as Schema;
  if (others.length === 0 && !nullable) return told;
  const anyOf = [told, ...others, ...(nullable ? [{ type: "null" }] : [])];
  return { anyOf } as unknown as Schema;
}

/** Returns the schema of one type alone, without descriptions and limits. */
function singleTypeSchema(schema: Schema, type: SchemaType, optional: OptionalForm): Schema {
  const { enum: choices, items, properties } = schema;
  // An object without declared properties could contain nothing in strict form, so it is passed as JSON text,
  // which the tools accept.
  if (type === "object" && properties === undefined) return { type: "string" };
  if (type === "object") return toStrictObject({ ...schema, type }, optional);
  if (type === "array") {
    return withoutUndefined({
      type,
      items: items === undefined ? undefined : toStrictSchema(items, false, optional),
    });
  }
  // Not every vendor accepts null among the choices of a string.
  return withoutUndefined({
    type,
    enum: choices === undefined ? undefined : choices.filter((choice) => choice !== null),
  });
}

/** Returns the description with the constraints that a strict schema cannot express. */
function descriptionWithConstraints(schema: Schema, isOptional: boolean): string {
  const { description = "", minimum, maximum, default: byDefault } = schema;
  const isOpen = [schema.type].flat().includes("object") && schema.properties === undefined;
  const limits = [
    isOpen ? "as JSON text" : "",
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    isOptional && byDefault !== undefined ? `default ${JSON.stringify(byDefault)}` : "",
  ].filter((limit) => limit !== "");
  return limits.length === 0 ? description : `${description} (${limits.join(", ")})`.trimStart();
}

/** The keywords that apply to only one type. */
const KEYWORDS_BY_TYPE: Readonly<Record<SchemaType, readonly (keyof Schema)[]>> = {
  string: ["enum", "minLength", "pattern"],
  integer: ["enum", "minimum", "maximum"],
  number: ["enum", "minimum", "maximum"],
  boolean: [],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties"],
  null: [],
};

/**
 * Returns the schema in which a value of several types is an `anyOf` with one alternative for each type.
 * Several clients pass the schema on to an API in which `type` must be a single word and `anyOf` must be the
 * only keyword.
 */
export function singleTypes(schema: ObjectSchema): ObjectSchema {
  return withSingleTypes(schema) as ObjectSchema;
}

function withSingleTypes(schema: Schema): Schema {
  const { type, description, default: byDefault, items, properties } = schema;
  const inner = withoutUndefined({
    items: items === undefined ? undefined : withSingleTypes(items),
    properties:
      properties === undefined
        ? undefined
        : Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, withSingleTypes(one)])),
  });
  if (typeof type === "string") return { ...schema, ...inner };
  const about = withoutUndefined({
    description,
    default: byDefault,
  });
  const all: Schema = { ...schema, ...inner };
  const anyOf = type.map((one, index) => ({
    type: one,
    ...(index === 0 ? about : {}),
    ...Object.fromEntries(KEYWORDS_BY_TYPE[one].filter((key) => key in all).map((key) => [key, all[key]])),
  }));
  return { anyOf } as unknown as Schema;
}
