(function_definition "fn" @context name: (identifier) @name) @item
(stage_definition "stage" @context name: (identifier) @name) @item
(extern_definition "extern" @context name: (identifier) @name) @item
(type_definition "type" @context name: (identifier) @name) @item
(param_definition "param" @context name: (identifier) @name) @item
(test_definition "test" @context name: (_) @name) @item
