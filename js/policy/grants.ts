/**
 * Grants: directories that a person allowed, and their text form.
 *
 * A grant covers its directory and everything below it. It never widens a policy: a call may do
 * what the policy allows and, in a workspace that asks for grants, what is granted too. They are
 * kept in records; `permissions.ts` asks the person.
 */
import { checkPath, isWithin, normalise } from "../backends/paths.ts";
import { messageOf } from "../engine/thrown.ts";
import { FilewrightError } from "../engine/errors.ts";
import { namePart } from "../records/names.ts";
import { changeRecord, type KeptRecords, listAll } from "../records/records.ts";
import {
  anyText,
  choice,
  optionChecker,
  type Options,
  options,
  required,
  type Rows,
  text,
} from "../schema/option.ts";

/** The access that a grant allows; `write` includes reading. */
export type GrantAccess = "read" | "write";

/** One directory that a person allowed. Keys are those of the grants file. */
export interface Grant {
  /** The absolute path of the directory. The grant covers everything below it. */
  readonly dir: string;
  /** The permitted access: `write` includes reading. */
  readonly access: GrantAccess;
  /** The time of the grant, in ISO 8601 and UTC. */
  readonly granted_at: string;
  /** The time at which it ends, in ISO 8601. Default: it lasts until it is revoked. */
  readonly expires?: string;
  /** The person who gave it. */
  readonly by?: string;
}

const NEW_GRANT_ROWS: Rows<Omit<Grant, "granted_at">> = {
  dir: required(text()),
  access: required(choice("read", "write")),
  expires: text(),
  by: anyText(),
};

/** The options of a grant without `granted_at`, which is added when it is stored. */
export const NEW_GRANT_OPTIONS: Options<Omit<Grant, "granted_at">> = options("Grant", NEW_GRANT_ROWS);

/** The options of a grant from a program. Entries of a grants file may have further keys, which are kept. */
const GRANT_OPTIONS: Options<Grant> = options<Grant>("Grant", {
  ...NEW_GRANT_ROWS,
  granted_at: required(text()),
});

const checkGrantTypes = optionChecker("grant", GRANT_OPTIONS);

/** Validates and normalises a grant from a program. @throws FilewrightError INVALID_ARGUMENT */
function givenGrant(grant: Grant): Grant {
  return checkGrant(checkGrantTypes(grant));
}

/** The kind of the records of grants. Agents whose grants are in shared records have kinds of their own. */
export const GRANTS_KIND = "grants";

