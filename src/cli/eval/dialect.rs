//! The option for the dialect of SPARQL in a run.

use super::super::query::SparqlDialect;
use crate::eval::language::QueryLanguage;
use crate::eval::record::Instance;
use crate::sparql::Dialect;

/// The dialect of a run's SPARQL.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct DialectArgs {
    /// Dialect of SPARQL queries, for instances without a field `dialect`
    #[arg(long, value_enum, ignore_case = true, default_value_t = SparqlDialect::Auto)]
    dialect: SparqlDialect,
}

impl DialectArgs {
    /// Sets the dialect of the SPARQL instances that have none. Returns it for the record of the run; `None` for `auto`.
    pub fn apply(self, instances: &mut [Instance]) -> Option<String> {
        let name = match self.dialect.into() {
            Dialect::Auto => return None,
            dialect => Dialect::name(dialect).to_owned(),
        };
        for instance in instances.iter_mut().filter(|instance| instance.language() == QueryLanguage::Sparql) {
            instance.dialect.get_or_insert_with(|| name.clone());
        }
        Some(name)
    }
}
