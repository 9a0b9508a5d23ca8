/** Draws the access that the host allows: roots, denied globs, and the rules in their order. */
import type { ComponentChildren, JSX } from "preact";
import { SafeText } from "../../diff/text.tsx";
import type { ShownPolicy } from "../../../policy-data.ts";

/** Draws the roots and the settings that hold for every call. */
export function Access({ policy }: Pick<ShownPolicy, "policy">): JSX.Element {
  const { cwd, read, write, deny, readOnly, followSymlinks, protect, secrets, permissions, guard } = policy;
  return (
    <section aria-labelledby="access-head">
      <h3 id="access-head">Access</h3>
      <dl class="access">
        <Fact name="Working directory">
          <Paths paths={[cwd]} />
        </Fact>
        <Fact name="May be read">{read === null ? "everything" : <Paths paths={read} />}</Fact>
        <Fact name="May be changed">
          {readOnly || write.length === 0 ? "nothing: the workspace is read-only" : <Paths paths={write} />}
        </Fact>
        <Fact name="Denied globs">{deny.length === 0 ? "none" : <Paths paths={deny} />}</Fact>
        <Fact name="Links">{LINK_WORDS[followSymlinks]}</Fact>
        <Fact name="Protected places">{protect ? "cannot be changed" : "are not protected"}</Fact>
        <Fact name="Secrets">
          {secrets === "grant" ? "are read only with a grant of their own" : "may be read"}
        </Fact>
        <Fact name="Directories">
          {permissions === "prompt" ? "need a grant of a person" : "need no grant"}
        </Fact>
        <Fact name="Guard">{GUARD_WORDS[guard]}</Fact>
      </dl>
    </section>
  );
}

const LINK_WORDS = {
  inside: "are followed inside the roots",
  never: "are not followed",
  any: "are followed wherever they lead",
} as const;

const GUARD_WORDS = {
  off: "off",
  warn: "warns when an agent changes what it has not read",
  refuse: "refuses changes of content that the agent has not read",
} as const;

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

function Fact({ name, children }: FactProps): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Paths({ paths }: { readonly paths: readonly string[] }): JSX.Element {
  return (
    <>
      {paths.map((path) => (
        <code key={path}>
          <SafeText text={path} />
        </code>
      ))}
    </>
  );
}

interface RulesProps {
  readonly rules: ShownPolicy["policy"]["rules"];
  /** Loads the policy again, with the present counts. */
  onChange(): void;
}

/** Draws the rules with the number of calls that each has decided about. */
export function Rules({ rules, onChange }: RulesProps): JSX.Element {
  return (
    <section aria-labelledby="rules-head">
      <h3 id="rules-head" class="with-action">
        Rules <span class="quiet">{rules.length === 0 ? "none" : "the first one that matches decides"}</span>
        {rules.length > 0 && (
          <button type="button" onClick={onChange}>
            Count again
          </button>
        )}
      </h3>
      {rules.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard.
        <section class="table-frame" tabIndex={0} aria-label="The rules in their order">
          <table>
            <thead>
              <tr>
                <th scope="col">Rule</th>
                <th scope="col">Decision</th>
                <th scope="col">Tool</th>
                <th scope="col">Path</th>
                <th scope="col">Arguments</th>
                <th scope="col" class="count">
                  Calls
                </th>
              </tr>
            </thead>
            <tbody>
              {rules.map(({ list, index, decision, tool, path, args, hits }) => (
                <tr key={`${list}:${index}`}>
                  <td>
                    <code>{`${list === 0 ? "rules" : "agent"}[${index}]`}</code>
                  </td>
                  <td class={`decision says-${decision}`}>{decision}</td>
                  <td>{tool === "*" ? "every tool" : <SafeText as="code" text={tool} />}</td>
                  <td>{path === undefined ? "every path" : <SafeText as="code" text={path} />}</td>
                  <td>
                    <SafeText as="code" text={args} />
                  </td>
                  <td class="count">{hits}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
