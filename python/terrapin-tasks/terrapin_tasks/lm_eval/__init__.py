"""Tasks for lm-evaluation-harness:

    lm-eval run --include_path $(python -c "from terrapin_tasks.lm_eval import PATH; print(PATH)") --tasks terrapin_overpassnl \\
        --metadata '{"snapshot": "malta.terrapin", "folder": "OverpassNL/dataset"}' --model ...
"""

from pathlib import Path

PATH = str(Path(__file__).parent)
"""The folder of the task files."""
