// Finds types with too many members or too many optional ones.
//
// Counted are the members of the resolved type: those of the heritage, of all parts of an intersection
// and of mapped types such as `Omit` and `Partial`. Of a class only public members count that its heritage
// does not declare. A member counts if a file of js/ (generated ones excepted) declares it in a type or class; members of the standard library and of packages, and the keys of a table
// (`typeof TABLE`, `Record<Name, …>`), do not. Inferred types are left out.
import ts from "typescript";
import { symbolPath, withDistinctNames } from "./names.mjs";
import { walk } from "./program.mjs";

/** More members than this make a type an offender. */
export const MAX_MEMBERS = 15;
/** More optional members than this make a type an offender. */
export const MAX_OPTIONAL = 6;

/** The declarations that are members of a type. */
const isMemberDeclaration = (node) =>
  ts.isPropertySignature(node) ||
  ts.isMethodSignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isAccessor(node) ||
  ts.isParameter(node);

/** Returns whether a member may be missing or undefined. */
function isOptional(checker, member) {
  if (member.flags & ts.SymbolFlags.Optional) return true;
  const type = checker.getTypeOfSymbol(member);
  const parts = type.isUnion() ? type.types : [type];
  return parts.some(({ flags }) => flags & ts.TypeFlags.Undefined);
}

/** Returns the members of a type that is no union, as far as js/ declares them. */
const membersOf = ({ checker, ours }, type) =>
  checker
    .getPropertiesOfType(type)
    .filter(({ declarations = [] }) =>
      declarations.some((node) => isMemberDeclaration(node) && ours.has(node.getSourceFile())),
    );

/** Returns the numbers of all members and of the optional ones. */
const countsOf = ({ checker }, members) => ({
  members: members.length,
  optional: members.filter((member) => isOptional(checker, member)).length,
});

/** Returns the numbers of the public members of a class that nothing in its heritage declares. */
function classCounts(context, node, type) {
  const { checker } = context;
  const inherited = new Set(
    (node.heritageClauses ?? [])
      .flatMap(({ types }) => types)
      .flatMap((heritage) => checker.getPropertiesOfType(checker.getTypeAtLocation(heritage)))
      .map(({ name }) => name),
  );
  // A member that a type alone declares has no declaration of its own.
  const isPublic = ({ valueDeclaration }) =>
    valueDeclaration === undefined ||
    (!ts.isPrivateIdentifier(valueDeclaration.name) &&
      !(ts.getCombinedModifierFlags(valueDeclaration) & ts.ModifierFlags.NonPublicAccessibilityModifier));
  const own = membersOf(context, type).filter((member) => isPublic(member) && !inherited.has(member.name));
  return countsOf(context, own);
}

/** Returns whether a type is an interface or class with a name, which is counted where it is declared. */
const isNamed = (type) =>
  ((type.symbol?.flags ?? 0) & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) !== 0;

/** Returns the larger numbers of the parts of a union; those of the type itself if it is none. */
function largestPart(context, type, isCounted = () => true) {
  const counts = (type.isUnion() ? type.types : [type])
    .filter(isCounted)
    .map((part) => countsOf(context, membersOf(context, part)));
  return {
    members: Math.max(0, ...counts.map(({ members }) => members)),
    optional: Math.max(0, ...counts.map(({ optional }) => optional)),
  };
}

/** Returns the largest counts of an alias or an unnamed type. Parts with a name are left out. */
const largestCounts = (context, type, alias) =>
  largestPart(context, type, (part) => {
    if (isNamed(part)) return false;
    return part === type || part.aliasSymbol === undefined || part.aliasSymbol === alias;
  });

/** Returns whether a node is itself the type, or a part of the union, of an alias or an intersection. */
function isPartOfCounted(node) {
  let at = node.parent;
  while (ts.isParenthesizedTypeNode(at) || ts.isUnionTypeNode(at)) at = at.parent;
  return ts.isTypeAliasDeclaration(at) || ts.isIntersectionTypeNode(at);
}

/** Returns the numbers of an interface or a class; undefined for a second declaration of one. */
function namedCounts(context, node) {
  const { checker } = context;
  const symbol = checker.getSymbolAtLocation(node.name ?? node) ?? node.symbol;
  const first = symbol.declarations.find((one) => ts.isInterfaceDeclaration(one) || ts.isClassLike(one));
  if (first !== node) return undefined;
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  return ts.isClassLike(node)
    ? classCounts(context, node, type)
    : countsOf(context, membersOf(context, type));
}

/**
 * Returns the numbers of a type without a name. Of an intersection a number counts only if none of its
 * parts exceeds the limit by itself, because that part is an offender already.
 */
function inlineCounts(context, node) {
  const { checker } = context;
  const counts = largestCounts(context, checker.getTypeFromTypeNode(node));
  const parts = ts.isIntersectionTypeNode(node)
    ? node.types.filter((part) => !ts.isTypeLiteralNode(part))
    : [];
  for (const part of parts) {
    const { members, optional } = largestPart(context, checker.getTypeFromTypeNode(part));
    if (members > MAX_MEMBERS) counts.members = 0;
    if (optional > MAX_OPTIONAL) counts.optional = 0;
  }
  return counts;
}

/** Returns the numbers of the type that a node declares; undefined if it declares none. */
function declaredCounts(context, node) {
  if (ts.isInterfaceDeclaration(node) || ts.isClassLike(node)) return namedCounts(context, node);
  if (ts.isTypeAliasDeclaration(node)) {
    const symbol = context.checker.getSymbolAtLocation(node.name);
    return largestCounts(context, context.checker.getDeclaredTypeOfSymbol(symbol), symbol);
  }
  const isInline = ts.isTypeLiteralNode(node) || ts.isIntersectionTypeNode(node);
  return isInline && !isPartOfCounted(node) ? inlineCounts(context, node) : undefined;
}

/**
 * Returns the types of a program that have too many members, and those with too many optional ones.
 * @param {import("./program.mjs").Sources} sources
 * @returns {Record<"members" | "optional", import("./list.mjs").Offender[]>}
 */
export function typeOffenders({ checker, files }) {
  const context = { checker, ours: new Set(files.map(({ source }) => source)) };
  const found = { members: [], optional: [] };
  for (const { path, source } of files) {
    walk(source, (node) => {
      const counts = declaredCounts(context, node);
      if (counts === undefined) return;
      const name = symbolPath(node);
      if (counts.members > MAX_MEMBERS) found.members.push({ path, name, figure: counts.members });
      if (counts.optional > MAX_OPTIONAL) found.optional.push({ path, name, figure: counts.optional });
    });
  }
  return { members: withDistinctNames(found.members), optional: withDistinctNames(found.optional) };
}
