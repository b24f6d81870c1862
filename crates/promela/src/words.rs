//! The keywords of Promela, in one table.

base::define_words! {
    /// A keyword.
    pub(crate) enum Word {
        Active = "active",
        Assert = "assert",
        Atomic = "atomic",
        Bit = "bit",
        Bool = "bool",
        Break = "break",
        Byte = "byte",
        CCode = "c_code",
        CDecl = "c_decl",
        CExpr = "c_expr",
        CState = "c_state",
        CTrack = "c_track",
        Chan = "chan",
        DProctype = "D_proctype",
        DStep = "d_step",
        Do = "do",
        Else = "else",
        Empty = "empty",
        Enabled = "enabled",
        Eval = "eval",
        False = "false",
        Fi = "fi",
        For = "for",
        Full = "full",
        GetPriority = "get_priority",
        Goto = "goto",
        Hidden = "hidden",
        If = "if",
        Init = "init",
        Inline = "inline",
        Int = "int",
        Len = "len",
        Local = "local",
        Ltl = "ltl",
        Mtype = "mtype",
        Nempty = "nempty",
        Never = "never",
        Nfull = "nfull",
        Notrace = "notrace",
        Np = "np_",
        Od = "od",
        Of = "of",
        PcValue = "pc_value",
        Pid = "pid",
        Printf = "printf",
        Printm = "printm",
        Priority = "priority",
        Proctype = "proctype",
        Provided = "provided",
        Return = "return",
        Run = "run",
        Select = "select",
        SetPriority = "set_priority",
        Short = "short",
        Show = "show",
        Skip = "skip",
        Timeout = "timeout",
        Trace = "trace",
        True = "true",
        Typedef = "typedef",
        Unless = "unless",
        Unsigned = "unsigned",
        Xr = "xr",
        Xs = "xs",
    }
}

impl Word {
    /// Whether it names a type of variables.
    pub(crate) fn is_type(self) -> bool {
        use Word::*;
        matches!(self, Bit | Bool | Byte | Chan | Int | Mtype | Pid | Short | Unsigned)
    }

    /// Whether a declaration of variables may begin with it.
    pub(crate) fn begins_declaration(self) -> bool {
        self.is_type() || matches!(self, Word::Hidden | Word::Show | Word::Local)
    }

    /// Whether it belongs to embedded C, which is refused.
    pub(crate) fn is_embedded_c(self) -> bool {
        matches!(self, Word::CCode | Word::CDecl | Word::CExpr | Word::CState | Word::CTrack)
    }
}
