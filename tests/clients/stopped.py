"""What the Python clients show of a query that is stopped: a row of docs/guides/clients.md for each."""

import json
import logging
import sys
import tempfile
import warnings
from urllib.error import HTTPError
from urllib.request import urlopen

import osmnx
import overpass
import overpy
import requests
from OSMPythonTools.overpass import Overpass

SERVER = sys.argv[1]
INTERPRETER = SERVER + "/api/interpreter"
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

# Never done: stopped before or after so much of the answer that it has gone out.
ENDLESS = "foreach{nwr[name];" * 9 + "}" * 9
EARLY = 1, "node[amenity=cafe];out;" + ENDLESS
LATE = 5, "way[building];out meta geom 4000;" + ENDLESS


def with_overpy(seconds, query):
    return overpy.Overpass(url=INTERPRETER).query(f"[out:json][timeout:{seconds}];{query}")


def with_osmpythontools(seconds, query):
    return Overpass(endpoint=SERVER + "/api/").query(query, timeout=seconds)


def with_overpass(seconds, query):
    return overpass.API(endpoint=INTERPRETER).get(f"[out:json][timeout:{seconds}];{query}", build=False)


def with_osmnx(seconds, query):
    osmnx.settings.overpass_url = SERVER + "/api"
    osmnx.settings.overpass_rate_limit = False
    osmnx.settings.cache_folder = tempfile.mkdtemp()
    # It sleeps a minute after a 504 and asks again: that is seen, and not waited for.
    osmnx._overpass.time.sleep = waits
    return osmnx._overpass._overpass_request({"data": f"[out:json][timeout:{seconds}];{query}"})


class WaitsAndAsksAgain(Exception):
    pass


def waits(seconds):
    if seconds > 0:
        raise WaitsAndAsksAgain


def with_requests(seconds, query):
    answer = requests.post(INTERPRETER, data={"data": f"[out:json][timeout:{seconds}];{query}"})
    answer.raise_for_status()
    return answer.json()


def with_urllib(seconds, query):
    return json.load(urlopen(INTERPRETER, f"data=[out:json][timeout:{seconds}];{query}".encode()))


def shown(ask, query):
    try:
        return f"an answer: {str(ask(*query))[:80]}"
    except Exception as error:
        # OSMPythonTools and others wrap what they met.
        inner = next((str(part) for part in error.args if isinstance(part, HTTPError)), "")
        text = inner or (str(error) if type(error) is Exception else "")
        return f"`{type(error).__name__}`" + (f" ({text.splitlines()[0][:60]})" if text else "")


for name, ask in [
    ("overpy", with_overpy),
    ("OSMPythonTools", with_osmpythontools),
    ("overpass", with_overpass),
    ("osmnx", with_osmnx),
    ("requests", with_requests),
    ("urllib", with_urllib),
]:
    print(f"| {name} | {shown(ask, EARLY)} | {shown(ask, LATE)} |", flush=True)
