" flow: comments, indentation width, formatting with flowc fmt.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:##,:# commentstring=#\ %s
setlocal expandtab shiftwidth=2 softtabstop=2 tabstop=2
setlocal formatoptions-=t formatoptions+=croql
setlocal textwidth=0 colorcolumn=+1
setlocal suffixesadd=.flow
if executable('flowc')
  setlocal formatprg=flowc\ fmt\ -
endif

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< tabstop<'
      \ . ' formatoptions< textwidth< colorcolumn< suffixesadd< formatprg<'
