/**
 * The files that hold tokens.
 *
 * A token is as valuable as a password. So we refuse a file that another user can read, change or replace, as
 * sshd does with a key.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { MIN_TOKEN_CHARS } from "../../http/access.ts";

/** The tokens of a server: one for its MCP clients, and one for the person who answers approvals. */
export type TokenKind = "client" | "approver";

/** The permission bits by which users other than the owner can read, write or execute a file. */
const ANY_ACCESS_BY_OTHERS = 0o077;
const WRITE_ACCESS_BY_OTHERS = 0o022;
/** The maximum size of a token file in bytes. A larger file is refused. */
const MAX_TOKEN_BYTES = 4096;

/** Returns the path of the token file for a server on a port. */
export function tokenFilePath(port: number, kind: TokenKind): string {
  return join(defaultStateDir(), `serve-${port}${kind === "approver" ? ".approve" : ""}.token`);
}

/**
 * Reads a token from a file.
 * @throws FilewrightError INVALID_ARGUMENT when there is no token, when it is too short, or when other users
 * can read or change the file
 */
export function readToken(file: string): string {
  const shown = escapeControls(file);
  const fail = (what: string): never => {
    throw new FilewrightError("INVALID_ARGUMENT", what, { complete: true, details: { reason: "file" } });
  };
  let descriptor: number;
  try {
    // Opening must neither follow a link nor block on a pipe.
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") return fail(`The token file '${shown}' is a link. Name the file itself.`);
    return fail(`There is no token in '${shown}' (${code ?? "unreadable"}). Name another file.`);
  }
  try {
    const { mode, uid, size } = assertPrivateFile(fstatSync(descriptor), shown, fail);
    if (size > MAX_TOKEN_BYTES) return fail(`'${shown}' is too long for a token file: it has ${size} bytes.`);
    if (process.platform !== "win32") {
      if ((mode & ANY_ACCESS_BY_OTHERS) !== 0) {
        const bits = (mode & 0o777).toString(8).padStart(4, "0");
        return fail(`Others can use the token file '${shown}' (mode ${bits}). Run: chmod 600 '${shown}'`);
      }
      if (uid !== process.getuid?.() && uid !== 0)
        return fail(`The token file '${shown}' belongs to another user (${uid}). Make a file of your own.`);
    }
    return checkToken(readFileSync(descriptor, "utf8").trim(), `the token in '${shown}'`);
  } finally {
    closeSync(descriptor);
  }
}

function assertPrivateFile<S extends { isFile(): boolean }>(
  stats: S,
  shown: string,
  fail: (what: string) => never,
): S {
  return stats.isFile() ? stats : fail(`The token file '${shown}' is no regular file.`);
}

/**
 * Returns the token, if it is long enough and contains no white space. `what` names its source in the error.
 * @throws FilewrightError INVALID_ARGUMENT
 */
export function checkToken(token: string, what: string): string {
  if (token.length >= MIN_TOKEN_CHARS && !/\s/u.test(token)) return token;
  const rule = `must have at least ${MIN_TOKEN_CHARS} characters and no blanks`;
  throw new FilewrightError("INVALID_ARGUMENT", `${what} ${rule}`);
}

/** The environment variables that can contain a token instead of a file. */
const TOKEN_VARIABLE_BY_KIND: Readonly<Record<TokenKind, string>> = {
  client: "FILEWRIGHT_TOKEN",
  approver: "FILEWRIGHT_APPROVE_TOKEN",
};

/**
 * Returns the token that the operator has given; undefined when there is none, so that a new one must be
 * created.
 */
export function tokenOfOperator(kind: TokenKind, file?: string): string | undefined {
  if (file !== undefined) return readToken(file);
  const variable = TOKEN_VARIABLE_BY_KIND[kind];
  const given = process.env[variable];
  return given === undefined || given === "" ? undefined : checkToken(given, `the token in ${variable}`);
}

/** Returns a new token: 32 random bytes in base64url. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Writes a token to a new file that only its owner can read, and removes an older file. */
export function writeToken(file: string, token: string): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { mode, uid } = lstatSync(directory);
  const isOwn =
    process.platform === "win32" || ((mode & WRITE_ACCESS_BY_OTHERS) === 0 && uid === process.getuid?.());
  if (!isOwn) {
    const shown = escapeControls(directory);
    throw new FilewrightError(
      "PERMISSION_DENIED",
      `Others can change the state directory '${shown}', so no token is written there. Run: chmod 700 '${shown}'`,
      { complete: true },
    );
  }
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
}
