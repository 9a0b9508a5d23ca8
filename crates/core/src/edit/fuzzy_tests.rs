//! Tests edits that models wrote from memory: what is repaired, how new lines are styled, and what
//! is refused.

use proptest::prelude::*;

use super::{Edit, EditOptions, Plan, Strictness, Tier, plan};
use crate::error::Error;

fn run_edit(text: &str, old: &str, new: &str, strictness: Strictness) -> Result<Plan, Error> {
    let edit = Edit { old: old.into(), new: new.into(), ..Edit::default() };
    let options = EditOptions { strictness, label: "f.txt".into(), ..EditOptions::default() };
    plan(text.as_bytes(), &[edit], &options)
}

fn run_fuzzy_edit(name: &str, text: &str, old: &str, new: &str) -> (String, Plan) {
    match run_edit(text, old, new, Strictness::Fuzzy) {
        Ok(plan) => (String::from_utf8(plan.bytes.clone()).unwrap(), plan),
        Err(error) => panic!("{name}: {error}"),
    }
}

fn error_reason(error: &Error) -> &str {
    error.details.get("reason").and_then(|reason| reason.as_str()).unwrap_or_default()
}

#[test]
fn replacing_lines_are_not_mistaken_for_preceding_lines() {
    let text = "f() {\n    if (ac->ev.data != NULL)\n        return REDIS_ERR;\n\n    /* Create container for context and r/w events */\n    e = (redisLibevEvents*)malloc(sizeof(*e));\n    e->context = ac;\n#if EV_MULTIPLICITY\n    e->loop = loop;\n#else\n    e->loop = NULL;\n";
    let old = "container for context and r/w events */\ne = (redisLibevEvents*)malloc(sizeof(*e));\ne->context = ac;\n#if EV_MULTIPLICITY\ne->loop = loop;\n#else";
    let new = "container for context and r/w events */\n    e = (redisLibevEvents*)hi_calloc(1, sizeof(*e));\n    if (e == NULL)\n        return REDIS_ERR;\n\n    e->context = ac;\n#if EV_MULTIPLICITY\n    e->loop = EV_A;\n#else";
    let made = run_fuzzy_edit("new lines that end as those before the place do", text, old, new).0;
    let expected = text.replace("    e = (redisLibevEvents*)malloc(sizeof(*e));", "    e = (redisLibevEvents*)hi_calloc(1, sizeof(*e));\n    if (e == NULL)\n        return REDIS_ERR;\n").replace("= loop;", "= EV_A;");
    assert_eq!(made, expected);
}

