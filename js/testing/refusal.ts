/** The contract of a backend that is only read: every change is refused, and none happens. */
import { equal, fails } from "./assert.ts";
import type { ContractCase } from "./subject.ts";

/** The case that takes the place of those that change something. */
export const refusal: ContractCase = {
  name: "read-only: every change is READ_ONLY, and changes nothing",
  run: async ({ backend, at, seed, root }) => {
    await seed({ f: "kept", "d/g": "1" });
    await fails(() => backend.writeText(at("f"), "x"), "READ_ONLY", "replacing a file");
    await fails(() => backend.writeBytes(at("new"), new Uint8Array([1])), "READ_ONLY", "a new file");
    await fails(() => backend.delete(at("f")), "READ_ONLY", "deleting a file");
    await fails(() => backend.mkdir(at("e")), "READ_ONLY", "a new directory");
    equal(await backend.readText(at("f")), "kept", "the content");
    equal(
      (await backend.listDir(root)).map(({ name }) => name),
      ["d", "f"],
      "the listing",
    );
  },
};
