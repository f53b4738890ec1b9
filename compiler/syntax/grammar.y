/* grammar.y: the grammar of the language (Lemon, no conflicts).
 *
 * In: the tokens of layout.c, fed one by one. Out: statements in p->ast. Each action is one call of build_*.c.
 * A statement or an arm that does not parse is an error node; recover.c says where parsing goes on. */

%name fl_lemon
%token_prefix FL_TOK_
%token_type { FlToken * }
%extra_argument { FlParser *p }
%stack_size 0
%token_destructor { fl_syntax_thrown(p, $$); }
%include {
#include "syntax/syntax_internal.h"

#include <stdlib.h>

/* A fresh list in the arena, and one with an element more. */
#define LIST(T) FL_NEW(p->arena, T)
#define PUSH(list, x) fl_vec_push(p->arena, list, x)
#define NO_SPAN ((FlSpan){0})
/* The engine's own stack grows in pieces, so that a guard around the work frees it. */
#define malloc(bytes) fl_piece_new(1, bytes)
#define realloc(piece, bytes) fl_piece_grow(piece, bytes)
#define free(piece) fl_piece_free(piece)
}
%syntax_error { (void)yymajor; fl_syntax_error(p, TOKEN); }
%parse_failure { p->failed = true; }

/* A sign that means nothing (reported by the lexer): right nowhere. */
%token ILLEGAL.
%fallback NAME BY AS FROM TYPEOF.

%right FATARROW.
%left PIPE.
%left DEFAULT.
%left OR.
%left AND.
%right NOT.
/* Comparisons and ranges do not chain: the builders report it. */
%left EQ NE LT LE GT GE NEAR IN.
%left DOTDOT.
%left BY.
%left PLUS MINUS.
%left STAR SLASH SLASHSLASH PERCENT AT.
%right NEGATION.
%right CARET.

/* ---- statements ---- */

/* BEGIN is fed first, for the engine cannot recover with nothing on its stack. */
program ::= BEGIN.
program ::= BEGIN stmts(L) NEWLINE. { p->ast->stmts = *L; }

%type stmts { FlStmtList * }
stmts(L) ::= stmt(S). { L = LIST(FlStmtList); PUSH(L, S); }
stmts(L) ::= stmts(A) NEWLINE stmt(S). { L = A; PUSH(L, S); }

%type stmt { FlStmt * }
stmt(S) ::= error. { S = fl_build_stmt_error(p); }
stmt(S) ::= LET(T) pattern(P) type_opt(Y) ASSIGN expr(E). { S = fl_build_let(p, FL_STMT_LET, T, P, Y, E); }
stmt(S) ::= VAR(T) pattern(P) type_opt(Y) ASSIGN expr(E). { S = fl_build_let(p, FL_STMT_VAR, T, P, Y, E); }
stmt(S) ::= expr(A) ASSIGN(T) expr(E). { S = fl_build_assign(p, A, T, E); }
stmt(S) ::= expr(A) PLUSASSIGN(T) expr(E). { S = fl_build_assign(p, A, T, E); }
stmt(S) ::= expr(E). { S = fl_build_expr_stmt(p, E); }
stmt(S) ::= FOR(T) pattern(P) IN value(E) block(B). { S = fl_build_for(p, T, P, E, B); }
stmt(S) ::= WHILE(T) value(E) block(B). { S = fl_build_while(p, T, E, B); }
stmt(S) ::= BREAK(T). { S = fl_build_word_stmt(p, FL_STMT_BREAK, T); }
stmt(S) ::= CONTINUE(T). { S = fl_build_word_stmt(p, FL_STMT_CONTINUE, T); }
stmt(S) ::= ASSERT(T) expr(E). { S = fl_build_assert(p, T, E, NULL); }
stmt(S) ::= ASSERT(T) expr(E) COMMA expr(M). { S = fl_build_assert(p, T, E, M); }
stmt(S) ::= attributes(A) FN(T) NAME(N) fn_params(P) result_opt(R) body(B). {
  S = fl_build_fn(p, FL_STMT_FN, A, T, N, P, R, B);
}
stmt(S) ::= attributes(A) STAGE(T) NAME(N) fn_params(P) result_opt(R) body(B). {
  S = fl_build_fn(p, FL_STMT_STAGE, A, T, N, P, R, B);
}
stmt(S) ::= attributes(A) EXTERN(T) FN NAME(N) fn_params(P) ARROW type(R) FROM TEXT(L). {
  S = fl_build_extern(p, A, T, N, P, R, L);
}
stmt(S) ::= TYPE(T) NAME(N) ASSIGN type(Y). { S = fl_build_type_stmt(p, T, N, NULL, Y); }
stmt(S) ::= TYPE(T) NAME(N) LBRACKET names(L) RBRACKET ASSIGN type(Y). { S = fl_build_type_stmt(p, T, N, L, Y); }
stmt(S) ::= PARAM(T) NAME(N) COLON type(Y). { S = fl_build_param(p, T, N, Y, NULL); }
stmt(S) ::= PARAM(T) NAME(N) COLON type(Y) ASSIGN expr(E). { S = fl_build_param(p, T, N, Y, E); }
stmt(S) ::= IMPORT(T) imports(L). { S = fl_build_import(p, T, L); }
stmt(S) ::= REQUIRES(T) NAME(N) bounds(L). { S = fl_build_requires(p, T, N, L); }
stmt(S) ::= TEST(T) TEXT(N) block(B). { S = fl_build_test(p, T, N, B); }

