"""Finds and installs the programs that are compared with ours."""

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from measure import Failed, run, tree_cpu

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "common"))
from tools import programs  # noqa: E402

# Debian's packages of the programs that are not in PyPI or npm.
PACKAGES = {"osm2pgsql": "osm2pgsql", "osmium": "osmium-tool", "tilemaker": "tilemaker", "java": "default-jre-headless",
            "node": "nodejs", "npm": "npm"}


def python():
    """A Python with the peers of requirements.txt, installed on the first call."""
    if "COMPARE_PYTHON" in os.environ:
        return os.environ["COMPARE_PYTHON"]
    try:
        return programs("compare", "the Python peers", requirements=HERE / "requirements.txt") / "python"
    except SystemExit:
        raise Failed("the Python peers cannot be installed from PyPI") from None


def program(name):
    """The path of an installed program."""
    path = shutil.which(name)
    if not path:
        raise Failed(f"{name} is not installed (apt-get install {PACKAGES.get(name, name)})")
    return path


def version(command):
    """The first line with a digit of what a program prints of its version."""
    done = subprocess.run(command, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    found = next((line.strip() for line in lines if any(char.isdigit() for char in line)), "unknown")
    return re.sub(r"^[-0-9]+ [:0-9]+ +| \(Debian.*| [0-9a-f]{40}", "", found)


def package_version(name):
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    return run([python(), "-c", code])["out"].strip()


class Overpass:
    """Overpass API in a folder with bin/osm3s_query, bin/update_database and rules/areas.osm3s."""

    def __init__(self):
        folder = os.environ.get("OVERPASS")
        if not folder:
            raise Failed("Overpass API is in no package registry: set OVERPASS to a folder of a build of it")
        self.folder = Path(folder)
        for name in ("bin/osm3s_query", "bin/update_database", "rules/areas.osm3s"):
            if not (self.folder / name).exists():
                raise Failed(f"{self.folder / name} is missing: OVERPASS is a folder with bin and rules of a build")

    def version(self):
        return version([self.folder / "bin" / "osm3s_query", "--version"])

    def load(self, extract, database, limit=600):
        """Loads elements with metadata, then makes areas: times and largest memory of all steps, size of the database."""
        shutil.rmtree(database, ignore_errors=True)
        database.mkdir(parents=True)
        text = database.with_suffix(".osm")
        steps = [run([program("osmium"), "cat", extract, "-f", "osm", "-o", text, "--overwrite"])]
        try:
            load = [self.folder / "bin" / "update_database", f"--db-dir={database}/", "--meta"]
            steps.append(run(load, stdin=text, limit=limit))
            areas = [self.folder / "bin" / "osm3s_query", f"--db-dir={database}/", "--rules", "--quiet"]
            steps.append(run(areas, stdin=self.folder / "rules" / "areas.osm3s", limit=limit))
        finally:
            text.unlink(missing_ok=True)
        return {"cpu": sum(step["cpu"] for step in steps), "wall": sum(step["wall"] for step in steps),
                "rss": max(step["rss"] for step in steps), "size": disk(database)}

    def query(self, database, text):
        """One query by a process of its own, as in its web server."""
        return run([self.folder / "bin" / "osm3s_query", f"--db-dir={database}/", "--quiet"], stdin=text, limit=120)


def disk(path):
    """The bytes that a file or a folder takes on the disk."""
    path = Path(path)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_blocks * 512 for file in files)


# osm2pgsql's own multipolygons lack borders with gaps in an extract.
AREAS = """CREATE TABLE areas AS SELECT id, ST_BuildArea(ST_CollectionExtract(geom, 2)) AS geom FROM relations
           WHERE tags->>'type' IN ('multipolygon', 'boundary') OR tags ? 'admin_level'"""


