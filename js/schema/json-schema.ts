/**
 * JSON Schema, the part of it that tool arguments and data need, as types; and
 * what options of a host need besides. What enforces both is `check.ts`.
 */

/** The JSON types used. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

/** A schema in the subset that {@link compile} enforces. */
export interface Schema {
  readonly type: SchemaType | readonly SchemaType[];
  readonly description?: string;
  readonly enum?: readonly (string | number | null)[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly not?: { readonly const: number };
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

/** The schema of a tool's arguments or data. */
export interface ObjectSchema extends Schema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
}

/** The types of values that only a program can pass. */
export type HostType = SchemaType | "function" | "instance" | "any";

/** A schema of options: JSON, and functions, dates, URLs and objects with methods of their own. */
export interface HostSchema extends Omit<Schema, "type" | "items" | "properties" | "additionalProperties"> {
  readonly type: HostType | readonly HostType[];
  readonly items?: HostSchema;
  /** The options of an object. Others are refused, unless `type` is `instance`. */
  readonly properties?: Readonly<Record<string, HostSchema>>;
  /** The schema of every value of an object whose keys are the host's own. */
  readonly values?: HostSchema;
  /** Instead of `type`: one of these must fit. */
  readonly anyOf?: readonly HostSchema[];
  /** The interface whose members these are. */
  readonly title?: string;
  /** What a value is called in a message, such as `a URL`. */
  readonly noun?: string;
  /** Says what is wrong with a value of the right type; undefined where nothing is. */
  readonly test?: (value: never) => string | undefined;
  /** Whether an object literal may have no other members, where `type` is `instance`. */
  readonly closed?: boolean;
  /** What to use instead of a name that other systems know. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** A closed object schema. `required` names the properties without a default. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): ObjectSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