%type type_opt { FlTypeExpr * }
type_opt(Y) ::= . { Y = NULL; }
type_opt(Y) ::= COLON type(A). { Y = A; }
%type result_opt { FlTypeExpr * }
result_opt(Y) ::= . { Y = NULL; }
result_opt(Y) ::= ARROW type(A). { Y = A; }
%type body { FlExpr * }
body(B) ::= block(A). { B = A; }
body(B) ::= ASSIGN expr(A). { B = A; }

%type names { FlNameList * }
names(L) ::= NAME(N). { L = LIST(FlNameList); PUSH(L, fl_build_binding(p, N)); }
names(L) ::= names(A) COMMA NAME(N). { L = A; PUSH(L, fl_build_binding(p, N)); }

%type fn_params { FlFnParamList * }
fn_params(L) ::= LPAREN RPAREN. { L = LIST(FlFnParamList); }
fn_params(L) ::= LPAREN fn_param_list(A) comma_opt RPAREN. { L = A; }
%type fn_param_list { FlFnParamList * }
fn_param_list(L) ::= fn_param(A). { L = LIST(FlFnParamList); PUSH(L, *A); }
fn_param_list(L) ::= fn_param_list(B) COMMA fn_param(A). { L = B; PUSH(L, *A); }
%type fn_param { FlFnParam * }
fn_param(A) ::= NAME(N) type_opt(Y). { A = fl_build_fn_param(p, N, Y, NULL); }
fn_param(A) ::= NAME(N) type_opt(Y) ASSIGN expr(E). { A = fl_build_fn_param(p, N, Y, E); }

%type attributes { FlAttributeList * }
attributes(L) ::= . { L = LIST(FlAttributeList); }
attributes(L) ::= attributes(B) attribute(A) newline_opt. { L = B; PUSH(L, *A); }
%type attribute { FlAttribute * }
attribute(A) ::= AT(T) NAME(N). { A = fl_build_attribute(p, T, N, NULL, N); }
attribute(A) ::= AT(T) NAME(N) LPAREN args(L) RPAREN(R). { A = fl_build_attribute(p, T, N, L, R); }
newline_opt ::= .
newline_opt ::= NEWLINE.
comma_opt ::= .
comma_opt ::= COMMA.

%type imports { FlImportList * }
imports(L) ::= import_item(A). { L = LIST(FlImportList); PUSH(L, *A); }
imports(L) ::= imports(B) COMMA import_item(A). { L = B; PUSH(L, *A); }
%type import_item { FlImport * }
import_item(A) ::= NAME(N). { A = fl_build_import_item(p, N, NULL, NULL); }
import_item(A) ::= NAME(N) AS NAME(S). { A = fl_build_import_item(p, N, NULL, S); }
import_item(A) ::= TEXT(F). { A = fl_build_import_item(p, NULL, F, NULL); }
import_item(A) ::= TEXT(F) AS NAME(S). { A = fl_build_import_item(p, NULL, F, S); }