#[test]
fn transport_damage_is_repaired_and_reported() {
    for (repair, reason_told, text, old, new, result) in [
        (
            "escaped line ends",
            "escaped_line_ends",
            "one line here\nanother line here\nx\n",
            "one line here\\nanother line here",
            "one line here\\nthe other",
            "one line here\nthe other\nx\n",
        ),
        (
            "line numbers",
            "line_numbers",
            "alpha one\nbeta two\ngamma\n",
            "  1\talpha one\n  2\tbeta two",
            "  1\talpha one\n  2\tbeta 2",
            "alpha one\nbeta 2\ngamma\n",
        ),
        (
            "escaped quotes",
            "escaped_quotes",
            "say(\"hello\", \"world\");\nx\n",
            "say(\\\"hello\\\", \\\"world\\\");",
            "say(\\\"bye\\\", \\\"world\\\");",
            "say(\"bye\", \"world\");\nx\n",
        ),
        (
            "escaped quotes",
            "escaped_quotes",
            "const s = `a ${x} b`;\ny\n",
            "const s = `a \\${x} b`;",
            "const s = `a \\${z} b`;",
            "const s = `a ${z} b`;\ny\n",
        ),
        (
            "doubled backslashes",
            "doubled_backslashes",
            "let r = /\\d+\\s/;\nx\n",
            "let r = /\\\\d+\\\\s/;",
            "let r = /\\\\d*\\\\s/;",
            "let r = /\\d*\\s/;\nx\n",
        ),
        (
            "HTML entities",
            "html_entities",
            "if (a < b && c > d) {\n  go();\n}\n",
            "if (a &lt; b &amp;&amp; c &gt; d) {\n  go();\n}",
            "if (a &lt; b &amp;&amp; c &gt; d) {\n  stop();\n}",
            "if (a < b && c > d) {\n  stop();\n}\n",
        ),
        (
            "Unicode escapes",
            "unicode_escapes",
            "say('a – b');\nx\n",
            "say('a \\u2013 b');",
            "say('a \\u2014 b');",
            "say('a — b');\nx\n",
        ),
        (
            "characters that the file escapes",
            "unescaped_characters",
            "say('a \\u2013\\xa0b');\nx\n",
            "say('a –\u{a0}b');",
            "say('a —\u{a0}b');",
            "say('a \\u2014\\xa0b');\nx\n",
        ),
    ] {
        let (made, plan) = run_fuzzy_edit(repair, text, old, new);
        // Repairs that no other reading contradicts are made in the default mode.
        let literal = reason_told.contains("unicode") || reason_told.contains("html");
        let (tier, stricter) = match literal || reason_told == "unescaped_characters" {
            true => (Tier::Whitespace, Strictness::Exact),
            false => (Tier::Fuzzy, Strictness::Whitespace),
        };
        assert_eq!((made.as_str(), plan.edits[0].tier), (result, tier), "{repair}");
        assert_eq!(plan.edits[0].repairs, [repair]);
        // A stricter edit is refused with the reason.
        let error = run_edit(text, old, new, stricter).unwrap_err();
        assert_eq!(error_reason(&error), reason_told, "{error}");
    }
}

#[test]
fn new_lines_take_the_style_of_the_file() {
    let tabs = format!("a\nb\n{}", "\ty\n".repeat(40));
    let spaces = format!("{}a\nb\n", "  x\n".repeat(40));
    for (name, text, old, new, result) in [
        (
            "a file of tabs teaches what no line does",
            tabs.as_str(),
            "a \nb",
            "a\n    deep\n        deeper\nb",
            tabs.replacen("a\n", "a\n\tdeep\n\t\tdeeper\n", 1),
        ),
        (
            "a file of blanks does too",
            spaces.as_str(),
            "a \nb",
            "a\n\tdeep\n\t\tdeeper\nb",
            spaces.replacen("a\n", "a\n  deep\n    deeper\n", 1),
        ),
        (
            "one known depth of tabs",
            "\t\tb();\n\t\tc();\n",
            "        b();\n        c();",
            "        if x {\n            b();\n        }\n        c();\n    }",
            "\t\tif x {\n\t\t\tb();\n\t\t}\n\t\tc();\n\t}\n".to_owned(),
        ),
        (
            "one known depth of blanks",
            "    b();\n    c();\n",
            "\tb();\n\tc();",
            "\tif x {\n\t\tb();\n\t}\n\tc();",
            "    if x {\n        b();\n    }\n    c();\n".to_owned(),
        ),
        (
            "curly quotes",
            "say \u{201c}hello there\u{201d} now\nit\u{2019}s fine and well\n",
            "say \"hello there\" now\nit's fine and well",
            "say \"hello there\" now\nit's good and \"well\"",
            "say \u{201c}hello there\u{201d} now\nit\u{2019}s good and \u{201c}well\u{201d}\n"
                .to_owned(),
        ),
        (
            "plain quotes",
            "say \"hello there\" now\nit's fine and well\n",
            "say \u{201c}hello there\u{201d} now\nit\u{2019}s fine and well",
            "say \u{201c}hello there\u{201d} now\nit\u{2019}s good and \u{2018}well\u{2019}",
            "say \"hello there\" now\nit's good and 'well'\n".to_owned(),
        ),
        (
            "two hyphens for a dash",
            "one -- two and three\nfour\n",
            "one \u{2014} two and three\nfour",
            "one \u{2014} two and three\nfour \u{2014} five",
            "one -- two and three\nfour -- five\n".to_owned(),
        ),
    ] {
        assert_eq!(run_fuzzy_edit(name, text, old, new).0, result, "{name}");
    }
}

