"""Runs a notebook in a folder: notebook.py FOLDER NOTEBOOK [--write]. With --write, its outputs are stored in the file."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

# Larger outputs do not belong into a repository.
LIMIT = 20_000


def main():
    folder, file = Path(sys.argv[1]), Path(sys.argv[2])
    notebook = nbformat.read(file, as_version=4)
    try:
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    except CellExecutionError as error:
        sys.exit(f"{file}: {error}")
    for cell in notebook.cells:
        cell.metadata.clear()
        for output in cell.get("outputs", []):
            if len(str(output)) > LIMIT:
                sys.exit(f"{file}: an output of {len(str(output))} bytes: {cell.source[:60]!r}")
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    print(f"docs: {file.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells run")
    if "--write" in sys.argv:
        nbformat.write(notebook, file)


if __name__ == "__main__":
    main()
