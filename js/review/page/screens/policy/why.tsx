/** Why a call is refused or allowed: a form for a tool and a path, and every gate of that call. */
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { SafeText } from "../../diff/text.tsx";
import type { ExplainedCall, ExplainedGate } from "../../../policy-data.ts";
import type { AskedCall } from "../../state/store.ts";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { GrantButton } from "./grant.tsx";
import { TOOL_FOR_ACCESS } from "../../../../schema/tool-facts.ts";

/** The properties of the question. */
interface WhyProps extends ScreenProps {
  /** The names of the tools. */
  readonly tools: readonly string[];
  /** Counts the changes of the policy, after which the gates are asked for again. */
  readonly version: number;
  /** Called when a directory was granted. */
  onChange(): void;
}

/** Draws the form and, once it is sent or a refused call was chosen, the gates. */
export function Why({ state, effects, tools, version, onChange }: WhyProps): JSX.Element {
  const { asked } = state;
  const [tool, setTool] = useState(asked?.tool ?? TOOL_FOR_ACCESS.write);
  const [path, setPath] = useState(asked?.path ?? "");
  // Before the next key: an effect after the next frame would replace what has been typed since.
  useLayoutEffect(() => {
    if (asked === undefined) return;
    setTool(asked.tool);
    setPath(asked.path);
  }, [asked]);
  const { data, failure } = useLoaded<ExplainedCall>(effects, asked && pathOfQuestion(asked), version);
  return (
    <section class="why" aria-labelledby="why-head">
      <h3 id="why-head">Why is a call refused?</h3>
      <form
        class="why-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (path !== "") effects.dispatch({ type: "why", asked: { tool, path } });
        }}
      >
        <label>
          Tool
          <select value={tool} onChange={({ currentTarget }) => setTool(currentTarget.value)}>
            {(tools.includes(tool) ? tools : [tool, ...tools]).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="why-path">
          Path, as the agent writes it
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={path}
            onInput={({ currentTarget }) => setPath(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={path === ""}>
          Explain
        </button>
      </form>
      {failure !== undefined && <p class="bar failure">{failure}</p>}
      {data !== undefined && (
        <Gates explained={data} asked={asked} state={state} effects={effects} onChange={onChange} />
      )}
    </section>
  );
}

function pathOfQuestion({ tool, path, agent }: AskedCall): string {
  const query = new URLSearchParams({ tool, path, ...(agent === undefined ? {} : { agent }) });
  return `why?${query}`;
}

interface GatesProps extends ScreenProps {
  readonly explained: ExplainedCall;
  readonly asked: AskedCall | undefined;
  onChange(): void;
}

function Gates({ explained, asked, ...props }: GatesProps): JSX.Element {
  const { tool, path, agent, gates } = explained;
  return (
    <>
      <p class="why-call" role="status">
        <code>
          {tool} <SafeText text={path} />
        </code>{" "}
        {agent !== undefined && (
          <>
            by <SafeText text={agent} />{" "}
          </>
        )}
        <strong>{conclusionOf(gates)}</strong>
      </p>
      {asked?.code !== undefined && (
        <p class="quiet">
          The call failed with {asked.code}
          {asked.by !== undefined && (
            <>
              : <SafeText text={asked.by} /> answered about it
            </>
          )}
          . Below is the decision about the same call now.
        </p>
      )}
      <ol class="gates">
        {gates.map((gate, index) => (
          <Gate key={gate.gate} gate={gate} number={index + 1} {...props} />
        ))}
      </ol>
    </>
  );
}

/** Returns the outcome of all gates in words. */
function conclusionOf(gates: readonly ExplainedGate[]): string {
  const stop = gates.find(({ verdict }) => verdict === "stops");
  if (stop !== undefined) return `is refused by: ${NAME_BY_GATE[stop.gate] ?? stop.gate}.`;
  if (gates.some(({ gate, verdict, missing }) => gate === "grants" && verdict === "asks" && missing))
    return "is asked about: a directory is not granted.";
  const asks = gates.findLastIndex(({ verdict }) => verdict === "asks");
  const allows = gates.findLastIndex(({ verdict }) => verdict === "allows");
  if (asks > allows) return "is asked about: a person answers.";
  return gates.some(({ verdict }) => verdict === "depends")
    ? "is allowed, if its content is."
    : "is allowed.";
}

interface GateProps extends ScreenProps {
  readonly gate: ExplainedGate;
  readonly number: number;
  onChange(): void;
}

function Gate({ gate: one, number, state, effects, onChange }: GateProps): JSX.Element {
  const { gate, verdict, because, configured, remedy, missing = [] } = one;
  return (
    <li class={`gate ${verdict.replace(" ", "-")}`}>
      <span class="gate-number" aria-hidden="true">
        {number}
      </span>
      <span class="gate-name">{NAME_BY_GATE[gate] ?? gate}</span>
      <span class="gate-verdict">{verdict === "stops" ? "stops here" : verdict}</span>
      <span class="gate-details">
        {because !== undefined && because !== "" && <SafeText as="span" text={because} />}
        <span class="gate-source">
          {configured.startsWith("none") ? (
            "no option changes it"
          ) : (
            <>
              set by <code>{configured}</code>
            </>
          )}
        </span>
        {remedy !== undefined && <span>Change it: {remedy}</span>}
        {missing.map((wanted) => (
          <GrantButton
            key={wanted.dir}
            state={state}
            effects={effects}
            dir={wanted.dir}
            access={wanted.access}
            onChange={onChange}
          />
        ))}
      </span>
    </li>
  );
}

/** The names of the gates for people. */
const NAME_BY_GATE: Readonly<Record<string, string>> = {
  hooks: "Hooks",
  "read-only": "Read-only",
  root: "Roots",
  deny: "Denied globs",
  protected: "Protected places",
  temporary: "Names of temporary files",
  rules: "Rules",
  secret: "Secrets",
  grants: "Grants",
  default: "Changes without a rule",
  places: "Places that are asked about",
  approvals: "Lasting approvals",
  approver: "Reviewer",
  guard: "Guard",
};
