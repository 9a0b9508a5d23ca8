/**
 * The audit log: the caller, tool and files of each call, the files' hashes before and after, and
 * the person who approved it. One JSON object per line. Contents are never logged, only their
 * hashes.
 */
import {
  callback,
  flag,
  optionChecker,
  instance,
  type Options,
  options,
  required,
} from "../../schema/option.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { CallEnd, Observer } from "../observer.ts";

/** One line of the log. */
export interface AuditRecord {
  /** The time at which the call began, in ISO 8601 and UTC. */
  readonly at: string;
  readonly id: string;
  readonly agent?: string;
  readonly by?: string;
  readonly tool: string;
  readonly called_as?: string;
  readonly ok: boolean;
  readonly code?: string;
  readonly duration_ms: number;
  readonly paths: readonly string[];
  readonly effects?: CallEnd["effects"];
  readonly approval?: CallEnd["approval"];
  readonly allowed_by?: CallEnd["allowed_by"];
  readonly kept?: CallEnd["kept"];
  readonly undo_of?: string;
}

/** The destination of the records of an audit log. */
export interface AuditSink {
  /** Writes one record; an exception or rejection is passed to `onError`. */
  write(record: AuditRecord): void | Promise<void>;
  close?(): void | Promise<void>;
}

/** What an audit log contains. */
export interface AuditOptions {
  /** Log calls that only read as well. Default true. */
  readonly reads?: boolean;
  /** Log the hashes of the contents before and after. Default true. */
  readonly hashes?: boolean;
  /** Receives the error when a record could not be written. */
  readonly onError?: (error: unknown) => void;
}

/** The options of {@link audit} and of an audit file. */
export const AUDIT_OPTIONS: Options<AuditOptions> = options("AuditOptions", {
  reads: flag(),
  hashes: flag(),
  onError: callback(),
});

const checkOptions = optionChecker("audit", AUDIT_OPTIONS);
const checkSink = optionChecker(
  "audit",
  instance<AuditSink>("AuditSink", "a sink of records", { write: required(callback()), close: callback() }),
);

/**
 * Creates an audit log over a sink.
 *
 * @example
 * const records: AuditRecord[] = [];
 * const ws = await openWorkspace({ root: "/repo", observers:
 * [audit({ write: (record) => void records.push(record) })] });
 */
export function audit(sink: AuditSink, given: AuditOptions = {}): Observer {
  checkSink(sink);
  const { reads = true, hashes = true, onError } = checkOptions(given);
  return Object.freeze({
    hashes,
    end(call: CallEnd): void {
      if (!reads && !call.changes) return;
      try {
        const written: unknown = sink.write(auditRecordOf(call));
        if (written instanceof Promise) written.catch((error: unknown) => onError?.(error));
      } catch (error) {
        onError?.(error);
      }
    },
    ...withoutUndefined({ close: sink.close === undefined ? undefined : () => sink.close?.() }),
  });
}

/** Returns the record of a call that has ended. */
function auditRecordOf(call: CallEnd): AuditRecord {
  const { id, agent, by, tool, called_as, ok, code, duration_ms, paths, effects, approval, kept } = call;
  return withoutUndefined({
    at: new Date(call.at).toISOString(),
    id,
    agent,
    by,
    tool,
    called_as,
    ok,
    code,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
    paths,
    effects,
    approval,
    allowed_by: call.allowed_by,
    kept,
    undo_of: call.undo_of,
  });
}
