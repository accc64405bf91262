"""Lists what a package of the workspace is made of, for one target: licences as a text, components as CycloneDX 1.5.

    python components.py --target TRIPLE --package NAME [--features F,...] [--licences FILE] [--sbom FILE]

Crates come from `cargo metadata`, without those that only builds and tests use. The packages of the web page come from the
list that its build wrote. Two runs write the same bytes: no times, sorted, a serial number of the contents.
"""

import argparse
import gzip
import json
import re
import subprocess
import uuid
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
RULE = "-" * 80


def crates_of(target, package, features):
    """The packages that are linked into `package`, sorted by name and version, and `package` itself."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    if features:
        command += ["--features", features]
    metadata = json.loads(subprocess.run(command, cwd=TOP, check=True, capture_output=True).stdout)
    packages = {p["id"]: p for p in metadata["packages"]}
    nodes = {n["id"]: n for n in metadata["resolve"]["nodes"]}
    root = next(p for p in packages.values() if p["name"] == package)
    found, waiting = {}, [root["id"]]
    while waiting:
        id = waiting.pop()
        if id in found:
            continue
        # What a procedural macro is made of runs in the compiler only.
        macro = any("proc-macro" in t["kind"] for t in packages[id]["targets"])
        linked = [] if macro else [d["pkg"] for d in nodes[id]["deps"] if any(k["kind"] is None for k in d["dep_kinds"])]
        if not macro:
            found[id] = linked
            waiting += linked
    order = sorted(found, key=lambda id: (packages[id]["name"], packages[id]["version"]))
    return root, [packages[id] for id in order], {id: [d for d in found[id] if d in found] for id in order}


def page_packages():
    """Name, version and licence of the npm packages in the web page."""
    text = gzip.decompress((TOP / "crates/server/web/licences.txt.gz").read_bytes()).decode()
    parts = text.split(f"\n{RULE}\n\n")[1:]
    heads = [re.match(r"(\S+) (\S+): (.+)", part) for part in parts]
    return text, [head.groups() for head in heads if head]


def licence_files(package):
    folder = Path(package["manifest_path"]).parent
    names = sorted(p for p in folder.iterdir() if re.match(r"(licen[sc]e|copying|unlicense|notice)", p.name, re.I) and p.is_file())
    return names


def write_licences(path, crates, page):
    heads, texts = [], {}
    for crate in crates:
        if not crate["source"]:
            continue
        name = f"{crate['name']} {crate['version']}"
        heads.append(f"{name}: {crate['license'] or crate['license_file']}  {crate['repository'] or ''}".rstrip())
        for file in licence_files(crate):
            text = file.read_text(errors="replace").strip()
            texts.setdefault("\n".join(line.rstrip() for line in text.splitlines()), []).append(name)
    head = (
        "The crates that Terrapin contains besides its own code (MIT or Apache-2.0), their licences, each text once, and\n"
        "after them what the web page contains.\n"
    )
    parts = [head + "\n" + "\n".join(heads) + "\n"]
    parts += [f"{', '.join(names)}:\n\n{text}\n" for text, names in sorted(texts.items(), key=lambda each: each[1])]
    Path(path).write_text(f"\n{RULE}\n\n".join([*parts, page]))


def purl(crate):
    return f"pkg:cargo/{crate['name']}@{crate['version']}"


def component(crate, kind="library"):
    found = {"type": kind, "bom-ref": purl(crate), "name": crate["name"], "version": crate["version"], "purl": purl(crate)}
    if crate["license"]:
        # Older crates separate alternatives by a slash.
        found["licenses"] = [{"expression": " ".join(crate["license"].replace("/", " OR ").split())}]
    if crate["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": crate["repository"]}]
    return found


def write_sbom(path, root, crates, edges, page):
    by_id = {crate["id"]: crate for crate in crates}
    npm = [
        {"type": "library", "bom-ref": f"pkg:npm/{name.replace('@', '%40')}@{version}", "name": name, "version": version,
         "purl": f"pkg:npm/{name.replace('@', '%40')}@{version}", "licenses": [{"expression": licence}]}
        for name, version, licence in page
    ]
    others = [component(crate) for crate in crates if crate["id"] != root["id"]]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(root, "application"), "tools": {"components": [{"type": "application", "name": "components.py"}]}},
        "components": others + npm,
        "dependencies": [
            {"ref": purl(by_id[id]), "dependsOn": sorted({purl(by_id[d]) for d in needed})} for id, needed in edges.items()
        ],
    }
    text = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}"
    Path(path).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--features", default="")
    parser.add_argument("--licences")
    parser.add_argument("--sbom")
    arguments = parser.parse_args()
    root, crates, edges = crates_of(arguments.target, arguments.package, arguments.features)
    text, page = page_packages()
    if arguments.licences:
        write_licences(arguments.licences, crates, text)
    if arguments.sbom:
        write_sbom(arguments.sbom, root, crates, edges, page)


if __name__ == "__main__":
    main()
