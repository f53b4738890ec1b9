" Syntax of flow. Words come from flow/words.vim, which editors/generate.py writes from the compiler's tables.
if exists('b:current_syntax')
  finish
endif

syntax case match
syntax sync minlines=200
syntax cluster flowCode contains=@flowWords,flowOperator,flowTranspose,flowNumber,flowBadNumber,flowText,flowRawText,
      \flowLines,flowQuoted,flowBraces,flowBrackets,flowSquare,flowAttribute,flowComment,flowDoc,flowCall,flowMember,flowArgument

" Comments
syntax match flowComment "#.*$" contains=@Spell
syntax match flowDoc "##.*$" contains=@Spell

" Numbers: digits on both sides of the point; a range keeps its two points
syntax match flowBadNumber "\<\d[0-9A-Za-z_]*"
syntax match flowNumber "\<\d\+\%(_\d\+\)*\>"
syntax match flowNumber "\<0x\x\+\%(_\x\+\)*\>"
syntax match flowNumber "\<\d\+\%(_\d\+\)*\.\d\+\%(_\d\+\)*\%([eE][+-]\?\d\+\)\?\>"
syntax match flowNumber "\<\d\+\%(_\d\+\)*[eE][+-]\?\d\+\>"

" Operators
syntax match flowOperator "|>\|=>\|->\|??\|==\|!=\|<=\|>=\|\~=\|+=\|\.\.\|//\|[-+*/%@^<>=?]"
syntax match flowTranspose "\%([A-Za-z0-9_)\]`']\)\@1<='"

" Texts
syntax match flowEscape contained "\\[nt\"\\{]\|\\u{\x\+}"
syntax match flowBadEscape contained "\\[^nt\"\\{u]"
syntax match flowFormat contained ":[^}\"]*\ze}"
syntax region flowInterpolation contained matchgroup=flowInterpolationMark start="{" end="}"
      \ contains=@flowCode,flowFormat
syntax region flowText start=+"+ end=+"+ oneline contains=flowEscape,flowBadEscape,flowInterpolation,@Spell
syntax region flowLines start=+"""+ end=+"""+ contains=flowEscape,flowBadEscape,flowInterpolation,@Spell
syntax region flowRawText start=+\<r"+ end=+"+ oneline
syntax match flowQuoted "`[^`]*`"

" Brackets, so that the braces of an expression in a text do not end it
syntax region flowBraces transparent start="{" end="}" contains=@flowCode
syntax region flowBrackets transparent start="(" end=")" contains=@flowCode
syntax region flowSquare transparent start="\[" end="\]" contains=@flowCode

syntax match flowAttribute "^\s*\zs@\h\w*"

" Takes the lists of flow/words.vim.
function! FlowSyntaxWords(lists) abort
  let Alt = {name -> '\%(' . join(a:lists[name], '\|') . '\)'}
  " A word behind a single point is a name.
  let free = '\%([^.]\.\)\@2<!\<'
  execute 'syntax match flowDeclare ~' . free . Alt('declare') . '\>~'
  execute 'syntax match flowControl ~' . free . Alt('control') . '\>~'
  execute 'syntax match flowWordOperator ~' . free . Alt('operator') . '\>~'
  execute 'syntax match flowConstant ~' . free . Alt('constant') . '\>~'
  execute 'syntax match flowType ~' . free . Alt('type') . '\>(\@!~'
  execute 'syntax match flowType ~\%(:\|->\|,\|(\)\@2<=\s*\zs' . Alt('type_in_place') . '\ze[?\[]*\s*\%([,)={\[?]\|->\|$\)~'
  execute 'syntax match flowType ~\%(: \?\|-> \)\@3<=' . Alt('type_in_place') . '\>~'
  execute 'syntax match flowSpecial ~' . free . '\%(outer\|col\)\ze\.~'
  execute 'syntax match flowSpecial ~\<new\ze\s*[],]~'
  execute 'syntax match flowControl ~\%(\.\.\s*[^ ]\+\s\+\)\@20<=by\>~'
  execute 'syntax match flowDeclare ~\%("\|\w\)\@1<=\s\+\zs\%(as\|from\)\ze\s\+["A-Za-z_]~'
  execute 'syntax match flowDeclare ~\<typeof\ze(~'
  " Words only at the start of a statement, before what can follow them there.
  let start = '\%(^\|[{;]\|^\s*@.*\)\s*\zs'
  execute 'syntax match flowDeclare ~' . start . '\%(stage\|type\|param\|import\)\ze\s\+[A-Za-z_`]~'
  execute 'syntax match flowDeclare ~' . start . 'import\ze\s\+"~'
  execute 'syntax match flowDeclare ~' . start . 'requires\ze\s\+flow\>~'
  execute 'syntax match flowDeclare ~' . start . 'extern\ze\s\+fn\>~'
  execute 'syntax match flowDeclare ~' . start . 'test\ze\s\+"~'
  execute 'syntax match flowDeclare ~' . start . 'assert\ze\s*[^ =.+|)]~'
  " Calls; var( is the variance; before a single = in brackets any word is a name.
  syntax match flowCall "\<\h\w*\ze("
  if !empty(a:lists.builtin)
    execute 'syntax match flowBuiltin ~\%([^.]\.\)\@2<!\<' . Alt('builtin') . '\ze(~'
    execute 'syntax match flowBuiltin ~\%(|>\s*\)\@10<=' . Alt('builtin') . '\>~'
  endif
  syntax match flowControl "\<\%(if\|while\|match\|for\)\ze("
  syntax match flowWordOperator "\<\%(not\|in\|and\|or\)\ze("
  syntax match flowMember "\%([^.]\.\)\@2<=\h\w*\>(\@!"
  syntax match flowArgument "\%([(,]\_s*\)\@20<=\h\w*\ze\s*=[=>]\@!"
  syntax match flowName "\%(\<\%(fn\|stage\)\s\+\)\@20<=\h\w*"
  syntax match flowTypeName "\%(\<type\s\+\)\@20<=\h\w*"
  syntax cluster flowWords contains=flowDeclare,flowControl,flowWordOperator,flowConstant,flowType,flowSpecial,flowBuiltin,flowName,flowTypeName
endfunction

runtime! syntax/flow/words.vim

highlight default link flowComment Comment
highlight default link flowDoc SpecialComment
highlight default link flowNumber Number
highlight default link flowBadNumber Error
highlight default link flowOperator Operator
highlight default link flowTranspose Operator
highlight default link flowWordOperator Operator
highlight default link flowEscape SpecialChar
highlight default link flowBadEscape Error
highlight default link flowFormat SpecialChar
highlight default link flowInterpolationMark Delimiter
highlight default link flowText String
highlight default link flowLines String
highlight default link flowRawText String
highlight default link flowQuoted Identifier
highlight default link flowAttribute PreProc
highlight default link flowDeclare Keyword
highlight default link flowControl Conditional
highlight default link flowConstant Constant
highlight default link flowType Type
highlight default link flowTypeName Type
highlight default link flowSpecial Special
highlight default link flowBuiltin Function
highlight default link flowCall Function
highlight default link flowName Function

let b:current_syntax = 'flow'
