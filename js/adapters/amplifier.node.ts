/**
 * `filewright/amplifier` on Node: a mounted workspace is on the local disk.
 *
 * @module filewright/amplifier
 */
import "../workspace/index.node.ts";

export * from "./amplifier.ts";