#[test]
fn lines_that_both_texts_leave_out_stay() {
    let text = "fn a() {\n\tlet x = \u{201c}one\u{201d};\n\tlet y = 2;\n\tlet z = 3;\n\tdone(x, y, z);\n}\n";
    let old = "fn a() {\n    let x = \"one\";\n    ...\n    done(x, y, z);\n}";
    let new = "fn a() {\n    let x = \"two\";\n    ...\n    done(x, z);\n}";
    let (made, _) = run_fuzzy_edit("elided", text, old, new);
    assert_eq!(made, text.replace("\u{201c}one", "\u{201c}two").replace("x, y, z", "x, z"));

    let twice = format!("{0}{0}", "fn a() {\n  let x = 1;\n  let y = 2;\n  done(x);\n}\n");
    let (old, new) = ("let x = 1;\n  ...\n  done(x);", "let x = 2;\n  ...\n  done(x);");
    let error = run_edit(&twice, old, new, Strictness::Fuzzy).unwrap_err();
    assert_eq!(error.code, crate::error::Code::MatchNotUnique, "{error}");

    let one_sided = "let x = 1;\n  done(x);";
    let error = run_edit(&twice, old, one_sided, Strictness::Fuzzy).unwrap_err();
    assert_eq!(error_reason(&error), "elided", "{error}");
}

#[test]
fn an_unmentioned_line_is_never_lost() {
    let file = |amid: &str| {
        format!(
            "begin_all();\nconst alpha = make(1);\nconst beta = make(2);\n{amid}const gamma = make(3);\nconst delta = make(4);\nfinish(alpha, beta, gamma, delta);\n"
        )
    };
    let (old, rest) = (file(""), "begin_all();\nrun_everything(1, 2, 3, 4);\n");
    let error =
        run_edit(&file("const secret = keep();\n"), &old, rest, Strictness::Fuzzy).unwrap_err();
    assert_eq!(error_reason(&error), "unmentioned_line", "{error}");
    assert!(error.message.contains("file 4: const secret = keep();"), "{error}");
    // A comment keeps its position.
    let text = "first_call(a, b);\n// why this is so\nsecond_call(d, e);\n";
    let (made, _) = run_fuzzy_edit(
        "a remark",
        text,
        "first_call(a, b);\nsecond_call(d, e);",
        "first_call(a);\nsecond_call(e);",
    );
    assert_eq!(made, "first_call(a);\n// why this is so\nsecond_call(e);\n");
}

#[test]
fn a_line_forgotten_only_by_the_old_text_occurs_once() {
    // Punctuation is enough to recognise a comment.
    let text = "/// # ;\n/// ```\nimpl<'a, Q> Index<&'a Q> for Map\nwhere\n    Q: Ord,\n";
    let old = "/// # ;\nimpl<'a, Q> Index<&'a Q> for Map\nwhere\n    Q: Ord,";
    let new = "/// # ;\n/// ```\nimpl<Q> Index<&Q> for Map\nwhere\n    Q: Ord,";
    let (made, _) = run_fuzzy_edit("the end of an example", text, old, new);
    assert_eq!(made, format!("{new}\n"));
    // A line of code that the new text has at another position is neither duplicated nor moved.
    let text = "run_all();\n\n\ndef test_scheme():\n    with raises(ValueError):\n        make_client(proxies=ADDRESS)\n\n\nend_of_it();\n";
    let old = "run_all();\n\n\n    with rasies(ValueError):\n        make_client(proxies=ADDRESS)\n\n\nend_of_it();";
    let new = "run_all();\n\n\ndef test_deprecated_scheme():\n    with warns(Deprecation), raises(ValueError):\n        make_client(proxies=ADDRESS)\n\n\ndef test_scheme():\n    with raises(ValueError):\n        make_client(proxy=ADDRESS)\n\n\nend_of_it();";
    let error = run_edit(text, old, new, Strictness::Fuzzy).unwrap_err();
    assert_eq!(error_reason(&error), "unmentioned_line", "{error}");
}

