"""The command ``xebench advise``."""

from __future__ import annotations

import click

from xebench.cli.options import DEVICE, QUIET, RESULT_FILE, complete_patterns, preset_option
from xebench.cli.output import show


@click.command()
@click.argument("pattern", shell_complete=complete_patterns)
@click.argument("variant", required=False)
@preset_option("default")
@DEVICE
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format. JSON has the table of facts, too.",
)
@RESULT_FILE
@QUIET
def advise(pattern: str, variant: str | None, preset: str, device: str, form: str) -> None:
    """Say what would make a kernel faster on this device, by lessons that were measured on it.

    PATTERN: a pattern, or a file of your own patterns. VARIANT: one of its variants (default: its baseline). Each
    variant is called a few times, and its kernels' Python is run for some work-items.
    """
    from xebench.advisor.advice import advise_on
    from xebench.advisor.examine import chosen_variants, examine
    from xebench.advisor.text import as_json, as_text
    from xebench.cli.gpu_commands import plan_for

    first = {family.pattern.name: family for family in reversed(plan_for([pattern], (), preset))}
    examined = (examine(family, chosen_variants(family, variant), device) for family in first.values())
    advised = [advise_on(facts) for each in examined for facts in each]
    show((as_json if form == "json" else as_text)(advised))
