/**
 * Testing: the backend contract suite, for this package's backends and for others. Not used at run
 * time.
 */
export { backendContract, type ContractOptions, contractCases } from "./contract.ts";
export type { Context, ContractCase, ContractSubject } from "./case.ts";
