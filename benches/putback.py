#!/usr/bin/env python3
"""Puts display names back: looks up random places, houses and streets of a snapshot, searches for each display name, and
counts how often the search finds the place. Needs Python 3.8 and nothing else.

    benches/putback.py TERRAPIN SNAPSHOT [--sample 300] [--seed 11] [--show 10]

A place is found if the answer has its element, or another element with the same display name but for case, accents and
punctuation: the ways of one street, and a town's border and its node, are one place. `first` counts those on the first
line of the answer. Times are milliseconds of one HTTP request."""

import argparse
import json
import random
import subprocess
import time
import unicodedata
import urllib.parse
import urllib.request

CLASSES = {
    "places": 'nwr["place"]["name"];',
    "borders": 'rel["boundary"="administrative"]["name"];',
    "houses": 'nwr["addr:housenumber"][!"name"];',
    "houses without addr:street": 'nwr["addr:housenumber"][!"addr:street"][!"name"];',
    "named things": '(nwr["amenity"]["name"];nwr["shop"]["name"];nwr["tourism"]["name"];);',
    "streets": 'way["highway"]["name"];',
}


def request(url, data=None):
    with urllib.request.urlopen(url, data) as response:
        return json.load(response)


def folded(text):
    """Letters and digits without case and accents."""
    letters = unicodedata.normalize("NFKD", text.replace("ħ", "h").replace("Ħ", "h").casefold())
    return "".join(letter for letter in letters if letter.isalnum() or letter == ",")


def element(place):
    return place.get("osm_type"), place.get("osm_id")


def measure(url, query, options):
    text = urllib.parse.urlencode({"data": f"[out:json][timeout:180];{query}out ids;"}).encode()
    elements = [f"{e['type'][0].upper()}{e['id']}" for e in request(f"{url}/api/interpreter", text)["elements"]]
    random.seed(options.seed)
    sample = random.sample(elements, min(options.sample, len(elements)))
    total = found = first = 0
    missed, times = [], []
    for start in range(0, len(sample), 50):
        ids = ",".join(sample[start : start + 50])
        for place in request(f"{url}/lookup?{urllib.parse.urlencode({'osm_ids': ids, 'format': 'jsonv2'})}"):
            if not place["display_name"]:
                continue
            total += 1
            started = time.perf_counter()
            answer = request(f"{url}/search?{urllib.parse.urlencode({'q': place['display_name'], 'format': 'jsonv2'})}")
            times.append((time.perf_counter() - started) * 1000)
            name = folded(place["display_name"])
            same = [element(other) == element(place) or folded(other["display_name"]) == name for other in answer]
            found += any(same)
            first += bool(same) and same[0]
            if not any(same):
                missed.append((element(place), place["display_name"], [other["display_name"] for other in answer[:2]]))
    return total, found, first, sorted(times), missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrapin")
    parser.add_argument("snapshot")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--show", type=int, default=10, help="missed places to print of each class")
    options = parser.parse_args()
    command = [options.terrapin, "serve", options.snapshot, "--bind", "127.0.0.1:0", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        for name, query in CLASSES.items():
            total, found, first, times, missed = measure(url, query, options)
            if total:
                share = f"found {found * 100 / total:5.1f} %, first {first * 100 / total:5.1f} %"
                at = lambda part: times[min(int(len(times) * part), len(times) - 1)]
                print(f"{name:28}{total:5}  {share}  ms median {at(0.5):.1f}, p95 {at(0.95):.1f}", flush=True)
            for place in missed[: options.show]:
                print("    missed:", *place, flush=True)
    finally:
        server.kill()
        server.wait()


main()
