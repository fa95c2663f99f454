"""Pagination of lists in responses, and their maximum length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, HTTPException, Query, Request
from pydantic import BaseModel

from provspark.web.limits import LIMITS, named

__all__ = ["LINKED", "Cursor", "Page", "PagePart", "Paged", "capped", "check_lists"]

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

Cursor = Annotated[int, Query(ge=0, le=2**53 - 1)]
LINKED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Successful Response",
        "headers": {"Link": {"description": 'The next page, as `<?…>; rel="next"`', "schema": {"type": "string"}}},
    }
}


class PagePart(list[T]):
    """Page of a list. `link` is the value of its ``Link`` header; empty on the last page."""

    link: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Page that a request asks for."""

    request: Request
    cursor: int
    limit: int

    def part(self, items: Sequence[T]) -> PagePart[T]:
        """Return this page of a response that is a list."""
        part = PagePart(items[self.cursor : self.cursor + self.limit])
        following = self._next(len(items))
        if following is not None:
            others = [(k, v) for k, v in self.request.query_params.multi_items() if k != "cursor"]
            part.link = f'<?{urlencode([*others, ("cursor", following)])}>; rel="next"'
        return part

    def cut(self, answer: M, *names: str) -> M:
        """Return a response with this page of each of the named lists, and with `next`."""
        lists = {name: getattr(answer, name) for name in names}
        wanted: dict[str, Any] = {name: x[self.cursor : self.cursor + self.limit] for name, x in lists.items()}
        return answer.model_copy(update=wanted | {"next": self._next(max(map(len, lists.values())))})

    def _next(self, total: int) -> int | None:
        end = self.cursor + self.limit
        return end if end < total else None


def capped(limit: int | None) -> int:
    """Return the length of a page: `limit`, up to the maximum for lists."""
    most = LIMITS.get().max_items
    return most if limit is None else min(limit, most)


async def _page(
    request: Request,
    cursor: Cursor = 0,
    limit: Annotated[int | None, Query(ge=1, le=2**53 - 1, description="Default and maximum: `max_items`")] = None,
) -> Page:
    return Page(request, cursor, capped(limit))


Paged = Annotated[Page, Depends(_page)]
"""Query parameters `cursor` and `limit`."""


def check_lists(answer: Any) -> None:
    """Raise an error if a list in the response has more items than the limit."""
    most = LIMITS.get().max_items
    waiting = [answer]
    while waiting:
        value = waiting.pop()
        if isinstance(value, BaseModel):
            waiting += [x for _, x in value if isinstance(x, (list, BaseModel))]
        elif isinstance(value, list):
            if len(value) > most:
                why = (
                    f"The result has a list of {len(value):,} items; the limit is {most:,} ({named('max_items')}). "
                    "Select fewer rows, or one dataset with `to`."
                )
                raise HTTPException(422, why)
            waiting += [x for x in value if isinstance(x, BaseModel)]
