/**
 * Testing: the backend contract suite, for this package's backends and for
 * anybody else's. Nothing here is used at run time.
 */
export {
  backendContract,
  type Context,
  type ContractCase,
  type ContractOptions,
  type ContractSubject,
  contractCases,
} from "./contract.ts";
