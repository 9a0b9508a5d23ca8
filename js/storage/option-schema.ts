/** The option table of a storage. `js/schema/option.ts` describes how to add an option. */
import { instance, type Options } from "../schema/option.ts";
import { isStorage, type Storage } from "./storage.ts";

/** The description of a storage: any object with the methods of {@link Storage}. */
export const STORAGE_OPTIONS: Options<Storage> = instance<Storage>(
  "Storage",
  "a storage",
  {},
  { test: (value) => (isStorage(value) ? undefined : "lacks methods of Storage") },
);
