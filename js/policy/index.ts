/**
 * Access: policies and locations. It decides which paths a call may name; confined backends
 * enforce the decision on storage.
 */
export * from "./policy.ts";
export type { PathRequest } from "./grant-paths.ts";
export {
  type AskGrant,
  GRANT_REPLY,
  type GrantEvent,
  type GrantQuestion,
  type GrantReply,
} from "./grant-questions.ts";
export {
  formatGrants,
  type Grant,
  type GrantAccess,
  type GrantPlace,
  type Grants,
  grantsIn,
  type GrantsText,
  isInForce,
  NEW_GRANT_OPTIONS,
  parseGrants,
} from "./grants.ts";
export type { Location } from "./location.ts";
export * from "./permissions.ts";
export type { GlobBases } from "./rule-globs.ts";
export {
  type CallRules,
  compileRules,
  type Decision,
  type PathForms,
  placeOf,
  type Rule,
  type Rules,
} from "./rules.ts";
export {
  type CallerFacts,
  type CallFacts,
  decide,
  type DecideOptions,
  DECISION_ORDER,
  type DecisionSource,
  type DecisionSourceName,
  type DecisionStep,
  defaultSource,
  type Effect,
  type GrantFact,
  grantsSource,
  guardSource,
  hooksSource,
  type NamedSource,
  policySource,
  rulesSource,
  selectionSource,
  type Verdict,
} from "./decide.ts";
export {
  createResolver,
  type PlaceVerdict,
  rootOf,
  type Realpath,
  type Resolver,
  type WrittenPathFacts,
} from "./resolve.ts";
export {
  type PlaceDecision,
  type PlaceRow,
  type PlacesOptions,
  placeRows,
} from "../backends/confined/places.ts";
export { outside, protectedPath, readOnly, shownPath } from "../backends/confined/outside.ts";
export { escapeControls } from "../engine/escape.ts";
