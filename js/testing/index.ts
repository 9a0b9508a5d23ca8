/**
 * The test suite for the contract of backends, for those of this package and for others. It is not needed at
 * run time.
 */
export { backendContract, type ContractOptions, contractCases } from "./contract.ts";
export type { Context, ContractCase, ContractSubject } from "./case.ts";
