"""Expressions: what they are in a script, and what they mean, row by row.

An `Expr` holds its type, its text (a form in which $0, $1, .. are its operands) and its meaning. How the operands are
evaluated is one of
  row     every operand at this row; null if one of them is
  lazy    the meaning asks for the operands itself (and, or, ??, if)
  whole   the operands over all rows of the context: one value for all of them
  window  likewise: a list, one value a row
A `Rows` is the context: the columns as the expression sees them, of the table or of one group.
"""
import re

from values import OPEN, Fault, Type

OPERAND = re.compile(r"\$(\d)")


class Rows:
    def __init__(self, columns, n, start=0):
        self.columns, self.n, self.start, self.memo = columns, n, start, {}


class Expr:
    __slots__ = ("type", "form", "how", "meaning", "args", "uses")

    def __init__(self, type_, form, how, meaning, *args, uses=()):
        self.type, self.form, self.how, self.meaning, self.args = type_, form, how, meaning, args
        self.uses = set(uses)  # names of features, to see what was tried

    @property
    def text(self):
        if not self.args:
            return self.form
        return OPERAND.sub(lambda m: self.args[int(m[1])].text, self.form)

    def at(self, rows, i):
        how = self.how
        if how == "row":
            values = [a.at(rows, i) for a in self.args]
            if None in values:
                for v in values:
                    if v is None:
                        return None
            return self.meaning(*values)
        if how == "lazy":
            return self.meaning(rows, i, *self.args)
        if how == "column":
            return rows.columns[self.form][i]
        known = rows.memo.get(id(self))
        if known is None:
            known = rows.memo[id(self)] = [self.whole(rows)]
        return known[0] if how == "whole" else known[0][i]

    def whole(self, rows):
        return self.meaning(rows, *[everywhere(a, rows) for a in self.args])

    def names(self):
        """The columns that it reads."""
        if self.how == "column":
            return {self.form}
        return set().union(*[a.names() for a in self.args]) if self.args else set()

    def varies(self):
        """Is it of each row another value, or one for all (a constant, an aggregate)?"""
        return self.how in ("column", "window") or self.how != "whole" and any(a.varies() for a in self.args)

    def features(self):
        return self.uses.union(*[a.features() for a in self.args])

    def smaller(self):
        """Expressions of the same type with fewer parts."""
        for a in self.args:
            if self.how != "whole" and a.type.same(self.type) and a.type.null == self.type.null:
                yield a
        for k, a in enumerate(self.args):
            for less in a.smaller():
                yield Expr(self.type, self.form, self.how, self.meaning, *self.args[:k], less, *self.args[k + 1:])


def settled(expr, rows):
    """Aggregates and windows in branches that no row takes: the page does not say whether they may fail."""
    for a in expr.args:
        settled(a, rows)
    if expr.how in ("whole", "window") and id(expr) not in rows.memo:
        try:
            expr.at(rows, 0)
        except (Fault, IndexError):
            raise Fault(OPEN) from None


def everywhere(expr, rows):
    """The values at all rows. Of several failures any may be reported: all are collected."""
    values, codes = [], set()
    for i in range(rows.n):
        try:
            values.append(expr.at(rows, i))
        except Fault as fault:
            codes |= fault.codes
            if len(codes) > 3:
                break
    if codes:
        raise Fault(*codes)
    return values


def column(name, type_):
    return Expr(type_, name, "column", None)


def constant(type_, text, value):
    return Expr(type_, text, "lazy", lambda rows, i: value)


def row(kind, form, meaning, *args, null=None, levels=None, uses=()):
    null = any(a.type.null for a in args) if null is None else null
    return Expr(Type(kind, null, levels), form, "row", meaning, *args, uses=uses)


def lazy(type_, form, meaning, *args, uses=()):
    return Expr(type_, form, "lazy", meaning, *args, uses=uses)


def whole(type_, form, meaning, *args, uses=()):
    return Expr(type_, form, "whole", meaning, *args, uses=uses)


def window(type_, form, meaning, *args, uses=()):
    return Expr(type_, form, "window", meaning, *args, uses=uses)
