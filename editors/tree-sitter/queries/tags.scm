(function_definition name: (identifier) @name) @definition.function
(stage_definition name: (identifier) @name) @definition.function
(extern_definition name: (identifier) @name) @definition.function
(type_definition name: (identifier) @name) @definition.type
(call function: (identifier) @name) @reference.call
