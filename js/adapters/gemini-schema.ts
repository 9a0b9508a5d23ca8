/** Converts a JSON Schema to Gemini's `Schema`: upper-case types, `nullable` for null. */
import type { Schema, SchemaType } from "../tools/lib/schema.ts";

/** Gemini's schema of a value. */
export interface GeminiSchema {
  type?: string;
  description?: string;
  nullable?: boolean;
  enum?: string[];
  items?: GeminiSchema;
  properties?: Record<string, GeminiSchema>;
  required?: string[];
  anyOf?: GeminiSchema[];
}

/** Converts a schema, also a strict one. Limits are omitted: they are enforced when a tool is called. */
export function geminiSchema(schema: Schema & { readonly anyOf?: readonly Schema[] }): GeminiSchema {
  if (schema.anyOf !== undefined) {
    const solid = schema.anyOf.filter(({ type }) => type !== "null");
    const [only] = solid;
    const forms = solid.map(geminiSchema);
    return {
      ...(schema.description === undefined ? {} : { description: schema.description }),
      ...(solid.length < schema.anyOf.length ? { nullable: true } : {}),
      ...(forms.length === 1 && only !== undefined ? geminiSchema(only) : { anyOf: forms }),
    };
  }
  const types = [schema.type].flat() as readonly SchemaType[];
  const solid = types.filter((type) => type !== "null");
  const about: GeminiSchema = {
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...(solid.length < types.length ? { nullable: true } : {}),
  };
  if (solid.length > 1) return { ...about, anyOf: solid.map((type) => ofType(schema, type)) };
  return { ...about, ...ofType(schema, solid[0] ?? "string") };
}

function ofType(schema: Schema, type: SchemaType): GeminiSchema {
  const { enum: choices, items, properties, required } = schema;
  return {
    type: type.toUpperCase(),
    ...(type === "string" && choices !== undefined ? { enum: choices.map(String) } : {}),
    ...(type === "array" ? { items: items === undefined ? { type: "STRING" } : geminiSchema(items) } : {}),
    ...(type === "object" && properties !== undefined
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, geminiSchema(one)]),
          ),
          ...(required === undefined || required.length === 0 ? {} : { required: [...required] }),
        }
      : {}),
  };
}
