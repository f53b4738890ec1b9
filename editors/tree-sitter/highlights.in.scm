(comment) @comment
(doc_comment) @comment.documentation

(integer) @number
(float) @number.float
(version) @number
[(true) (false)] @boolean
(null) @constant.builtin
(text) @string
(raw_text) @string
(escape) @string.escape
(format) @string.special
(interpolation "{" @punctuation.special "}" @punctuation.special)

(identifier) @variable
((identifier) @constant.builtin (#any-of? @constant.builtin "inf" "nan" "pi"))
(member name: (identifier) @variable.member)
(column name: (identifier) @variable.member)
(outer name: (identifier) @variable.member)
(named_argument name: (identifier) @variable.parameter)
(type_field name: (identifier) @variable.member)
(parameter name: (identifier) @variable.parameter)
(param_definition name: (identifier) @variable.parameter)
(import_item module: (identifier) @module)
(import_item name: (identifier) @module)
(attribute "@" @attribute name: (identifier) @attribute)

(call function: (identifier) @function.call)
(call function: (member name: (identifier) @function.call))
(reduction function: (identifier) @function.call)
((call function: (identifier) @function.builtin) (#any-of? @function.builtin @BUILTIN@))
((reduction function: (identifier) @function.builtin) (#any-of? @function.builtin @BUILTIN@))
((binary_expression operator: "|>" right: (identifier) @function.builtin) (#any-of? @function.builtin @BUILTIN@))
(function_definition name: (identifier) @function)
(stage_definition name: (identifier) @function)
(extern_definition name: (identifier) @function)

(type_definition name: (identifier) @type)
(type_name name: (identifier) @type)
((type_name name: (identifier) @type.builtin) (#any-of? @type.builtin @TYPE@ @TYPE_IN_PLACE@))
(decimal_type name: (identifier) @type.builtin)
(dimension (identifier) @variable)

["let" "var" "fn" "stage" "type" "param" "extern" "test" "assert" "typeof" "outer" "col" "new"] @keyword
["if" "else" "match"] @keyword.conditional
["for" "while" "break" "continue" "by"] @keyword.repeat
["import" "requires" "as" "from"] @keyword.import
["and" "or" "not" "in"] @keyword.operator

["=" "+=" "=>" "->" "|>" "??" "?" "==" "!=" "<" "<=" ">" ">=" "~=" ".." "+" "-" "*" "/" "//" "%" "^"] @operator
(binary_expression operator: "@" @operator)
(transpose "'" @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," "." ":"] @punctuation.delimiter
(wildcard) @variable.builtin
