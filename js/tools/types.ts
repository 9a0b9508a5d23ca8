/** The types of every tool's arguments and data, with those of their parts. */
export type * from "./generated/types.ts";
export type { Limits, WorkspaceLimits } from "./lib/limits.ts";
export type { CountTokens } from "./lib/tokens.ts";
export type { ObjectSchema, Schema, SchemaType } from "./lib/schema.ts";
export type { AccessSummary, Annotations, DecidingSource, EditDefaults, Progress } from "./lib/tool.ts";
export type { TransferOptions } from "./lib/transfer.ts";
