// Names a node of a TypeScript file by the declarations around it, for lists that have to stay valid
// when lines move: `Journal.append.write`.
import ts from "typescript";

/** For kinds of nodes without a name of their own, the name that stands for them. */
const NAME_BY_KIND = new Map([
  [ts.SyntaxKind.Constructor, "constructor"],
  [ts.SyntaxKind.ClassStaticBlockDeclaration, "static"],
  [ts.SyntaxKind.ExportAssignment, "default"],
]);

/** Returns whether a node is a function of any form. */
export const isFunction = (node) => ts.isFunctionLike(node) && node.body !== undefined;

/** Returns the name under which a call's function is known: `each` for `test.each(…)(…)`. */
function calledName(callee) {
  if (ts.isIdentifier(callee)) return callee.text;
  if (ts.isPropertyAccessExpression(callee)) return callee.name.text;
  return ts.isCallExpression(callee) ? calledName(callee.expression) : "function";
}

/** Returns the name of a function without a name: of the call that it is an argument of, if any. */
function anonymousName(node) {
  const { parent } = node;
  const isArgument =
    (ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression !== node;
  if (isArgument) return `${calledName(parent.expression)}()`;
  // The variable, property or parameter that holds it has the name.
  return parent.name !== undefined && parent.initializer === node ? undefined : "function";
}

/** Returns the part that a node has in the names of those inside; undefined for none. */
function ownName(node) {
  const fixed = NAME_BY_KIND.get(node.kind);
  if (fixed !== undefined) return fixed;
  const { name } = node;
  if (name !== undefined && ts.isPropertyName(name)) return name.getText().replaceAll(/\s+/g, " ");
  return isFunction(node) ? anonymousName(node) : undefined;
}

/** Returns the names of a node and of the declarations around it, joined with dots. */
export function symbolPath(node) {
  const names = [];
  for (let at = node; at !== undefined && !ts.isSourceFile(at); at = at.parent) {
    const name = ownName(at);
    if (name !== undefined) names.unshift(name);
  }
  return names.join(".");
}

/**
 * Returns the innermost function of a file around an offset; undefined outside of all. The name and the
 * parameters of a function belong to it, also the name of the variable or property that holds it.
 */
export function functionAt(file, offset) {
  let found;
  const visit = (node) => {
    if (offset < node.getStart(file) || offset >= node.end) return;
    const held = node.initializer;
    if (isFunction(node)) found = node;
    else if (held !== undefined && isFunction(held) && offset < held.getStart(file)) found = held;
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/**
 * Makes the names of offenders of one file distinct: the second `f` becomes `f#2`. Those that share a
 * name keep their order in the file.
 * @template {{ path: string, name: string }} T
 * @param {readonly T[]} offenders in their order in the files
 * @returns {T[]}
 */
export function withDistinctNames(offenders) {
  const times = new Map();
  return offenders.map((offender) => {
    const key = `${offender.path} ${offender.name}`;
    const count = (times.get(key) ?? 0) + 1;
    times.set(key, count);
    return count === 1 ? offender : { ...offender, name: `${offender.name}#${count}` };
  });
}
