"""What `run.py` starts: client.py PROGRAM SNAPSHOT SERVER."""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from jsonschema import Draft202012Validator
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from openapi_spec_validator import OpenAPIV31SpecValidator

PROGRAM, SNAPSHOT, SERVER = sys.argv[1:4]
TOOLS = {
    "query_from_words",
    "search_tags",
    "describe_tag",
    "geocode",
    "reverse",
    "search_entities",
    "describe_entity",
    "query_overpass",
    "export_geojson",
    "query_sparql",
    "check_query",
}
# A thing and a place in words, and the query that somebody who knows the tags would write.
QUESTIONS = [
    ("cafes", "Valletta", 'nwr["amenity"="cafe"]'),
    ("gas stations", "Birkirkara", 'nwr["amenity"="fuel"]'),
    ("pharmacies", "Tas-Sliema", 'nwr["amenity"="pharmacy"]'),
    ("bus stops", "Il-Mosta", 'nwr["highway"="bus_stop"]'),
    ("places of worship", "Il-Ħamrun", 'nwr["amenity"="place_of_worship"]'),
    ("playgrounds", "In-Naxxar", 'nwr["leisure"="playground"]'),
    ("restaurants", "San Ġiljan", 'nwr["amenity"="restaurant"]'),
    ("public toilets", "Malta", 'nwr["amenity"="toilets"]'),
]
# An endless one: loops within each other over thousands of elements.
ENDLESS = "[timeout:900];nwr[highway]->.a;foreach.a{foreach.a{foreach.a{way.a[name];}}}out;"


@asynccontextmanager
async def over_pipe():
    parameters = StdioServerParameters(command=PROGRAM, args=["mcp", SNAPSHOT], env={"RUST_LOG": "warn"})
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        yield session


@asynccontextmanager
async def over_http():
    async with streamable_http_client(SERVER + "/mcp") as (read, write), ClientSession(read, write) as session:
        yield session


