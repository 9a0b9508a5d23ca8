// Random trees, policies and calls. Every name and every content has a mark of its own, by which it is known again.

const BASES = [
  "vault",
  "src",
  "a b",
  "ü",
  "[x]",
  "{y}",
  "s*r",
  "-r",
  "b\\s",
  ".hid",
  "deep",
  "pub",
  "o'k",
  "#h",
  "~t",
  "$v",
];
const ENDS = ["", ".txt", ".sql", ".key2", ".md", ".json"];
const literal = (path) => path.replace(/[*?[\]{}\\!]/gu, "\\$&");

/**
 * A tree below `base`: two directories that may be roots, one of them with links into the other and out.
 * @returns {import("./reference.mjs").Entry[]}
 */
export function makeTree(random, base) {
  const tree = [];
  let count = 0;
  const mark = () => `q${(count++).toString(36)}z${random.below(1e6).toString(36)}j`;
  const add = (directory, name, type, more = {}) => {
    const path = `${directory}/${name}`;
    if (!tree.some((entry) => entry.path === path)) tree.push({ path, type, ...more });
    return path;
  };
  const fill = (directory, depth) => {
    const directories = [];
    for (let left = 1 + random.below(4); left > 0; left--) {
      const marker = mark();
      if (depth > 0 && random.chance(0.45)) {
        const path = add(directory, `${random.pick(BASES)}${marker}`, "dir", { marker });
        directories.push(path);
        fill(path, depth - 1);
      } else {
        const content = `MARK ${mark()}\nline\n`;
        add(directory, `${random.pick(BASES)}${marker}${random.pick(ENDS)}`, "file", { marker, content });
      }
    }
    if (random.chance(0.15))
      add(directory, random.pick([".env", ".env.local"]), "file", { content: `MARK ${mark()}\n` });
    if (random.chance(0.1)) {
      const git = add(directory, ".git", "dir");
      add(git, "config", "file", { content: `MARK ${mark()}\n` });
      add(git, "HEAD", "file", { content: "ref: x\n" });
    }
  };
  for (const name of ["w", "o", "x"]) {
    tree.push({ path: `${base}/${name}`, type: "dir" });
    fill(`${base}/${name}`, 3);
  }
  const targets = tree.map(({ path }) => path);
  for (let left = random.below(6); left > 0; left--) {
    const directory = random.pick(tree.filter(({ type }) => type === "dir")).path;
    const real = random.pick(targets);
    // Some lead to nothing, and some through another link.
    const end = random.chance(0.1)
      ? `${real}/${mark()}`
      : random.chance(0.3)
        ? throughLink(random, tree, real)
        : real;
    const marker = mark();
    add(directory, `ln${marker}`, "symlink", {
      marker,
      end,
      target: random.chance(0.5) ? end : relative(directory, end),
    });
  }
  return tree;
}

/** The path by way of a link to a directory above it, where there is one. */
function throughLink(random, tree, path) {
  const links = tree.filter(({ type, end }) => type === "symlink" && path.startsWith(`${end}/`));
  if (links.length === 0) return path;
  const link = random.pick(links);
  return link.path + path.slice(link.end.length);
}

function relative(from, to) {
  const [a, b] = [from.split("/"), to.split("/")];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/") || ".";
}

/** A policy over a tree: roots, some of them in each other, deny globs and rules. `plain`: neither globs nor rules. */
export function makePolicy(random, tree, base, plain = false) {
  const w = `${base}/w`;
  const inW = tree.filter(
    ({ path, type }) => type === "dir" && path.startsWith(`${w}/`) && !path.includes("/.git"),
  );
  const roots = [w];
  if (random.chance(0.3) && inW.length > 0) roots.push(random.pick(inW).path);
  if (random.chance(0.3)) roots.push(`${base}/x`);
  const cwd = roots[0];
  // A glob that names nothing below a root is refused.
  const reached = tree.filter(({ path }) => roots.some((root) => path.startsWith(`${root}/`)));
  const glob = () => {
    const { path } = random.pick(reached);
    const names = path.split("/");
    const last = names.at(-1);
    // At its beginning ~ is taken for what a shell replaces.
    const own = (name) => literal(name).replace(/^~/u, "\\~");
    const within = path.startsWith(`${cwd}/`) ? own(path.slice(cwd.length + 1)) : literal(path);
    return random.pick([
      within,
      literal(path),
      `${within}/**`,
      own(last),
      `${own(last.slice(0, 3).replace(/[\\*?[\]{}]+$/u, ""))}*`,
      `**/*${random.pick(ENDS.slice(1))}`,
      `*${random.pick(ENDS.slice(1))}`,
      `${within}/*`,
      "**/deep*/**",
      "vault*/**",
      ...(random.chance(0.1) ? ["**"] : []),
    ]);
  };
  const many = (most) => Array.from({ length: random.below(most + 1) }, glob);
  const rule = () => ({
    ...(random.chance(0.35)
      ? {
          tool: random.pick([
            "grep",
            "glob",
            "list_directory",
            "delete",
            "delete",
            "copy",
            "move",
            "read_many_files",
            "apply_patch",
            "*",
          ]),
        }
      : {}),
    ...(random.chance(0.93) ? { path: glob() } : {}),
    decision: random.pick(["deny", "deny", "deny", "allow", "ask", "ask"]),
  });
  return {
    cwd,
    roots,
    deny: plain || random.chance(0.5) ? [] : many(2),
    rules: plain ? [] : Array.from({ length: 1 + random.below(4) }, rule),
  };
}