class Postgres:
    """A PostgreSQL server with PostGIS of its own, in a new folder, on a local socket only."""

    def __init__(self):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        if not found:
            raise Failed("PostgreSQL is not installed (apt-get install postgresql postgresql-15-postgis-3)")
        self.bin = found[-1].parent
        if not list(Path("/usr/share/postgresql").glob("*/extension/postgis.control")):
            raise Failed("PostGIS is not installed (apt-get install postgresql-15-postgis-3)")

    def version(self):
        return f"{version([self.bin / 'postgres', '--version'])}, {version([program('osm2pgsql'), '--version'])}"

    def command(self, *parts):
        """The server refuses to run as root: then it runs as the user `postgres`."""
        parts = [str(part) for part in parts]
        return ["runuser", "-u", "postgres", "--", *parts] if os.geteuid() == 0 else parts

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="compare-postgres-", dir="/var/tmp"))
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self.user = "postgres"
        data = self.folder / "data"
        run(self.command(self.bin / "initdb", "-D", data, "-U", self.user, "-A", "trust", "-E", "UTF8", "--locale=C"), cwd="/")
        settings = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}", "-c", "shared_buffers=1GB",
                    "-c", "work_mem=64MB", "-c", "maintenance_work_mem=512MB", "-c", "max_wal_size=4GB",
                    "-c", "synchronous_commit=off", "-c", "jit=off", "-c", "max_parallel_workers_per_gather=0"]
        self.process = subprocess.Popen(self.command(self.bin / "postgres", "-D", data, *settings), cwd="/",
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if (data / "postmaster.pid").exists() and subprocess.run(
                    ["psql", "-h", self.folder, "-U", self.user, "-c", "select 1", "postgres"], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        else:
            raise Failed("PostgreSQL does not start")
        self.postmaster = int((data / "postmaster.pid").read_text().split()[0])
        return self

    def __exit__(self, *_):
        os.kill(self.postmaster, 2)  # fast shutdown
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, text, database="postgres"):
        return run(["psql", "-h", self.folder, "-U", self.user, "-v", "ON_ERROR_STOP=1", "-qAtc", text, database])["out"].strip()

    def load(self, extract, database, limit=600):
        """Loads an extract by osm2pgsql in flex mode, with indexes; the server's times are in it, not its memory."""
        self.sql(f"DROP DATABASE IF EXISTS {database}")
        self.sql(f"CREATE DATABASE {database}")
        self.sql("CREATE EXTENSION postgis", database)
        before, began = tree_cpu(self.postmaster), time.monotonic()
        took = run([program("osm2pgsql"), "-H", self.folder, "-U", self.user, "-d", database, "-O", "flex",
                    "-S", HERE / "osm2pgsql.lua", extract], limit=limit)
        for index in (AREAS, "CREATE INDEX ON areas USING gist (geom)", "CREATE INDEX ON areas (id)",
                      "CREATE INDEX ON nodes USING gin (tags)", "CREATE INDEX ON ways USING gin (tags)",
                      "CREATE INDEX ON ways USING gin (nodes)", "CREATE INDEX ON relations USING gin (tags)", "ANALYZE"):
            self.sql(index, database)
        wall = time.monotonic() - began
        return {"cpu": took["cpu"] + tree_cpu(self.postmaster) - before, "wall": wall, "rss": took["rss"],
                "size": int(self.sql(f"SELECT pg_database_size('{database}')"))}


def geojson_folder():
    """A folder with osmtogeojson, as tests/geojson/run.py installs it."""
    spec = importlib.util.spec_from_file_location("geojson_run", HERE.parent.parent / "tests" / "geojson" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return module.installed()
    except SystemExit:
        raise Failed("osmtogeojson cannot be installed from npm") from None


# Libraries of Debian's Jena, by the beginnings of their names.
JARS = ("jena-", "commons-", "thrift", "jsonld", "jackson", "protobuf", "slf4j-api", "slf4j-nop", "httpc", "gson", "guava",
        "failureaccess", "titanium", "dexx", "caffeine")
MESSAGES = "org/apache/jena/ext/xerces/"


def jena_classes(folder):
    """The class path of Apache Jena: of the distribution at JENA, or of Debian's package libapache-jena-java.

    Debian's jar has its copy of Xerces under another name than the texts that it reads: these go into a folder of their own.
    """
    if "JENA" in os.environ:
        return f"{os.environ['JENA']}/lib/*"
    java = Path("/usr/share/java")
    if not (java / "jena-tdb2.jar").exists():
        raise Failed("not installed (apt-get install libapache-jena-java), and JENA is not set to a distribution")
    with zipfile.ZipFile(java / "jena-core.jar") as jar:
        for name in jar.namelist():
            if name.startswith(MESSAGES) and name.endswith(".properties"):
                out = folder / "jena-messages" / "xerces" / name.removeprefix(MESSAGES)
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(jar.read(name))
    jars = [jar for jar in sorted(java.glob("*.jar")) if jar.name.startswith(JARS) and not re.search(r"-[0-9.]+\.jar$", jar.name)]
    return ":".join(map(str, [folder / "jena-messages", *jars]))


def jena_version(classes):
    """The version in the names of the jars."""
    folder = Path("/usr/share/java" if "JENA" not in os.environ else classes.removesuffix("*"))
    names = [jar.stem for jar in sorted(folder.glob("jena-tdb2-*.jar"))]
    return "Apache Jena TDB2 " + (names[0].removeprefix("jena-tdb2-") if names else "of an unknown version")
