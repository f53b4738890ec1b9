(function_definition body: (_) @function.inside) @function.around
(stage_definition body: (_) @function.inside) @function.around
(test_definition body: (_) @test.inside) @test.around
(parameter) @parameter.inside
(arguments (_) @parameter.inside)
[(comment) (doc_comment)] @comment.inside
