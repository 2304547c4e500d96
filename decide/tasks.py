"""Tasks: works done at once without leaving any behind, and a piece of work that is seen to its end."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def gathered(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of works done at once; when one fails or all are cancelled, none is left running."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def whole(work: Coroutine[Any, Any, T]) -> tuple[T, bool]:
    """The result of a piece of work that is seen to its end, and whether a cancellation came meanwhile."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    return task.result(), cancelled


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """The result of a piece of work that is seen to its end; a cancellation that came meanwhile is then passed on."""
    result, cancelled = await whole(work)
    if cancelled:
        raise asyncio.CancelledError
    return result
