"""CSV and TSV: separator, quoting and header found out, as people write such files."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.limits import COLUMNS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import ABSENT, Cells, is_reference, is_score, shortened
from lossprism.explorer.sources.column_roles import are_heads, heads_classes, recognised
from lossprism.explorer.sources.lists_and_objects_written_as_text import begins_written

# Rows that are looked at to find out what kind of table it is; of wide ones fewer, as more cells or
# letters than these tell no more.
SAMPLE, SAMPLE_CELLS, SAMPLE_LETTERS = 200, 2**17, 2**18
# Of fewer rows the shortest may well be the first.
LEAST_BELOW = 5
# No name of a column is longer, or ends like a sentence.
NAME_LETTERS = 60
# A name of a column is a word or two; a sentence has more letters than these.
_NAME = re.compile(r"[^\W\d][\w\-.]*( [\w\-.]+)?")
_LEAST_SENTENCE = 8
_EXCEL_HINT = re.compile(r'"?sep=([\t;,|])"?\n', re.IGNORECASE)  # a first line of Excel
# These separate only where every row has as many; all but the first beside names or scores.
_RARE_DELIMITERS = ("|||", "||", "|", "，")
_SENTENCE_ENDS = (".", "!", "。", "！", "？", "…")
# Letters, and records, between two reports of the parsing's progress.
_BLOCK = 2**16
_STEP = 2**12

Record = tuple[int, Cells | Problem]
ReportProgress = Callable[[int, int], None]
Split = tuple[int, list[str] | Problem]


def no_progress(done: int, total: int) -> None:
    pass


def lines_of(text: str, report: ReportProgress = no_progress) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, each with its number counted from 0."""
    # Not splitlines: it also cuts at characters that may stand inside a sentence.
    start = number = 0
    while start < len(text):
        report(start, len(text))
        stop = text.find("\n", start + _BLOCK)
        stop = len(text) if stop < 0 else stop
        for line in text[start:stop].split("\n"):
            if line and not line.isspace():
                yield number, line
            number += 1
        start = stop + 1


