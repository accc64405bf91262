"""PostGIS: `postgis_worker.py SOCKET-FOLDER DATABASE`. Lines of {"sql": ...} give {"count": rows, "cpu": seconds of the server}."""

import json
import sys

import psycopg

from measure import cpu_of


def main():
    connection = psycopg.connect(host=sys.argv[1], user="postgres", dbname=sys.argv[2], autocommit=True)
    [server] = connection.execute("SELECT pg_backend_pid()").fetchone()
    print(json.dumps({"server": server}), flush=True)
    for line in sys.stdin:
        try:
            before = cpu_of(server)
            found = connection.execute(json.loads(line)["sql"]).fetchall()
            print(json.dumps({"count": len(found), "value": found[0][0] if len(found) == 1 else None,
                              "cpu": cpu_of(server) - before}, default=str), flush=True)
        except psycopg.Error as error:
            print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
