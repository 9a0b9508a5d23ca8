/**
 * Readers: what renders files that are no plain text, ours and your own.
 *
 * @module filewright/readers
 */
import "../engine/index.node.ts";

export * from "./index.ts";
