/** The contract of backends over a storage, and what the adapter adds to it. */
import { describe, test } from "vitest";
import "../../js/engine/index.node.ts";
import { memoryStorage, toBackend } from "../../js/storage/index.ts";
import { backendContract } from "../../js/testing/index.ts";

describe("toBackend(memoryStorage())", () => {
  backendContract(
    async () => {
      const storage = memoryStorage();
      await storage.commit([{ op: "mkdir", path: "/ws" }]);
      return { backend: toBackend(storage), root: "/ws" };
    },
    {
      test,
      requires: [
        "read",
        "hash",
        "rename",
        "copyFile",
        "lstat",
        "readLink",
        "symlink",
        "realpath",
        "chmod",
        "removeTree",
      ],
    },
  );
});
