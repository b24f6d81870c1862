-- Stubborn for Neovim 0.11 or later: put this into your init.lua, or into a file of lua/ that it requires.

vim.filetype.add({ extension = { proc = "process", pml = "promela", ltl = "ltl" } })

vim.lsp.config("stubborn", {
  cmd = { "stubborn", "lsp" },
  filetypes = { "process", "promela", "ltl" },
  root_markers = { ".git" },
  init_options = { seconds = 60, megabytes = 2000 },
})
vim.lsp.enable("stubborn")

-- What the lenses answer: verdicts as a message, a run in a window of its own.
local function ask(command)
  local client = vim.lsp.get_clients({ name = "stubborn" })[1]
  if not client then
    return
  end
  client:request("workspace/executeCommand", { command = command.command, arguments = command.arguments }, function(error, answer)
    if error then
      vim.notify(error.message, vim.log.levels.ERROR)
    elseif answer.steps then
      vim.cmd("botright new")
      vim.bo.buftype = "nofile"
      vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(answer.text, "\n"))
    else
      vim.notify(answer.summary)
    end
  end)
end

vim.lsp.commands["stubborn.check"] = ask
vim.lsp.commands["stubborn.step"] = ask

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    vim.lsp.codelens.refresh({ bufnr = event.buf })
    vim.keymap.set("n", "<leader>c", vim.lsp.codelens.run, { buffer = event.buf, desc = "Check this property" })
  end,
})