def delimited(
    text: str,
    kind: str,
    header: bool | None,
    report: ReportProgress,
    chosen: frozenset[str] = frozenset(),
) -> tuple[tuple[str, ...], Callable[[ReportProgress], Iterator[Record]], bool]:
    """Columns, what goes through the records, and whether there is a header; `header` None means:
    find out, where a first row that has one of the `chosen` names is one. Without any column there
    is nothing in the text but separators.

    Raises Problem if none of the first rows can be read.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    hint = _EXCEL_HINT.match(text)
    text = text[hint.end() :] if hint else text
    delimiter = hint[1] if hint else "\t" if kind == "TSV" else _delimiter(text)
    quoted = '"' in text and (delimiter != "\t" or _properly_quoted(text, report))

    def split(report: ReportProgress) -> Iterator[Split]:
        records = (
            _quoted_records(text, delimiter, report) if quoted else _plain(text, delimiter, report)
        )
        return (record for record in records if _has_content(record[1]))

    beginning = list(_first_records(split(no_progress)))
    if not beginning:
        return (), lambda report: iter(()), False
    (first_row, first), *below = beginning
    if isinstance(first, Problem) and all(isinstance(cells, Problem) for _, cells in below):
        raise first
    if header is None and not isinstance(first, Problem):
        is_named = not chosen.isdisjoint(distinct(first))  # those missing are reported later
        header = is_named or _is_header(first, [cells for _, cells in below])
    if header and not isinstance(first, Problem):  # an unreadable row names no columns
        columns = distinct(first)
    else:
        header = False
        columns = tuple(str(i + 1) for i in range(_usual_width(cells for _, cells in beginning)))
    width, offset = len(columns), first_row if header else -1

    def rows(report: ReportProgress) -> Iterator[Record]:
        for row, cells in itertools.islice(split(report), int(header), None):
            yield row - offset, _fitted(cells, width)

    return columns, rows, header


def _first_records(records: Iterable[Split]) -> Iterator[Split]:
    """A header and a sample below it."""
    seen = 0
    for count, (number, cells) in enumerate(itertools.islice(records, SAMPLE + 1)):
        yield number, cells
        seen += 0 if isinstance(cells, Problem) else len(cells)
        if seen >= SAMPLE_CELLS and count >= LEAST_BELOW:
            return


def _has_content(cells: Sequence[str] | Problem) -> bool:
    return isinstance(cells, Problem) or any(map(str.strip, cells))


def _plain(text: str, delimiter: str, report: ReportProgress) -> Iterator[Split]:
    for number, line in lines_of(text, report):
        if len(line) > COLUMNS and line.count(delimiter) >= COLUMNS:
            yield number, Problem("row_many_fields", most=COLUMNS)
        else:
            yield number, line.split(delimiter)


def _quoted_records(
    text: str, delimiter: str, report: ReportProgress = no_progress
) -> Iterator[Split]:
    """Yield the records of quoted text (RFC 4180) with their numbers, tolerating a mark that is
    part of a sentence.

    A cell is quoted only if its closing mark ends the cell; otherwise its marks are its own, and it
    must not begin with one that nothing closes. So a mark that never closes costs its row at most,
    not the rest of the file.
    """
    width = None
    position = number = count = 0
    # Once more has been read twice than the text is long, every line is read by itself: the
    # marks then mean nothing, and each of them would take the rest of the file for its cell.
    patience = len(text)
    blank = re.compile(r"\n+")
    while position < len(text):
        if count % _STEP == 0:
            report(position, len(text))
        count += 1
        if skipped := blank.match(text, position):
            number += len(skipped[0])
            position = skipped.end()
            continue
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        cells, end, is_open = [], line_end + 1, False
        if patience >= 0:
            cells, end, is_open = _record(text, position, delimiter, width)
            if width is None and _has_content(cells):
                width = len(cells)
        if patience < 0 or (end - 1 > line_end and len(cells) != width):
            # Too much was taken for one quoted cell: read the first line by itself.
            patience -= end - line_end
            cells, _, is_open = _record(text[position:line_end], 0, delimiter)
            end = line_end + 1
        if len(cells) > COLUMNS:
            yield number, Problem("row_many_fields", most=COLUMNS)
            end = max(end, line_end + 1)
        elif is_open:
            excerpt = shortened(text[position : min(end - 1, position + 80)])
            yield number, Problem("row_unclosed_quote", text=excerpt)
        else:
            yield number, cells
        number += 1
        position = end


def _record(
    text: str, position: int, delimiter: str, width: int | None = None
) -> tuple[list[str], int, bool]:
    """The cells of the record that begins at `position`, where the next one begins, and whether a
    cell has a mark that nothing closes. It ends where it is too wide for its table, or any."""
    quoted, bare = _cell_patterns(delimiter)
    cells: list[str] = []
    is_open = has_lines = False
    while True:
        if match := quoted.match(text, position):
            cells.append(match[1].replace('""', '"'))
            has_lines = has_lines or "\n" in match[1]
        else:
            match = bare.match(text, position)
            cells.append(match[0])
            is_open = is_open or (match[0].startswith('"') and match[0].count('"') % 2 == 1)
        end = match.end()
        if not text.startswith(delimiter, end):
            return cells, end + 1, is_open
        position = end + len(delimiter)
        if len(cells) > (COLUMNS if width is None or not has_lines else width):
            return cells, position, is_open


@cache
def _cell_patterns(delimiter: str) -> tuple[re.Pattern, re.Pattern]:
    """A quoted and a bare cell. Possessive repeats (++, *+) keep hostile input linear."""
    ends = rf"{re.escape(delimiter)}|\n"
    bare = rf"[^{delimiter}\n]*+" if len(delimiter) == 1 else rf"(?:(?!{ends}).)*+"
    return re.compile(rf'"((?:[^"]++|"")*+)"(?={ends}|\Z)'), re.compile(bare)


def _properly_quoted(text: str, report: ReportProgress) -> bool:
    """True if the quotation marks of a tab-separated file are quoting, and not part of sentences.

    A program that quotes doubles the marks inside. So the file is quoted if every cell with a mark
    is well-formed and the quoting was needed (a mark, tab or line break inside), or if every cell
    that is not a number is quoted.
    """
    width = 0
    well_formed = all_doubled = all_quoted = True
    for _, line in lines_of(text, report):
        if line.count("\t") >= COLUMNS:
            return False
        cells = line.split("\t")
        width = width or len(cells)
        if len(cells) != width:
            return _consistent(_quoted_records(text, "\t", report))
        for cell in cells if well_formed else ():
            if '"' in cell:
                inside = cell[1:-1]
                ends = len(cell) > 1 and cell[0] == cell[-1] == '"'
                well_formed = well_formed and ends and '"' not in inside.replace('""', "")
                all_doubled = all_doubled and '""' in inside
            elif all_quoted and cell.strip():
                all_quoted = is_score(cell)
    return well_formed and (all_doubled or all_quoted)


def _consistent(records: Iterable[Split]) -> bool:
    """True if all non-empty records are readable and equally wide."""
    width = 0
    for _, cells in records:
        if isinstance(cells, Problem):
            return False
        if _has_content(cells):
            width = width or len(cells)
            if len(cells) != width:
                return False
    return width > 0


def _delimiter(text: str) -> str:
    """The separator under which the first rows look most like a table."""
    beginning = "\n".join(_first_lines(text))

    def evidence(delimiter: str) -> tuple[float, ...]:
        records = [c for _, c in _quoted_records(beginning, delimiter) if _has_content(c)]
        rows = [cells for cells in records if not isinstance(cells, Problem)]
        if not rows:
            return (0.0,)
        width = _usual_width(rows)
        fitting = [cells for cells in rows if len(cells) == width]
        columns = [column for column in zip(*fitting, strict=True) if any(map(str.strip, column))]
        scores = max((sum(map(is_score, column)) for column in columns), default=0)
        share = len(fitting) / len(records)
        # As many tabs in every row are no part of sentences.
        tabbed = delimiter == "\t" and width >= 2 and share == 1
        named = recognised(rows[0])
        if delimiter in _RARE_DELIMITERS:
            is_sure = named > 1 or scores or delimiter == _RARE_DELIMITERS[0]
            if share < 1 or not (is_sure or heads_classes(rows[0])):
                return (0.0,)
        return (named, tabbed, len(columns) >= 2, len(columns) >= 3, share * scores, share)

    # On a tie the semicolon wins: sentences contain commas far more often.
    return max((*"\t;,", *_RARE_DELIMITERS), key=evidence)


def _first_lines(text: str) -> Iterator[str]:
    seen = 0
    for count, (_, line) in enumerate(itertools.islice(lines_of(text), SAMPLE), 1):
        yield line
        seen += len(line)
        if seen >= SAMPLE_LETTERS and count > LEAST_BELOW:
            return


def _usual_width(records: Iterable[list[str] | Problem]) -> int:
    widths = Counter(len(cells) for cells in records if not isinstance(cells, Problem))
    return widths.most_common(1)[0][0] if widths else 0


def _is_header(first: Sequence[str], below: Sequence[Sequence[str] | Problem]) -> bool:
    """Names that a header would hold, words above a column of scores, of paths and ids, or of
    lists, or, where all is text, words shorter than any below them."""
    scores = [cell for cell in first if is_score(cell) and not recognised([cell])]
    if (recognised(first) >= 2 or heads_classes(first)) and not scores:
        return True
    if any(map(_is_sentence, first)):
        return False
    fitting = [c for c in below[:SAMPLE] if not isinstance(c, Problem) and len(c) == len(first)]
    if not fitting:
        return not any(map(is_score, first))
    if recognised(first) and _are_names_above(first, fitting):
        return True
    if are_heads(first) and len(first) > 1 and not _repeats(first, fitting):
        return True
    for position, name in enumerate(first):
        if not name.strip() or name.strip().casefold() in ABSENT:
            continue
        for other in (is_score, is_reference, begins_written):
            below_it = sum(other(cells[position]) for cells in fitting)
            if not other(name) and below_it >= 0.8 * len(fitting):
                return True
    return len(fitting) >= LEAST_BELOW and all(
        0 < len(name.strip()) < min(len(cells[position].strip()) for cells in fitting)
        and name.strip()[-1].isalnum()
        for position, name in enumerate(first)
    )


def _are_names_above(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """True if all cells of the first row are written like names, none comes again in its column,
    and there are sentences in some column below."""
    if not all(_NAME.fullmatch(name.strip()) for name in first) or _repeats(first, below):
        return False
    columns = zip(*below, strict=True)
    long = (sum(len(cell.strip()) >= _LEAST_SENTENCE for cell in column) for column in columns)
    return any(count >= 0.8 * len(below) for count in long)


def _repeats(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """True if a cell comes twice in the first row, or again in its column."""
    columns = zip(first, zip(*below, strict=True), strict=True)
    return len(set(first)) < len(first) or any(name in column for name, column in columns)


def _is_sentence(cell: str) -> bool:
    """True if a cell is too much of a sentence to be a name."""
    plain = cell.strip()
    return len(plain) > NAME_LETTERS or plain.endswith(_SENTENCE_ENDS)


def _fitted(cells: list[str] | Problem, width: int) -> list[str] | Problem:
    """The cells, without empty ones beyond the width (spreadsheets append those)."""
    if isinstance(cells, Problem) or len(cells) == width:
        return cells
    full = len(cells)
    while full > width and not cells[full - 1].strip():
        full -= 1
    if full != width:
        return Problem("row_fields", found=full, expected=width)
    return cells[:full]


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Column names, none empty and none twice: an empty one is called by its number."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    names_so_far: list[str] = []
    for position, name in enumerate(names, start=1):
        plain = unique = whole_letters(name).strip() or str(position)
        count = counts.get(plain, 2)
        while unique in taken:
            unique, count = f"{plain} ({count})", count + 1
        counts[plain] = count
        taken.add(unique)
        names_so_far.append(unique)
    return tuple(names_so_far)
