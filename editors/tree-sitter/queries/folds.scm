[(block) (match_expression) (array) (tuple) (arguments) (comprehension) (tuple_type) (parameters)] @fold
