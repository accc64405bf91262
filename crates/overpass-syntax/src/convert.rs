//! Converts a query to another form: the XML form, QL on one line, or QL on several lines. If the query has errors, the
//! parts that can be parsed are converted. Uses only the text; the query is not run.

use crate::source::{is_xml, meaning, outline};
use crate::writer::{QlWriter, ql, xml};
use crate::{DiagnosticClass, ElementTreeNode, OverpassCode, OverpassDiagnostic, OverpassFailure};

/// A form to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversionForm {
    /// The XML form.
    Xml,
    /// QL over several lines.
    Pretty,
    /// QL on one line.
    Compact,
}

/// A converted query.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The parts of the query that could be parsed, in the new form.
    pub text: String,
    /// The errors in the original query. Fewer checks run than before a run of the query. If it has none and the new
    /// form means something else, the error says where.
    pub problems: Option<OverpassFailure>,
}

/// Converts a query in QL or XML to another form. Returns an error if the text cannot be converted at all.
pub fn convert(text: &str, form: ConversionForm) -> Result<Converted, OverpassFailure> {
    let (root, problems) = outline(text)?;
    let from_xml = is_xml(text);
    let converted = match form {
        ConversionForm::Xml => xml::write(root.as_ref(), from_xml),
        ConversionForm::Pretty | ConversionForm::Compact => {
            ql::write(root.as_ref(), form == ConversionForm::Pretty, from_xml)
        }
    };
    let lossy = from_xml && form != ConversionForm::Xml && problems.is_none();
    let problems = if lossy { lost(text, root.as_ref(), &converted) } else { problems };
    Ok(Converted { text: converted, problems })
}

/// Returns an error if a query in QL does not mean the same as the valid one in XML that it was made from. QL has no
/// syntax for some XML, such as ranges of ids and linestrings of nothing.
fn lost(original: &str, root: Option<&ElementTreeNode>, converted: &str) -> Option<OverpassFailure> {
    let before = meaning(original)?;
    if meaning(converted).as_ref() == Some(&before) {
        return None;
    }
    // Each statement is written in QL alone, to find the first one that is not what it was.
    let mut expected = before.statements.as_slice();
    let mut is_changed = |node: &&ElementTreeNode| {
        let mut writer = QlWriter { out: String::new(), pretty: false };
        writer.statement(node, 0);
        let found = meaning(&writer.out).map(|script| script.statements);
        match (found.as_deref(), expected) {
            (Some([found]), [next, rest @ ..]) if found == next => {
                expected = rest;
                false
            }
            // Some elements have no effect as a statement.
            found => !matches!(found, (Some([]), _)),
        }
    };
    let changed = root.and_then(|root| root.children.iter().find(|node| is_changed(node)));
    let (line, span) = changed.map_or((1, None), |node| (node.element.line, Some(node.element.span)));
    let message = "QL has no syntax for a part of this query: its QL form does not mean the same.";
    let error = OverpassDiagnostic::new(DiagnosticClass::Static, OverpassCode::NoQlSyntax, message).in_line(line);
    Some(OverpassDiagnostic { span, ..error.help("run the query in its XML form") }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts XML statements to QL.
    fn to_ql(statements: &str) -> Converted {
        convert(&format!("<osm-script>{statements}</osm-script>"), ConversionForm::Compact).expect("XML")
    }

    /// The expected texts are the reference's.
    #[test]
    fn writes_the_set_of_a_generic_property() {
        let xml = "<convert type=\"x\"><set-prop keytype=\"generic\" from=\"a\"><eval-generic/></set-prop></convert>";
        let converted = to_ql(xml);
        assert_eq!((converted.text.as_str(), converted.problems), ("convert x a::=::;", None));
        let back = convert("convert x a::=::;", ConversionForm::Xml).expect("QL").text;
        assert!(back.contains("<set-prop keytype=\"generic\" from=\"a\">"), "{back}");
    }

    #[test]
    fn reports_what_has_no_syntax_in_ql() {
        let convert = |property: &str| format!("<convert type=\"x\">{property}</convert>");
        let geometry = |value: &str| convert(&format!("<set-prop keytype=\"geometry\">{value}</set-prop>"));
        let cases = [
            geometry("<eval-linestring/>"),
            geometry("<eval-polygon/>"),
            convert("<set-prop keytype=\"generic\" from=\"a b\"><eval-generic/></set-prop>"),
            "<id-query type=\"node\" lower=\"1\" upper=\"9\"/>".to_owned(),
        ];
        for case in cases {
            let failure =
                to_ql(&format!("<print/>\n{case}")).problems.unwrap_or_else(|| panic!("{case} is not refused"));
            let diagnostic = &failure.diagnostics[0];
            // The reference counts a line of its own before the text.
            assert_eq!((diagnostic.code, diagnostic.line), (OverpassCode::NoQlSyntax, 3), "{case}");
        }
    }

    /// The expected texts are the reference's: it repeats XML with its attributes in alphabetical order.
    #[test]
    fn repeats_xml() {
        let xml = "<osm-script timeout=\"25\" output=\"json\"><id-query type=\"node\" ref=\"0001981\" into=\"maison\"/>\
                   <query type=\"way\" into=\"q\"><around from=\"maison\" radius=\"350.50\"/>\
                   <has-kv k=\"b\" regv=\"^x\"/></query></osm-script>";
        let expected = "<osm-script output=\"json\" timeout=\"25\">
  <id-query into=\"maison\" ref=\"0001981\" type=\"node\"/>
  <query into=\"q\" type=\"way\">
    <around from=\"maison\" radius=\"350.50\"/>
    <has-kv k=\"b\" regv=\"^x\"/>
  </query>
</osm-script>";
        assert_eq!(convert(xml, ConversionForm::Xml).expect("XML").text, expected);
    }
}
