/**
 * Opening a workspace, and the types that are met on the way. Everything else has an entry of its own:
 * `filewright/workspace`, `filewright/backends`, `filewright/storage`, `filewright/access`, `filewright/hooks`,
 * `filewright/readers`, `filewright/presets`, `filewright/engine` and one for each agent framework.
 *
 * @module filewright
 */
import "./workspace/host.node.ts";

export * from "./filewright.ts";
