"""What the server tells the browser, as types: the one definition that both sides check against.

`wire.shared`, `wire.explore`, `wire.compare`, `wire.doctor`, `wire.large`, `wire.finetune` and
`wire.runs` describe answers, `wire.facts` what a page is told when it opens, `wire.program` and
`wire.doctored` what programs are answered: JSON by `TypedDict`s, and by the dataclasses sent as
they stand. Each server function names the type of its answers where it is `served`. `tests/wire.py`
holds real answers against it, and writes it as TypeScript for the JavaScript that reads them.
"""
