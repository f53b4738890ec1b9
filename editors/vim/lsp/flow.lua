-- The language server of flow for Neovim 0.11 and later: vim.lsp.enable('flow') starts it.
return { cmd = { 'flowc', 'lsp' }, filetypes = { 'flow' }, root_markers = { '.git' } }
