"""300 pairs of queries of mixed quality, the same every time: gold from a file of queries, predictions made of it."""
import gzip, json, random, re, sys

def pairs(path, count=300):
    queries = [json.loads(line)["query"] for line in gzip.open(path, "rt", encoding="utf-8")]
    rng = random.Random(20)
    rng.shuffle(queries)
    made = []
    for i in range(count):
        gold, kind = queries[i % len(queries)], KINDS[i % len(KINDS)]
        made.append({"kind": kind.__name__, "gold": gold, "pred": kind(gold, rng, queries)})
    return made

def same(q, rng, all): return q
def renamed(q, rng, all):
    names = sorted(set(re.findall(r"[?$](\w+)", q)))
    new = {n: f"v{k}" for k, n in enumerate(names)}
    return re.sub(r"([?$])(\w+)", lambda m: m[1] + new[m[2]], q)
def edited(q, rng, all):
    ids = re.findall(r"\b[QP]\d+\b", q)
    if not ids: return q + " LIMIT 7"
    old = rng.choice(ids)
    return re.sub(rf"\b{old}\b", old[0] + str(rng.randrange(1, 5000)), q)
def shorter(q, rng, all):
    parts = q.split("\n")
    inner = [k for k in range(1, len(parts) - 1) if parts[k].rstrip().endswith(".")]
    if not inner: return q.replace("DISTINCT ", "")
    k = rng.choice(inner)
    return "\n".join(parts[:k] + parts[k + 1:])
def broken(q, rng, all):
    return rng.choice([q[: max(1, len(q) * 3 // 4)], q.replace("{", "", 1), q.replace("?", "? ", 1), q + "}", q.replace("WHERE", "WHEN", 1) + ";"])
def other(q, rng, all): return rng.choice(all)
def spaced(q, rng, all): return re.sub(r"\s+", " ", re.sub(r"(?m)#.*$", "", q))
def limited(q, rng, all): return re.sub(r"(?i)\s*limit\s+\d+\s*$", "", q) + f" LIMIT {rng.randrange(1, 100)}"
def swapped(q, rng, all):
    words = q.split(" ")
    if len(words) > 4:
        a, b = rng.sample(range(1, len(words)), 2)
        words[a], words[b] = words[b], words[a]
    return " ".join(words)
def empty(q, rng, all): return "" if rng.random() < 0.5 else "SELECT * { }"
KINDS = [same, renamed, edited, shorter, broken, other, spaced, limited, swapped, empty]

if __name__ == "__main__":
    for pair in pairs(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300):
        print(json.dumps(pair))