%type bounds { FlVersionBoundList * }
bounds(L) ::= bound(A). { L = LIST(FlVersionBoundList); PUSH(L, *A); }
bounds(L) ::= bounds(B) COMMA bound(A). { L = B; PUSH(L, *A); }
%type bound { FlVersionBound * }
bound(A) ::= GE(T) VERSION(V). { A = fl_build_bound(p, T, V); }
bound(A) ::= GT(T) VERSION(V). { A = fl_build_bound(p, T, V); }
bound(A) ::= LE(T) VERSION(V). { A = fl_build_bound(p, T, V); }
bound(A) ::= LT(T) VERSION(V). { A = fl_build_bound(p, T, V); }
bound(A) ::= EQ(T) VERSION(V). { A = fl_build_bound(p, T, V); }

%type block { FlExpr * }
block(B) ::= LBRACE(T) RBRACE(R). { B = fl_build_block(p, T, NULL, R); }
block(B) ::= LBRACE(T) stmts(L) RBRACE(R). { B = fl_build_block(p, T, L, R); }

/* ---- patterns ---- */

%type pattern { FlPat * }
pattern(P) ::= NAME(N). { P = fl_build_pat_name(p, N); }
pattern(P) ::= UNDERSCORE(T). { P = fl_build_pat_any(p, T); }
pattern(P) ::= LPAREN(T) pattern_list(L) comma_opt RPAREN(R). { P = fl_build_pat_tuple(p, T, L, R); }
%type pattern_list { FlPatList * }
pattern_list(L) ::= pattern(P). { L = LIST(FlPatList); PUSH(L, P); }
pattern_list(L) ::= pattern_list(A) COMMA pattern(P). { L = A; PUSH(L, P); }

/* Those of match: values and ranges as well. */
%type case { FlPat * }
case(P) ::= NAME(N). { P = fl_build_pat_case_name(p, N); }
case(P) ::= UNDERSCORE(T). { P = fl_build_pat_any(p, T); }
case(P) ::= LPAREN(T) case_list(L) comma_opt RPAREN(R). { P = fl_build_pat_tuple(p, T, L, R); }
case(P) ::= constant(E). { P = fl_build_pat_value(p, E); }
case(P) ::= constant(A) DOTDOT constant(B). { P = fl_build_pat_range(p, A, NULL, B); }
case(P) ::= constant(A) DOTDOT(T). { P = fl_build_pat_range(p, A, T, NULL); }
case(P) ::= DOTDOT(T) constant(B). { P = fl_build_pat_range(p, NULL, T, B); }
%type case_list { FlPatList * }
case_list(L) ::= case(P). { L = LIST(FlPatList); PUSH(L, P); }
case_list(L) ::= case_list(A) COMMA case(P). { L = A; PUSH(L, P); }
%type constant { FlExpr * }
constant(E) ::= INT(T). { E = fl_build_number(p, T); }
constant(E) ::= FLOAT(T). { E = fl_build_number(p, T); }
constant(E) ::= MINUS(T) INT(N). { E = fl_build_unary(p, FL_UN_NEG, T, fl_build_number(p, N)); }
constant(E) ::= MINUS(T) FLOAT(N). { E = fl_build_unary(p, FL_UN_NEG, T, fl_build_number(p, N)); }
constant(E) ::= MINUS(T) NAME(N). { E = fl_build_unary(p, FL_UN_NEG, T, fl_build_name(p, N)); }
constant(E) ::= TEXT(T). { E = fl_build_text(p, T); }
constant(E) ::= TRUE(T). { E = fl_build_constant(p, T); }
constant(E) ::= FALSE(T). { E = fl_build_constant(p, T); }
constant(E) ::= NULL(T). { E = fl_build_constant(p, T); }

/* ---- types ---- */

