"""What a server lists, and whether it is the one that was asked for."""

import json

import aiohttp
import pytest
from aiohttp import web

from sero.backbones.child_server import free_port
from sero.backbones.listing import listed_models, why_not_serving


@pytest.fixture
async def listing():
    """`listing.body`, `listing.status`: what /v1/models answers at `listing.url`."""

    class Listing:
        body = b""
        status = 200
        url = ""
        asked_with = None

        async def answer(self, request):
            self.asked_with = request.headers.get("Authorization")
            return web.Response(body=self.body, status=self.status)

    found = Listing()
    app = web.Application()
    app.router.add_get("/v1/models", found.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/models"
    yield found
    await runner.cleanup()


async def why(url, model="tiny", key=""):
    async with aiohttp.ClientSession() as session:
        return await why_not_serving(session, 5.0, url=url, model=model, key=key)


async def test_the_model_that_is_asked_for(listing):
    rows = [{"id": f"m{i}", "note": "x" * 1000} for i in range(1000)] + [{"id": "tiny"}]
    listing.body = json.dumps({"data": rows}).encode()
    assert await why(listing.url, key="k-1") == ""
    assert listing.asked_with == "Bearer k-1"
    assert await why(listing.url) == ""
    assert listing.asked_with is None


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b'{"data": [{"id": "Other/Model"}]}', " lists Other/Model and not tiny: "),
        (200, b'{"data": [{"id": "a sk-secret"}]}', " lists a *** and not tiny: "),
        (200, b'{"data": []}', " lists no model and not tiny: "),
        (200, b"[" * 100_000, " lists no model and not tiny: "),
        (401, b"", " answers HTTP 401: the server there is another one."),
    ],
)
async def test_another_server(listing, status, body, said):
    listing.status, listing.body = status, body
    assert (await why(listing.url, key="sk-secret")).startswith(f"{listing.url}{said}")


async def test_nobody_there():
    url = f"http://127.0.0.1:{free_port()}/v1/models"
    assert (await why(url)).startswith(f"{url} does not answer (Client")


@pytest.mark.parametrize(
    "data", [None, [], {}, {"data": None}, {"data": {"id": "a"}}, {"data": [1, {"id": 2}]}]
)
def test_what_is_no_list_of_models(data):
    assert listed_models(data) == {}
