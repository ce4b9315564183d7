"""The kind of an exception: its class answers, or none does. No library is needed: a class is known by its name."""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import errno
import http.client
import socket
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from own_sources import own_source

from failure_kinds.sources import failure_kind_of
from failure_kinds.sources.bundled import bundled_source

if TYPE_CHECKING:
    from failure_kinds import FailureRegistry

LISTED = bundled_source("python").exceptions


def raised(*classes: str, base: type[BaseException] = Exception) -> BaseException:
    """An exception of the first class, each of which is a subclass of the next.

    Args:
        classes: Module and name, such as `aiohttp.client_exceptions.ClientError`.
        base: What the last one is a subclass of.
    """
    for path in reversed(classes):
        module, _, name = path.rpartition(".")
        base = type(name, (base,), {"__module__": module})
    return base()


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        (ConnectionRefusedError(), "transport_unreachable"),
        (socket.gaierror(), "transport_unreachable"),
        (ConnectionResetError(), "transport_peer_drop"),
        (ConnectionAbortedError(), "transport_peer_drop"),
        (http.client.RemoteDisconnected(""), "transport_peer_drop"),
        (http.client.IncompleteRead(b""), "transport_peer_drop"),
        (KeyboardInterrupt(), "cancelled"),
        (asyncio.CancelledError(), "cancelled"),
        (concurrent.futures.CancelledError(), "cancelled"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_exceptions_of_the_standard_library(exception: BaseException, kind: str) -> None:
    assert failure_kind_of(exception) == kind


@pytest.mark.parametrize(
    "exception",
    [
        TimeoutError(),
        subprocess.TimeoutExpired("a", 1),
        subprocess.CalledProcessError(1, "a"),
        BrokenPipeError(),
        ConnectionError(),
        OSError(),
        MemoryError(),
        SystemExit(),
        GeneratorExit(),
        ssl.SSLError(),
        asyncio.IncompleteReadError(b"", 1),
        http.client.HTTPException(),
        RuntimeError(),
        ValueError(),
        AssertionError(),
        BaseException(),
    ],
    ids=lambda exception: type(exception).__name__,
)
def test_what_may_mean_anything_has_no_kind(exception: BaseException) -> None:
    assert failure_kind_of(exception) is None


def test_an_os_error_is_of_the_class_that_python_gives_it_by_its_number() -> None:
    assert failure_kind_of(OSError(errno.ECONNREFUSED, "refused")) == "transport_unreachable"
    assert failure_kind_of(OSError(errno.ECONNRESET, "reset")) == "transport_peer_drop"
    assert failure_kind_of(OSError(errno.ENOENT, "no such file")) is None


@pytest.mark.parametrize(
    ("classes", "base", "kind"),
    [
        (["httpx.ConnectError", "httpx.NetworkError"], Exception, "transport_unreachable"),
        (["httpcore2.ConnectTimeout", "httpcore2.TimeoutException"], Exception, "transport_timeout"),
        (["aiohttp.client_exceptions.ClientConnectorError"], OSError, "transport_unreachable"),
        (["aiohttp.client_exceptions.ServerDisconnectedError"], Exception, "transport_peer_drop"),
        (["requests.exceptions.ConnectTimeout", "requests.exceptions.Timeout"], OSError, "transport_timeout"),
        (["urllib3.exceptions.EmptyPoolError", "urllib3.exceptions.PoolError"], Exception, "transport_local_resource"),
        (["openai.RateLimitError", "openai.APIStatusError"], Exception, "infrastructure_error"),
        (["openai.APIConnectionError", "openai.APIError"], Exception, "model_transport_error"),
        (["anthropic.OverloadedError", "anthropic.APIStatusError"], Exception, "model_server_error"),
        (["modal.exception.ExecTimeoutError", "modal.exception.TimeoutError"], Exception, "provider_command_timeout"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_exceptions_of_packages(classes: list[str], base: type[BaseException], kind: str) -> None:
    assert failure_kind_of(raised(*classes, base=base)) == kind


@pytest.mark.parametrize(
    ("classes", "base"),
    [
        (["httpx.ReadTimeout", "httpx.TimeoutException"], Exception),
        (["httpx2.ReadTimeout", "httpx2.TimeoutException"], Exception),
        (["httpcore.ReadTimeout", "httpcore.TimeoutException"], Exception),
        (["aiohttp.client_exceptions.ServerTimeoutError"], TimeoutError),
        (
            ["aiohttp.client_exceptions.SocketTimeoutError", "aiohttp.client_exceptions.ServerTimeoutError"],
            TimeoutError,
        ),
        (["requests.exceptions.ReadTimeout", "requests.exceptions.Timeout"], OSError),
        (["urllib3.exceptions.ReadTimeoutError", "urllib3.exceptions.TimeoutError"], Exception),
        (["openai.APITimeoutError", "openai.APIConnectionError"], Exception),
        (["anthropic.APITimeoutError", "anthropic.APIConnectionError"], Exception),
        (["litellm.exceptions.Timeout", "openai.APITimeoutError", "openai.APIConnectionError"], Exception),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_timeout_of_reading_has_no_kind_since_a_model_that_never_stops_causes_it_too(
    classes: list[str], base: type[BaseException]
) -> None:
    assert failure_kind_of(raised(*classes, base=base)) is None


@pytest.mark.parametrize(
    ("classes", "base"),
    [
        (["litellm.exceptions.APIConnectionError", "openai.APIConnectionError"], Exception),
        (["litellm.exceptions.MidStreamFallbackError", "litellm.exceptions.ServiceUnavailableError"], Exception),
        (["litellm.exceptions.ImageFetchError", "litellm.exceptions.BadRequestError"], Exception),
        (["litellm.exceptions.RejectedRequestError", "litellm.exceptions.BadRequestError"], Exception),
        (["litellm.exceptions.LiteLLMUnknownProvider", "litellm.exceptions.BadRequestError"], Exception),
        (["aiohttp.client_exceptions.ClientConnectionResetError"], ConnectionResetError),
        (
            [
                "aiohttp.client_exceptions.ClientConnectorCertificateError",
                "aiohttp.client_exceptions.ClientSSLError",
                "aiohttp.client_exceptions.ClientConnectorError",
            ],
            OSError,
        ),
        (["docker.errors.NotFound", "docker.errors.APIError", "requests.exceptions.HTTPError"], OSError),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_class_that_may_mean_anything_ends_the_search_though_its_base_has_a_kind(
    classes: list[str], base: type[BaseException]
) -> None:
    assert failure_kind_of(raised(*classes, base=base)) is None
    assert failure_kind_of(raised("mine.Mine", *classes, base=base)) is None


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (["urllib3.exceptions.NewConnectionError", "urllib3.exceptions.ConnectTimeoutError"], "transport_unreachable"),
        (["litellm.exceptions.PaymentRequiredError", "openai.BadRequestError"], "infrastructure_error"),
        (["litellm.exceptions.ContextWindowExceededError", "openai.BadRequestError"], "model_context_limit"),
        (["litellm.exceptions.UnsupportedParamsError", "openai.BadRequestError"], "invalid_request_parameter"),
        (["aiohttp.client_exceptions.ConnectionTimeoutError", "aiohttp.ServerTimeoutError"], "transport_timeout"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_class_answers_before_its_base_of_another_kind(classes: list[str], kind: str) -> None:
    assert failure_kind_of(raised(*classes)) == kind


def test_of_several_bases_the_first_that_is_listed_answers() -> None:
    refused, cancelled = type(raised("httpx.ConnectError")), asyncio.CancelledError
    unknown = type(raised("mine.Unknown"))
    assert failure_kind_of(type("Both", (unknown, refused, cancelled), {})()) == "transport_unreachable"
    assert failure_kind_of(type("Both", (unknown, cancelled, refused), {})()) == "cancelled"


def test_a_subclass_of_ones_own_is_what_its_base_is() -> None:
    assert failure_kind_of(raised("mine.Throttled", "openai.RateLimitError")) == "infrastructure_error"
    assert (
        failure_kind_of(raised("mine.deep.inside.Gone", "mine.Lost", base=ConnectionResetError))
        == "transport_peer_drop"
    )


@pytest.mark.parametrize(
    "path",
    [
        "mine.RateLimitError",
        "mine.ConnectionRefusedError",
        "mine.openai.RateLimitError",
        "openai_mock.RateLimitError",
        "xopenai.RateLimitError",
        "multiprocessing.context.TimeoutError",
        "anthropic.ContextWindowExceededError",
        "__main__.KeyboardInterrupt",
        "httpx.connecterror",
        "modal.Exception",
    ],
)
def test_a_class_of_the_same_name_in_another_package_is_another_class(path: str) -> None:
    assert failure_kind_of(raised(path)) is None


@pytest.mark.parametrize("module", ["openai", "openai._exceptions", "openai.a.b.c"])
def test_the_root_package_counts_wherever_in_it_a_class_is(module: str) -> None:
    assert failure_kind_of(raised(f"{module}.RateLimitError")) == "infrastructure_error"


def test_what_an_exception_was_raised_from_is_not_looked_at() -> None:
    outer = RuntimeError("outer")
    outer.__cause__ = ConnectionRefusedError()
    assert failure_kind_of(outer) is None
    outer = RuntimeError("outer")
    outer.__context__ = ConnectionRefusedError()
    assert failure_kind_of(outer) is None
    refused = ConnectionRefusedError()
    refused.__cause__ = asyncio.CancelledError()
    assert failure_kind_of(refused) == "transport_unreachable"


def test_members_of_a_group_are_not_looked_at() -> None:
    assert failure_kind_of(ExceptionGroup("several", [ConnectionRefusedError()])) is None
    assert failure_kind_of(BaseExceptionGroup("several", [KeyboardInterrupt()])) is None


@pytest.mark.parametrize(
    "given",
    [
        ConnectionRefusedError,
        type,
        object(),
        None,
        "ConnectionRefusedError",
        104,
        NotImplemented,
        [ConnectionRefusedError()],
    ],
)
def test_what_is_no_exception_stands_for_nothing(given: Any) -> None:
    assert failure_kind_of(given) is None


def test_an_object_of_a_class_of_a_listed_name_is_no_exception() -> None:
    assert failure_kind_of(type("RateLimitError", (), {"__module__": "openai"})()) is None


class Pretender:
    """It says of itself that it is an exception."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return ConnectionRefusedError


class Unaskable:
    """It doesn't even say what it is."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.parametrize("made", [Pretender, Unaskable])
def test_an_object_is_not_asked_what_it_is(made: Any) -> None:
    assert failure_kind_of(made()) is None


@pytest.mark.parametrize("module", [None, 7, b"openai", ["openai"], object(), property(), "", ".", "openai\udc80"])
def test_a_class_whose_module_is_odd_is_passed_over(module: Any) -> None:
    odd = type("RateLimitError", (Exception,), {"__module__": module})
    assert failure_kind_of(odd()) is None
    below = type("RateLimitError", (ConnectionRefusedError,), {"__module__": module})
    assert failure_kind_of(below()) == "transport_unreachable"


class Meta(type):
    """A metaclass that has the last word on what its classes say of themselves."""

    @property
    def __mro__(cls) -> Any:
        raise RuntimeError("no MRO")

    @property
    def __module__(cls) -> Any:  # type: ignore[override]
        raise RuntimeError("no module")


class Nameless(type):
    __module__ = "builtins"

    @property
    def __name__(cls) -> Any:  # type: ignore[override]
        return []


@pytest.mark.parametrize("metaclass", [Meta, Nameless])
def test_a_metaclass_can_not_make_it_raise(metaclass: Any) -> None:
    odd = metaclass("Odd", (ConnectionRefusedError,), {})
    assert failure_kind_of(odd()) == "transport_unreachable"
    assert failure_kind_of(metaclass("Odd", (Exception,), {})()) is None


def test_a_class_that_was_made_where_there_is_no_module() -> None:
    scope: dict[str, Any] = {"__builtins__": {}, "type": type, "Exception": Exception}
    exec("made = type('Made', (Exception,), {})", scope)  # noqa: S102  # there is no other way
    with pytest.raises(AttributeError):
        scope["made"].__module__  # noqa: B018
    assert failure_kind_of(scope["made"]()) is None


@pytest.mark.parametrize("name", LISTED)
def test_a_listed_class_and_what_it_says(name: str, registry: FailureRegistry) -> None:
    root, _, class_name = name.rpartition(".")
    kind = LISTED[name]
    assert kind is None or kind in registry.kinds
    if root:
        assert "." not in root
        assert root != "builtins"
        exception = raised(f"{root}.{class_name}")
    else:
        exception = getattr(builtins, name)()
        assert isinstance(exception, BaseException)
    assert failure_kind_of(exception) == kind


STANDARD = {"asyncio": asyncio, "concurrent": concurrent.futures, "http": http.client, "socket": socket}


@pytest.mark.parametrize("name", [name for name in LISTED if name.partition(".")[0] in STANDARD])
def test_a_listed_class_of_the_standard_library_is_there_and_reports_that_root(name: str) -> None:
    root, _, class_name = name.partition(".")
    found = getattr(STANDARD[root], class_name)
    assert issubclass(found, BaseException)
    assert found.__module__.partition(".")[0] == root


def test_a_package_is_not_imported_to_know_its_exceptions() -> None:
    code = (
        "import sys; from failure_kinds.sources import failure_kind_of; failure_kind_of(ConnectionRefusedError());"
        "print(sorted({'aiohttp', 'httpx', 'openai', 'litellm', 'requests', 'msgspec', 'pydantic'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_source_of_ones_own_may_list_classes() -> None:
    own = own_source("exceptions: {acme.LostError: session_lost}")
    lost = type("LostError", (Exception,), {"__module__": "acme.errors"})()
    assert failure_kind_of(lost, own) == "session_lost"
    assert failure_kind_of(lost) is None
    assert failure_kind_of(ConnectionRefusedError(), own) is None
