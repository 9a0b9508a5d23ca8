/**
 * `filewright/amplifier` on Node: a mounted workspace is on the local disk.
 *
 * @module filewright/amplifier
 */
import "../engine/index.node.ts";
import "../workspace/local.node.ts";

export * from "./amplifier.ts";
