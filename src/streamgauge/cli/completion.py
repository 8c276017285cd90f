"""`streamgauge completion`: names and options completed by the shell."""

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import note

__all__ = ["command"]

WHERE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/streamgauge.fish"}


@click.command("completion")
@click.argument("shell", type=Choice(sorted(WHERE)))
def command(shell: str) -> None:
    """Print what lets SHELL complete commands, options and names.

    \b
    Examples:
      eval "$(streamgauge completion bash)"
      streamgauge completion zsh >> ~/.zshrc
      streamgauge completion fish > ~/.config/fish/completions/streamgauge.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    from streamgauge.cli.main import cli  # noqa: PLC0415  (it imports this)

    kind = get_completion_class(shell)
    if kind is not None:
        script = kind(cli, {}, "streamgauge", "_STREAMGAUGE_COMPLETE")
        click.echo(script.source_template % script.source_vars())
    note(f"# for good: put this into {WHERE[shell]}")
