//! The tree of evaluators.

use super::{SetName, SourceSpan};

/// An evaluator; by default an empty text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvaluatorExpression {
    /// The position in the text.
    pub span: SourceSpan,
    /// The kind of evaluator.
    pub kind: ExprKind,
}

impl Default for ExprKind {
    fn default() -> Self {
        ExprKind::Fixed(String::new())
    }
}

/// The kinds of evaluators.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum ExprKind {
    /// A string or number as written, without its quotation marks.
    Fixed(String),
    /// `t["key"]`.
    Tag(Box<EvaluatorExpression>),
    /// `::` on the right of a generic property.
    GenericTag,
    /// `set.key`, as in `_.val`.
    SetKey {
        set: SetName,
        key: String,
    },
    /// A function with its arguments: `id()`, `lrs_in(a,b)`, `u(...)`, and with a set before it, `a.count(nodes)`.
    Call {
        function: EvaluatorFunction,
        set: Option<SetName>,
        args: Vec<EvaluatorExpression>,
    },
    Unary {
        operator: UnaryOperator,
        operand: Box<EvaluatorExpression>,
    },
    Binary {
        operator: BinaryOperator,
        left: Box<EvaluatorExpression>,
        right: Box<EvaluatorExpression>,
    },
    /// `a ? b : c`.
    Ternary {
        condition: Box<EvaluatorExpression>,
        then: Box<EvaluatorExpression>,
        otherwise: Box<EvaluatorExpression>,
    },
}

/// The unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOperator {
    Not,
    Minus,
}

/// The binary operators, in order of ascending precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Times,
    Divided,
}

/// All functions of the evaluator language, by QL name. Arguments such as `nodes`, `ways`, `relations`, `deriveds`,
/// `nwr`, ... or a role are stored as fixed evaluators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum EvaluatorFunction {
    // Functions of an element.
    Id,
    Type,
    Version,
    Timestamp,
    Changeset,
    Uid,
    User,
    IsTag,
    Keys,
    Lat,
    Lon,
    Length,
    IsClosed,
    Geom,
    CountTags,
    CountMembers,
    CountDistinctMembers,
    CountByRole,
    CountDistinctByRole,
    CountMembersByRole,
    PerMember,
    PerVertex,
    Pos,
    MemberType,
    Ref,
    Role,
    Angle,
    // Functions of geometries.
    Center,
    Trace,
    Hull,
    Pt,
    Lstr,
    Poly,
    // Functions of strings and numbers.
    Number,
    IsNumber,
    Suffix,
    Date,
    IsDate,
    Abs,
    LrsIn,
    LrsIsect,
    LrsUnion,
    LrsMin,
    LrsMax,
    // Functions of a set.
    Count,
    Union,
    Min,
    Max,
    Sum,
    Set,
    Gcat,
    Val,
}
