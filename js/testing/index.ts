/**
 * Testing: the backend contract suite, for this package's backends and for
 * anybody else's. Nothing here is used at run time.
 */
export { backendContract, type ContractOptions, contractCases } from "./contract.ts";
export type { Context, ContractCase, ContractSubject } from "./subject.ts";
