/**
 * Types that say more than the schemas that models see: the names of parts, and fields that belong together.
 * `scripts/tool-types.mjs` writes the types of all arguments and data.
 *
 * {@link exactly} attaches this to a schema under a symbol, which JSON leaves out: models see the schema alone.
 */
import type { ObjectSchema, Schema } from "./schema.ts";

/** The key under which a schema has its {@link Exact}. */
export const EXACT: unique symbol = Symbol("exact");

/** What the type of a value says more exactly than its schema. */
export interface Exact {
  /** The name of the type. */
  readonly name?: string;
  /** The type itself, in TypeScript. */
  readonly type?: string;
  /** The values, or those of the items of a list. */
  readonly values?: readonly (string | boolean)[];
  /** The whole schema of an object that models see as an open one. */
  readonly object?: ObjectSchema;
  /** Names of properties that the schema does not require, but that are always there. */
  readonly always?: readonly string[];
  /** The properties of an object of which not all go together. */
  readonly oneOf?: OneOf;
}

/** The forms of an object. */
interface OneOf {
  readonly cases: readonly Case[];
  /** The name of the type of what is common to all cases. */
  readonly common?: string;
  /** The argument whose value names the case of the data, and the type of that argument. */
  readonly by?: { readonly argument: string; readonly type: string };
}

/** One form of an object. A property that a case names belongs to no other unless that names it, too. */
export interface Case {
  /** The name of the type. */
  readonly name?: string;
  /** The value of the argument that names this case. */
  readonly value?: string;
  readonly required: readonly string[];
  readonly optional?: readonly string[];
}

/** Returns a schema with what its type says more exactly. */
export function exactly<S extends Schema>(schema: S, exact: Exact): S {
  return Object.defineProperty({ ...schema }, EXACT, { value: exact });
}

/** Returns a schema whose type has a name. */
export function named<S extends Schema>(name: string, schema: S): S {
  return exactly(schema, { name });
}
