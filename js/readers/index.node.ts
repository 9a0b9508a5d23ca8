/**
 * Readers: renderers of files that are not plain text, built-in and custom.
 *
 * @module filewright/readers
 */
import "../engine/index.node.ts";

export * from "./index.ts";
