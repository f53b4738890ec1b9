-- Colours by the tree-sitter grammar in Neovim: what each word of a script with every construct is, by the queries that it reads.
-- Run: PARSER=flow.so nvim --clean --headless -l test/tree_sitter.lua  (in editors/); prints N passed, N failed.
local passed, failed = 0, 0
local function check(good, what)
  if good then passed = passed + 1 else failed = failed + 1; print('FAILED: ' .. what) end
end
local folder = vim.fn.tempname()
vim.fn.mkdir(folder .. '/queries', 'p')
vim.uv.fs_symlink(vim.fn.getcwd() .. '/tree-sitter/queries', folder .. '/queries/flow')
vim.opt.runtimepath:prepend(folder)
vim.treesitter.language.add('flow', { path = os.getenv('PARSER') })

-- A line of the script, then of its words: what they are.
local SCRIPT = {
  { '## Least squares.', { '##', 'comment.documentation' } },
  { 'import linear as lin, "a.flow"', { 'import', 'keyword.import' }, { 'linear', 'module' }, { 'as', 'keyword.import' }, { '"', 'string' } },
  { 'requires flow >= 0.1', { 'requires', 'keyword.import' }, { '0.1', 'number' } },
  { 'type Pair[n] = (x: f64[n], y: text?)', { 'type', 'keyword' }, { 'Pair', 'type' }, { 'x:', 'variable.member' }, { 'f64', 'type.builtin' },
    { 'text', 'type.builtin' } },
  { 'param least: i64 = 100_000  ## rows', { 'param', 'keyword' }, { 'least', 'variable.parameter' }, { '100_000', 'number' } },
  { '@memo(never)', { '@', 'attribute' }, { 'memo', 'attribute' } },
  { 'stage features(raw: _) -> f64[n] {', { 'stage', 'keyword' }, { 'features', 'function' }, { 'raw', 'variable.parameter' }, { '->', 'operator' } },
  { '  var total = 0.5  # a comment', { 'var', 'keyword' }, { '0.5', 'number.float' }, { '# a', 'comment' } },
  { '  for i in 0..n by 2 {', { 'for', 'keyword.repeat' }, { 'in', 'keyword.operator' }, { '..', 'operator' }, { 'by', 'keyword.repeat' } },
  { '    if total > 3 and not true { break } else { total += 1 }', { 'if', 'keyword.conditional' }, { 'and', 'keyword.operator' },
    { 'true', 'boolean' }, { 'break', 'keyword.repeat' }, { '+=', 'operator' } },
  { '  }' },
  { '  raw.x', { 'x', 'variable.member' } },
  { '}' },
  { 'fn f(x: f64) = x ^ 2', { 'fn', 'keyword' }, { 'f(', 'function' }, { '^', 'operator' } },
  { 'extern fn hypot(x: f64) -> f64 from "m"', { 'extern', 'keyword' }, { 'hypot', 'function' }, { 'from', 'keyword.import' } },
  { 'let text = "a {least:.3f} \\n"', { 'let', 'keyword' }, { '"a', 'string' }, { '{', 'punctuation.special' }, { 'least', 'variable' },
    { '\\n', 'string.escape' } },
  { 'let kinds = match text { "a" => 1, _ => null }', { 'match', 'keyword.conditional' }, { '=>', 'operator' }, { 'null', 'constant.builtin' } },
  { 'let best = read_csv("t.csv") |> where(distance > 500) |> f', { 'read_csv', 'function.builtin' }, { '|>', 'operator' }, { 'where', 'function.builtin' },
    { '500', 'number' } },
  { 'let m = [for i in 0..3: pi]\' @ [1.5]', { '[', 'punctuation.bracket' }, { 'pi', 'constant.builtin' }, { "'", 'operator' } },
  { 'test "it works" { assert best.n == inf }', { 'test', 'keyword' }, { 'assert', 'keyword' }, { 'inf', 'constant.builtin' } },
}
local lines = vim.tbl_map(function(row) return row[1] end, SCRIPT)
vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
local parser = vim.treesitter.get_parser(0, 'flow')
local tree = parser:parse()[1]
check(not tree:root():has_error(), 'no error node')
vim.treesitter.start(0, 'flow')
for number, row in ipairs(SCRIPT) do
  for k = 2, #row do
    local word, wanted = row[k][1], row[k][2]
    local column = row[1]:find(word, 1, true) - 1
    local found = vim.tbl_map(function(capture) return capture.capture end, vim.treesitter.get_captures_at_pos(0, number - 1, column))
    check(vim.tbl_contains(found, wanted), ('%s in "%s" is %s, not %s'):format(word, row[1], table.concat(found, ', '), wanted))
  end
end
for _, name in ipairs({ 'locals', 'folds', 'injections', 'indents' }) do
  check(pcall(vim.treesitter.query.get, 'flow', name) and vim.treesitter.query.get('flow', name), 'the query ' .. name)
end
vim.fn.delete(folder, 'rf')
print(('%d passed, %d failed'):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