#[test]
fn other_punctuation_in_the_old_text_hides_neither_a_change_nor_a_typo() {
    for (name, text, old, new, result) in [
        (
            "a line that begins in the middle teaches its quotes",
            "        ({\"first_name\": \"http://a\"}, {}),\n    ],\n",
            "\u{201c}http://a\u{201d}}, {}),\n    ],",
            "\u{201c}http://a\u{201d}}, {}),\n        ({\u{201c}second\u{201d}: None}, {}),\n    ],",
            "        ({\"first_name\": \"http://a\"}, {}),\n        ({\"second\": None}, {}),\n    ],\n",
        ),
        (
            "a line with other quotes and a slip stays",
            "    fail(text + \"not the same\");\n    String shown = \"\";\n    if (is_ready) {\n",
            "    fail(text + \u{201c}not the same\u{201d});\n    String shown = \u{201c}\u{201d}\n    if (is_ready) {",
            "    fail(other + \"not the same\");\n    String shown = \"\"\n    if (is_ready) {",
            "    fail(other + \"not the same\");\n    String shown = \"\";\n    if (is_ready) {\n",
        ),
        (
            "blanks are changed in a line with one odd blank",
            "| Name | Kind |\n| :--- | :--- |\n| `id` | text of it |\n",
            "| Name\u{a0}| Kind |\n| :--- | :--- |\n| `id` | text of it |",
            "| Name | Kind       |\n| :--- | :--------- |\n| `id` | text of it |",
            "| Name | Kind       |\n| :--- | :--------- |\n| `id` | text of it |\n",
        ),
    ] {
        assert_eq!(run_fuzzy_edit(name, text, old, new).0, result, "{name}");
    }
}

#[test]
fn new_text_is_unchanged_if_the_old_text_lost_all_indentation() {
    let text = "start(\"a name of the test\", (t, done) => {\n  plan(4)\n  listen(port, err => {\n    after(() => close())\n    done()\n  })\n})\n";
    let old: Vec<&str> = text.lines().map(str::trim).collect();
    let new = "start(\"a name of the test\", async t => {\n  plan(3)\n  await server\n  after(() => close())\n})";
    assert_eq!(run_fuzzy_edit("flat", text, &old.join("\n"), new).0, format!("{new}\n"));
}

#[test]
fn a_line_is_removed_although_the_others_have_a_typo() {
    let text = "    #[inline]\n    fn visit_unit(self) -> Result<Value>\n    {\n";
    let old = "#[inline]\nfn visit_unit(self) -> Rseult<Value>";
    let (made, _) = run_fuzzy_edit("removed", text, old, "fn visit_unit(self) -> Result<Value>");
    assert_eq!(made, "    fn visit_unit(self) -> Result<Value>\n    {\n");
}

#[test]
fn a_refusal_lists_every_position_as_similar_as_the_best() {
    let method = |at: usize| {
        format!(
            "     */\n    @Quiet(\"all\")\n    public static void check{at}(int a) {{\n    }}\n\n"
        )
    };
    let text: String = (0..15).map(method).collect();
    let old = "     */\n    @Quiet(\\\"all\\\")\n    public static";
    let error = run_edit(&text, old, "     */\n    public static", Strictness::Fuzzy).unwrap_err();
    assert_eq!(error.code, crate::error::Code::MatchNotUnique, "{error}");
    assert!(error.message.contains("15 places"), "{error}");
}

