[(block) (array) (tuple) (arguments) (comprehension) (match_expression) (parameters) (tuple_type)] @indent.begin
["}" "]" ")"] @indent.branch @indent.end
(text) @indent.ignore
