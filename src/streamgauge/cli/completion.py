"""`streamgauge completion`: shell completion of commands, options and names."""

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import print_note

__all__ = ["command"]

START_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/streamgauge.fish"}


@click.command("completion")
@click.argument("shell", type=Choice(sorted(START_FILES)))
def command(shell: str) -> None:
    """Print a completion script for SHELL, which completes commands, options and names.

    \b
    Examples:
      eval "$(streamgauge completion bash)"
      streamgauge completion zsh >> ~/.zshrc
      streamgauge completion fish > ~/.config/fish/completions/streamgauge.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    from streamgauge.cli.main import cli  # noqa: PLC0415  (circular import)

    kind = get_completion_class(shell)
    if kind is not None:
        script = kind(cli, {}, "streamgauge", "_STREAMGAUGE_COMPLETE")
        click.echo(script.source_template % script.source_vars())
    print_note(f"# to keep it, add this to {START_FILES[shell]}")