#[test]
fn new_text_keeps_the_indentation_of_the_file_when_only_old_text_lost_it() {
    for (name, text, old, new, result) in [
        (
            "nothing in common",
            "fn f() {\n        let total: u32 = sum(&list);\n        show(total);\n}\n",
            "let total: u32 = sum(&list);\nshow(total);",
            "        print_everything();",
            "fn f() {\n        print_everything();\n}\n",
        ),
        (
            "flattened depths",
            "def f():\n    with place():\n        open_door(\"a\")\n\n        read_all(\"a\")\n",
            "with place():\nopen_door(\"a\")\n\nread_all(\"a\")",
            "    door = place() / \"a\"\n    door.open()\n\n    read_all(f\"{door}\")",
            "def f():\n    door = place() / \"a\"\n    door.open()\n\n    read_all(f\"{door}\")\n",
        ),
        (
            "flattened behind a part of a line",
            "func a() {\n\tif b {\n\t\treturn c.parent.Name()\n\t}\n\treturn `x\n`\n}\n\nfunc z() {\n}\n",
            "c.parent.Name()\n}\nreturn `x\n`\n}",
            "c.parent.Name()\n\t}\n\treturn other\n}\n\nfunc d() {\n\tif e {\n\t\tgo()\n\t}\n}",
            "func a() {\n\tif b {\n\t\treturn c.parent.Name()\n\t}\n\treturn other\n}\n\nfunc d() {\n\tif e {\n\t\tgo()\n\t}\n}\n\nfunc z() {\n}\n",
        ),
        (
            "spaces of one width throughout",
            "\t\tdef start(root, name = 'plain')\n\t\tend\n",
            "    def start(root, name = 'plain')\n",
            "    class Call\n      def run\n        go\n      end\n    end\n\n    def start(root, name = 'plain')\n",
            "\t\tclass Call\n\t\t\tdef run\n\t\t\t\tgo\n\t\t\tend\n\t\tend\n\n\t\tdef start(root, name = 'plain')\n\t\tend\n",
        ),
        (
            "flattened from the margin on",
            "var (\n\tonce   sync.Once\n\tengine *Engine\n)\n\nfunc get() *Engine {\n\tonce.Do(func() {\n\t\tengine = start()\n\t})\n\treturn engine\n}\n",
            "var (\nonce   sync.Once\nengine *Engine\n)\n\nfunc get() *Engine {\nonce.Do(func() {\nengine = start()\n})\nreturn engine\n}",
            "var get = sync.OnceValue(func() *Engine {\n        return start()\n})",
            "var get = sync.OnceValue(func() *Engine {\n\treturn start()\n})\n",
        ),
        (
            "flattened at one depth behind a part of a line",
            "  it \"works\" do\n    req = make \\\n      env_for(\"/\", \"HOST\" => \"nic\")\n    req.host.must_equal \"nic\"\n    req.name.must_equal \"nic\"\n\n    x\n",
            "\"HOST\" => \"nic\")\nreq.host.must_equal \"nic\"\nreq.name.must_equal \"nic\"\n",
            "\"HOST\" => \"nic\")\n    req.host.must_be_nil\n    req.name.must_be_nil\n",
            "  it \"works\" do\n    req = make \\\n      env_for(\"/\", \"HOST\" => \"nic\")\n    req.host.must_be_nil\n    req.name.must_be_nil\n\n    x\n",
        ),
        (
            "steps of two behind a shift",
            "\t\t\tend\n\n\t\t\t# Reads on until it finds the end.\n",
            "        end\n\n        # Reads on until it finds the end.",
            "        end\n\n        def update(size)\n          if size > MOST\n            raise Error\n          end\n        end\n\n        # Reads on until it finds the end.",
            "\t\t\tend\n\n\t\t\tdef update(size)\n\t\t\t\tif size > MOST\n\t\t\t\t\traise Error\n\t\t\t\tend\n\t\t\tend\n\n\t\t\t# Reads on until it finds the end.\n",
        ),
        (
            "a line that moves into a block",
            "fn a() {\n\t\tset(\"A\", \"B\");\n\n\t\tb();\n}\n",
            "fn a() {\n        set(\"A\", \"B\");\n",
            "fn a() {\n        unsafe {\n                set(\"A\", \"B\");\n        }\n",
            "fn a() {\n\t\tunsafe {\n\t\t\t\tset(\"A\", \"B\");\n\t\t}\n\n\t\tb();\n}\n",
        ),
        (
            "a line that lacks its end",
            "    }\n\n    return element;\n}\n",
            "\nreturn element",
            "\nif (element == NULL) {\n    return NULL;\n}\n\nreturn element",
            "    }\n\n    if (element == NULL) {\n        return NULL;\n    }\n\n    return element;\n}\n",
        ),
    ] {
        assert_eq!(run_fuzzy_edit(name, text, old, new).0, result, "{name}");
    }
}

