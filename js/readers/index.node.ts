/**
 * Readers: functions that convert files which are not plain text to text and images for models, built-in and
 * custom.
 *
 * @module filewright/readers
 */
import "../engine/index.node.ts";

export * from "./index.ts";
