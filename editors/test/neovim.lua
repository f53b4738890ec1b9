-- Neovim's client and the language server: a message, what mends it, a column, completion, the declaration of a name, its uses,
-- renaming, rows of a step, layout.
-- Run: FLOWC=.. nvim --clean --headless -l test/neovim.lua  (in editors/); prints N passed, N failed.
local passed, failed = 0, 0
local function check(good, what)
  if good then passed = passed + 1 else failed = failed + 1; print('FAILED: ' .. what) end
end
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
vim.fn.writefile({ 'let t = table(price = [1.5, 2.5])', 'print(t |> summarize(m = mean(prise)))', 'let   x=1' }, folder .. '/a.flow')
vim.filetype.add({ extension = { flow = 'flow' } })
vim.api.nvim_create_autocmd('FileType', { pattern = 'flow', callback = function(args)
  vim.lsp.start({ name = 'flow', cmd = { os.getenv('FLOWC'), 'lsp' }, root_dir = vim.fs.dirname(vim.api.nvim_buf_get_name(args.buf)),
    init_options = { rowsWithin = 10000 } })
end })
vim.cmd.edit(folder .. '/a.flow')
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
local message = vim.diagnostic.get(0)[1]
check(message and message.lnum == 1 and message.message:find('prise', 1, true), 'a message')
local client = vim.lsp.get_clients()[1]
local function ask(method, line, column, more)
  vim.api.nvim_win_set_cursor(0, { line, column })
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, client.offset_encoding), more or {})
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 30000) or {}) do return answer.result end
end
local declared = ask('textDocument/definition', 2, 6)
check(declared and declared.range.start.line == 0 and declared.range.start.character == 4, 'the declaration of a name')
local here = { line = message.lnum, character = message.col }
local actions = ask('textDocument/codeAction', 2, message.col, { range = { start = here, ['end'] = here }, context = { diagnostics = {} } })
check(actions and #actions == 1, 'a quick fix')
vim.lsp.util.apply_workspace_edit(actions[1].edit, client.offset_encoding)
vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 20)
check(#vim.diagnostic.get(0) == 0 and vim.api.nvim_buf_get_lines(0, 1, 2, true)[1]:find('mean(price)', 1, true), 'it mends')
local hover = ask('textDocument/hover', 2, message.col)
check(hover and hover.contents.value:find('price: f64', 1, true), 'what a column is')
local found = ask('textDocument/completion', 2, message.col + 2)
local columns = vim.tbl_filter(function(item) return item.label == 'price' end, found.items)
check(#columns == 1 and columns[1].detail == 'f64', 'columns are completed')
local renamed = ask('textDocument/rename', 1, 4, { newName = 'sales' })
vim.lsp.util.apply_workspace_edit(renamed, client.offset_encoding)
check(table.concat(vim.api.nvim_buf_get_lines(0, 0, 2, true), '\n') == 'let sales = table(price = [1.5, 2.5])\nprint(sales |> summarize(m = mean(price)))',
  'a name is renamed')
local used = ask('textDocument/references', 1, 4, { context = { includeDeclaration = true } })
check(used and #used == 2, 'where a name is used')
local rows = ask('textDocument/hover', 2, 12)
check(rows and rows.contents.value:find('2', 1, true) and rows.contents.value:find('1 row', 1, true), 'rows of a step')
vim.lsp.buf.format({ timeout_ms = 30000 })
check(vim.api.nvim_buf_get_lines(0, 2, 3, true)[1] == 'let x = 1', 'layout')
client.stop()
vim.fn.delete(folder, 'rf')
print(('%d passed, %d failed'):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
