// Counts expressions that carry facts which no declared type shows: conditional spreads into objects, and
// uses of `WeakMap` and `WeakSet`, which attach a fact to an object without a member for it.
//
// An object that is spread and depends on a condition hides an optional member from its reader. Spreads
// into lists are left out: an element of a list may be there or not.
import ts from "typescript";
import { walk } from "./program.mjs";

const { SyntaxKind } = ts;

/** How many variables and functions an expression is followed through. */
const MAX_STEPS = 3;

/** Returns an expression without parentheses, assertions and `await`. */
function bare(expression) {
  const isWrapped =
    ts.isParenthesizedExpression(expression) ||
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression) ||
    ts.isNonNullExpression(expression) ||
    ts.isAwaitExpression(expression);
  return isWrapped ? bare(expression.expression) : expression;
}

/** Returns whether an expression is `undefined`, `null` or `false`, whose spread adds no member. */
function isNothing(expression) {
  const at = bare(expression);
  if (ts.isIdentifier(at)) return at.text === "undefined";
  return at.kind === SyntaxKind.NullKeyword || at.kind === SyntaxKind.FalseKeyword || ts.isVoidExpression(at);
}

/** Returns whether an expression is `{}`. */
function isEmptyObject(expression) {
  const at = bare(expression);
  return ts.isObjectLiteralExpression(at) && at.properties.length === 0;
}

/**
 * Returns whether the spread of an expression adds no member. `mayBeNothing` is false where the type of
 * what is spread, as narrowed there, excludes `undefined` and its like.
 */
const isEmpty = ({ mayBeNothing }, expression) =>
  isEmptyObject(expression) || (mayBeNothing && isNothing(expression));

/** Returns the expressions that a function returns, without those of functions inside. */
function returnedExpressions({ body }) {
  if (body === undefined) return [];
  if (!ts.isBlock(body)) return [body];
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression);
    ts.forEachChild(node, visit);
  };
  visit(body);
  return found;
}

