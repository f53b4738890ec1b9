/* The grammar of flow for tree-sitter: rule by rule that of compiler/syntax/grammar.y. All tokens come from src/scanner.c, which does what
   compiler/syntax/lexer.re and layout.c do: which newlines end a statement, which words are names. */
const words = require("./words.json");

const SIGNS = ["(", ")", "[", "]", "{", "}", ",", ".", ":", "=", "+=", "=>", "->", "|>", "??", "?", "==", "!=", "<", "<=", ">", ">=", "~=", "..",
  "+", "-", "*", "/", "//", "%", "@", "^"];

const LEVEL = { lambda: 1, pipe: 2, default: 3, or: 4, and: 5, not: 6, compare: 7, range: 8, by: 9, add: 10, multiply: 11, negate: 12, power: 13 };

const BINARY = [["|>", LEVEL.pipe], ["??", LEVEL.default], ["or", LEVEL.or], ["and", LEVEL.and],
  ...["==", "!=", "<", "<=", ">", ">=", "~=", "in"].map((sign) => [sign, LEVEL.compare]),
  ...["+", "-"].map((sign) => [sign, LEVEL.add]), ...["*", "/", "//", "%", "@"].map((sign) => [sign, LEVEL.multiply])];

const list = (item) => seq(item, repeat(seq(",", item)));