#[test]
fn lines_that_end_like_those_after_the_position_are_new() {
    let text = "fn one() {\n    setup_all();\n    first(x);\n    return value_of(x);\n}\n";
    let old = "    setup_all();\n    frist(x);";
    let new = "    setup_all();\n    first(x);\n    return value_of(x);\n}\n\nfn two() {\n    setup_all();\n    second(x);";
    let result = "fn one() {\n    setup_all();\n    first(x);\n    return value_of(x);\n}\n\nfn two() {\n    setup_all();\n    second(x);\n    return value_of(x);\n}\n";
    assert_eq!(run_fuzzy_edit("functions that end alike", text, old, new).0, result);
}

#[test]
fn lines_that_old_text_forgot_and_new_text_moves_are_refused() {
    let text = "end\n\nfunction M:destroy()\n  local w = self.watcher\n  if w and not w:is_closing() then\n    w:close()\n  end\n  self.repo:unref()\nend\n";
    let old = "\n     local w = self.watcher\n     if w and not w:is_closing() then\n       w:close()\n     end\n     self.repo:unref()\n   end";
    let new = "\n   function M:times()\n     if self.blame then\n       go()\n     end\n\n     return self.blame.times\n   end\n\n   function M:destroy()\n     self.repo:close()\n   end";
    let error = run_edit(text, old, new, Strictness::Fuzzy).unwrap_err();
    assert_eq!(error_reason(&error), "unmentioned_line", "{error}");
    assert_eq!(error.details["line"], 3);
}

#[test]
fn similar_positions_a_few_lines_apart_are_ambiguous() {
    let text = "type A<T> = {\n\t[OPEN_DOOR]: T\n} & Base\n\n\t[OPEN_DOOR]: T\n} & Base\n";
    let (old, new) = ("\t[OEPN_DOOR]: T\n} & Base", "\t[OEPN_DOOR]: T\n} & Base\n\ntype B = 1");
    let error = run_edit(text, old, new, Strictness::Fuzzy).unwrap_err();
    assert_eq!(error.code, crate::error::Code::MatchNotUnique, "{error}");
    assert!(error.message.contains("lines 2, 5"), "{error}");
}

#[test]
fn blank_lines_that_only_the_edit_has_are_dropped_where_they_are() {
    let text = "}\n\n/* Reads it. */\nint read_it(char *text)\n{\n    go();\n}\n";
    let old = "}\n\n/* Reads it. */\nint read_it(char *text)\n\n{\n    go();";
    let new = "}\n\nint read_it(char *text)\n\n{\n    int size;\n\n    if (text == NULL)\n    {\n        return 0;\n    }\n\n    /* One more. */\n    size = length(text) + 1;\n\n    return read_all(text, size);\n}\n\n/* Reads it. */\nint read_all(char *text, int size)\n{\n    go();";
    let result = format!("{}\n}}\n", new.replacen("text)\n\n{", "text)\n{", 1));
    assert_eq!(run_fuzzy_edit("a blank line before a brace", text, old, new).0, result);
}

