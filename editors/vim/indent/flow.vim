" Indentation of flow, as flowc fmt lays it out: two columns in brackets and braces and on lines that go on.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=FlowIndent(v:lnum)
setlocal indentkeys=0{,0},0),0],!^F,o,O,e,0=\|>
setlocal nosmartindent
let b:undo_indent = 'setlocal indentexpr< indentkeys< smartindent<'

if exists('*FlowIndent')
  finish
endif

" Is the place in a comment or the literal part of a text?
function! s:Skipped(line, column) abort
  return synIDattr(synID(a:line, a:column, 1), 'name') =~# '^flow\%(Comment\|Doc\|Text\|Lines\|RawText\|Quoted\|Escape\)$'
endfunction

" The line without its comment and the spaces at its end.
function! s:Code(line) abort
  let text = getline(a:line)
  let at = match(text, '#')
  while at >= 0 && synIDattr(synID(a:line, at + 1, 1), 'name') !~# '^flow\%(Comment\|Doc\)$'
    let at = match(text, '#', at + 1)
  endwhile
  return substitute(at >= 0 ? strpart(text, 0, at) : text, '\s*$', '', '')
endfunction

" The last line before this one with code on it, or 0.
function! s:CodeBefore(line) abort
  let line = prevnonblank(a:line - 1)
  while line > 0 && s:Code(line) ==# ''
    let line = prevnonblank(line - 1)
  endwhile
  return line
endfunction

function! s:GoesOn(code) abort
  return a:code =~# '\%(|>\|??\|[=!<>~]=\|=>\|->\|+=\|\.\.\|[-+*/%@^<>=]\|\<\%(and\|or\|in\)\)$'
endfunction

function! FlowIndent(line) abort
  let previous = s:CodeBefore(a:line)
  if previous == 0
    return 0
  endif
  if synIDattr(synID(a:line, 1, 1), 'name') =~# '^flow\%(Lines\|Text\)$'
    return -1
  endif
  call cursor(a:line, 1)
  let open = searchpair('[({[]', '', '[])}]', 'bnW', 's:Skipped(line("."), col("."))')
  let base = open > 0 ? indent(open) : 0
  let text = getline(a:line)
  if text =~# '^\s*[])}]'
    return base
  endif
  let base = open > 0 ? base + shiftwidth() : 0
  if text =~# '^\s*#' " a comment stands with the line that follows it
    let after = nextnonblank(a:line + 1)
    while after > 0 && getline(after) =~# '^\s*#'
      let after = nextnonblank(after + 1)
    endwhile
    let text = getline(after)
  endif
  if text =~# '^\s*|>' || s:GoesOn(s:Code(previous))
    return base + shiftwidth()
  endif
  return base
endfunction
