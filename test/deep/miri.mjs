// Runs a part of the core's tests under Miri, which finds undefined behaviour that tests do not.
import { TEST_FILTERS, runMiri } from "../../scripts/miri.mjs";

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "a part of the core under Miri; needs a nightly toolchain with miri and rust-src",
  count: TEST_FILTERS.length,
  share: 0,
  async run() {
    const { passed, failed } = runMiri();
    return { cases: passed + failed, failures: failed > 0 ? ["see the output above"] : [] };
  },
};
