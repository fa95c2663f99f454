"""Conditional put on S3: of all writers of one object, one wins."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote

from provspark.model.errors import PackageMissingError, StoreReadOnlyError, StoreWriteError

__all__ = ["ConditionalPut"]

_LOST = {409, 412}
"""Statuses of a put that lost: the object exists, or another put of it is in progress."""


class ConditionalPut:
    """``PUT`` with ``If-None-Match: *``, which pyarrow does not offer (apache/arrow#44281); boto3 does.

    Parameters
    ----------
    parts : SplitResult
        The store's URL in pyarrow's form: key and secret before the bucket, ``endpoint_override``, ``scheme`` and
        ``region`` after ``?``. boto3 finds missing settings as usual.
    """

    def __init__(self, parts: SplitResult) -> None:
        self._parts = parts

    def __call__(self, path: str, data: bytes) -> bool:
        """Put an object, ``bucket/key``, if none exists; else return False.

        Raises
        ------
        StoreReadOnlyError, StoreWriteError
            S3 rejects the request or does not answer.
        PackageMissingError
            boto3 is not installed.
        """
        client = self._client
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, _, key = path.partition("/")
        try:
            client.put_object(Bucket=bucket, Key=key, Body=data, IfNoneMatch="*")
        except ClientError as e:
            status = e.response["ResponseMetadata"]["HTTPStatusCode"]
            if status in _LOST:
                return False
            kind = StoreReadOnlyError if status == 403 else StoreWriteError
            raise kind(f"s3://{path} can't be written: {e}. Nothing was saved. Fix the cause and try again.") from e
        except BotoCoreError as e:
            raise StoreWriteError(f"s3://{path} can't be written: {e}. Try again.") from e
        return True

    @cached_property
    def _client(self) -> Any:
        try:
            import boto3
            from botocore.config import Config
        except ImportError as e:
            raise PackageMissingError("Writing to a store on S3", "boto3") from e
        options = {name: values[-1] for name, values in parse_qs(self._parts.query).items()}
        given: dict[str, Any] = {}
        if self._parts.username:
            given["aws_access_key_id"] = unquote(self._parts.username)
            given["aws_secret_access_key"] = unquote(self._parts.password or "")
        if "region" in options:
            given["region_name"] = options["region"]
        if "endpoint_override" in options:
            given["endpoint_url"] = f"{options.get('scheme', 'https')}://{options['endpoint_override']}"
            given["config"] = Config(s3={"addressing_style": "path"})
        return boto3.session.Session().client("s3", **given)
