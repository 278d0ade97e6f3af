package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// numberMark stands for a mutant's number until all are known.
const numberMark = "\x00"

// others says which operators take the place of an operator: the bound and the opposite of a comparison, the opposite of the rest.
func others(op token.Token) []token.Token {
	swaps := map[token.Token][]token.Token{
		token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
		token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
		token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
		token.LAND: {token.LOR}, token.LOR: {token.LAND},
		token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
		token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
		token.INC: {token.DEC}, token.DEC: {token.INC},
	}
	return swaps[op]
}

// opposite is the comparison that holds when another does not.
func opposite(op token.Token) token.Token {
	return map[token.Token]token.Token{
		token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	}[op]
}

// expression adds the mutants of one expression and says whether its parts are to be walked. What is a whole condition is not turned round as well:
// a test that notices that it always holds, or never, notices that too.
func (f *finder) expression(x ast.Expr) bool {
	switch e := x.(type) {
	case *ast.BinaryExpr:
		f.binary(e)
	case *ast.UnaryExpr:
		if e.Op == token.NOT && !f.conditions[e] {
			f.replace(e, "not", f.text(e)+" -> "+f.text(e.X), f.text(e.X))
		}
	case *ast.CallExpr:
		f.call(e)
	case *ast.BasicLit:
		f.number(e)
	case *ast.Ident:
		if f.info.Uses[e] == types.Universe.Lookup("true") {
			f.replace(e, "constant", "true -> false", "false")
		}
		if f.info.Uses[e] == types.Universe.Lookup("false") {
			f.replace(e, "constant", "false -> true", "true")
		}
	case *ast.CompositeLit:
		f.fields(e)
	case *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.FuncType, *ast.InterfaceType:
		return false // a number in a type is no decision
	}
	return true
}

func (f *finder) binary(e *ast.BinaryExpr) {
	left, right := f.text(e.X), f.text(e.Y)
	for _, op := range others(e.Op) {
		if f.conditions[e] && opposite(e.Op) == op {
			continue
		}
		f.replace(e, "operator", left+" "+e.Op.String()+" "+right+" -> "+op.String(), "("+left+") "+op.String()+" ("+right+")")
	}
	if e.Op == token.LAND || e.Op == token.LOR {
		f.replace(e, "operand", left+" "+e.Op.String()+" "+right+" -> without the first", right)
		f.replace(e, "operand", left+" "+e.Op.String()+" "+right+" -> without the second", left)
	}
}

// call swaps the built-in functions that are each other's opposite.
func (f *finder) call(e *ast.CallExpr) {
	name, ok := e.Fun.(*ast.Ident)
	if !ok {
		return
	}
	other := map[string]string{"min": "max", "max": "min"}[name.Name]
	if _, builtin := f.info.Uses[name].(*types.Builtin); !builtin || other == "" {
		return
	}
	f.replace(e, "operator", f.text(e)+" -> "+other, other+strings.TrimPrefix(f.text(e), name.Name))
}

// number makes a number one more and one less.
func (f *finder) number(e *ast.BasicLit) {
	if e.Kind != token.INT && e.Kind != token.FLOAT {
		return
	}
	for _, by := range []string{" + 1", " - 1"} {
		if e.Value == "0" && by == " - 1" {
			continue // less than nothing is no likely slip, and is no number for an unsigned type
		}
		f.replace(e, "constant", e.Value+" -> "+e.Value+by, "("+e.Value+by+")")
	}
}

// fields leaves one named field of a composite literal out, where it is not the zero value already.
func (f *finder) fields(e *ast.CompositeLit) {
	if _, ok := f.info.Types[e].Type.Underlying().(*types.Struct); !ok {
		return
	}
	for _, element := range e.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, ok := f.typeName(f.info.Types[pair.Value].Type)
		if ok && !f.zero(pair.Value) {
			f.replace(pair.Value, "field", f.text(pair.Key)+": "+f.text(pair.Value)+" -> left out", "*new("+name+")")
		}
	}
}

// zero says whether an expression is written as the zero value.
func (f *finder) zero(x ast.Expr) bool {
	v := f.info.Types[x]
	if v.IsNil() {
		return true
	}
	if c, ok := x.(*ast.CompositeLit); ok {
		return len(c.Elts) == 0
	}
	if v.Value == nil {
		return false
	}
	switch v.Value.Kind() {
	case constant.Bool:
		return !constant.BoolVal(v.Value)
	case constant.String:
		return constant.StringVal(v.Value) == ""
	case constant.Int, constant.Float:
		return constant.Sign(v.Value) == 0
	case constant.Unknown, constant.Complex:
	}
	return false
}

