/**
 * The test suites for the contracts of backends, of storages and of records, for those of this package and for others. They
 * are not needed at run time.
 */
export type { TestFunction } from "./case.ts";
export { backendContract, type ContractOptions, contractCases } from "./contract.ts";
export type { Context, ContractCase, ContractSubject } from "./backend/case.ts";
export {
  type RecordsCase,
  recordCases,
  recordsContract,
  type RecordsContractOptions,
  type RecordsSubject,
} from "./records.ts";
export { storageCases, storageContract, type StorageContractOptions } from "./storage/contract.ts";
export type {
  CaseNeed,
  StorageCapability,
  StorageCase,
  StorageContext,
  StorageSubject,
} from "./storage/case.ts";
