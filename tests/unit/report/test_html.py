"""Whatever a name holds, it is text."""

from __future__ import annotations

import json

from recommit.report import html
from recommit.report.html import Html, tag

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u2028\u202e"


def test_children_and_attributes_are_escaped_once():
    made = tag("p", HOSTILE, tag("b", "<"), title=HOSTILE, class_="x", hidden=False, data_n=3, open=True)
    assert "<img" not in made
    assert made.startswith('<p title="&lt;/script&gt;')
    assert made.endswith("<b>&lt;</b></p>")
    assert 'class="x" data-n="3" open>' in made
    assert "hidden" not in made
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert html.escaped(Html("<i>")) == "<i>"


def test_values_in_a_script_cannot_leave_it():
    made = html.json_script("x", {HOSTILE: [HOSTILE, 1.5, None]})
    inner = made.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert not set("<>&\u2028\u2029") & set(inner)
    assert json.loads(inner) == {HOSTILE: [HOSTILE, 1.5, None]}
