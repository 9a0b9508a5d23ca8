/**
 * `filewright/review` on Node: with the engine loaded, and the server.
 *
 * @module filewright/review
 */
import "../engine/index.node.ts";

export type { HttpLimits } from "../http/limits.ts";
export * from "./index.ts";
export { pageFile } from "./page-files.node.ts";
export { type ReviewPage, type ReviewPageOptions, serveReviewPage } from "./serve.node.ts";
