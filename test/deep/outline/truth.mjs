/**
 * The definitions of a text by tree-sitter: which nodes of each grammar define something, where
 * they begin without decorators, and where they end.
 */

const lines = (text) => new Set(text.split(" "));
const FUNCTION_VALUES = lines("arrow_function function_expression function generator_function");
const LOCAL_SCOPES = lines(
  "statement_block block function_body compound_statement do_block body_statement method_declaration lambda_expression",
);

/** Whether a node is outside every function. */
function isOutside(node) {
  for (let above = node.parent; above !== null; above = above.parent) {
    if (LOCAL_SCOPES.has(above.type) && !/module|namespace|mod_item/u.test(above.parent?.type ?? ""))
      return false;
  }
  return true;
}

const named = (node) => [node.childForFieldName("name")];
const outside = (node) => (isOutside(node) ? named(node) : []);

function scriptVariable(node) {
  const value = node.childForFieldName("value");
  const name = node.childForFieldName("name");
  if (name?.type !== "identifier") return [];
  const isFunction = value !== null && (FUNCTION_VALUES.has(value.type) || value.type === "class");
  const statement = node.parent;
  if (!/^(?:lexical|variable)_declaration$/u.test(statement.type)) return [];
  const place = statement.parent.type === "export_statement" ? statement.parent.parent : statement.parent;
  const top =
    place.type === "program" || (place.type === "statement_block" && place.parent.type === "internal_module");
  // A second name of one statement has no lines of its own.
  if (statement.namedChildren.find((child) => child.type === "variable_declarator")?.id !== node.id)
    return [];
  return top || isFunction ? [{ name, range: statement }] : [];
}

function scriptAssignment(node) {
  const left = node.childForFieldName("left");
  const right = node.childForFieldName("right");
  if (node.parent.type !== "expression_statement" || left.type !== "member_expression") return [];
  if (!FUNCTION_VALUES.has(right.type) && right.type !== "class") return [];
  let object = left;
  while (object.type === "member_expression") object = object.childForFieldName("object");
  return object.type === "identifier"
    ? [{ name: left.childForFieldName("property"), range: node.parent }]
    : [];
}

const scriptField = (node) =>
  FUNCTION_VALUES.has(node.childForFieldName("value")?.type)
    ? [node.childForFieldName("name") ?? node.childForFieldName("property")]
    : [];
const memberOf = (node) =>
  /^(?:interface_body|class_body|object_type)$/u.test(node.parent.type) &&
  node.parent.parent.type !== "type_alias_declaration" &&
  /class|interface/u.test(node.parent.parent.type)
    ? named(node)
    : [];

const SCRIPT = {
  function_declaration: named,
  generator_function_declaration: named,
  function_signature: named,
  class_declaration: named,
  abstract_class_declaration: named,
  method_definition: named,
  method_signature: memberOf,
  abstract_method_signature: memberOf,
  interface_declaration: named,
  type_alias_declaration: (node) => (isOutside(node) ? named(node) : []),
  enum_declaration: named,
  internal_module: named,
  module: (node) => (node.childForFieldName("name")?.type === "string" ? [] : named(node)),
  variable_declarator: scriptVariable,
  assignment_expression: scriptAssignment,
  field_definition: scriptField,
  public_field_definition: scriptField,
};

/** The last identifier of a type: `Display` of `fmt::Display<'a>`. */
function lastIdentifier(node) {
  if (node === null) return null;
  if (/identifier$/u.test(node.type) && !/scoped|qualified/u.test(node.type)) return node;
  const inner =
    node.childForFieldName("type") ??
    node.childForFieldName("name") ??
    node.childForFieldName("element") ??
    node.childForFieldName("trait");
  if (inner !== null) return lastIdentifier(inner);
  return node.namedChildren.find((child) => child.type.includes("identifier")) ?? null;
}

/** The name in a declarator of C, if it is that of a function. */
function declaredFunction(node) {
  let at = node.childForFieldName("declarator");
  while (at !== null && /^(?:pointer|reference|attributed|init|parenthesized)_declarator$/u.test(at.type)) {
    at = at.childForFieldName("declarator") ?? at.namedChildren.at(-1) ?? null;
  }
  if (at?.type !== "function_declarator") return null;
  let name = at.childForFieldName("declarator");
  while (name !== null && name.type === "qualified_identifier") name = name.childForFieldName("name");
  if (name?.type === "template_function") name = name.childForFieldName("name");
  return name !== null && /identifier|destructor_name|operator_name$/u.test(name.type) ? name : null;
}

const cFunction = (node) => {
  const name = declaredFunction(node);
  return name === null ? [] : [name];
};
const cPrototype = (node) => (isOutside(node) && !node.hasError ? cFunction(node) : []);
const withBody = (node) =>
  node.childForFieldName("body") !== null && node.childForFieldName("name") !== null
    ? [lastIdentifier(node.childForFieldName("name"))]
    : [];

