"""The requests of programs that have a window, as they send them: QuickOSM, JOSM, overpass turbo, map libraries."""

import gzip
import json
import sys
import xml.etree.ElementTree as xml
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

SERVER = sys.argv[1]
INTERPRETER = SERVER + "/api/interpreter"
FORM = "application/x-www-form-urlencoded"
BOX = "35.89,14.50,35.90,14.52"


def ask(address, body=None, **headers):
    request = Request(address, body, {name.replace("_", "-"): value for name, value in headers.items()})
    try:
        answer = urlopen(request)
    except HTTPError as error:
        answer = error
    content = answer.read()
    if answer.headers["Content-Encoding"] == "gzip":
        content = gzip.decompress(content)
    return answer.status, answer.headers, content.decode()


def elements(text):
    return len(xml.fromstring(text).findall("*[@id]"))


def quickosm():
    query = f'[out:xml] [timeout:25];\n(\n    node["amenity"="cafe"]({BOX});\n    way["amenity"="cafe"]({BOX});\n);\n(._;>;);\nout body;'
    by_get = INTERPRETER + "?" + urlencode({"data": query, "info": "QgisQuickOSMPlugin"})
    status, headers, text = ask(by_get, User_Agent="Mozilla/5.0 QGIS/33415")
    assert status == 200 and headers["Content-Type"].startswith("application/osm3s+xml"), (status, headers)
    found = elements(text)
    assert found > 40, text
    # Newer ones: the rest of the address stays, the query goes into the body as Qt shows it, hardly encoded.
    body = ("data=" + query).encode()
    status, _, text = ask(INTERPRETER + "?info=QgisQuickOSMPlugin", body, Content_Type=FORM)
    assert (status, elements(text)) == (200, found), text
    # What it looks for in the answer: the status' own words, and those of the page.
    status, _, text = ask(INTERPRETER + "?" + urlencode({"data": "node(;out;", "info": "QgisQuickOSMPlugin"}))
    assert status == 400 and "Error</strong>: line 1: parse error" in text, text
    nominatim = SERVER + "/search?" + urlencode({"q": "Valletta", "format": "json", "info": "QgisQuickOSMPlugin"})
    place, *_ = json.loads(ask(nominatim)[2])
    assert place["osm_type"] == "relation" and place["osm_id"] == 7510580 and len(place["boundingbox"]) == 4, place
    convert = SERVER + "/api/convert?" + urlencode({"data": query, "target": "mapql", "info": "QgisQuickOSMPlugin"})
    assert "<pre>\n" in ask(convert)[2] or "<pre>" in ask(convert)[2]


def josm():
    query = f"[out:xml][timeout:90][bbox:{BOX}];\n(\n    node[tourism=museum];\n    way[tourism=museum];\n);\n(._;>;);\nout meta;"
    java = {"User_Agent": "JOSM/1.5 (19207 en) Linux Java/21", "Accept": "*/*", "Accept_Encoding": "gzip, deflate"}
    # The plain query as the body of a POST.
    status, headers, text = ask(INTERPRETER, query.encode(), Content_Type=FORM, **java)
    assert status == 200 and headers["Content-Encoding"] == "gzip" and elements(text) > 20, (status, headers)
    node = xml.fromstring(text).find("node")
    assert {"id", "lat", "lon", "version", "timestamp", "changeset", "uid", "user"} == set(node.keys()), node.attrib
    status, _, text = ask(INTERPRETER, b"node(1;out;", Content_Type=FORM, **java)
    assert status == 400 and text.split("Error</strong>: ")[1].split("</")[0].startswith("line 1: parse error"), text
    # {{geocodeArea:...}} and its own search box.
    place, *_ = json.loads(ask(SERVER + "/search?format=json&q=" + quote("Gozo"), **java)[2])
    status, _, text = ask(INTERPRETER, f"area({3600000000 + place['osm_id']});node(area)[place];out;".encode(), **java)
    assert status == 200 and elements(text) > 5, text


def josm_mirrors():
    """What its plugin Mirrored Download sends."""
    south, west, north, east = BOX.split(",")
    box = ",".join((west, south, east, north))
    status, _, text = ask(SERVER + f"/api/xapi_meta?*[tourism=museum][bbox={box}]", Accept="*/*")
    assert status == 200 and elements(text) > 20, text
    node = xml.fromstring(text).find("node")
    assert {"id", "lat", "lon", "version", "timestamp", "changeset", "uid", "user"} == set(node.keys()), node.attrib
    status, _, text = ask(SERVER + f"/api/xapi?map?bbox={box}")
    assert status == 200 and {child.tag for child in xml.fromstring(text)} >= {"node", "way", "relation"}, text[:500]
    assert text == ask(SERVER + f"/api/map?bbox={box}")[2]


def turbo():
    query = f"[out:json][timeout:25];\nnwr[amenity=cafe]({BOX});\nout geom;"
    page = {"Origin": "https://overpass-turbo.eu", "Referer": "https://overpass-turbo.eu/"}
    status, headers, text = ask(INTERPRETER, b"data=" + quote(query).encode(), Content_Type=FORM, **page)
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, "*"), headers
    answer = json.loads(text)
    assert len(answer["elements"]) > 40 and answer["osm3s"]["timestamp_osm_base"].startswith("2024-03"), text[:300]
    status, headers, text = ask(SERVER + "/api/kill_my_queries", **page)
    assert (status, headers["Access-Control-Allow-Origin"], text) == (200, "*", ""), text


def map_libraries():
    query = "[out:json];node(bbox)[amenity=cafe];out ids;"
    beside = {"bbox": "14.50,35.89,14.52,35.90", "jsonp": "OpenLayers.show"}
    by_get = ask(INTERPRETER + "?" + urlencode({"data": query, **beside}))
    by_post = ask(INTERPRETER, urlencode({"data": query, **beside}).encode(), Content_Type=FORM)
    for status, headers, text in [by_get, by_post]:
        assert status == 200 and headers["Content-Type"].startswith("text/javascript"), headers
        call = text.removeprefix("OpenLayers.show(").removesuffix(");\n")
        assert len(json.loads(call)["elements"]) == 42, text[:300]


def status_page():
    _, headers, text = ask(SERVER + "/api/status")
    assert headers["Content-Type"].startswith("text/plain"), headers
    assert text.startswith("Connected as: ") and "\nRate limit: " in text and " slots available now.\n" in text, text
    assert ask(SERVER + "/api/timestamp")[2].startswith("2024-03-13T")


for shape in [quickosm, josm, turbo, map_libraries, status_page]:
    shape()
