" Checks the Vim files on sample.flow: names of syntax groups at places, and that indenting the whole changes nothing.
" Run: vim -es -u NONE -S test/vim.vim  (in editors/); prints N passed, N failed; exits with the number of failures.
set nocompatible encoding=utf-8
let &runtimepath = escape(getcwd(), '\,') . '/vim,' . $VIMRUNTIME
filetype plugin indent on
syntax on
edit test/sample.flow

let s:passed = 0
let s:failures = []

function! s:Check(good, what) abort
  if a:good
    let s:passed += 1
  else
    call add(s:failures, 'FAILED: ' . a:what)
  endif
endfunction

" The group at the first character of `word` in the first line that matches `line`.
function! s:Group(line, word) abort
  let number = search('\V' . a:line, 'cnw')
  let column = match(getline(number), '\V' . a:word) + 1
  return synIDattr(synID(number, column, 1), 'name')
endfunction

function! s:Expect(line, word, group) abort
  let got = s:Group(a:line, a:word)
  call s:Check(got ==# a:group, a:word . ' in "' . a:line . '" is ' . (got ==# '' ? '(nothing)' : got) . ', not ' . a:group)
endfunction

call s:Check(&filetype ==# 'flow', 'the file type')
call s:Check(&commentstring ==# '# %s', 'the comment string')
call s:Expect('## Least', '##', 'flowDoc')
call s:Expect('fn ridge', 'fn', 'flowDeclare')
call s:Expect('fn ridge', 'ridge', 'flowName')
call s:Expect('fn ridge', 'f64', 'flowType')
call s:Expect('fn ridge', '1.0', 'flowNumber')
call s:Expect('fn ridge', '->', 'flowOperator')
call s:Expect('solve(x', "'", 'flowTranspose')
call s:Expect('solve(x', '# a', 'flowComment')
call s:Expect('stage features', 'stage', 'flowDeclare')
call s:Expect('stage features', 'features', 'flowName')
call s:Expect('except = ', 'except', 'flowArgument')
call s:Expect('var total', 'var', 'flowDeclare')
call s:Expect('for i in', 'for', 'flowControl')
call s:Expect('for i in', 'in', 'flowWordOperator')
call s:Expect('for i in', '..', 'flowOperator')
call s:Expect('f(i, if', 'if', 'flowArgument')
call s:Expect('if total', 'if', 'flowControl')
call s:Expect('} else', 'else', 'flowControl')
call s:Expect('param n', 'param', 'flowDeclare')
call s:Expect('param n', '100_000', 'flowNumber')
call s:Expect('param n', '##', 'flowDoc')
call s:Expect('let text', '"a', 'flowText')
call s:Expect('let text', 'x:', 'flowInterpolation')
call s:Expect('let text', ':.3f', 'flowFormat')
call s:Expect('let text', '"b', 'flowText')
call s:Expect('let text', '# no', 'flowText')
call s:Expect('let text', '\\n', 'flowEscape')
call s:Expect('let text', '\\q', 'flowBadEscape')
call s:Expect('let raw', 'r"', 'flowRawText')
call s:Expect('let raw', '`', 'flowQuoted')
call s:Expect('let raw', 'match', 'flowMember')
call s:Expect('let raw', '12abc', 'flowBadNumber')
call s:Expect('# not a comment', '# not', 'flowLines')
call s:Expect('let best', 'let', 'flowDeclare')
call s:Expect('where(dis', '|>', 'flowOperator')
call s:Expect('where(dis', 'and', 'flowWordOperator')
call s:Expect('where(dis', 'not', 'flowWordOperator')
call s:Expect('let stage', 'stage', '')
call s:Expect('let stage', 'var', 'flowCall')
call s:Expect('let stage', 'type', 'flowMember')
call s:Expect('test "it', 'test', 'flowDeclare')
call s:Expect('assert a', 'assert', 'flowDeclare')
call s:Expect('assert a', 'null', 'flowConstant')
call s:Expect('@memo', '@memo', 'flowAttribute')
call s:Expect('extern fn', 'extern', 'flowDeclare')
call s:Expect('extern fn', 'text', 'flowType')
call s:Expect('extern fn', 'from', 'flowDeclare')

let s:before = getline(1, '$')
for s:number in range(1, line('$'))
  if synIDattr(synID(s:number, 1, 1), 'name') !=# 'flowLines'
    call setline(s:number, substitute(getline(s:number), '^\s*', '', ''))
  endif
endfor
silent normal! gg=G
for s:number in range(1, line('$'))
  call s:Check(getline(s:number) ==# s:before[s:number - 1],
        \ 'line ' . s:number . ' is indented as "' . getline(s:number) . '"')
endfor

call writefile(s:failures + [s:passed . " passed, " . len(s:failures) . " failed"], "/dev/stdout", "a")
execute 'cquit ' . min([len(s:failures), 1])
