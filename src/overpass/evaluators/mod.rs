//! Evaluators: the expressions in `if:`, `for`, `make` and `convert`.
