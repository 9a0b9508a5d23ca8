/** Formats texts for people: sizes, times, and content that cannot control the terminal. */
import { escapeControls } from "../../engine/escape.ts";

const UNITS = ["", "K", "M", "G", "T", "P"] as const;
const KIB = 1024;
/** The value below which a figure has one decimal. */
const PRECISE_BELOW = 10;

/** Formats a number of bytes in at most four characters and a unit of 1024. */
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

/** Formats a time as `YYYY-MM-DD HH:MM` in this machine's time zone. */
export function localTime(iso: string): string {
  const time = new Date(iso);
  const two = (figure: number): string => String(figure).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Escapes a line of a file, so that it cannot control the terminal or hide text; tabs stay. */
export function harmless(line: string): string {
  return line.split("\t").map(escapeControls).join("\t");
}
