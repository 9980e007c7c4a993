//! `capictl completion`, and the answers to the shells that call back at each Tab.
//!
//! ```text
//! completions/*  ─ the shell sources them; at Tab they run `CAPICTL_COMPLETE={shell} capictl -- {words}`
//!  └ answer      ─ clap_complete's engine on the definition of the command line
//!     └ values   ─ names that exist: providers, versions, flavors, contexts, namespaces, clusters, files
//! ```

mod answer;
mod files;
mod typed;
mod values;

use clap::{Args, ValueEnum};

pub use answer::{VARIABLE, answer};

/// Print the completion script of a shell
///
/// Commands, flags and values are completed: providers and their versions from the configuration file, flavors,
/// contexts of the kubeconfig, and, when the API server answers within 300 ms, namespaces and clusters.
/// The script for PowerShell knows commands, flags and fixed values only.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # bash, for this shell, and for all to come
  source <(capictl completion bash)
  capictl completion bash > ~/.local/share/bash-completion/completions/capictl

  # zsh: a folder of fpath, before compinit runs
  capictl completion zsh > \"${fpath[1]}/_capictl\"

  # fish
  capictl completion fish > ~/.config/fish/completions/capictl.fish

  # elvish
  capictl completion elvish >> ~/.config/elvish/rc.elv

  # PowerShell
  capictl completion powershell >> $PROFILE")]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// The shells that there is a script for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash 3.2 and newer
    Bash,
    /// Zsh
    Zsh,
    /// Fish 3.1 and newer
    Fish,
    /// PowerShell
    #[value(name = "powershell")]
    PowerShell,
    /// Elvish 0.18 and newer
    Elvish,
}

impl Shell {
    /// Returns the script, which is a file of `completions/`.
    pub fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("../../../completions/capictl.bash"),
            Self::Zsh => include_str!("../../../completions/_capictl"),
            Self::Fish => include_str!("../../../completions/capictl.fish"),
            Self::PowerShell => include_str!("../../../completions/_capictl.ps1"),
            Self::Elvish => include_str!("../../../completions/capictl.elv"),
        }
    }
}

impl CompletionArgs {
    /// Returns the script.
    pub fn run(&self) -> &'static str {
        self.shell.script()
    }
}
