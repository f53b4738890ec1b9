//! The language server of flow in Zed: `flowc lsp`, where flowc is in the path of the project.
use zed_extension_api as zed;

struct Flow;

impl zed::Extension for Flow {
    fn new() -> Self {
        Flow
    }

    fn language_server_command(&mut self, _: &zed::LanguageServerId, worktree: &zed::Worktree) -> zed::Result<zed::Command> {
        let command = worktree.which("flowc").ok_or("flowc is not in the path")?;
        Ok(zed::Command { command, args: vec!["lsp".into()], env: worktree.shell_env() })
    }
}

zed::register_extension!(Flow);