/** One call; its paths are spelt in many ways. */
export function makeCall(random, tree, policy, tools, depth = 0) {
  const { cwd, hot } = policy;
  const spelt = (real) => {
    const path = random.chance(0.2) ? throughLink(random, tree, real) : real;
    const own = path === cwd ? "." : path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
    const first = random.pick(tree.filter(({ type }) => type === "dir")).path;
    return random.pick([
      own,
      own,
      own,
      path,
      `./${own === path ? "." : own}`,
      `${first}/../${relative(first.slice(0, first.lastIndexOf("/")), path)}`,
    ]);
  };
  // Half of the paths are ones that the policy is about, or directories above those.
  const above = (path) => {
    const names = path.slice(cwd.length).split("/");
    return path.startsWith(`${cwd}/`)
      ? cwd + names.slice(0, 2 + random.below(names.length - 1)).join("/")
      : path;
  };
  const picked = (list) => {
    const about = list.filter(({ path }) => hot.includes(path));
    return random.pick(about.length > 0 && random.chance(0.5) ? about : list).path;
  };
  const anywhere = () => (random.chance(0.5) ? above(picked(tree)) : picked(tree));
  const any = () => spelt(random.chance(0.1) ? cwd : anywhere());
  const directory = () =>
    spelt(random.chance(0.5) ? cwd : picked(tree.filter(({ type }) => type !== "file")));
  const file = () => spelt(picked(tree.filter(({ type }) => type !== "dir")));
  const fresh = () =>
    spelt(
      `${random.pick(tree.filter(({ type }) => type === "dir")).path}/new${random.below(100)}${random.pick(ENDS)}`,
    );
  const target = () => (random.chance(0.5) ? fresh() : any());
  const missing = () => file().slice(0, -1);
  const tool = random.pick(tools);
  const of = (args) => ({ tool, args });
  switch (tool) {
    case "grep":
      return of({
        pattern: random.pick(["MARK", "line", "."]),
        path: directory(),
        output: random.pick(["content", "files", "count"]),
        rank: random.pick(["path", "path", "recent", "definitions"]),
        respect_ignore: random.chance(0.5),
        ...(random.chance(0.3) ? { glob: random.pick(["*.sql", "**/*", "*.{txt,md}"]) } : {}),
        ...(random.chance(0.2) ? { max_results: 1 + random.below(3) } : {}),
        ...(random.chance(0.2) ? { context: 1 } : {}),
      });
    case "glob":
      return of({
        pattern: random.pick(["**/*", "*", "*.sql", "**"]),
        path: directory(),
        type: random.pick(["any", "file", "dir"]),
        sort: random.pick(["path", "mtime", "recent"]),
        ...(random.chance(0.2) ? { limit: 2 } : {}),
      });
    case "find_files":
      return of({ query: random.pick(["q", "v", "sql", "z"]), path: directory() });
    case "list_directory":
      return of({
        path: directory(),
        depth: random.pick([1, 2, 32]),
        format: random.pick(["text", "json", "names", "tree"]),
        sort: random.pick(["type", "name", "size", "mtime"]),
        respect_ignore: random.chance(0.3),
        ...(random.chance(0.2) ? { limit: 2 } : {}),
      });
    case "read_many_files":
      return of({
        paths: random.pick([["**/*"], ["."], [directory()], [file(), "**/*.sql"], [any(), any()]]),
        use_default_excludes: random.chance(0.5),
        respect_ignore: random.chance(0.5),
      });
    case "read_file":
      return of({ path: random.chance(0.3) ? missing() : any() });
    case "stat":
      return of({
        path: random.chance(0.3) ? missing() : any(),
        follow: random.chance(0.5),
        hash: random.chance(0.3),
      });
    case "diff":
      return of({ a: file(), b: file(), format: random.pick(["unified", "json", "html"]) });
    case "write_file":
      return of({ path: target(), content: "MARK new\n", append: random.chance(0.2) });
    case "edit_file":
      return of({
        path: random.chance(0.3) ? missing() : file(),
        old_text: random.pick(["line", "absent line"]),
        new_text: "changed",
        dry_run: random.chance(0.3),
      });
    case "mkdir":
      return of({ path: target() });
    case "delete":
      return of({ path: any(), recursive: random.chance(0.8) });
    case "copy":
    case "move":
      return of({ source: any(), destination: target(), overwrite: random.chance(0.5) });
    case "apply_patch": {
      const name = picked(tree.filter(({ type }) => type === "file"));
      const shown = name.startsWith(`${cwd}/`) ? name.slice(cwd.length + 1) : name;
      return of({
        patch: `*** Begin Patch\n${random.pick([
          `*** Delete File: ${shown}\n`,
          `*** Update File: ${shown}\n*** Move to: ${fresh()}\n@@\n-line\n+changed\n`,
          `*** Update File: ${shown}\n@@\n-line\n+changed\n`,
          `*** Update File: ${shown}\n@@\n-absent\n+changed\n`,
          `*** Add File: ${fresh()}\n+MARK new\n`,
        ])}*** End Patch\n`,
        dry_run: random.chance(0.2),
      });
    }
    case "batch": {
      const inner = tools.filter((one) => one !== "batch" && one !== "find_files");
      const operations = Array.from({ length: 1 + random.below(3) }, () =>
        makeCall(random, tree, policy, inner, depth + 1),
      );
      return of({ operations, dry_run: random.chance(0.3), atomic: random.chance(0.8) });
    }
    default:
      return of({});
  }
}
