// Reads CHANGELOG.md, whose form is that of keepachangelog.com: `## [Unreleased]`, then a section
// `## [X.Y.Z] - YYYY-MM-DD` for each version, the newest first.
import { compareVersions, isVersion } from "./version.mjs";
import { BuildError } from "../lib/run.mjs";

const UNRELEASED = "Unreleased";

/**
 * One section. `version` is `Unreleased` or a number, `date` is undefined where the heading has none,
 * `notes` is the text below the heading.
 * @typedef {{ version: string, date: string | undefined, notes: string }} Section
 */

/**
 * Returns the sections in the order of the file.
 *
 * @param {string} text of CHANGELOG.md
 * @returns {readonly Section[]}
 * @throws BuildError if a heading of the second level has another form
 */
export function changelogSections(text) {
  return text
    .split(/^## /mu)
    .slice(1)
    .map((part) => {
      const [heading = "", ...lines] = part.split("\n");
      const [, version, date] = /^\[([^\]]+)\](?: - (\S+))?$/u.exec(heading) ?? [];
      if (version !== UNRELEASED && !isVersion(version ?? "")) {
        throw new BuildError(
          `CHANGELOG.md: the heading '${heading}' is neither '[${UNRELEASED}]' nor '[X.Y.Z] - YYYY-MM-DD'`,
        );
      }
      return { version, date, notes: lines.join("\n").trim() };
    });
}

/**
 * Returns the text of the dated section of a version.
 *
 * @param {string} text of CHANGELOG.md
 * @param {string} version
 * @param {string} today `YYYY-MM-DD`
 * @returns {string}
 * @throws BuildError unless there is one section, with a date that exists and is not in the future, and with a text
 */
export function releaseNotes(text, version, today) {
  const sections = changelogSections(text).filter((section) => section.version === version);
  const [section] = sections;
  const wanted = `'## [${version}] - ${today}'`;
  if (section === undefined) {
    throw new BuildError(
      `CHANGELOG.md has no section for ${version}: write ${wanted} above its entries, and keep '## [${UNRELEASED}]' above that`,
    );
  }
  if (sections.length > 1)
    throw new BuildError(`CHANGELOG.md has ${sections.length} sections for ${version}`);
  if (section.date === undefined || !isDate(section.date)) {
    throw new BuildError(`CHANGELOG.md: the section of ${version} needs a date: ${wanted}`);
  }
  if (section.date > today) {
    throw new BuildError(`CHANGELOG.md: the date of ${version}, ${section.date}, is in the future`);
  }
  if (section.notes === "") throw new BuildError(`CHANGELOG.md: the section of ${version} is empty`);
  return section.notes;
}

/**
 * Returns the highest version that has a section, without one of them; undefined if there is none.
 *
 * @param {string} text of CHANGELOG.md
 * @param {string} except
 * @returns {string | undefined}
 */
export function lastVersionBesides(text, except) {
  return changelogSections(text)
    .map(({ version }) => version)
    .filter((version) => version !== UNRELEASED && version !== except)
    .sort(compareVersions)
    .at(-1);
}

/** Returns whether a text is a day of the calendar, as `2026-02-28` is and `2026-02-30` is not. */
function isDate(text) {
  const time = Date.parse(`${text}T00:00:00Z`);
  return (
    /^\d{4}-\d\d-\d\d$/u.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  );
}