%type type { FlTypeExpr * }
type(Y) ::= plain_type(A). { Y = A; }
type(Y) ::= plain_type(A) ARROW type(B). { Y = fl_build_type_function(p, A, B); }
%type plain_type { FlTypeExpr * }
plain_type(Y) ::= NAME(N). { Y = fl_build_type_name(p, NULL, N); }
plain_type(Y) ::= NAME(M) DOT NAME(N). { Y = fl_build_type_name(p, M, N); }
plain_type(Y) ::= NAME(N) LPAREN INT(P) COMMA INT(S) RPAREN(R). { Y = fl_build_type_decimal(p, N, P, S, R); }
plain_type(Y) ::= UNDERSCORE(T). { Y = fl_build_type_any(p, T); }
plain_type(Y) ::= plain_type(A) QUESTION(T). { Y = fl_build_type_option(p, A, T); }
plain_type(Y) ::= plain_type(A) LBRACKET dims(L) RBRACKET(T). { Y = fl_build_type_array(p, A, L, T); }
plain_type(Y) ::= TYPEOF(T) LPAREN expr(E) RPAREN(R). { Y = fl_build_type_of(p, T, E, R); }
plain_type(Y) ::= LPAREN(T) RPAREN(R). { Y = fl_build_type_round(p, T, NULL, false, false, R); }
plain_type(Y) ::= LPAREN(T) DOTDOT RPAREN(R). { Y = fl_build_type_round(p, T, NULL, false, true, R); }
plain_type(Y) ::= LPAREN(T) type_fields(L) RPAREN(R). { Y = fl_build_type_round(p, T, L, false, false, R); }
plain_type(Y) ::= LPAREN(T) type_fields(L) COMMA RPAREN(R). { Y = fl_build_type_round(p, T, L, true, false, R); }
plain_type(Y) ::= LPAREN(T) type_fields(L) COMMA DOTDOT RPAREN(R). { Y = fl_build_type_round(p, T, L, true, true, R); }
%type type_fields { FlTypeItemList * }
type_fields(L) ::= type_field(A). { L = LIST(FlTypeItemList); PUSH(L, *A); }
type_fields(L) ::= type_fields(B) COMMA type_field(A). { L = B; PUSH(L, *A); }
%type type_field { FlTypeItem * }
type_field(A) ::= NAME(N) COLON type(Y). { A = fl_build_type_field(p, N, Y); }
type_field(A) ::= type(Y). { A = fl_build_type_field(p, NULL, Y); }
%type dims { FlDimList * }
dims(L) ::= dim(A). { L = LIST(FlDimList); PUSH(L, *A); }
dims(L) ::= dims(B) COMMA dim(A). { L = B; PUSH(L, *A); }
%type dim { FlDim * }
dim(A) ::= UNDERSCORE(T). { A = fl_build_dim(p, T, NULL, NULL, false); }
dim(A) ::= INT(N). { A = fl_build_dim(p, NULL, NULL, N, false); }
dim(A) ::= NAME(M). { A = fl_build_dim(p, NULL, M, NULL, false); }
dim(A) ::= NAME(M) PLUS INT(N). { A = fl_build_dim(p, NULL, M, N, false); }
dim(A) ::= NAME(M) MINUS INT(N). { A = fl_build_dim(p, NULL, M, N, true); }

/* ---- expressions ---- */

%type expr { FlExpr * }
expr(E) ::= value(A). { E = A; }
expr(E) ::= value(A) FATARROW(T) expr(B). { E = fl_build_lambda(p, A, T, B); }

