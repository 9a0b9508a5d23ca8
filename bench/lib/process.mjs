// The memory and processor time of a process, as procfs reports them.
import { readFileSync, writeFileSync } from "node:fs";

/**
 * Returns the memory of a process in MiB: `resident` is all of it, `own` what is not shared with
 * files, `peak` the maximum of `resident` so far.
 */
export function processMemory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) / 1024;
  return { resident: field("VmRSS"), own: field("RssAnon"), peak: field("VmHWM") };
}

/** Returns the processor time that a process has used, in milliseconds. */
export function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * Starts to measure the growth of this process. Returns a function that returns its peak memory
 * since then, in bytes above the present memory. The kernel's record of the peak is reset first,
 * because it would include earlier work; `maxRSS` would even include the process that started this
 * one.
 */
export function startMemoryGrowth() {
  writeFileSync("/proc/self/clear_refs", "5");
  const { resident } = processMemory("self");
  return () => (processMemory("self").peak - resident) * 1024 * 1024;
}
