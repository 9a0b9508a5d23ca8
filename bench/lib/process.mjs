// What a process takes, as the kernel counts it.
import { readFileSync, writeFileSync } from "node:fs";

/** What a process takes, in MiB: all that is resident, and what it shares with no file. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) / 1024;
  return { resident: field("VmRSS"), own: field("RssAnon"), peak: field("VmHWM") };
}

/** Milliseconds of processor time that a process has used. */
export function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * How far this process grows from now on: a function that tells the most that it held since, in
 * bytes above what it holds now. The peak is forgotten first: it would be that of whatever ran
 * before, and `maxRSS` even that of the process which started this one.
 */
export function growth() {
  writeFileSync("/proc/self/clear_refs", "5");
  const { resident } = memory("self");
  return () => (memory("self").peak - resident) * 1024 * 1024;
}
