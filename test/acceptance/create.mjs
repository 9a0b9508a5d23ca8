// How the acceptance kit's config becomes options of `openWorkspace`, whichever
// build of Filewright is given: it runs in Node and in pages alike.

/** A backend with nothing but the eleven methods, over memory. */
function minimal(memory, isFsBackend) {
  const names = [
    "exists",
    "stat",
    "readText",
    "readBytes",
    "writeText",
    "writeBytes",
    "delete",
    "mkdir",
    "listDir",
    "iterFiles",
    "glob",
  ];
  const backend = Object.fromEntries(names.map((name) => [name, (...args) => memory[name](...args)]));
  // A storage of one's own has no opaque versions either.
  backend.stat = async (path) => {
    const { version, ...facts } = await memory.stat(path);
    return Object.freeze(facts);
  };
  if (!isFsBackend(backend)) throw new Error("the minimal backend lacks a method");
  return backend;
}

/**
 * `create` of an adapter over an entry of Filewright; `resolve` is Node's, where commands are run. With `storages` the
 * files of a case in memory are in a storage instead of a backend.
 */
export function createWith(filewright, resolve, storages) {
  return (given) => create(filewright, resolve, storages, given);
}

/** Makes the sandbox of a case; undefined where it runs no commands. The kit expects that Unix sockets are allowed. */
function sandboxOf(linuxSandbox, { provider, fake_no_landlock: isOld }, toWritableRoots) {
  if (provider === undefined) return undefined;
  return linuxSandbox({
    writableRoots: toWritableRoots(),
    landlock: isOld === true ? "ignore" : "use",
    sockets: true,
  });
}

async function create(filewright, resolve, storages, { config = {}, vars, ask, confirm }) {
  const { isFsBackend, linuxSandbox, MemoryBackend, openWorkspace } = filewright;
  const { SandboxedBackend, SandboxPolicy, withHooks } = filewright;
  const limits = config.limits ?? {};
  const roots = config.roots ?? {};
  const inStorage = storages !== undefined && config.backend === "memory";
  const storage = inStorage ? await storages.seededStorage(config.seed ?? {}) : undefined;
  const memory = config.backend === undefined || inStorage ? undefined : new MemoryBackend(config.seed ?? {});
  const cwd = config.cwd ?? vars.W;
  // Without roots of the case's own, the preset says what they are.
  const own = config.preset === "amplifier" && config.roots === undefined ? undefined : [vars.W];
  const access = {
    read: roots.read === undefined ? own : roots.read,
    write: roots.write === undefined ? own : roots.write,
    deny: config.deny,
    protect: config.protect ?? false,
    // The kit knows no secrets: every file is one like others.
    secrets: "allow",
    readOnly: config.read_only,
  };
  const backend =
    memory === undefined
      ? undefined
      : config.backend === "minimal-custom"
        ? minimal(memory, isFsBackend)
        : config.backend === "sandboxed-memory"
          ? new SandboxedBackend(
              memory,
              SandboxPolicy.allowList({
                cwd,
                read: access.read === undefined ? null : access.read,
                write: access.write ?? ["."],
              }),
            )
          : memory;
  // An engine in memory has no function for paths of the disk.
  const toWritableRoots = () => (access.write ?? ["."]).map((root) => resolve(cwd, root));
  const commands = sandboxOf(linuxSandbox, config, toWritableRoots);
  const set = (object) =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
  const ws = await openWorkspace(
    set({
      cwd,
      preset: config.preset,
      access: set(access),
      backend,
      storage,
      commands,
      stateDir: config.backend === undefined ? vars.S : undefined,
      // A case that says nothing of permissions is not about them, whatever its preset.
      permissions: {
        mode: config.permissions?.mode ?? "off",
        ask,
        ...set({ grantsFile: config.permissions?.grants_file }),
      },
      hooks: config.hooks,
      // Hooks are shared with tools that are not ours: see foreignTool.
      foreignTools: config.hooks?.map(({ tool }) => tool).filter((name) => name !== "*"),
      rules: config.rules,
      confirm,
      requireApproval: config.require_approval,
      limits: set({
        outputBytes: limits.output_bytes,
        imageBytes: limits.image_bytes,
        lockTimeoutMs: limits.lock_timeout_ms,
        hookTimeoutMs: limits.hook_timeout_ms,
      }),
    }),
  );
  return {
    call: (tool, args, options) => ws.call(tool, args, options),
    tools: () => ws.tools,
    close: () => ws.close(),
    lock: (path) => ws.lock(path),
    foreignTool: ({ name, args, execute }) =>
      withHooks({ name, execute }, config.hooks ?? [], {
        timeoutMs: limits.hook_timeout_ms ?? 60_000,
      }).execute(args),
    ...(commands === undefined ? {} : { probe: (kind, options) => commands.probe(kind, options) }),
    ...(memory === undefined ? {} : { dump: () => memory.dump() }),
    ...(storage === undefined ? {} : { dump: () => storages.dumpOf(storage) }),
  };
}
