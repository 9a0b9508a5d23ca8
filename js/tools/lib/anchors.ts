/**
 * Line anchors as callers see them: six characters of the engine, which identify a line and its
 * neighbours, and a seventh for the contents of the whole file, which tells anchors of an earlier
 * version from those of the last one.
 */
import { engine } from "../../engine/current.ts";

/** The length of the engine's anchors, in characters. */
export const ANCHOR_LENGTH = 6;

/** Crockford's base 32, as the engine's digits. */
const ANCHOR_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns the digit for the contents of a file, given by their hash or version. */
export function contentsDigit(contents: string): string {
  const hash = engine().sha256(new TextEncoder().encode(contents));
  return ANCHOR_DIGITS[Number.parseInt(hash.slice(-2), 16) & 31] as string;
}

/**
 * Returns the engine's anchors, each followed by the digit of the file's contents; unchanged where
 * neither hash nor version is known.
 */
export function withContentsDigit(anchors: string, contents: string | undefined): string {
  if (contents === undefined) return anchors;
  const digit = contentsDigit(contents);
  let text = "";
  for (let at = 0; at < anchors.length; at += ANCHOR_LENGTH) {
    text += anchors.slice(at, at + ANCHOR_LENGTH) + digit;
  }
  return text;
}

/** Returns the contents digit of an anchor that a caller sent (`120#k3x9q1a`), if it has one. */
export function contentsDigitOf(anchor: string): string | undefined {
  return /#[0-9a-z]{6}([0-9a-z])(?![0-9a-z])/iu.exec(anchor)?.[1]?.toLowerCase();
}
