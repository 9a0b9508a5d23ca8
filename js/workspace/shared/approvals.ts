/**
 * Lasting approvals as shared records of a storage, one record for each approval. So an answer holds at every replica
 * until it expires or is revoked.
 */
import type { Approval, ApprovalStore } from "../../hooks/approvals.ts";
import type { Records } from "../../storage/storage.ts";
import { isPlainName, namePart } from "./names.ts";

/**
 * The lifetime of an approval for which the reviewer sets no expiry. An approval in memory ends with its workspace. A
 * record outlives the process, so it needs an end of its own.
 */
const APPROVAL_LASTS_MS = 24 * 60 * 60 * 1000;
/** The number of records that are read in one round trip. */
const RECORDS_PER_PAGE = 1000;

/** Creates the store that keeps the approvals of a workspace in the records of its storage. */
export function recordApprovals(records: Records, scope: string): ApprovalStore {
  const kindOf = (agent: string): string => `approvals ${scope} ${namePart(agent)}`;
  return Object.freeze({
    lastsMs: APPROVAL_LASTS_MS,
    keeps: true,
    async list(agent: string) {
      const found: Approval[] = [];
      for (let after: string | undefined; ; ) {
        const page = await records.list(kindOf(agent), { after, limit: RECORDS_PER_PAGE });
        for (const { value } of page) found.push(value as Approval);
        if (page.length < RECORDS_PER_PAGE) break;
        after = page.at(-1)?.id;
      }
      return found.sort((a, b) => (a.granted_at < b.granted_at ? -1 : 1));
    },
    async add(agent: string, approval: Approval) {
      const { expires, scope } = approval;
      if (expires === undefined && scope.until === "kept") {
        await records.put(kindOf(agent), approval.id, approval);
        return;
      }
      const forMs = expires === undefined ? APPROVAL_LASTS_MS : Date.parse(expires) - Date.now();
      // An approval that has expired allows nothing, so it is not stored.
      if (forMs > 0) await records.put(kindOf(agent), approval.id, approval, { forMs });
    },
    async remove(agent: string, id: string) {
      // The name of a record cannot be any text, so what cannot be the id of an approval is not looked up.
      const mayExist = typeof id === "string" && isPlainName(id);
      const exists = mayExist && (await records.get(kindOf(agent), id)) !== null;
      if (exists) await records.remove(kindOf(agent), id);
      return exists;
    },
  });
}