// replace adds a mutant that puts another expression in the place of this one.
func (f *finder) replace(e ast.Expr, kind, change, other string) {
	t := f.info.Types[e].Type
	if t == nil { // an identifier that is true or false
		t = types.Typ[types.Bool]
	}
	if !f.compiles(e, other) {
		return
	}
	if t == types.Typ[types.Bool] || t == types.Typ[types.UntypedBool] {
		f.add(e, kind, change, mutant{before: "(mutantIs(" + numberMark + ") && (" + other + ") || !mutantIs(" + numberMark + ") && (", after: "))"})
		return
	}
	if name, ok := f.typeName(types.Default(t)); ok {
		f.add(e, kind, change, mutant{before: "mutantOr[" + name + "](" + numberMark + ", func() " + name + " { return " + other + " }, ", after: ")"})
	}
}

// constant adds mutants inside a declaration of constants, which cannot be woven.
func (f *finder) constant(n ast.Node) bool {
	e, ok := n.(*ast.BasicLit)
	if !ok || e.Kind != token.INT && e.Kind != token.FLOAT {
		return true
	}
	for _, by := range []string{" + 1", " - 1"} {
		f.add(e, "constant", e.Value+" -> "+e.Value+by, mutant{swap: "(" + e.Value + by + ")"})
	}
	return true
}

// statement adds the mutants of one statement: left out, turned round, or with other results.
func (f *finder) statement(s ast.Stmt) {
	switch x := s.(type) {
	case *ast.IfStmt:
		f.condition(x.Cond)
	case *ast.AssignStmt:
		if x.Tok == token.DEFINE || f.header(s) {
			return
		}
		f.leaveOut(s)
		if ops := others(x.Tok); len(ops) > 0 {
			f.instead(s, f.text(x.Lhs[0])+" "+ops[0].String()+" "+f.text(x.Rhs[0]), x.Tok.String()+" -> "+ops[0].String())
		}
	case *ast.IncDecStmt:
		if f.header(s) {
			return
		}
		f.leaveOut(s)
		op := others(x.Tok)[0]
		f.instead(s, f.text(x.X)+op.String(), x.Tok.String()+" -> "+op.String())
	case *ast.ExprStmt:
		if call, ok := x.X.(*ast.CallExpr); ok && !f.header(s) && f.text(call.Fun) != "panic" {
			f.leaveOut(s)
		}
	case *ast.BranchStmt:
		if x.Tok != token.FALLTHROUGH {
			f.leaveOut(s)
		}
	case *ast.ReturnStmt:
		f.returned(x)
	}
}

// condition makes a condition hold always and never.
func (f *finder) condition(c ast.Expr) {
	f.conditions[c] = true
	for _, value := range []string{"true", "false"} {
		f.replace(c, "condition", f.text(c)+" -> "+value, value)
	}
}

func (f *finder) leaveOut(s ast.Stmt) {
	f.add(s, "statement", f.text(s)+" -> left out", mutant{before: "if !mutantIs(" + numberMark + ") { ", after: " }"})
}

func (f *finder) instead(s ast.Stmt, other, change string) {
	if t := f.info.Types[operandOf(s)].Type; t != nil && types.Identical(t.Underlying(), types.Typ[types.String]) {
		return // texts have one operator only
	}
	f.add(s, "operator", f.text(s)+": "+change, mutant{before: "if mutantIs(" + numberMark + ") { " + other + " } else { ", after: " }"})
}

func operandOf(s ast.Stmt) ast.Expr {
	switch x := s.(type) {
	case *ast.AssignStmt:
		return x.Lhs[0]
	case *ast.IncDecStmt:
		return x.X
	}
	return nil
}

// header says whether a statement stands in the head of a for, an if or a switch, where no other statement can take its place.
func (f *finder) header(s ast.Stmt) bool {
	head := false
	ast.Inspect(f.at.tree, func(n ast.Node) bool {
		if n == nil || n.Pos() > s.Pos() || n.End() < s.End() {
			return false
		}
		switch x := n.(type) {
		case *ast.ForStmt:
			head = head || x.Init == s || x.Post == s
		case *ast.IfStmt:
			head = head || x.Init == s
		case *ast.SwitchStmt:
			head = head || x.Init == s
		case *ast.TypeSwitchStmt:
			head = head || x.Init == s || x.Assign == s
		}
		return true
	})
	return head
}

// returned gives back zero values instead, unless they are that already.
func (f *finder) returned(r *ast.ReturnStmt) {
	if len(r.Results) == 0 {
		f.leaveOut(r)
		return
	}
	all := true
	for _, x := range r.Results {
		all = all && f.zero(x)
	}
	if all || f.results == nil || f.results.Len() != len(r.Results) {
		return
	}
	var zeros []string
	for i := range f.results.Len() {
		name, ok := f.typeName(f.results.At(i).Type())
		if !ok {
			return
		}
		zeros = append(zeros, "*new("+name+")")
	}
	f.add(r, "result", f.text(r)+" -> zero ("+strconv.Itoa(len(zeros))+")", mutant{before: "if mutantIs(" + numberMark + ") { return " + strings.Join(zeros, ", ") + " }; "})
}
