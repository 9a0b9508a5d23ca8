/**
 * Normalises the arguments that models and hosts send to one plain object under the canonical
 * names, before hooks see them and before the schema checks them.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { type Arguments, fromJson, isPlain, kindOf } from "./schema.ts";

/** Other spellings of arguments that are accepted silently: alias → canonical name. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * Returns the arguments under their canonical names. A missing value means no arguments, and a
 * JSON text of an object means that object.
 *
 * @throws FilewrightError INVALID_ARGUMENT for any other value, and for two spellings that differ
 */
export function plainArguments(tool: string, given: unknown, aliases: Aliases = {}): Arguments {
  const value =
    given === undefined || given === null ? {} : typeof given === "string" ? fromJson(given, "{") : given;
  if (!isPlain(value)) {
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `The arguments of ${tool} must be an object, got ${kindOf(value)}.`,
      { complete: true, details: { tool } },
    );
  }
  let expanded: Record<string, unknown> | undefined;
  for (const alias of Object.keys(aliases)) {
    if (!Object.hasOwn(value, alias)) continue;
    const name = aliases[alias] as string;
    expanded ??= { ...value };
    const other = expanded[alias];
    delete expanded[alias];
    if (other === undefined || other === null) continue;
    const own = expanded[name];
    if (own !== undefined && own !== null && own !== other) {
      throw new FilewrightError(
        "INVALID_ARGUMENT",
        `Invalid argument '${name}': '${alias}' is another spelling of it and holds a different value; give one of them.`,
        { complete: true, details: { tool, argument: name } },
      );
    }
    expanded[name] = other;
  }
  return expanded ?? value;
}
