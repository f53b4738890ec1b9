; What nvim-treesitter and Helix ask: scopes, definitions, uses. A function is known before its definition, so the scope of its name is outside.
[(function_definition) (stage_definition) (test_definition) (block) (for_statement) (lambda) (arm) (comprehension) (reduction)] @local.scope

(function_definition name: (identifier) @local.definition.function)
(stage_definition name: (identifier) @local.definition.function)
(extern_definition name: (identifier) @local.definition.function)
(type_definition name: (identifier) @local.definition.type)
(param_definition name: (identifier) @local.definition.var)
(import_item module: (identifier) @local.definition.import)
(import_item name: (identifier) @local.definition.import)
(parameter name: (identifier) @local.definition.parameter)
(let_statement pattern: (identifier) @local.definition.var)
(var_statement pattern: (identifier) @local.definition.var)
(for_statement pattern: (identifier) @local.definition.var)
(generator pattern: (identifier) @local.definition.var)
(tuple_pattern (identifier) @local.definition.var)
(arm pattern: (identifier) @local.definition.var)
(lambda parameters: (identifier) @local.definition.parameter)
(lambda parameters: (tuple (identifier) @local.definition.parameter))

(identifier) @local.reference