async def call(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    source = result.structured_content["source"]
    assert "OpenStreetMap contributors" in str(source["licences"]) and source["snapshot"], source
    return result.structured_content


async def trouble(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    assert result.is_error, result
    return result.content[0].text


async def every_tool(session):
    tools = (await session.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
    # The client holds each answer against the tool's own schema.
    tags = await call(session, "search_tags", text="fast food that is vegan")
    assert tags["tags"][0]["value"] == "fast_food", tags
    tag = await call(session, "describe_tag", key="amenity", value="fast_food")
    assert tag["count"] == tags["tags"][0]["count"] and tag["found_with"], tag
    place = await call(session, "geocode", name="Valletta")
    assert place["area_id"] > 3_600_000_000, place
    around = await call(session, "reverse", lat=float(place["center"][0]), lon=float(place["center"][1]))
    assert "Valletta" in around["display_name"], around
    found = await call(session, "query_overpass", query=f"nwr[amenity](area:{place['area_id']});out tags center;", limit=3.0)
    assert len(found["elements"]) == 3 < found["total"] and found["next_cursor"] == "3", found
    shapes = await call(session, "export_geojson", query=f"way[building](area:{place['area_id']});out geom;")
    assert shapes["features"][0]["geometry"]["type"] == "Polygon" and len(shapes["features"]) == 50, shapes
    entity = (await call(session, "search_entities", text="Valletta"))["entities"][0]
    assert entity["id"] == "Q23800", entity
    facts = await call(session, "describe_entity", id=entity["id"])
    assert facts["label"] == "Valletta" and facts["total"] == len(facts["facts"]), facts
    rows = await call(session, "query_sparql", query="SELECT ?x { ?x wdt:P31 wd:Q515 }")
    assert {"x": "wd:Q23800"} in rows["rows"], rows
    checked = await call(session, "check_query", query="node[amenity=caffe];out;")
    assert checked["runs"] and checked["results"] == 0 and checked["warnings"], checked
    for resource in (await session.list_resources()).resources:
        contents = (await session.read_resource(resource.uri)).contents
        assert len(contents[0].text) > 100, resource
    print(f"  {len(tools)} tools")


async def questions(session):
    """Answers each through the tools alone, and holds it against the query of somebody who knows."""
    for thing, place, query in QUESTIONS:
        best = (await call(session, "search_tags", text=thing))["tags"][0]
        area = (await call(session, "geocode", name=place))["area_id"]
        count = "nwr[{}={}](area:{});out count;".format(json.dumps(best["key"]), json.dumps(best["value"]), area)
        answer = (await call(session, "query_overpass", query=count))["elements"][0]["tags"]["total"]
        expected = ask(f'[out:json];area["name"="{place}"]->.a;{query}(area.a);out count;')["elements"][0]["tags"]["total"]
        assert answer == expected and int(answer) > 0, (thing, place, best, answer, expected)
        print(f"  {thing} in {place}: {answer}")
    # The country whose capital is Valletta, and how many live there.
    capital = (await call(session, "search_entities", text="Valletta"))["entities"][0]["id"]
    country = await call(session, "query_sparql", query=f"SELECT ?c ?n {{ ?c wdt:P36 wd:{capital} ; wdt:P1082 ?n }}")
    assert country["rows"] == [{"c": "wd:Q233", "n": "542051"}], country
    # What a restaurant is found with: its cuisine, of which one is asked for.
    with_it = (await call(session, "describe_tag", key="amenity", value="restaurant"))["found_with"]
    assert any(other["key"] == "cuisine" for other in with_it), with_it
    cuisine = (await call(session, "describe_tag", key="cuisine"))["values"][0]["value"]
    query = f'nwr[amenity=restaurant][cuisine={json.dumps(cuisine)}];out ids;'
    assert (await call(session, "query_overpass", query=query))["total"] > 10
    print(f"  the country of {capital}, and restaurants with {cuisine}")


def ask(query):
    return json.load(urlopen(Request(SERVER + "/api/interpreter", query.encode())))


async def malformed(session):
    assert "unknown field" in await trouble(session, "search_tags", words="cafe")
    assert "missing field" in await trouble(session, "geocode")
    assert "expected" in await trouble(session, "query_overpass", query="node[amenity=cafe] out;")
    assert "no cursor" in await trouble(session, "query_overpass", query="node(1);out;", cursor="-1")
    assert "Q1x" in await trouble(session, "describe_entity", id="Q1x")
    try:
        await session.call_tool("no_such_tool", {})
        raise AssertionError("it was called")
    except MCPError as error:
        assert "unknown tool" in str(error), error


async def huge(session):
    """Answers stay small, whatever the number of elements."""
    all_buildings = await session.call_tool("query_overpass", {"query": "way[building];out geom;", "limit": 1000})
    text = all_buildings.content[0].text
    told = all_buildings.structured_content
    assert told["total"] > 10_000 and len(told["elements"]) == 200 and len(text) < 1 << 20, (told["total"], len(text))
    assert "next_cursor" in told and "count" in told["hint"], told["hint"]
    far = await call(session, "query_overpass", query="way[building];out ids;", cursor=str(told["total"] - 1))
    assert len(far["elements"]) == 1 and "next_cursor" not in far, far
    everything = await call(session, "query_overpass", query="nwr(35,14,37,15);out meta geom;")
    assert everything["total"] > 600_000 and len(everything["elements"]) == 20, everything


async def cancelled(session, runs):
    """A call that is given up on stops, and the next one is answered."""
    task = asyncio.create_task(session.call_tool("query_overpass", {"query": ENDLESS}))
    await until(runs, True)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    await until(runs, False)
    assert (await call(session, "query_overpass", query="node[amenity=cafe];out ids;", limit=1))["total"] > 0


async def until(runs, wanted):
    for _ in range(400):
        if await asyncio.to_thread(runs) == wanted:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"a query runs: not {wanted}")


def runs_on_server():
    status = urlopen(SERVER + "/api/status").read().decode()
    return "\t" in status.splitlines()[-1]


def ticks(process):
    fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def runs_in_child():
    """Whether the process at the other end of the pipe computes."""
    children = subprocess.run(["pgrep", "-P", str(__import__("os").getpid()), "-x", "terrapin"], capture_output=True, text=True)
    process = children.stdout.split()[0]
    before = ticks(process)
    time.sleep(0.3)
    return ticks(process) - before > 15


def over_the_wire():
    """What no client of the protocol sends."""

    def post(body, **headers):
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            return urlopen(Request(SERVER + "/mcp", body, {**usual, **headers})).status
        except HTTPError as error:
            return error.code

    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    assert post(ping) == 200
    assert post(ping, Origin=SERVER) == 200
    assert post(ping, Origin="http://evil.example") == 403
    assert post(ping, Host="evil.example") == 403
    assert post(ping, Accept="text/html") == 406
    assert post(ping, Content_Type="text/plain") == 415
    assert post(b"{") == 400
    assert post(b" " * (3 << 20)) == 413
    described = json.load(urlopen(SERVER + "/openapi.json"))
    OpenAPIV31SpecValidator(described).validate()
    print(f"  {len(described['paths'])} services described")


async def main():
    for name, opened, runs in (("a pipe", over_pipe, runs_in_child), ("HTTP", over_http, runs_on_server)):
        print(f"over {name}:")
        async with opened() as session:
            hello = await session.initialize()
            assert hello.server_info.name == "terrapin" and "search_tags" in hello.instructions, hello
            await every_tool(session)
            await questions(session)
            await malformed(session)
            await huge(session)
            await cancelled(session, runs)
    over_the_wire()
    print("ok")


asyncio.run(main())
