/**
 * `filewright/review`: the page where people see the calls of agents, and allow or refuse their changes. This entry has
 * the hub, and a handler for servers of any runtime.
 */
export { hubTransport } from "./hub-transport.ts";
export { type ReviewHub, reviewHub, type ReviewHubOptions } from "./hub.ts";
export type { AnswerEffect } from "./questions/held.ts";
export { makeReviewHandler, type PageFile, type ReviewHandler, type ReviewHandlerOptions } from "./http.ts";
export type { ReviewLogin } from "./login.ts";
export type * from "./activity/activity-data.ts";
export type { PeopleOfCall } from "./past/people.ts";
export type * from "./policy-data.ts";
export type * from "./protocol.ts";
export type { StreamListener } from "./shared-stream.ts";
export type { ReviewTransport } from "./transport.ts";
