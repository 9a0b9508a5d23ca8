use proptest::prelude::*;

use super::*;

/// Returns `kind name start-end` of each definition, indented by its depth.
fn shown(language: Language, text: &str) -> String {
    let list = definitions(language, text.as_bytes());
    let mut depths: Vec<usize> = Vec::new();
    let mut lines = String::new();
    for one in &list {
        let depth = one.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let name = &text[one.name.clone()];
        let lead = if one.lead_line == one.start_line {
            String::new()
        } else {
            format!(" <{}", one.lead_line)
        };
        lines += &format!(
            "{}{} {name} {}-{}{lead}\n",
            "  ".repeat(depth),
            one.kind.as_str(),
            one.start_line,
            one.end_line
        );
    }
    lines
}

#[test]
fn rust_items_and_their_members_are_found_outside_comments_and_strings() {
    let text = r##"
/// A pair.
#[derive(Debug)]
pub struct Pair<'a, T>(&'a T, char);

impl<'a, T: Fn() -> u8> fmt::Display for Pair<'a, T> {
    // fn commented() {}
    fn fmt(&self) -> &'static str {
        let quote = '"';
        r#"fn raw() {}"#
    }
}

pub(crate) const fn zero() -> u8 { b'{' as u8 }
const TABLE: [u8; 2] = [
    1, 2,
];
macro_rules! many { ($x:ident) => { fn $x() {} } }
mod inner { pub trait Named { fn name(&self) -> String; } }
"##;
    let expected = "\
struct Pair 4-4 <2
impl Pair 6-12
  method fmt 8-11 <7
function zero 14-14
constant TABLE 15-17
macro many 18-18
module inner 19-19
  trait Named 19-19
    method name 19-19
";
    assert_eq!(shown(Language::Rust, text), expected);
}

#[test]
fn python_definitions_end_before_the_next_statement_that_is_not_further_right() {
    let text = r#"
LIMIT = 3

@wraps(
    f)
class A(B):
    """
def no(): pass
"""
    async def run(self,
            other):
        def inner():
            return 1
        return inner

    x = 2
def last(): return "def x():"
"#;
    let expected = "\
constant LIMIT 2-2
class A 6-16 <4
  method run 10-14
    function inner 12-13
function last 17-17
";
    assert_eq!(shown(Language::Python, text), expected);
}

#[test]
fn scripts_have_functions_classes_members_and_assigned_functions() {
    let text = r#"
export default class Shop extends Base {
  static #count = 0;
  constructor() { super(); }
  get size() { return /[/{]/.test(`${this.x ? `}` : "{"}`); }
  handle = async (event) => {
    run();
  }
}
export const add = (a, b) => a + b
const limit = 3, list = {
  open() { return 1; },
  close: 2,
};
function f(a: string): { x: string } {
  const inner = () => 1;
  if (a) { call(); }
  const value = 2;
}
exports.run = function () {};
type Name = "a" |
  "b";
interface Named { name(): string; }
"#;
    let expected = "\
class Shop 2-9
  method constructor 4-4
  method size 5-5
  method handle 6-8
function add 10-10
constant limit 11-11
constant list 11-14
  method open 12-12
function f 15-19
  function inner 16-16
function run 20-20
type Name 21-22
interface Named 23-23
  method name 23-23
";
    assert_eq!(shown(Language::TypeScript, text), expected);
}

/// Pieces that open, close or begin something in some language.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "\n",
    "\n  ",
    " ",
    "fn a",
    "class A",
    "def a",
    "<<A\n",
    "/",
    "'",
    "\"",
    "`",
    "${",
    "#{",
    "<",
    ">",
    "a:\n",
    "if ",
    "end\n",
    "do ",
    "const a = ",
    "int f(",
    "/*",
    "*/",
    "//",
    "#",
    "#if\n",
    "#else\n",
    "#endif\n",
    "@a(",
    "s(",
    "q{",
    "template<",
    "typedef ",
    "new A(",
    "\\",
    "$$",
    "R\"x(",
    "r#\"",
    "[=[",
    "=begin\n",
    "create table ",
    "operator",
    "=",
    ";",
    ",",
    "function ",
    "<?",
    "?>",
    "---\n",
    "<script>",
    "a.",
    "::",
    "é",
    "=>",
    "\"\"\"",
    "'''",
    "@interface a\n",
    "func (a b) c",
    "type (\n",
    "# a\n",
    "[a]\n",
    "a = 1\n",
    "class\n",
    "%w",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever the text: no panic, lines in order and within the text, and names on the lines.
    #[test]
    fn definitions_lie_on_their_lines(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60),
        language in proptest::sample::select(Language::ALL),
    ) {
        let text = pieces.concat();
        let found = definitions(language, text.as_bytes());
        let line_of = |at: usize| text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
        let mut before = 0;
        for (index, one) in found.iter().enumerate() {
            prop_assert!(one.name.start < one.name.end && one.name.end <= text.len());
            prop_assert!(one.lead_line <= one.start_line && before <= one.start_line);
            prop_assert!((one.start_line..=one.end_line).contains(&line_of(one.name.start)));
            prop_assert!(one.end_line <= line_of(text.len()));
            prop_assert!(one.parent.is_none_or(|parent| (parent as usize) < index));
            before = one.start_line;
        }
    }
}

