"""What is said of saved and deleted data, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billboards.show.table import Table, TableColumn

if TYPE_CHECKING:
    from billboards.site.admin.backup import Content
    from billboards.site.admin.erasure import Forgotten
    from billboards.site.admin.expiry import Chore, Tidied
    from billboards.site.admin.operations import Verified
    from billboards.site.database.retention import Amount


def content_table(title: str, content: Content) -> Table:
    """What a backup holds."""
    columns = (
        TableColumn("created", "moment", "left"),
        TableColumn("boards", "boards"),
        TableColumn("rows", "rows"),
        TableColumn("blobs", "submitted files"),
        TableColumn("bytes", "bytes"),
    )
    return Table(title, columns, ({column.key: getattr(content, column.key) for column in columns},))


def lost_table(data: str, verified: Verified) -> Table:
    """Files of a site that are missing or damaged."""
    columns = (
        TableColumn("file", "file", "left"),
        TableColumn("state", "state", "left"),
        TableColumn("needed_by", "needed by", "left"),
    )
    rows = tuple({column.key: getattr(file, column.key) for column in columns} for file in verified.lost)
    title = f"{data}: {verified.files} submitted files and {verified.boards} boards, {len(rows)} lost"
    return Table(title, columns, rows)


def forgotten_table(forgotten: Forgotten) -> Table:
    """What was deleted, or would be."""
    columns = (TableColumn("what", "", "left"), TableColumn("count", "", "right"))
    counts = {"submissions": forgotten.submissions, "annotators' names": forgotten.annotators, **forgotten.deleted}
    rows = tuple({"what": what, "count": count} for what, count in counts.items())
    title = f"{forgotten.name}: {'deleted' if forgotten.done else 'would be deleted'}"
    notes = [
        f"the account stays as {forgotten.pseudonym}, without address, tokens and log-ins"
        if forgotten.pseudonym
        else "",
        f"{forgotten.files_kept} files stay: somebody else sent the same, or within two minutes"
        if forgotten.files_kept
        else "",
        "scores, places in past rankings and answers stay under names drawn for them; backups are not changed",
    ]
    return Table(title, columns, rows, tuple(filter(None, notes)))


def tidied_table(data: str, tidied: Tidied) -> Table:
    """What went, or would go, with the setting that says so; what has no value is kept for ever."""
    columns = (
        TableColumn("what", "", "left"),
        TableColumn("setting", "setting", "left"),
        TableColumn("days", "days"),
        TableColumn("count", "count"),
        TableColumn("bytes", "bytes"),
    )
    rows = tuple(_tidied_row(chore, tidied.amounts[chore.what]) for chore in tidied.chores)
    title = f"{'Deleted' if tidied.done else 'Would be deleted'} from {data}"
    unset = any(chore.setting and chore.days is None for chore in tidied.chores)
    kept = ("what has no days is kept for ever; [retention] in site.toml sets them",) if unset else ()
    return Table(title, columns, rows, (*tidied.notes, *kept))


def _tidied_row(chore: Chore, amount: Amount | None) -> dict[str, str | int | None]:
    count, size = (None, None) if amount is None else (amount.count, amount.bytes)
    return {"what": chore.what, "setting": chore.setting, "days": chore.days, "count": count, "bytes": size}
