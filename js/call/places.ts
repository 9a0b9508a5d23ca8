/** What one call takes of what calls share: a slot of its workspace, and a place among those that walk a tree. */
import type { Facts } from "../pipeline/facts.ts";
import { CallSlots } from "../pipeline/scheduling/admission.ts";
import type { CallSignal } from "../pipeline/scheduling/call-signal.ts";
import { type ScanClient, scanQueue } from "../pipeline/scheduling/scans.ts";

/** A place that a call has taken, or waits for. */
type Place = (() => void) | Promise<() => void>;

/** What one call has taken of what calls share. */
export class Places {
  /** The slots for the operations of a batch, which run in the slot of the batch itself. */
  static readonly UNLIMITED: CallSlots = new CallSlots(Number.POSITIVE_INFINITY);

  readonly #slots: CallSlots;
  readonly #limited: CallSignal;
  readonly #facts: Facts;
  #leaveSlot: (() => void) | undefined;
  #leaveScans: (() => void) | undefined;

  constructor(slots: CallSlots, limited: CallSignal, facts: Facts) {
    this.#slots = slots;
    this.#limited = limited;
    this.#facts = facts;
  }

  /** Takes a slot, unless the call has one; a promise where it must wait. @throws FilewrightError CANCELLED */
  takeSlot(): Promise<void> | undefined {
    if (this.#leaveSlot !== undefined) return undefined;
    const place = this.#slots.take(this.#limited);
    if (place instanceof Promise) return this.#wait("slot", place, (leave) => (this.#leaveSlot = leave));
    this.#leaveSlot = place;
    return undefined;
  }

  /** Takes a place among the calls that walk a tree; a promise where it must wait. @throws FilewrightError CANCELLED */
  takeScan(client: ScanClient): Promise<void> | undefined {
    const place: Place = scanQueue.admit(client, this.#limited.signal);
    if (place instanceof Promise) return this.#wait("scan", place, (leave) => (this.#leaveScans = leave));
    this.#leaveScans = place;
    return undefined;
  }

  /** Gives back what was taken. */
  leave(): void {
    this.#leaveScans?.();
    this.#leaveScans = undefined;
    this.#leaveSlot?.();
    this.#leaveSlot = undefined;
  }

  async #wait(
    reason: "slot" | "scan",
    place: Promise<() => void>,
    take: (leave: () => void) => void,
  ): Promise<void> {
    const before = performance.now();
    take(await place);
    const ms = Math.max(1, Math.round(performance.now() - before));
    this.#facts.tell({ what: "waited", reason, ms });
  }
}