%type value { FlExpr * }
value(E) ::= value(A) PIPE(T) value(B). { E = fl_build_pipe(p, A, T, B); }
value(E) ::= value(A) DEFAULT(T) value(B). { E = fl_build_binary(p, FL_BIN_DEFAULT, A, T, B); }
value(E) ::= value(A) OR(T) value(B). { E = fl_build_binary(p, FL_BIN_OR, A, T, B); }
value(E) ::= value(A) AND(T) value(B). { E = fl_build_binary(p, FL_BIN_AND, A, T, B); }
value(E) ::= NOT(T) value(A). { E = fl_build_unary(p, FL_UN_NOT, T, A); }
value(E) ::= value(A) EQ(T) value(B). { E = fl_build_binary(p, FL_BIN_EQ, A, T, B); }
value(E) ::= value(A) NE(T) value(B). { E = fl_build_binary(p, FL_BIN_NE, A, T, B); }
value(E) ::= value(A) LT(T) value(B). { E = fl_build_binary(p, FL_BIN_LT, A, T, B); }
value(E) ::= value(A) LE(T) value(B). { E = fl_build_binary(p, FL_BIN_LE, A, T, B); }
value(E) ::= value(A) GT(T) value(B). { E = fl_build_binary(p, FL_BIN_GT, A, T, B); }
value(E) ::= value(A) GE(T) value(B). { E = fl_build_binary(p, FL_BIN_GE, A, T, B); }
value(E) ::= value(A) NEAR(T) value(B). { E = fl_build_binary(p, FL_BIN_NEAR, A, T, B); }
value(E) ::= value(A) IN(T) value(B). { E = fl_build_binary(p, FL_BIN_IN, A, T, B); }
value(E) ::= value(A) DOTDOT value(B). { E = fl_build_range(p, A, B, NULL); }
value(E) ::= value(A) DOTDOT value(B) BY value(C). { E = fl_build_range(p, A, B, C); }
value(E) ::= value(A) PLUS(T) value(B). { E = fl_build_binary(p, FL_BIN_ADD, A, T, B); }
value(E) ::= value(A) MINUS(T) value(B). { E = fl_build_binary(p, FL_BIN_SUB, A, T, B); }
value(E) ::= value(A) STAR(T) value(B). { E = fl_build_binary(p, FL_BIN_MUL, A, T, B); }
value(E) ::= value(A) SLASH(T) value(B). { E = fl_build_binary(p, FL_BIN_DIV, A, T, B); }
value(E) ::= value(A) SLASHSLASH(T) value(B). { E = fl_build_binary(p, FL_BIN_FLOORDIV, A, T, B); }
value(E) ::= value(A) PERCENT(T) value(B). { E = fl_build_binary(p, FL_BIN_MOD, A, T, B); }
value(E) ::= value(A) AT(T) value(B). { E = fl_build_binary(p, FL_BIN_MATMUL, A, T, B); }
value(E) ::= MINUS(T) value(A). [NEGATION] { E = fl_build_unary(p, FL_UN_NEG, T, A); }
value(E) ::= value(A) CARET(T) value(B). { E = fl_build_binary(p, FL_BIN_POW, A, T, B); }
value(E) ::= postfix(A). { E = A; }
value(E) ::= if(A). { E = A; }
value(E) ::= MATCH(T) value(A) LBRACE arms(L) RBRACE(R). { E = fl_build_match(p, T, A, L, R); }
value(E) ::= block(A). { E = A; }

%type if { FlExpr * }
if(E) ::= IF(T) value(C) block(A). { E = fl_build_if(p, T, C, A, NULL); }
if(E) ::= IF(T) value(C) block(A) ELSE block(B). { E = fl_build_if(p, T, C, A, B); }
if(E) ::= IF(T) value(C) block(A) ELSE if(B). { E = fl_build_if(p, T, C, A, B); }

%type arms { FlArmList * }
arms(L) ::= arm_list(A) comma_opt. { L = A; }
%type arm_list { FlArmList * }
arm_list(L) ::= arm(A). { L = LIST(FlArmList); PUSH(L, *A); }
arm_list(L) ::= arm_list(B) COMMA arm(A). { L = B; PUSH(L, *A); }
arm_list(L) ::= arm_list(B) NEWLINE arm(A). { L = B; PUSH(L, *A); }
%type arm { FlArm * }
arm(A) ::= error. { A = fl_build_arm(p, fl_build_pat_error(p, NO_SPAN), NULL, fl_build_error(p, NO_SPAN)); }
arm(A) ::= case(P) FATARROW expr(E). { A = fl_build_arm(p, P, NULL, E); }
arm(A) ::= case(P) IF value(G) FATARROW expr(E). { A = fl_build_arm(p, P, G, E); }

%type postfix { FlExpr * }
postfix(E) ::= primary(A). { E = A; }
postfix(E) ::= postfix(A) LPAREN args(L) RPAREN(T). { E = fl_build_call(p, A, L, T); }
postfix(E) ::= postfix(A) LPAREN FOR clauses(C) comprehension_body(B) RPAREN(T). {
  E = fl_build_reduce(p, A, C, B, LIST(FlArgList), T);
}
postfix(E) ::= postfix(A) LPAREN FOR clauses(C) comprehension_body(B) COMMA args(L) RPAREN(T). {
  E = fl_build_reduce(p, A, C, B, L, T);
}
postfix(E) ::= postfix(A) LBRACKET subscripts(L) comma_opt RBRACKET(T). { E = fl_build_index(p, A, L, T); }
postfix(E) ::= postfix(A) DOT NAME(N). { E = fl_build_field(p, A, N); }
postfix(E) ::= postfix(A) QUOTE(T). { E = fl_build_transpose(p, A, T); }

