/** Expectations of the filesystem server for links (its `path-validation.test.ts`), on real links. */
import { realpath, symlink } from "node:fs/promises";
import { refused, type UnitCase, type Units } from "./units.ts";

/** Writes as the server does: first it checks the path, then it writes there. */
const put = async (units: Units, path: string, content: string): Promise<void> =>
  units.writeFileContent(await units.validatePath(path), content);

/** Cases with the same result on both servers. */
export const LINK_CASES: readonly UnitCase[] = [
  {
    of: "path-validation links",
    name: "a link that leads out, itself or by other links, is not read and not written through",
    async run(units, at) {
      const secret = await at.secret("target.txt", "secret");
      const direct = await at.link(secret, "direct");
      await symlink(secret, `${at.outside}/between`);
      const chain = await at.link(`${at.outside}/between`, "chain");
      const through = await at.link(at.outside, "directory");
      const answers: unknown[] = [];
      for (const path of [direct, chain, `${through}/target.txt`, `${through}/new.txt`])
        answers.push(await refused(units.validatePath(path)), await refused(put(units, path, "changed")));
      return [...answers, await at.read(secret)];
    },
    gives: [...Array<boolean>(8).fill(true), "secret"],
  },
  {
    of: "path-validation links",
    name: "a link that stays inside is followed, by reading and by writing",
    async run(units, at) {
      const target = await at.file("target.txt", "before");
      const link = await at.link(target, "link.txt");
      const read = await units.readFileContent(await units.validatePath(link));
      await put(units, link, "after");
      return [read, await at.read(target), await at.read(link), at.short(await realpath(link))];
    },
    gives: ["before", "after", "after", "allowed/target.txt"],
  },
  {
    of: "path-validation links",
    name: "a directory that is allowed by a link's name, and by its real one, is allowed by both",
    async run(units, at) {
      await at.file("real/file.txt", "content");
      const link = await at.link(`${at.allowed}/real`, "other");
      units.setAllowedDirectories([link, `${at.allowed}/real`]);
      const paths = [`${link}/file.txt`, `${at.allowed}/real/file.txt`];
      return Promise.all(paths.map(async (path) => at.short(await units.validatePath(path))));
    },
    gives: ["allowed/real/file.txt", "allowed/real/file.txt"],
  },
  {
    of: "path-validation races",
    name: "a link that is put there after a new file's path was checked: nothing outside is changed",
    async run(units, at) {
      const secret = await at.secret("target.txt", "ORIGINAL");
      const path = await units.validatePath(`${at.allowed}/race.txt`);
      await at.link(secret, "race.txt");
      await units.writeFileContent(path, "CHANGED").catch(() => {});
      return at.read(secret);
    },
    gives: "ORIGINAL",
  },
  {
    of: "path-validation races",
    name: "a file that is allowed is written over",
    async run(units, at) {
      const path = await at.file("legit.txt", "ORIGINAL");
      await put(units, path, "UPDATED");
      return at.read(path);
    },
    gives: "UPDATED",
  },
];
