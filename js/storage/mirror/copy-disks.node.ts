/** The backends over the copy of a storage: one for each policy, with the index of what it allows. */
import { messageOf } from "../../engine/thrown.ts";
import { debug } from "../../engine/debug.ts";
import { LocalBackend } from "../../backends/local/local.node.ts";
import type { SandboxPolicy } from "../../backends/policy.ts";
import type { MirrorSearch } from "../search/mirrored.ts";
import { policyBelow } from "./policy.ts";

/** The maximum number of policies for which a backend over the copy is open. */
const MAX_POLICIES = 16;

/** The policy and the granted secrets that limit a search. */
type Allowed = Pick<MirrorSearch, "policy" | "granted">;

/** The backends over one copy. */
export class CopyDisks {
  readonly #stateDir: string;
  /**
   * The policies and granted secrets of the searches that came before the copy was filled, by `keyOf`. Their indexes
   * are built once it is.
   */
  readonly #asked = new Map<string, Allowed>();
  /**
   * The backends over the copy, one for each policy and its granted secrets, by `keyOf`, the least recently used first;
   * undefined for a policy that cannot be applied to the copy.
   */
  readonly #disks = new Map<string, LocalBackend | undefined>();

  /** The indexes are saved below `stateDir`. */
  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Notes what a search may see that came before the copy was filled. */
  ask({ policy, granted }: MirrorSearch): void {
    if (this.#asked.size < MAX_POLICIES) this.#asked.set(keyOf({ policy, granted }), { policy, granted });
  }

  /** Opens the backends for everything that was noted. `files` is the directory of the files of the copy. */
  openAsked(files: string): void {
    for (const allowed of this.#asked.values()) this.for(allowed, files);
    this.#asked.clear();
  }

  /** Returns the backend over the copy for what a search may see; undefined where the policy cannot be applied. */
  for(allowed: Allowed, files: string): LocalBackend | undefined {
    const key = keyOf(allowed);
    const known = this.#disks.get(key);
    if (known !== undefined || this.#disks.has(key)) {
      this.#disks.delete(key);
      this.#disks.set(key, known);
      return known;
    }
    for (const [oldest, disk] of this.#disks) {
      if (this.#disks.size < MAX_POLICIES) break;
      disk?.close();
      this.#disks.delete(oldest);
    }
    const policy = policyBelow(allowed.policy, files);
    const options = { stateDir: this.#stateDir, index: "anywhere", kernel: "off" } as const;
    const disk = policy && new LocalBackend({ policy, ...options });
    this.#disks.set(key, disk);
    if (policy !== undefined && disk !== undefined) {
      disk.grantSecrets(allowed.granted.map((path) => below(files, path)));
      void warm(disk, policy);
    }
    return disk;
  }

  /** Closes all backends. */
  close(): void {
    for (const disk of this.#disks.values()) disk?.close();
    this.#disks.clear();
  }
}

/** Returns the path on the disk for a path of the storage. */
export function below(files: string, path: string): string {
  return path === "/" ? files : files + path;
}

/** Builds the index for a policy, or loads the one that an earlier process saved. Searches do not wait for it. */
async function warm(disk: LocalBackend, { read }: SandboxPolicy): Promise<void> {
  try {
    for (const root of read ?? []) if ((await disk.exists(root)) === true) await disk.warm(root);
  } catch (error) {
    debug.search?.(`no index of the copy: ${messageOf(error)}`);
  }
}

/** Returns a text that is equal for searches that may see the same. */
function keyOf({ policy, granted }: Allowed): string {
  const key = policy === undefined ? "" : JSON.stringify(policy);
  return granted.length === 0 ? key : `${key} ${JSON.stringify(granted)}`;
}