%type args { FlArgList * }
args(L) ::= . { L = LIST(FlArgList); }
args(L) ::= arg_list(A) comma_opt. { L = A; }
%type arg_list { FlArgList * }
arg_list(L) ::= arg(A). { L = LIST(FlArgList); PUSH(L, *A); }
arg_list(L) ::= arg_list(B) COMMA arg(A). { L = B; PUSH(L, *A); }
%type arg { FlArg * }
arg(A) ::= expr(E). { A = fl_build_arg(p, NULL, E); }
arg(A) ::= NAME(N) ASSIGN expr(E). { A = fl_build_arg(p, N, E); }

%type subscripts { FlSubscriptList * }
subscripts(L) ::= subscript(A). { L = LIST(FlSubscriptList); PUSH(L, *A); }
subscripts(L) ::= subscripts(B) COMMA subscript(A). { L = B; PUSH(L, *A); }
%type subscript { FlSubscript * }
subscript(A) ::= expr(E). { A = fl_build_sub_value(p, E); }
subscript(A) ::= value(B) DOTDOT(T). { A = fl_build_sub_slice(p, NULL, B, NULL, NULL, T); }
subscript(A) ::= value(B) DOTDOT BY value(C). { A = fl_build_sub_slice(p, NULL, B, NULL, C, NULL); }
subscript(A) ::= DOTDOT(T) value(B). { A = fl_build_sub_slice(p, T, NULL, B, NULL, NULL); }
subscript(A) ::= DOTDOT(T) value(B) BY value(C). { A = fl_build_sub_slice(p, T, NULL, B, C, NULL); }
subscript(A) ::= DOTDOT(T) BY value(C). { A = fl_build_sub_slice(p, T, NULL, NULL, C, NULL); }
subscript(A) ::= DOTDOT(T). { A = fl_build_sub_slice(p, T, NULL, NULL, NULL, T); }
subscript(A) ::= COLON(T). { A = fl_build_sub_slice(p, T, NULL, NULL, NULL, T); }
subscript(A) ::= NEW(T). { A = fl_build_sub_new(p, T); }

%type primary { FlExpr * }
primary(E) ::= NAME(T). { E = fl_build_name(p, T); }
primary(E) ::= UNDERSCORE(T). { E = fl_build_wildcard(p, T); }
primary(E) ::= INT(T). { E = fl_build_number(p, T); }
primary(E) ::= FLOAT(T). { E = fl_build_number(p, T); }
primary(E) ::= TRUE(T). { E = fl_build_constant(p, T); }
primary(E) ::= FALSE(T). { E = fl_build_constant(p, T); }
primary(E) ::= NULL(T). { E = fl_build_constant(p, T); }
primary(E) ::= TEXT(T). { E = fl_build_text(p, T); }
primary(E) ::= TEXT_BEGIN(T) text_parts(L) TEXT_END(R). { E = fl_build_text_end(p, T, L, R); }
primary(E) ::= OUTER(T) DOT NAME(N). { E = fl_build_special(p, FL_EXPR_OUTER, T, N); }
primary(E) ::= COL(T) DOT NAME(N). { E = fl_build_special(p, FL_EXPR_COL, T, N); }
primary(E) ::= LPAREN(T) RPAREN(R). { E = fl_build_round(p, T, LIST(FlItemList), false, false, R); }
primary(E) ::= LPAREN(T) items(L) RPAREN(R). { E = fl_build_round(p, T, L, false, false, R); }
primary(E) ::= LPAREN(T) items(L) COMMA RPAREN(R). { E = fl_build_round(p, T, L, true, false, R); }
primary(E) ::= LPAREN(T) items(L) COMMA DOTDOT RPAREN(R). { E = fl_build_round(p, T, L, true, true, R); }
primary(E) ::= LBRACKET(T) RBRACKET(R). { E = fl_build_array(p, T, LIST(FlExprList), R); }
primary(E) ::= LBRACKET(T) expr_list(L) comma_opt RBRACKET(R). { E = fl_build_array(p, T, L, R); }
primary(E) ::= LBRACKET(T) FOR clauses(C) comprehension_body(B) RBRACKET(R). {
  E = fl_build_comprehension(p, T, C, B, R);
}

