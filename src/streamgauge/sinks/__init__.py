"""Where alarms and verdicts are sent while a run or a gauge goes: a webhook, a command, a Python function."""

from streamgauge.sinks.delivery import Sink, SinkCounts
from streamgauge.sinks.event import describe_event, identify_event
from streamgauge.sinks.kinds import Call, Command, Webhook

__all__ = ["Call", "Command", "Sink", "SinkCounts", "Webhook", "describe_event", "identify_event"]
