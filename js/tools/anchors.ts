/**
 * Line anchors as callers see them: the engine's six characters, which tell a line and its neighbours, and a
 * seventh for the contents of the whole file, by which anchors of an earlier reading are told from those of the last.
 */
import { engine } from "../engine/current.ts";

/** Characters of an anchor of the engine. */
export const ANCHOR_LENGTH = 6;

/** Crockford's base 32, as the engine's digits. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The digit that stands for the contents of a file, given by their hash or version. */
export function contentsDigit(contents: string): string {
  const hash = engine().sha256(new TextEncoder().encode(contents));
  return DIGITS[Number.parseInt(hash.slice(-2), 16) & 31] as string;
}

/** The engine's anchors, each with the digit of the file's contents; unchanged where neither hash nor version is known. */
export function withContentsDigit(anchors: string, contents: string | undefined): string {
  if (contents === undefined) return anchors;
  const digit = contentsDigit(contents);
  let text = "";
  for (let at = 0; at < anchors.length; at += ANCHOR_LENGTH) {
    text += anchors.slice(at, at + ANCHOR_LENGTH) + digit;
  }
  return text;
}

/** The digit of the contents in an anchor that a caller sent (`120#k3x9q1a`), if it has one. */
export function contentsDigitOf(anchor: string): string | undefined {
  return /#[0-9a-z]{6}([0-9a-z])(?![0-9a-z])/iu.exec(anchor)?.[1]?.toLowerCase();
}