%type text_parts { FlTextParts * }
text_parts(L) ::= . { L = LIST(FlTextParts); }
text_parts(L) ::= text_parts(A) TEXT_PIECE(T). { L = A; fl_build_text_piece(p, L, T); }
text_parts(L) ::= text_parts(A) INTERP_BEGIN(T) INTERP_END(R). {
  L = A;
  fl_build_text_value(p, L, T, NULL, NULL, R);
}
text_parts(L) ::= text_parts(A) INTERP_BEGIN(T) expr(E) INTERP_END(R). {
  L = A;
  fl_build_text_value(p, L, T, E, NULL, R);
}
text_parts(L) ::= text_parts(A) INTERP_BEGIN(T) expr(E) FORMAT(F) INTERP_END(R). {
  L = A;
  fl_build_text_value(p, L, T, E, F, R);
}

%type items { FlItemList * }
items(L) ::= item(A). { L = LIST(FlItemList); PUSH(L, *A); }
items(L) ::= items(B) COMMA item(A). { L = B; PUSH(L, *A); }
%type item { FlItem * }
item(A) ::= expr(E). { A = fl_build_item(p, NULL, E, NULL); }
item(A) ::= NAME(N) ASSIGN expr(E). { A = fl_build_item(p, N, E, NULL); }
item(A) ::= NAME(N) COLON type(Y). { A = fl_build_item(p, N, NULL, Y); }

%type expr_list { FlExprList * }
expr_list(L) ::= expr(E). { L = LIST(FlExprList); PUSH(L, E); }
expr_list(L) ::= expr_list(A) COMMA expr(E). { L = A; PUSH(L, E); }

%type clauses { FlClauseList * }
clauses(L) ::= generator(A). { L = LIST(FlClauseList); PUSH(L, *A); }
clauses(L) ::= clauses(B) COMMA generator(A). { L = B; PUSH(L, *A); }
clauses(L) ::= clauses(B) filter(A). { L = B; PUSH(L, *A); }
clauses(L) ::= clauses(B) COMMA filter(A). { L = B; PUSH(L, *A); }
%type generator { FlClause * }
generator(A) ::= pattern(P) IN value(E). { A = fl_build_generator(p, P, E); }
%type filter { FlClause * }
filter(A) ::= IF(T) value(E). { A = fl_build_filter(p, T, E); }
%type comprehension_body { FlExpr * }
comprehension_body(B) ::= COLON expr(E). { B = E; }
comprehension_body(B) ::= block(A). { B = A; }

/* ---- what recover.c asks the engine ---- */

%code {
/* Follows the reductions that `kind` would cause on a copy of the stack's states. */
bool fl_lemon_accepts(const void *engine, int kind) {
  const yyParser *y = engine;
  int n = (int)(y->yytos - y->yystack) + 1;
  YYACTIONTYPE *states = fl_piece_new((size_t)(n + YYNRULE + 8), sizeof *states);
  for (int i = 0; i < n; i++) states[i] = y->yystack[i].stateno;
  bool accepted = false;
  for (int steps = 0; steps < YYNRULE; steps++) {
    YYACTIONTYPE act = states[n - 1];
    if (act <= YY_MAX_SHIFT) act = yy_find_shift_action((YYCODETYPE)kind, act);
    if (act <= YY_MAX_SHIFTREDUCE || act == YY_ACCEPT_ACTION) {
      accepted = true;
      break;
    }
    if (act < YY_MIN_REDUCE) break;
    int rule = (int)act - YY_MIN_REDUCE;
    n += yyRuleInfoNRhs[rule];
    states[n] = yy_find_reduce_action(states[n - 1], (YYCODETYPE)yyRuleInfoLhs[rule]);
    n++;
  }
  fl_piece_free(states);
  return accepted;
}

void fl_lemon_forgive(void *engine) { ((yyParser *)engine)->yyerrcnt = -1; }
}
