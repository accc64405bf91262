"""TRL: the reward function alone, and in a step of its trainer with an untrained model."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest
from conftest import REFUSAL, Benchmark
from terrapin_tasks import METRICS
from terrapin_tasks.trl import WEIGHTS, reward, rows


def columns(made: list[dict[str, str]]) -> dict[str, list[str]]:
    return {name: [row[name] for row in made] for name in made[0]}


def test_rewards_are_the_programs_scores(malta: Benchmark) -> None:
    given = columns(rows(malta.items))
    prompts = given.pop("prompt")
    means = {}
    for name in METRICS:
        one = reward(malta.scorer, {name: 1.0})(prompts=prompts, completions=malta.answers, **given)
        means[name] = sum(one) / len(one)
    malta.check(means)
    messages = [[{"role": "assistant", "content": answer}] for answer in malta.answers]
    given_as_messages = reward(malta.scorer)(prompts=prompts, completions=messages, **given)
    assert given_as_messages == reward(malta.scorer)(prompts=prompts, completions=malta.answers, **given)
    assert sum(given_as_messages) / len(messages) == pytest.approx(sum(means[name] * w for name, w in WEIGHTS.items()))
    calls_a_tool = [[{"role": "assistant", "content": None, "tool_calls": []}], [], REFUSAL]
    assert reward(malta.scorer, {"f1": 1})(calls_a_tool, gold=[malta.items[0].gold] * 3) == [0, 0, 0]


def test_a_step_of_training(malta: Benchmark, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    words = ["<pad>", "<eos>", "<unk>", *"[]()=;.,", "node", "out", "amenity", "cafe"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    fast.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(words), pad_token_id=0, eos_token_id=1, bos_token_id=1, **size)
    seen: list[int] = []
    scored = reward(malta.scorer)

    def watched(completions: list[object], **given: object) -> list[float]:
        values = scored(completions=completions, **given)
        seen.append(len(values))
        assert all(0 <= value <= 1 for value in values)
        return values

    arguments = GRPOConfig(
        output_dir=str(tmp_path), per_device_train_batch_size=2, num_generations=2, max_completion_length=8, max_steps=1,
        report_to=[], use_cpu=True, bf16=False, save_strategy="no",
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=LlamaForCausalLM(config), reward_funcs=watched, args=arguments, processing_class=fast,
        train_dataset=datasets.Dataset.from_list(rows(malta.items[:4])),
    )  # fmt: skip
    trainer.train()
    assert seen and sum(seen) >= 2
