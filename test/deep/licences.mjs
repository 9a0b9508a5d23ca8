// Checks licences, bans and sources of the crates with cargo-deny.
import { deny } from "../../scripts/deny.mjs";

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "licences, bans and sources of the crates; needs cargo-deny",
  count: 3,
  share: 0,
  async run() {
    const { passed, failed } = deny();
    return { cases: passed + failed, failures: failed > 0 ? ["see the output above"] : [] };
  },
};
