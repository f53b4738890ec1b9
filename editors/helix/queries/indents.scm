[(block) (array) (tuple) (arguments) (comprehension) (match_expression) (parameters) (tuple_type)] @indent
["}" "]" ")"] @outdent