module.exports = grammar({
  name: "flow",

  externals: ($) => [$.identifier, $.integer, $.float, $.version, $._newline, $._join, $.comment, $.doc_comment, $.raw_text, $._text_begin,
    $._text_end, $.text_content, $.escape, $._interpolation_begin, $._interpolation_end, $.format, $._wildcard, $._transposing, $._bad,
    ...words.words, ...SIGNS],

  extras: ($) => [/\s/, $.comment, $.doc_comment, $._join],

  supertypes: ($) => [$._statement],

  rules: {
    source_file: ($) => repeat(seq($._statement, $._newline)),

    _statement: ($) => choice($.let_statement, $.var_statement, $.assignment, $.expression_statement, $.for_statement, $.while_statement,
      $.break_statement, $.continue_statement, $.assert_statement, $.function_definition, $.stage_definition, $.extern_definition,
      $.type_definition, $.param_definition, $.import_statement, $.requires_statement, $.test_definition),

    let_statement: ($) => seq("let", field("pattern", $._pattern), optional($._annotation), "=", field("value", $._expression)),
    var_statement: ($) => seq("var", field("pattern", $._pattern), optional($._annotation), "=", field("value", $._expression)),
    assignment: ($) => seq(field("target", $._expression), choice("=", "+="), field("value", $._expression)),
    expression_statement: ($) => $._expression,
    for_statement: ($) => seq("for", field("pattern", $._pattern), "in", field("value", $._value), field("body", $.block)),
    while_statement: ($) => seq("while", field("condition", $._value), field("body", $.block)),
    break_statement: () => "break",
    continue_statement: () => "continue",
    assert_statement: ($) => seq("assert", $._expression, optional(seq(",", $._expression))),

    function_definition: ($) => seq(repeat($._attribute_line), "fn", field("name", $.identifier), $.parameters, optional($._result), $._body),
    stage_definition: ($) => seq(repeat($._attribute_line), "stage", field("name", $.identifier), $.parameters, optional($._result), $._body),
    extern_definition: ($) => seq(repeat($._attribute_line), "extern", "fn", field("name", $.identifier), $.parameters, "->", field("result", $._type),
      "from", $._plain_text),
    type_definition: ($) => seq("type", field("name", $.identifier), optional(seq("[", list($.identifier), "]")), "=", field("type", $._type)),
    param_definition: ($) => seq("param", field("name", $.identifier), $._annotation, optional(seq("=", field("value", $._expression)))),
    import_statement: ($) => seq("import", list($.import_item)),
    import_item: ($) => seq(field("module", choice($.identifier, $._plain_text)), optional(seq("as", field("name", $.identifier)))),
    requires_statement: ($) => seq("requires", $.identifier, list(seq(choice(">=", ">", "<=", "<", "=="), $.version))),
    test_definition: ($) => seq("test", field("name", $._plain_text), field("body", $.block)),

    _annotation: ($) => seq(":", field("type", $._type)),
    _result: ($) => seq("->", field("result", $._type)),
    _body: ($) => choice(field("body", $.block), seq("=", field("body", $._expression))),
    parameters: ($) => seq("(", optional(seq(list($.parameter), optional(","))), ")"),
    parameter: ($) => seq(field("name", $.identifier), optional($._annotation), optional(seq("=", field("value", $._expression)))),
    _attribute_line: ($) => seq($.attribute, optional($._newline)),
    attribute: ($) => seq("@", field("name", $.identifier), optional($.arguments)),

    block: ($) => seq("{", optional(seq($._statement, repeat(seq($._newline, $._statement)))), "}"),

    // Patterns.
    _pattern: ($) => choice($.identifier, $.wildcard, $.tuple_pattern),
    tuple_pattern: ($) => seq("(", list($._pattern), optional(","), ")"),
    wildcard: ($) => $._wildcard,
    _case: ($) => choice($.identifier, $.wildcard, alias($._case_tuple, $.tuple_pattern), $._constant, $.range_pattern),
    _case_tuple: ($) => seq("(", list($._case), optional(","), ")"),
    range_pattern: ($) => choice(seq($._constant, "..", optional($._constant)), seq("..", $._constant)),
    _constant: ($) => choice($.integer, $.float, $.negative, $._plain_text, $.true, $.false, $.null),
    negative: ($) => seq("-", choice($.integer, $.float, $.identifier)),

    // Types.
    _type: ($) => choice($._plain_type, $.function_type),
    function_type: ($) => seq($._plain_type, "->", $._type),
    _plain_type: ($) => choice($.type_name, $.decimal_type, $.wildcard, $.option_type, $.array_type, $.typeof_type, $.tuple_type),
    type_name: ($) => seq(optional(seq(field("module", $.identifier), ".")), field("name", $.identifier)),
    decimal_type: ($) => seq(field("name", $.identifier), "(", $.integer, ",", $.integer, ")"),
    option_type: ($) => seq($._plain_type, "?"),
    array_type: ($) => seq($._plain_type, "[", list($.dimension), "]"),
    dimension: ($) => choice($.wildcard, $.integer, seq($.identifier, optional(seq(choice("+", "-"), $.integer)))),
    typeof_type: ($) => seq("typeof", "(", $._expression, ")"),
    tuple_type: ($) => seq("(", optional(choice("..", seq(list($.type_field), optional(seq(",", optional("..")))))), ")"),
    type_field: ($) => seq(optional(seq(field("name", $.identifier), ":")), field("type", $._type)),

    // Expressions.
    _expression: ($) => choice($._value, $.lambda),
    lambda: ($) => prec.right(LEVEL.lambda, seq(field("parameters", $._value), "=>", field("body", $._expression))),

    _value: ($) => choice($.binary_expression, $.unary_expression, $.range, $._postfix, $.if_expression, $.match_expression, $.block),
    binary_expression: ($) => choice(
      ...BINARY.map(([sign, level]) => prec.left(level, seq(field("left", $._value), field("operator", sign), field("right", $._value)))),
      prec.right(LEVEL.power, seq(field("left", $._value), field("operator", "^"), field("right", $._value)))),
    unary_expression: ($) => choice(prec.right(LEVEL.not, seq("not", $._value)), prec.right(LEVEL.negate, seq("-", $._value))),
    range: ($) => choice(prec.left(LEVEL.range, seq($._value, "..", $._value)), prec.left(LEVEL.by, seq($._value, "..", $._value, "by", $._value))),
    if_expression: ($) => seq("if", field("condition", $._value), field("then", $.block),
      optional(seq("else", field("else", choice($.block, $.if_expression))))),
    match_expression: ($) => seq("match", field("value", $._value), "{", $.arm, repeat(seq(choice(",", $._newline), $.arm)), optional(","), "}"),
    arm: ($) => seq(field("pattern", $._case), optional(seq("if", field("guard", $._value))), "=>", field("body", $._expression)),

    _postfix: ($) => choice($._transposable, $._literal),
    _transposable: ($) => choice($.identifier, $.call, $.reduction, $.index, $.member, $.transpose, $.outer, $.column, $.tuple, $.array, $.comprehension),
    call: ($) => seq(field("function", $._postfix), field("arguments", $.arguments)),
    reduction: ($) => seq(field("function", $._postfix), "(", "for", $._clauses, $._comprehension_body, optional(seq(",", optional($._arguments))), ")"),
    index: ($) => seq(field("value", $._postfix), "[", list($.subscript), optional(","), "]"),
    member: ($) => seq(field("value", $._postfix), ".", field("name", $.identifier)),
    transpose: ($) => seq($._transposable, alias($._transposing, "'")),

    arguments: ($) => seq("(", optional($._arguments), ")"),
    _arguments: ($) => seq(list(choice($._expression, $.named_argument)), optional(",")),
    named_argument: ($) => seq(field("name", $.identifier), "=", field("value", $._expression)),
    subscript: ($) => choice($._expression, seq($._value, ".."), seq($._value, "..", "by", $._value), seq("..", $._value),
      seq("..", $._value, "by", $._value), seq("..", "by", $._value), "..", ":", "new"),

    _literal: ($) => choice($.wildcard, $.integer, $.float, $.true, $.false, $.null, $.text, $.raw_text),
    true: () => "true",
    false: () => "false",
    null: () => "null",
    outer: ($) => seq("outer", ".", field("name", $.identifier)),
    column: ($) => seq("col", ".", field("name", $.identifier)),
    tuple: ($) => seq("(", optional(seq(list($._item), optional(seq(",", optional(".."))))), ")"),
    _item: ($) => choice($._expression, $.named_argument, alias($._typed_name, $.type_field)),
    _typed_name: ($) => seq(field("name", $.identifier), ":", field("type", $._type)),
    array: ($) => seq("[", optional(seq(list($._expression), optional(","))), "]"),
    comprehension: ($) => seq("[", "for", $._clauses, $._comprehension_body, "]"),
    _clauses: ($) => seq($.generator, repeat(choice(seq(",", $.generator), seq(optional(","), $.filter)))),
    generator: ($) => seq(field("pattern", $._pattern), "in", field("value", $._value)),
    filter: ($) => seq("if", $._value),
    _comprehension_body: ($) => choice(seq(":", field("body", $._expression)), field("body", $.block)),

    // Texts.
    _plain_text: ($) => choice(alias($._text_without_values, $.text), $.raw_text),
    _text_without_values: ($) => seq(alias($._text_begin, '"'), repeat(choice($.text_content, $.escape)), alias($._text_end, '"')),
    text: ($) => seq(alias($._text_begin, '"'), repeat(choice($.text_content, $.escape, $.interpolation)), alias($._text_end, '"')),
    interpolation: ($) => seq(alias($._interpolation_begin, "{"), optional(seq($._expression, optional($.format))), alias($._interpolation_end, "}")),
  },
});
