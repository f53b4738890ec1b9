((comment) @injection.content (#set! injection.language "comment"))
((doc_comment) @injection.content (#set! injection.language "comment"))

; Queries and patterns in texts.
((call function: (identifier) @_name arguments: (arguments [(text (text_content) @injection.content) (raw_text) @injection.content]))
  (#eq? @_name "sql") (#set! injection.language "sql"))
((call function: (identifier) @_name arguments: (arguments (raw_text) @injection.content))
  (#any-of? @_name "matches" "extract" "extract_all" "replace_regex" "count_matches") (#offset! @injection.content 0 2 0 -1)
  (#set! injection.language "regex"))