/** Returns whether an expression is `Object.fromEntries(….filter(…undefined…))`. */
function dropsUndefined(expression) {
  const at = bare(expression);
  return ts.isCallExpression(at) && /^Object\.fromEntries\(.*\.filter\(.*\bundefined\b/s.test(at.getText());
}

/** Returns the declaration of the variable or function that an expression names; undefined for none. */
function declarationOf(checker, expression) {
  let symbol = checker.getSymbolAtLocation(expression);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol?.valueDeclaration;
}

/** Returns the function that a declaration declares, directly or as a variable; undefined for none. */
function functionOf(declaration) {
  if (declaration === undefined) return undefined;
  if (ts.isFunctionDeclaration(declaration) || ts.isMethodDeclaration(declaration)) return declaration;
  const value = ts.isVariableDeclaration(declaration) && declaration.initializer;
  return value && ts.isFunctionLike(bare(value)) ? bare(value) : undefined;
}

/** Returns whether a function returns an object whose members depend on a condition. */
function returnsSometimes(context, called, steps) {
  const returned = returnedExpressions(called);
  const empty = returned.filter((one) => isEmpty(context, one)).length;
  if (empty > 0 && empty < returned.length) return true;
  return returned.some((one) => dropsUndefined(one) || isSometimesEmpty(context, one, steps));
}

/** Returns whether an expression has no members in some cases, and some in others. */
function isSometimesEmpty(context, expression, steps = MAX_STEPS) {
  const at = bare(expression);
  if (ts.isConditionalExpression(at)) {
    const branches = [at.whenTrue, at.whenFalse];
    return branches.some((branch) => isEmpty(context, branch) || isSometimesEmpty(context, branch, steps));
  }
  if (ts.isBinaryExpression(at)) return isSometimesEmptyBinary(context, at, steps);
  if (ts.isCallExpression(at) && dropsUndefined(at)) return true;
  return steps > 0 && isSometimesEmptyByName(context, at, steps - 1);
}

/**
 * Returns the same for a binary expression. `a && b` counts where the type of the spread allows undefined,
 * null or a boolean; `a || b` and `a ?? b` count by their operands.
 */
function isSometimesEmptyBinary(context, { operatorToken, left, right }, steps) {
  if (operatorToken.kind === SyntaxKind.AmpersandAmpersandToken) return context.mayBeNothing;
  const isChoice =
    operatorToken.kind === SyntaxKind.BarBarToken || operatorToken.kind === SyntaxKind.QuestionQuestionToken;
  if (!isChoice) return false;
  return isEmpty(context, right) || [left, right].some((one) => isSometimesEmpty(context, one, steps));
}

/** Returns the same for the call of a function and for a variable, by their declarations. */
function isSometimesEmptyByName(context, at, steps) {
  if (ts.isCallExpression(at)) {
    const called = functionOf(declarationOf(context.checker, at.expression));
    return called !== undefined && returnsSometimes(context, called, steps);
  }
  if (!ts.isIdentifier(at)) return false;
  const declaration = declarationOf(context.checker, at);
  const value = declaration !== undefined && ts.isVariableDeclaration(declaration) && declaration.initializer;
  return value ? isSometimesEmpty(context, value, steps) : false;
}

/** Returns whether the type of an expression includes undefined, null, true or false. */
function mayBeNothing(checker, expression) {
  const type = checker.getTypeAtLocation(expression);
  const nothing = ts.TypeFlags.Undefined | ts.TypeFlags.Null | ts.TypeFlags.BooleanLiteral;
  return (type.isUnion() ? type.types : [type]).some(({ flags }) => flags & nothing);
}

/** Returns whether a spread expression is a ternary or `&&`, or is empty in some cases. */
function isConditional(checker, expression) {
  const at = bare(expression);
  if (ts.isConditionalExpression(at)) return true;
  const isAnd = ts.isBinaryExpression(at) && at.operatorToken.kind === SyntaxKind.AmpersandAmpersandToken;
  return isAnd || isSometimesEmpty({ checker, mayBeNothing: mayBeNothing(checker, expression) }, at);
}

/** Returns the expressions whose members a node takes over: by `...` or by `Object.assign`. */
function spreadExpressions(node) {
  if (ts.isSpreadAssignment(node) || ts.isJsxSpreadAttribute(node)) return [node.expression];
  const isAssign = ts.isCallExpression(node) && node.expression.getText() === "Object.assign";
  return isAssign ? node.arguments.slice(1) : [];
}

/** Returns whether a node is the name `WeakMap` or `WeakSet` outside of types, or in the heritage of a class. */
function isWeakValue(node) {
  if (!ts.isIdentifier(node) || !/^Weak(?:Map|Set)$/.test(node.text)) return false;
  for (let at = node.parent; at !== undefined; at = at.parent) {
    const isClassHeritage = ts.isExpressionWithTypeArguments(at) && ts.isClassLike(at.parent.parent);
    if (ts.isTypeNode(at) && !isClassHeritage) return false;
  }
  return true;
}

/**
 * Returns the number of conditional spreads and of weak collections of each file that has any.
 * @param {import("./program.mjs").Sources} sources
 * @returns {Record<"spreads" | "weak", import("./list.mjs").Offender[]>}
 */
export function expressionOffenders({ checker, files }) {
  const counts = files.map(({ path, source }) => {
    const count = { path, spreads: 0, weak: 0 };
    walk(source, (node) => {
      if (isWeakValue(node)) count.weak += 1;
      for (const one of spreadExpressions(node)) if (isConditional(checker, one)) count.spreads += 1;
    });
    return count;
  });
  const of = (kind) =>
    counts
      .filter((count) => count[kind] > 0)
      .map((count) => ({ path: count.path, name: "", figure: count[kind] }));
  return { spreads: of("spreads"), weak: of("weak") };
}
