/** The file of grants: the records of grants in a form that people may read and write. */
import { mkdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { openDisk } from "../backends/disk.node.ts";
import { defaultStateDir } from "../backends/state-directory.node.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import { FileRecords, type FileRow, type RecordsFormat } from "../records/file.node.ts";
import { namePart } from "../records/names.ts";
import type { KeptRecords } from "../records/records.ts";
import { optionChecker, integer, type Options, options as described, text } from "../schema/option.ts";
import {
  formatGrants,
  type Grant,
  type Grants,
  GRANTS_KIND,
  grantsIn,
  grantsOfRecord,
  isInForce,
  parseGrants,
  withGrant,
} from "./grants.ts";

/** Options of a grants file. */
export interface GrantsFileOptions {
  /** The directory of the lock between processes; default: the user's state directory. */
  readonly stateDir?: string | undefined;
  /** The longest wait for the lock that another process holds, in milliseconds. Default 5000. */
  readonly lockTimeoutMs?: number | undefined;
}

/** The options of {@link openGrantsFile}. */
export const GRANTS_FILE_OPTIONS: Options<GrantsFileOptions> = described("GrantsFileOptions", {
  stateDir: text(),
  lockTimeoutMs: integer(0),
});

const checkOptions = optionChecker("openGrantsFile", GRANTS_FILE_OPTIONS);
const checkPath = optionChecker("openGrantsFile", text());

/** Grants in a file. */
export interface GrantsFile extends Grants {
  /** The absolute path of the file, with the links of its directory resolved. */
  readonly file: string;
  /** The records of the file, for the `permissions` of a workspace. */
  readonly records: KeptRecords;
}

/** Returns the path of the grants file that the command line uses by default, in the state directory of the user. */
export function defaultGrantsFile(): string {
  return join(defaultStateDir(), "grants.json");
}

/**
 * Opens a grants file; a missing one is created with the first grant.
 *
 * @example
 * const grants = await openGrantsFile("/home/me/.local/state/filewright/grants.json");
 * await grants.remove("/home/me/project");
 *
 * @throws FilewrightError INVALID_ARGUMENT for a file that is invalid, is a link, belongs to
 * another user or is writable by others, and for invalid options
 */
export async function openGrantsFile(path: string, options: GrantsFileOptions = {}): Promise<GrantsFile> {
  const { stateDir, lockTimeoutMs = 5000 } = checkOptions(options);
  const named = resolve(checkPath(path));
  const file = join(await (await openDisk({ stateDir })).realpath(dirname(named)), basename(named));
  const records = new FileRecords({
    file,
    format: grantsFormat(file),
    stateDir,
    lockTimeoutMs,
    makeDirectory: () => void mkdirSync(dirname(file), { recursive: true, mode: 0o700 }),
  });
  records.read();
  return Object.freeze({ file, records, ...grantsIn({ records }) });
}

/** The form `{version: 1, grants: […]}`. Of two equal grants of a directory the one that lasts longer counts. */
function grantsFormat(file: string): RecordsFormat {
  return {
    parse(content) {
      const byDirectory = new Map<string, readonly Grant[]>();
      for (const grant of parseGrants(content).grants)
        byDirectory.set(
          grant.dir,
          withGrant(byDirectory.get(grant.dir) ?? [], grant, Number.NEGATIVE_INFINITY),
        );
      return [...byDirectory].map(([dir, grants]) => ({
        kind: GRANTS_KIND,
        id: namePart(dir),
        value: Object.freeze(grants),
      }));
    },
    format: (rows, before) =>
      formatGrants({
        grants: rows.flatMap(grantsOfRow),
        rest: before === undefined ? {} : parseGrants(before).rest,
      }),
    live(value, now) {
      const left = (value as readonly Grant[]).filter((grant) => isInForce(grant, now));
      return left.length === 0 ? undefined : left;
    },
    refuse: (why, cause) =>
      new FilewrightError(
        "INVALID_ARGUMENT",
        `The grants file ${escapeControls(file)} is refused and left as it is: ${why}.`,
        { complete: true, path: file, details: { option: "permissions.grantsFile" }, cause },
      ),
  };
}

function grantsOfRow({ kind, id, value }: FileRow): readonly Grant[] {
  if (kind === GRANTS_KIND) return grantsOfRecord(id, value);
  throw new FilewrightError("INVALID_ARGUMENT", "a grants file holds records of grants alone");
}