/// A walk that looks ahead to the end of the text at each statement would not end in this time.
#[test]
fn hostile_repetition_ends() {
    /// What is repeated, and what is repeated after it.
    const HOSTILE: &[(&str, &str)] = &[
        ("{", ""),
        ("}int f(", ""),
        ("new A(}", ""),
        ("[=[}", ""),
        ("class A=", ""),
        ("const a =\n", ""),
        ("@a(}", ""),
        ("<<A\n", ""),
        ("s(s(/[", ""),
        ("/\\", ""),
        ("type\n", ""),
        ("#", ""),
        ("@interface a ", ""),
        ("<script></script>", ""),
        ("a <<A <<B\nB\nA\n", ""),
        ("s{", "}x"),
        ("//\n", "fn a;"),
    ];
    for &language in Language::ALL {
        for (piece, after) in HOSTILE {
            let text = piece.repeat(2_000) + &after.repeat(2_000);
            let _ = definitions(language, text.as_bytes());
        }
    }
}

#[test]
fn marks_without_a_definition_take_no_stack() {
    let text = "public:".repeat(100_000);
    assert_eq!(shown(Language::Cpp, &text), "");
}

#[test]
fn heredocs_of_a_line_follow_each_other() {
    let text = "run <<A, <<B\ndef no\nB\nA\ndef not\nB\ndef yes\nend\n";
    assert_eq!(shown(Language::Ruby, text), "function yes 7-8\n");
}

#[test]
fn a_long_regular_expression_is_one() {
    let text = format!("x = /{}[\"]/;\nfunction a() {{}}\n", "ab".repeat(2_000));
    assert_eq!(shown(Language::JavaScript, &text), "function a 2-2\n");
}

#[test]
fn a_definition_that_shares_a_line_with_something_else_does_not_own_its_lines() {
    let owned = |language, text: &str| -> Vec<bool> {
        definitions(language, text.as_bytes()).iter().map(|one| one.owns_lines).collect()
    };
    let script = language_of("a.ts").unwrap();
    assert_eq!(owned(script, "function a() {\n}\n  export const b = 1; // one\n"), [true, true]);
    assert_eq!(owned(script, "function a() { } function b() { }\n"), [false, false]);
    assert_eq!(owned(script, "call(); function a() {\n}\n"), [false]);
    assert_eq!(owned(script, "function a() {\n} call();\n"), [false]);
    assert_eq!(owned(script, "class A { run() { } }\n"), [true, false]);
    assert_eq!(owned(script, "class A {\n  @log run() {\n  }\n}\n"), [true, true]);
    let python = language_of("a.py").unwrap();
    assert_eq!(owned(python, "A = 1  # one\ndef f():\n    return 1\n"), [true, true]);
}

#[test]
fn a_long_comment_of_lua_holds_nothing() {
    let text = "--[==[\nfunction no() end\n]] ]==]\n--[[ function no2() end\n]]\nfunction yes() end\n--[x\nfunction too() end\n";
    assert_eq!(shown(Language::Lua, text), "function yes 6-6 <1\nfunction too 8-8 <7\n");
}

#[test]
fn a_class_of_java_that_is_not_sealed() {
    let text = "public non-sealed class A extends B {\n}\n";
    assert_eq!(shown(Language::Java, text), "class A 1-2\n");
}

#[test]
fn a_constant_of_ruby_has_its_block() {
    let text = "Point = Struct.new(:x) do\n  def far\n    1\n  end\nend\nA = 1\nB = if x then y do\n  z\nend end\nclass C\nend\n";
    assert_eq!(
        shown(Language::Ruby, text),
        "constant Point 1-5\n  method far 2-4\nconstant A 6-6\nconstant B 7-7\nclass C 10-11\n"
    );
}

#[test]
fn names_that_are_declared_together_are_several() {
    let text = "const a = 1, b = 2;\nlet c: Map<string, number> = f(1, x),\n  d = () => {\n    const no = 1;\n  };\nconst e = <T, U>(x: T, y: U) => x;\n";
    assert_eq!(
        shown(Language::TypeScript, text),
        "constant a 1-1\nconstant b 1-1\nvariable c 2-2\nfunction d 3-5\nfunction e 6-6\n"
    );
    let owned = definitions(Language::TypeScript, text.as_bytes());
    assert!(!owned[0].owns_lines && !owned[1].owns_lines);
}

#[test]
fn a_function_of_lua_may_have_its_name_on_an_earlier_line() {
    assert_eq!(shown(Language::Lua, "run\n= function() end\n"), "function run 1-2\n");
}
