package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// mutant is one change to the package.
type mutant struct {
	id   int
	key  string // stable while lines move: file, function, kind, change and a count
	file string
	line int
	// Woven mutants: what is put before and after the original text, which stays where it is.
	from, to      int
	before, after string
	// Mutants of constants are built one at a time: the text between from and to becomes swap.
	swap string
}

func (m mutant) woven() bool { return m.swap == "" }

// source is one file of the package.
type source struct {
	name string
	text []byte
	tree *ast.File
}

// finder walks the package and collects its mutants.
type finder struct {
	fset    *token.FileSet
	pkg     *types.Package
	info    *types.Info
	sources []source
	mutants []mutant
	seen    map[string]int
	// The conditions of if statements, which have mutants of their own.
	conditions map[ast.Expr]bool
	// The place of the walk.
	at       *source
	function string
	results  *types.Tuple
}

// find reads the package in a folder and returns its sources and all its mutants in the order of the text.
func find(folder string) ([]source, []mutant, error) {
	f := &finder{fset: token.NewFileSet(), seen: map[string]int{}, conditions: map[ast.Expr]bool{}}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, nil, fmt.Errorf("list sources: %w", err)
	}
	var trees []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, fmt.Errorf("read source: %w", err)
		}
		tree, err := parser.ParseFile(f.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, fmt.Errorf("parse source: %w", err)
		}
		trees = append(trees, tree)
		f.sources = append(f.sources, source{name: name, text: text, tree: tree})
	}
	if len(trees) == 0 {
		return nil, nil, fmt.Errorf("%s has no Go source", folder)
	}
	f.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	checker := types.Config{Importer: importer.ForCompiler(f.fset, "source", nil)}
	if f.pkg, err = checker.Check(trees[0].Name.Name, f.fset, trees, f.info); err != nil {
		return nil, nil, fmt.Errorf("check types: %w", err)
	}
	for i := range f.sources {
		f.file(&f.sources[i])
	}
	sort.SliceStable(f.mutants, func(a, b int) bool {
		x, y := f.mutants[a], f.mutants[b]
		return x.file < y.file || x.file == y.file && x.from < y.from
	})
	for i := range f.mutants {
		f.mutants[i].number(i + 1)
	}
	return f.sources, f.mutants, nil
}

// number gives a mutant its number, which the woven text asks for.
func (m *mutant) number(id int) {
	m.id = id
	m.before = strings.ReplaceAll(m.before, numberMark, fmt.Sprint(id))
	m.after = strings.ReplaceAll(m.after, numberMark, fmt.Sprint(id))
}

func (f *finder) file(s *source) {
	f.at = s
	for _, decl := range s.tree.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			f.function = "const"
			if d.Tok == token.CONST {
				ast.Inspect(d, f.constant)
			}
		case *ast.FuncDecl:
			f.function = d.Name.Name
			f.results = f.info.Defs[d.Name].Type().(*types.Signature).Results()
			f.body(d.Body)
		}
	}
}

// body walks a function; literals of functions inside it have results of their own.
func (f *finder) body(block *ast.BlockStmt) {
	if block == nil {
		return
	}
	ast.Inspect(block, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			results := f.results
			f.results = f.info.Types[x].Type.(*types.Signature).Results()
			f.body(x.Body)
			f.results = results
			return false
		case *ast.GenDecl:
			if x.Tok == token.CONST {
				ast.Inspect(x, f.constant)
				return false
			}
		case ast.Stmt:
			f.statement(x)
		case ast.Expr:
			return f.expression(x)
		}
		return true
	})
}

// add keeps a mutant of a node: kind and change are for people and for the key.
func (f *finder) add(n ast.Node, kind, change string, m mutant) {
	m.from, m.to = f.fset.Position(n.Pos()).Offset, f.fset.Position(n.End()).Offset
	m.file, m.line = filepath.Base(f.at.name), f.fset.Position(n.Pos()).Line
	key := strings.Join([]string{m.file, f.function, kind, squeeze(change)}, " | ")
	f.seen[key]++
	m.key = key
	if count := f.seen[key]; count > 1 {
		m.key = fmt.Sprintf("%s | %d", key, count)
	}
	f.mutants = append(f.mutants, m)
}

// text is a node as it stands in the source.
func (f *finder) text(n ast.Node) string {
	return string(f.at.text[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}

// squeeze makes one line of a text and cuts it, for keys.
func squeeze(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 140 {
		text = text[:140] + "..."
	}
	return text
}

// typeName writes a type as this file can name it; false when it cannot.
func (f *finder) typeName(t types.Type) (string, bool) {
	ok := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		for _, spec := range f.at.tree.Imports {
			if spec.Name == nil && strings.Trim(spec.Path.Value, `"`) == p.Path() {
				return p.Name()
			}
		}
		ok = false
		return p.Name()
	})
	if strings.Contains(name, "untyped") || strings.Contains(name, "invalid") {
		return "", false
	}
	return name, ok
}

// compiles says whether another text would be an expression of Go in the place of a node.
func (f *finder) compiles(n ast.Node, text string) bool {
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return false
	}
	return types.CheckExpr(f.fset, f.pkg, n.Pos(), tree, nil) == nil
}
