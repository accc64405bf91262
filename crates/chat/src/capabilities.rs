//! What a server reports of itself before the first request: its context length, and how it takes a grammar.

use serde_json::{Value, json};

/// What a server can do, as far as it reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// Context length in tokens, for the prompt and the reply together.
    pub context: Option<u64>,
    /// The fields in which the server takes a grammar.
    pub grammar: Option<GrammarField>,
}

/// The fields of a request that contain a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarField {
    /// `grammar` of llama.cpp's server.
    LlamaCpp,
    /// `structured_outputs.grammar` of vLLM, and `guided_grammar` of versions before 0.12, which ignore the other.
    Vllm,
}

impl GrammarField {
    /// The names of all fields that contain a grammar.
    pub const NAMES: [&str; 3] = ["grammar", "structured_outputs", "guided_grammar"];

    /// Adds a grammar to the body of a request.
    pub fn add(self, grammar: &str, body: &mut Value) {
        match self {
            GrammarField::LlamaCpp => body["grammar"] = grammar.into(),
            GrammarField::Vllm => {
                body["structured_outputs"] = json!({ "grammar": grammar });
                body["guided_grammar"] = grammar.into();
            }
        }
    }
}

impl ServerCapabilities {
    /// Reads the answers to `/props` of llama.cpp and to `/v1/models`, where they are there.
    pub fn read(model: &str, properties: Option<&Value>, models: Option<&Value>) -> ServerCapabilities {
        let own_context = properties.and_then(|all| all["default_generation_settings"]["n_ctx"].as_u64());
        let listed = models.and_then(|all| all["data"].as_array()).map_or(&[][..], Vec::as_slice);
        let named = listed.iter().find(|entry| entry["id"] == model);
        // llama.cpp and vLLM mostly serve a single model, under any name.
        let entry = named.or(if let [only] = listed { Some(only) } else { None });
        let owner = entry.and_then(|entry| entry["owned_by"].as_str()).unwrap_or_default();
        let grammar = match owner {
            "vllm" => Some(GrammarField::Vllm),
            "llamacpp" => Some(GrammarField::LlamaCpp),
            _ => own_context.map(|_| GrammarField::LlamaCpp),
        };
        let lengths =
            entry.map(|entry| [&entry["max_model_len"], &entry["meta"]["n_ctx"], &entry["meta"]["n_ctx_train"]]);
        let listed_context = lengths.and_then(|lengths| lengths.into_iter().find_map(Value::as_u64));
        ServerCapabilities { context: own_context.or(listed_context).filter(|context| *context > 0), grammar }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers are those that the documentation of the servers shows, shortened.
    #[test]
    fn reports_of_servers_are_read() {
        let properties = json!({"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1});
        let llama =
            json!({"data": [{"id": "../models/x.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]});
        let vllm = json!({"data": [{"id": "qwen", "owned_by": "vllm", "max_model_len": 32_768}, {"id": "lora", "owned_by": "vllm"}]});
        let other = json!({"data": [{"id": "qwen", "owned_by": "library"}]});
        for (properties, models, context, grammar) in [
            (Some(&properties), Some(&llama), Some(8192), Some(GrammarField::LlamaCpp)),
            (None, Some(&llama), Some(131_072), Some(GrammarField::LlamaCpp)),
            (Some(&properties), None, Some(8192), Some(GrammarField::LlamaCpp)),
            (None, Some(&vllm), Some(32_768), Some(GrammarField::Vllm)),
            (None, Some(&other), None, None),
            (None, None, None, None),
        ] {
            let read = ServerCapabilities::read("qwen", properties, models);
            assert_eq!(read, ServerCapabilities { context, grammar });
        }
    }
}