/** Where grants are kept: one record for each directory, whose value is the list of its grants. */
export interface GrantPlace {
  readonly records: KeptRecords;
  /** The kind of the records. Default: `grants`. */
  readonly kind?: string | undefined;
  /** Returns the time at which grants end, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The grants of records, which several processes may share. */
export interface Grants {
  /** Returns the grants, the oldest first; those that have ended may be among them. Called for each call. */
  list(): Promise<readonly Grant[]>;
  /** Stores a grant, and keeps those that other processes have stored meanwhile. */
  add(grant: Grant): Promise<void>;
  /** Removes every grant of exactly this directory. Returns false if there was none. */
  remove(dir: string): Promise<boolean>;
}

/** Returns the grants of records. What is not a grant makes every call fail, so that nothing is allowed by it. */
export function grantsIn({ records, kind = GRANTS_KIND, now = Date.now }: GrantPlace): Grants {
  return Object.freeze({
    async list() {
      const found = (await listAll(records, kind)).flatMap(({ id, value }) => grantsOfRecord(id, value));
      return found.sort((one, other) => Date.parse(one.granted_at) - Date.parse(other.granted_at));
    },
    async add(grant: Grant) {
      const given = givenGrant(grant);
      const id = namePart(given.dir);
      await changeRecord(records, kind, id, (value) => {
        const grants = withGrant(value === undefined ? [] : grantsOfRecord(id, value), given, now());
        const lasts = Math.max(...grants.map(grantExpiryMs)) - now();
        return { value: grants, forMs: lasts === Number.POSITIVE_INFINITY ? undefined : Math.max(1, lasts) };
      });
    },
    async remove(dir: string) {
      const id = namePart(dir);
      const existed = (await records.get(kind, id)) !== null;
      if (existed) await records.remove(kind, id);
      return existed;
    },
  });
}

/** Returns the grants of a record. @throws FilewrightError INVALID_ARGUMENT unless they are grants of its directory */
export function grantsOfRecord(id: string, value: unknown): readonly Grant[] {
  if (!Array.isArray(value)) throw invalidGrantsError("a record of them is not a list");
  const grants = value.map((entry, index) => parseGrantEntry(entry, index, { granted_at: LONG_AGO }));
  if (grants.some(({ dir }) => namePart(dir) !== id))
    throw invalidGrantsError("a record of them is of another directory");
  return grants;
}

/** Returns true when one of the grants allows the access at this time (milliseconds since 1970). */
export function covers(grants: readonly Grant[], dir: string, access: GrantAccess, now: number): boolean {
  return grants.some(
    (grant) =>
      (access === "read" || grant.access === "write") && isWithin(dir, grant.dir) && isInForce(grant, now),
  );
}

/** Returns true when a grant has not expired. */
export function isInForce(grant: Grant, now: number): boolean {
  return grant.expires === undefined || Date.parse(grant.expires) > now;
}

/**
 * Returns the grants with `added`. Expired grants are dropped. If one for the same directory and access exists,
 * the one that lasts longer is kept.
 */
export function withGrant(grants: readonly Grant[], added: Grant, now: number): readonly Grant[] {
  const same = (grant: Grant): boolean => grant.dir === added.dir && grant.access === added.access;
  const others = grants.filter((grant) => isInForce(grant, now));
  const longer = others.find((grant) => same(grant) && grantExpiryMs(grant) > grantExpiryMs(added));
  return [...others.filter((grant) => !same(grant)), longer ?? added];
}

/** Returns the end of a grant in milliseconds since 1970; infinity without an end. */
function grantExpiryMs(grant: Grant): number {
  return grant.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(grant.expires);
}

/** The content of a grants file: the grants, and any other keys. */
export interface GrantsText {
  readonly grants: readonly Grant[];
  /** Unknown keys, which are written back unchanged. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/**
 * Parses `{version: 1, grants: […]}` and the two older forms, `{fs_directories: […]}` and a plain
 * list of directories, whose grants allow writing.
 *
 * @throws FilewrightError INVALID_ARGUMENT for any other content: an invalid file is never treated
 * as empty
 */
export function parseGrants(text: string): GrantsText {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalidGrantsError("it is not JSON", cause);
  }
  if (Array.isArray(value)) return { grants: value.map(parseLegacyEntry), rest: {} };
  if (typeof value !== "object" || value === null)
    throw invalidGrantsError("it is neither an object nor a list");
  const { version, grants, fs_directories: directories, ...rest } = value as Record<string, unknown>;
  if (version !== undefined && version !== 1)
    throw invalidGrantsError(`its version ${JSON.stringify(version)} is unknown`);
  if (grants === undefined && directories === undefined) throw invalidGrantsError("it has no list of grants");
  const list = (key: string, given: unknown): readonly unknown[] => {
    if (given === undefined) return [];
    if (Array.isArray(given)) return given;
    throw invalidGrantsError(`${key} is not a list`);
  };
  return {
    grants: [
      ...list("grants", grants).map((entry, index) => parseGrantEntry(entry, index)),
      ...list("fs_directories", directories).map(parseLegacyEntry),
    ],
    rest,
  };
}

/** Returns the text of a grants file. */
export function formatGrants({ grants, rest }: GrantsText): string {
  return `${JSON.stringify({ ...rest, version: 1, grants }, null, 2)}\n`;
}

function parseLegacyEntry(entry: unknown, index: number): Grant {
  if (typeof entry === "string") return parseGrantEntry({ dir: entry, access: "write" }, index);
  return parseGrantEntry(entry, index);
}

function parseGrantEntry(
  entry: unknown,
  index: number,
  defaults: Partial<Grant> = LEGACY_GRANT_DEFAULTS,
): Grant {
  try {
    if (typeof entry !== "object" || entry === null) throw invalidGrantsError("it is not an object");
    return checkGrant({ ...defaults, ...entry } as Grant);
  } catch (error) {
    throw invalidGrantsError(`entry ${index}: ${messageOf(error)}`);
  }
}

const LONG_AGO = new Date(0).toISOString();

/** The defaults of entries without time or access, from older files. */
const LEGACY_GRANT_DEFAULTS: Partial<Grant> = Object.freeze({ access: "write", granted_at: LONG_AGO });

/** Returns a grant with a normalised directory. @throws FilewrightError INVALID_ARGUMENT when a member is invalid */
function checkGrant(grant: Grant): Grant {
  const wrong = (what: string): never => {
    throw new FilewrightError("INVALID_ARGUMENT", what);
  };
  if (typeof grant.dir !== "string" || !grant.dir.startsWith("/")) wrong("dir is not an absolute path");
  checkPath(grant.dir);
  if (grant.access !== "read" && grant.access !== "write") wrong("access is neither read nor write");
  for (const key of ["granted_at", "expires"] as const) {
    const time = grant[key];
    if (time !== undefined && !(typeof time === "string" && Number.isFinite(Date.parse(time))))
      wrong(`${key} is not a time`);
  }
  if (grant.by !== undefined && typeof grant.by !== "string") wrong("by is not a text");
  return Object.freeze({ ...grant, dir: normalise(grant.dir).path });
}

function invalidGrantsError(why: string, cause?: unknown): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `the grants cannot be understood: ${why}`, { cause });
}