#[test]
fn white_space_at_the_end_of_a_line_stays_there() {
    for (name, text, old, new, result) in [
        (
            "lines are added after it",
            "def a():\n    pass\n\n    check(x)  \n\n",
            "\n    check(x)",
            "\n    check(x)\n\n\ndef b():\n    check(y)",
            "def a():\n    pass\n\n    check(x)  \n\n\ndef b():\n    check(y)\n\n",
        ),
        (
            "old text has a part of it",
            "x\n\ndef check(x):  \n    pass\n",
            "\ndef check(x): ",
            "\ndef other(x):\n    pass\n\n\ndef check(x):",
            "x\n\ndef other(x):\n    pass\n\n\ndef check(x):  \n    pass\n",
        ),
        (
            "the next line is repeated without it",
            "class Kind(Base):\n    name = \"kind\"  \n\n    x\n",
            "class Kind(Base):\n",
            "class Kind(Base[bool]):\n    name = \"kind\"\n",
            "class Kind(Base[bool]):\n    name = \"kind\"  \n\n    x\n",
        ),
        (
            "the new text adds it",
            "some words of a first line\nend\n",
            "some wrods of a first line\nend",
            "some words of a first line here  \nend",
            "some words of a first line here  \nend\n",
        ),
    ] {
        assert_eq!(run_fuzzy_edit(name, text, old, new).0, result, "{name}");
    }
}

#[test]
fn quotes_are_learned_from_lines_that_old_text_joins() {
    let text = "open_all();\ncall(\"one\",\n    \"two\");\nclose_all();\nx('a');\ny('b');\n";
    let old = "open_all();\ncall(\u{201c}one\u{201d}, \u{201c}two\u{201d});\nclose_all();";
    let new = old.replace("close_all", "call(\u{201c}three\u{201d});\nclose_all");
    let made = run_fuzzy_edit("joined", text, old, &new).0;
    assert_eq!(made, text.replace("close_all", "call(\"three\");\nclose_all"));
}

#[test]
fn refusals_show_the_lines_that_were_meant() {
    let functions: String = (0..30)
        .map(|at| format!("export const step{at}: Step<Value> = (_schema, ctx, _json, _params) => {{\n  run({at});\n}};\n\n"))
        .collect();
    let text = format!(
        "{functions}export const whole: Step<Value> = (schema, ctx, _json, params) => {{\n  go();\n}};\n\nimport (\n\t\"bytes\"\n\t\"testing\"\n)\n"
    );
    for (name, old, new, line) in [
        (
            "broken differently",
            "\nexport const whole: Step<Value> = (schema,\nctx, _json, parmas) => {",
            "x\ny",
            "line 121",
        ),
        (
            "line numbers",
            "121|export const whole: Step<Value> = (schema,\n122|    ctx, json, params) => {",
            "x",
            "line 121",
        ),
        (
            "elisions",
            "export const whole: Step<Value> = (schema, ctx, _json, params) => {\n  // ...\n  gone();\n// ...\n};",
            "export const whole: Step<Value> = (schema, ctx, _json, params) => {\n};",
            "line 121",
        ),
        (
            "little text",
            "ipmort (\n\t\"bytse\"\n\t// ... existing code ...\n\t\"testing\"",
            "x",
            "line 12",
        ),
    ] {
        let error = run_edit(&text, old, new, Strictness::Fuzzy).unwrap_err();
        assert!(error.message.contains(line), "{name}: {error}");
        assert!(error.message.len() < 2_048, "{name}");
    }
}

