/** One approver for each group of people, so that they are asked one question about operations of several tools. */
import { oneOf } from "./approvers.ts";
import type { Confirm } from "./confirm.ts";

/** Approvers who stand for several: the same one for the same people. */
export class ApproverGroups {
  readonly #groups: (readonly [one: Confirm, approvers: readonly Confirm[]])[] = [];

  /** Returns the approver who stands for all of them, as {@link oneOf} does; undefined for an empty list. */
  of(approvers: readonly Confirm[]): Confirm | undefined {
    const isSame = (others: readonly Confirm[]): boolean =>
      others.length === approvers.length && others.every((other) => approvers.includes(other));
    const known = this.#groups.find(([, others]) => isSame(others))?.[0];
    if (known !== undefined) return known;
    const one = oneOf(approvers);
    if (one !== undefined) this.#groups.push([one, approvers]);
    return one;
  }

  /** Returns the approvers for whom one stands: itself where it stands for no others. */
  members(approver: Confirm): readonly Confirm[] {
    return this.#groups.find(([one]) => one === approver)?.[1] ?? [approver];
  }
}
