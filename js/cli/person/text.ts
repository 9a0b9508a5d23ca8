/** Texts for a person's eyes: sizes, times, and content that cannot steer the terminal. */
import { escapeControls } from "../../engine/escape.ts";

const UNITS = ["", "K", "M", "G", "T", "P"] as const;
const KIB = 1024;
/** Below this a figure has one decimal. */
const PRECISE_BELOW = 10;

/** A number of bytes in at most four characters and a unit of 1024. */
export function humanBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.round(value) >= KIB && unit < UNITS.length - 1) {
    value /= KIB;
    unit += 1;
  }
  if (unit === 0) return `${bytes}`;
  const tenth = Math.ceil(value * 10) / 10;
  return `${tenth < PRECISE_BELOW ? tenth.toFixed(1) : Math.ceil(value)}${UNITS[unit]}`;
}

/** A time as `YYYY-MM-DD HH:MM` of this machine's time zone. */
export function localTime(iso: string): string {
  const time = new Date(iso);
  const two = (figure: number): string => String(figure).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** A line of a file without what could steer the terminal or hide text; tabs stay. */
export function harmless(line: string): string {
  return line.split("\t").map(escapeControls).join("\t");
}