#[test]
fn a_line_as_sent_is_kept_rather_than_a_similar_one() {
    let text = "value = 1\nfinish();\n";
    let (old, new) = ("value=1\nfinish();", "value = 1\nbegin();\nvalue=1\nfinish();");
    let result = "value = 1\nbegin();\nvalue = 1\nfinish();\n";
    assert_eq!(run_fuzzy_edit("a line twice", text, old, new).0, result);
}

#[test]
fn a_line_that_would_begin_within_a_word_is_not_found() {
    let text = "newstyle_names = {\n    \"main\": \"<title>one</title>\",\n    \"child\": \"<body>two</body>\",\n}\n";
    let old =
        "names = {\n    \"main\": \"<title>one</title>\",\n    \"child\": \"<body>two</body>\",";
    let new = old.replace("main", "default");
    assert!(run_edit(text, &format!("\n{old}"), &format!("\n{new}"), Strictness::Fuzzy).is_err());
}

#[test]
fn an_ambiguous_edit_lists_all_positions_that_are_nearly_as_similar() {
    let block = |end| {
        format!(
            "def test_{end}():\n    result = run(function())\n    assert result == \"{end}\"\n\n"
        )
    };
    let text: String = ["one", "two", "three", "four"].map(block).concat();
    let (old, new) =
        ("    result = run(fnuction())\n    assert result", "    result = go()\n    assert result");
    let error = run_edit(&text, old, new, Strictness::Fuzzy).unwrap_err();
    assert!(error.message.contains("lines 2, 6, 10, 14"), "{error}");
}

/// The lines of a text that begins and ends inside lines of the file.
const INSIDE: [&str; 5] = [
    "export function alphabet(first, second) {",
    "  const total = first + second;",
    "",
    "  report(total, overall);",
    "  return total * overall + offset;",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A text that begins and ends at any character of its lines is found where the lines between
    /// differ in white space, and only the changed line changes.
    #[test]
    fn a_text_that_begins_and_ends_inside_lines_is_found(
        head in 1..28usize,
        tail in 1..20usize,
        blanks in " {2,3}",
        indent in " {0,4}",
    ) {
        let file = format!("before();\n{}\n}}\nafter();\n", INSIDE.join("\n"));
        let last = INSIDE[4];
        let lines = |sign: &str| {
            [
                INSIDE[0][head..].to_owned(),
                format!("{indent}const total = first{blanks}{sign} second;"),
                String::new(),
                format!("{indent}report(total, overall);"),
                last[..last.len() - tail].to_owned(),
            ]
            .join("\n")
        };
        let made = made_text(&file, &lines("+"), &lines("-"));
        let meant = file.replace("first +", "first -");
        prop_assert_eq!(made.as_deref().map(without_blanks), Some(without_blanks(&meant)));
    }

    /// A blank line that only the old text has takes none away from the file.
    #[test]
    fn a_superfluous_blank_line_takes_none_away(
        at in 1..5usize,
        count in 1..3usize,
        changed in 0..5usize,
    ) {
        let file = format!("before();\n{}\n}}\nafter();\n", INSIDE.join("\n"));
        let mut old: Vec<&str> = INSIDE.to_vec();
        for _ in 0..count {
            old.insert(at, "");
        }
        let mut new: Vec<String> = INSIDE.iter().map(|line| (*line).to_owned()).collect();
        if new[changed].is_empty() {
            new.insert(changed, "  added();".to_owned());
        } else {
            new[changed].push_str(" // changed");
        }
        let made = made_text(&file, &old.join("\n"), &new.join("\n"));
        let meant = format!("before();\n{}\n}}\nafter();\n", new.join("\n"));
        prop_assert_eq!(made, Some(meant));
    }
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| *c != ' ').collect()
}

fn made_text(text: &str, old: &str, new: &str) -> Option<String> {
    let plan = run_edit(text, old, new, Strictness::Whitespace).ok()?;
    String::from_utf8(plan.bytes).ok()
}
