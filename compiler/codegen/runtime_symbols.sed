# The RUNTIME rows of ops.def as rows of symbols.def.
/^FL_OP(.* RUNTIME,/s/^FL_OP([A-Z0-9_]*, "\([a-z0-9_]*\)".*/FL_SYMBOL(fl_rt_\1)/p