const GRAMMARS = {
  python: {
    function_definition: named,
    class_definition: named,
    assignment: (node) =>
      node.parent.type === "expression_statement" &&
      node.parent.parent.type === "module" &&
      node.childForFieldName("left").type === "identifier" &&
      node.childForFieldName("right") !== null
        ? [node.childForFieldName("left")]
        : [],
  },
  rust: {
    function_item: named,
    function_signature_item: named,
    struct_item: named,
    enum_item: named,
    union_item: named,
    trait_item: named,
    mod_item: named,
    impl_item: (node) => [lastIdentifier(node.childForFieldName("type"))],
    const_item: outside,
    static_item: outside,
    type_item: outside,
    associated_type: named,
    macro_definition: named,
  },
  go: {
    function_declaration: named,
    method_declaration: named,
    type_spec: outside,
    type_alias: outside,
    method_elem: named,
    const_spec: outside,
    var_spec: outside,
  },
  javascript: SCRIPT,
  typescript: SCRIPT,
  tsx: SCRIPT,
  java: {
    class_declaration: named,
    interface_declaration: named,
    enum_declaration: named,
    record_declaration: named,
    annotation_type_declaration: named,
    method_declaration: named,
    constructor_declaration: named,
    compact_constructor_declaration: named,
  },
  "c-sharp": {
    class_declaration: named,
    interface_declaration: named,
    struct_declaration: named,
    enum_declaration: named,
    record_declaration: named,
    method_declaration: named,
    constructor_declaration: named,
    namespace_declaration: (node) => [lastPart(node.childForFieldName("name"))],
    file_scoped_namespace_declaration: (node) => [lastPart(node.childForFieldName("name"))],
    delegate_declaration: named,
  },
  cpp: {
    function_definition: cFunction,
    declaration: cPrototype,
    field_declaration: cPrototype,
    class_specifier: withBody,
    struct_specifier: withBody,
    union_specifier: withBody,
    enum_specifier: withBody,
    namespace_definition: (node) => [lastPart(node.childForFieldName("name"))],
    alias_declaration: (node) =>
      isOutside(node) || node.parent.type === "template_declaration" ? named(node) : [],
    type_definition: typeName,
    preproc_def: named,
    preproc_function_def: named,
  },
  php: {
    function_definition: named,
    class_declaration: named,
    interface_declaration: named,
    trait_declaration: named,
    enum_declaration: named,
    method_declaration: named,
    namespace_definition: (node) => [lastPart(node.childForFieldName("name"))],
  },
  ruby: {
    method: named,
    singleton_method: named,
    class: (node) => [lastPart(node.childForFieldName("name"))],
    module: (node) => [lastPart(node.childForFieldName("name"))],
  },
  bash: { function_definition: named },
};

/** The name that `typedef` gives, unless it is that of the type itself. */
function typeName(node) {
  let name = node.childForFieldName("declarator");
  while (name !== null && name.type !== "type_identifier") {
    name = name.childForFieldName("declarator") ?? name.namedChildren.at(-1) ?? null;
  }
  const tag = node.childForFieldName("type");
  const own = tag?.childForFieldName("body") && tag.childForFieldName("name")?.text;
  return name === null || own === name.text || !isOutside(node) ? [] : [name];
}

function lastPart(node) {
  let at = node;
  while (at !== null && at.childForFieldName("name") !== null) at = at.childForFieldName("name");
  return at?.namedChildren.at(-1) ?? at;
}

const MARKS = /annotation|attribute|decorator|comment/u;

/** The first line of a node without its decorators. */
function firstLine(node) {
  for (const child of node.children) {
    if (MARKS.test(child.type)) continue;
    if (child.type === "modifiers") {
      const word = child.children.find(({ type }) => !MARKS.test(type));
      if (word === undefined) continue;
      return word.startPosition.row + 1;
    }
    return child.startPosition.row + 1;
  }
  return node.startPosition.row + 1;
}

/** Returns `[name, first line, last line]` of one name, or of a name and the node with its lines. */
function definitionOf(one, node) {
  const { name, range } = one.range === undefined ? { name: one, range: node } : one;
  const { row, column } = range.endPosition;
  return [name.text.replace(/^["'#]+|["']$/gu, ""), firstLine(range), column === 0 ? row : row + 1];
}

/** Returns `[name, first line, last line]` of each definition; undefined where the parser gave up. */
export function truthOf(grammar, root) {
  if (root.hasError) return undefined;
  const rules = GRAMMARS[grammar];
  const found = [];
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const rule = Object.hasOwn(rules, node.type) ? rules[node.type] : undefined;
    found.push(...(rule?.(node) ?? []).filter(Boolean).map((one) => definitionOf(one, node)));
    stack.push(...node.children);
  }
  return found;
}
