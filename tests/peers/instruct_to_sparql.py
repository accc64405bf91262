"""Peer of tests/eval/codebleu.rs: what the authors' own code gives for pairs of queries: their src/metrics_utils.py, unmodified, from a checkout."""
import json, sys, types, logging
logging.disable(logging.CRITICAL)
def stub(name, **names):
    module = types.ModuleType(name); module.__dict__.update(names); sys.modules[name] = module
metric = types.SimpleNamespace(compute=lambda **kw: {})
stub("evaluate", load=lambda name: metric)
stub("sklearn"); stub("sklearn.metrics", f1_score=lambda *a, **k: 0.0)
stub("column_matching", make_df_from_json=None, schema_matching=None)
sys.path.insert(0, sys.argv[1] + "/src")
import metrics_utils
from rdflib.plugins.sparql.parser import parseQuery
def parses(q):
    try: str(parseQuery(q)); return True
    except Exception: return False
for line in sys.stdin:
    pair = json.loads(line)
    try: score = metrics_utils.codebleu_score([pair["gold"]], [pair["pred"]])[0]
    except Exception as e: score = None
    print(json.dumps({"codebleu": score, "parses": parses(pair["gold"]) and parses(pair["pred"])}), flush=True)
