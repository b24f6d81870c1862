//! The constructors of formulas: they establish the laws stated at the head of
//! [`formula`](crate::formula).

use crate::formula::{Formula, Formulas, Op, Prop};

impl Formulas {
    /// `true` or `false`.
    pub fn constant(&self, value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }

    /// The formula that says that a proposition of this pool holds now.
    pub fn prop(&mut self, prop: Prop) -> Formula {
        self.intern(Op::Prop(prop), &[])
    }

    /// The formula that says that the proposition of this text holds now.
    pub fn atom(&mut self, text: &str) -> Formula {
        let prop = self.proposition(text);
        self.prop(prop)
    }

    /// `!a`.
    pub fn not(&mut self, a: Formula) -> Formula {
        match (self.op(a), self.operands(a)) {
            (Op::True, _) => Formula::FALSE,
            (Op::False, _) => Formula::TRUE,
            (Op::Not, &[inner]) => inner,
            _ => self.intern(Op::Not, &[a]),
        }
    }

    /// `X a`.
    pub fn next(&mut self, a: Formula) -> Formula {
        if a.is_constant() { a } else { self.intern(Op::Next, &[a]) }
    }

    /// `F a`.
    pub fn finally(&mut self, a: Formula) -> Formula {
        if a.is_constant() { a } else { self.intern(Op::Finally, &[a]) }
    }

    /// `G a`.
    pub fn globally(&mut self, a: Formula) -> Formula {
        if a.is_constant() { a } else { self.intern(Op::Globally, &[a]) }
    }

    /// The conjunction of any number of formulas; `true` for none.
    pub fn and(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        self.lattice(Op::And, operands, Formula::TRUE, Formula::FALSE)
    }

    /// The disjunction of any number of formulas; `false` for none.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        self.lattice(Op::Or, operands, Formula::FALSE, Formula::TRUE)
    }

    /// Conjunction or disjunction: flat, sorted, without duplicates and constants.
    fn lattice(
        &mut self,
        op: Op,
        operands: impl IntoIterator<Item = Formula>,
        neutral: Formula,
        absorbing: Formula,
    ) -> Formula {
        let mut flat = Vec::new();
        for operand in operands {
            if self.op(operand) == op {
                flat.extend_from_slice(self.operands(operand));
            } else if operand != neutral {
                flat.push(operand);
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat[..] {
            [] => neutral,
            [only] => only,
            _ if flat.contains(&absorbing) => absorbing,
            _ => self.intern(op, &flat),
        }
    }

    /// `a -> b`.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        match (a, b) {
            (Formula::FALSE, _) | (_, Formula::TRUE) => Formula::TRUE,
            (Formula::TRUE, _) => b,
            (_, Formula::FALSE) => self.not(a),
            _ => self.intern(Op::Implies, &[a, b]),
        }
    }

    /// `a <-> b`.
    pub fn equivalent(&mut self, a: Formula, b: Formula) -> Formula {
        match (a.min(b), a.max(b)) {
            (Formula::TRUE, other) => other,
            (Formula::FALSE, other) => self.not(other),
            (a, b) => self.intern(Op::Equivalent, &[a, b]),
        }
    }

    /// `a ^ b`: exactly one of the two.
    pub fn xor(&mut self, a: Formula, b: Formula) -> Formula {
        match (a.min(b), a.max(b)) {
            (Formula::TRUE, other) => self.not(other),
            (Formula::FALSE, other) => other,
            (a, b) => self.intern(Op::Xor, &[a, b]),
        }
    }

    /// `a U b`.
    pub fn until(&mut self, a: Formula, b: Formula) -> Formula {
        match (a, b) {
            (_, Formula::TRUE | Formula::FALSE) | (Formula::FALSE, _) => b,
            (Formula::TRUE, _) => self.finally(b),
            _ => self.intern(Op::Until, &[a, b]),
        }
    }

    /// `a R b`.
    pub fn release(&mut self, a: Formula, b: Formula) -> Formula {
        match (a, b) {
            (_, Formula::TRUE | Formula::FALSE) | (Formula::TRUE, _) => b,
            (Formula::FALSE, _) => self.globally(b),
            _ => self.intern(Op::Release, &[a, b]),
        }
    }

    /// `a W b`.
    pub fn weak_until(&mut self, a: Formula, b: Formula) -> Formula {
        match (a, b) {
            (Formula::TRUE, _) | (_, Formula::TRUE) => Formula::TRUE,
            (_, Formula::FALSE) => self.globally(a),
            (Formula::FALSE, _) => b,
            _ => self.intern(Op::WeakUntil, &[a, b]),
        }
    }

    /// `a M b`.
    pub fn strong_release(&mut self, a: Formula, b: Formula) -> Formula {
        match (a, b) {
            (Formula::FALSE, _) | (_, Formula::FALSE) => Formula::FALSE,
            (_, Formula::TRUE) => self.finally(a),
            (Formula::TRUE, _) => b,
            _ => self.intern(Op::StrongRelease, &[a, b]),
        }
    }

    /// The formula with another one in every place of a part.
    pub fn replace(&mut self, formula: Formula, part: Formula, other: Formula) -> Formula {
        let parts = self.subformulas(formula);
        let mut made: Vec<Formula> = Vec::with_capacity(parts.len());
        for (index, &sub) in parts.iter().enumerate() {
            let place = |operand: &Formula| parts[..index].binary_search(operand);
            let operands: Vec<Formula> = self
                .operands(sub)
                .iter()
                .map(|operand| place(operand).map_or(*operand, |at| made[at]))
                .collect();
            let op = self.op(sub);
            made.push(if sub == part { other } else { self.apply(op, &operands) });
        }
        made.last().copied().unwrap_or(formula)
    }

    /// The operator `op` applied to operands of this pool.
    ///
    /// # Panics
    /// If `op` does not take that many operands.
    pub fn apply(&mut self, op: Op, operands: &[Formula]) -> Formula {
        match (op, operands) {
            (Op::True, []) => Formula::TRUE,
            (Op::False, []) => Formula::FALSE,
            (Op::Prop(prop), []) => self.prop(prop),
            (Op::Not, &[a]) => self.not(a),
            (Op::Next, &[a]) => self.next(a),
            (Op::Finally, &[a]) => self.finally(a),
            (Op::Globally, &[a]) => self.globally(a),
            (Op::And, list) => self.and(list.iter().copied()),
            (Op::Or, list) => self.or(list.iter().copied()),
            (Op::Implies, &[a, b]) => self.implies(a, b),
            (Op::Equivalent, &[a, b]) => self.equivalent(a, b),
            (Op::Xor, &[a, b]) => self.xor(a, b),
            (Op::Until, &[a, b]) => self.until(a, b),
            (Op::Release, &[a, b]) => self.release(a, b),
            (Op::WeakUntil, &[a, b]) => self.weak_until(a, b),
            (Op::StrongRelease, &[a, b]) => self.strong_release(a, b),
            _ => panic!("{op:?} does not take {} operands", operands.len()),
        }
    }
}
