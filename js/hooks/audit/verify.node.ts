/** Verifies the hash chains of an audit file. */
import { createReadStream } from "node:fs";
import { FilewrightError } from "../../engine/errors.ts";
import { flag, optionChecker, type Options, options, text } from "../../schema/option.ts";
import { hashOfLine } from "./audit-file.node.ts";

/** The options of {@link verifyAuditFile}. */
export interface AuditVerifyOptions {
  /**
   * The hash of a line that the file must still contain, such as the `head` of an earlier verification: `sha256:` and
   * 64 hexadecimal digits. Without it, lines that were removed from the end are not noticed. Default: none.
   */
  readonly head?: string | undefined;
  /** Accept chains whose first lines are not in the file, as in an extract of a log. Default false. */
  readonly extract?: boolean | undefined;
}

/** The options of {@link verifyAuditFile}. */
export const AUDIT_VERIFY_OPTIONS: Options<AuditVerifyOptions> = options("AuditVerifyOptions", {
  head: text({
    test: (head) =>
      /^sha256:[0-9a-f]{64}$/u.test(head) ? undefined : "must be sha256: and 64 hexadecimal digits",
  }),
  extract: flag(),
});

/** A place where the chains of an audit file are broken. */
export interface AuditProblem {
  /** The number of the line, from 1; 0 for the file as a whole. */
  readonly line: number;
  /** The reason, as a clause. */
  readonly reason: string;
}

/** The result of {@link verifyAuditFile}. */
export interface AuditVerification {
  /** True when no problem was found. */
  readonly ok: boolean;
  /** The number of records. */
  readonly records: number;
  /** The number of chains: one for each time that the file was opened and written. */
  readonly chains: number;
  /** The hash of the last record; null without one. Keep it elsewhere, and pass it as `head` later. */
  readonly head: string | null;
  /** The first 100 problems. */
  readonly problems: readonly AuditProblem[];
  /** The number of all problems. */
  readonly problem_count: number;
}

const checkOptions = optionChecker("verifyAuditFile", AUDIT_VERIFY_OPTIONS);

const MAX_PROBLEMS = 100;
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** The number of latest hashes among which the first line of a chain finds its `prev`. */
const MAX_RECENT_HASHES = 65_536;
const LF = 0x0a;

/**
 * Verifies an audit file: every line is a record of a chain, no record is missing, and each has the hash of the line
 * before it in its chain. A line that was changed, inserted, or removed before the end of its chain breaks the chain.
 * Not noticed: the removal of the last lines of a chain, or of a whole chain on which no later one was begun, unless
 * the `head` of an earlier verification is among them; and a log whose hashes were all computed again, unless its
 * `head` is kept elsewhere.
 *
 * Reads the file once; needs memory for the chains and the latest 65,536 hashes.
 *
 * @throws FilewrightError NOT_FOUND, IO_ERROR, and INVALID_ARGUMENT for an invalid option
 */
export async function verifyAuditFile(
  path: string,
  given: AuditVerifyOptions = {},
): Promise<AuditVerification> {
  const verifier = new ChainVerifier(checkOptions(given));
  let rest: Uint8Array = new Uint8Array();
  try {
    for await (const block of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      let bytes: Uint8Array = rest.length === 0 ? (block as Buffer) : Buffer.concat([rest, block as Buffer]);
      for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF)) {
        verifier.add(bytes.subarray(0, end));
        bytes = bytes.subarray(end + 1);
      }
      if (bytes.length > MAX_LINE_BYTES)
        throw new FilewrightError("INVALID_ARGUMENT", "a line is too long for an audit log", { path });
      rest = bytes;
    }
  } catch (cause) {
    if (cause instanceof FilewrightError) throw cause;
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new FilewrightError(
      isMissing ? "NOT_FOUND" : "IO_ERROR",
      isMissing ? "the audit log does not exist" : "the audit log cannot be read",
      { path, cause },
    );
  }
  if (rest.length > 0) verifier.add(rest, "was cut off while it was written");
  return verifier.result();
}

/** The last line of a chain. */
interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** Follows the chains of a file line by line. */
class ChainVerifier {
  readonly #options: AuditVerifyOptions;
  readonly #chains = new Map<string, ChainEnd>();
  readonly #recent = new Set<string>();
  /** The same hashes in a ring buffer, which knows the oldest. */
  readonly #ring: string[] = [];
  readonly #problems: AuditProblem[] = [];
  #problemCount = 0;
  #line = 0;
  #records = 0;
  #head: string | null = null;
  #hasGivenHead = false;

  constructor(given: AuditVerifyOptions) {
    this.#options = given;
  }

  /** Adds the next line. `damage` says why it cannot be a record. */
  add(bytes: Uint8Array, damage?: string): void {
    this.#line += 1;
    const link = damage === undefined ? chainLinkOf(bytes) : undefined;
    if (link === undefined) {
      this.#report(damage ?? "is not a record of an audit log");
      return;
    }
    const hash = hashOfLine(bytes);
    const before = this.#chains.get(link.chain);
    this.#compare(link, before);
    if (before === undefined || link.seq > before.seq) this.#chains.set(link.chain, { seq: link.seq, hash });
    this.#records += 1;
    this.#head = hash;
    if (hash === this.#options.head) this.#hasGivenHead = true;
    this.#remember(hash);
  }

  /** Adds a hash to the latest ones, in the place of the oldest. */
  #remember(hash: string): void {
    const place = this.#records % MAX_RECENT_HASHES;
    const oldest = this.#ring[place];
    if (oldest !== undefined) this.#recent.delete(oldest);
    this.#ring[place] = hash;
    this.#recent.add(hash);
  }

  result(): AuditVerification {
    const { head } = this.#options;
    if (head !== undefined && !this.#hasGivenHead)
      this.#report(`has no line with the hash ${head}: lines were removed or changed`, 0);
    return Object.freeze({
      ok: this.#problemCount === 0,
      records: this.#records,
      chains: this.#chains.size,
      head: this.#head,
      problems: Object.freeze(this.#problems),
      problem_count: this.#problemCount,
    });
  }

  /** Compares a record with the end of its chain. */
  #compare({ chain, seq, prev }: ChainLink, before: ChainEnd | undefined): void {
    if (before === undefined) {
      if (this.#options.extract === true) return;
      if (seq !== 1)
        this.#report(`is record ${seq} of chain ${chain}, and the records before it are missing`);
      else if (prev !== null && !this.#recent.has(prev))
        this.#report(`begins chain ${chain}, and the line before it in the file was changed or removed`);
      return;
    }
    if (seq === before.seq + 1) {
      if (prev !== before.hash) this.#report(`follows a changed record ${before.seq} of chain ${chain}`);
    } else if (seq <= before.seq) this.#report(`repeats record ${seq} of chain ${chain}, or is out of order`);
    else this.#report(`is record ${seq} of chain ${chain}, and the one before it is record ${before.seq}`);
  }

  #report(reason: string, line = this.#line): void {
    this.#problemCount += 1;
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(Object.freeze({ line, reason }));
  }
}

/** The keys of a line that connect it with its chain. */
interface ChainLink {
  readonly chain: string;
  readonly seq: number;
  readonly prev: string | null;
}

/** Returns the link of a line; undefined for a line that is no record of a chain. */
function chainLinkOf(bytes: Uint8Array): ChainLink | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
  const { chain, seq, prev } = { ...(value as Partial<ChainLink> | null) };
  if (typeof chain !== "string" || !/^[0-9a-f]{16}$/u.test(chain)) return undefined;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1) return undefined;
  if (prev !== null && typeof prev !== "string") return undefined;
  return { chain, seq, prev };
}
