// Package shared_test guards the shape of the repository: which package may import which, that the decision core stays pure, how long
// files and functions grow, and that no file tells where it was written. It reads source only and needs no network.
package shared_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/holdfast-aws/holdfast"

	fileLinesMax     = 400
	testFileLinesMax = 600
	functionLinesMax = 70
	handlerCodeMax   = 40
)

// source is one parsed Go file, with its path from the repository's root in slashes.
type source struct {
	path string
	text []byte
	set  *token.FileSet
	file *ast.File
}

func (s source) dir() string       { return pathDir(s.path) }
func (s source) isTest() bool      { return strings.HasSuffix(s.path, "_test.go") }
func (s source) lines() int        { return s.set.File(s.file.Pos()).LineCount() }
func (s source) isGenerated() bool { return ast.IsGenerated(s.file) }

// imports lists the import paths of the file.
func (s source) imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("unquote import of %s: %v", s.path, err)
		}
		paths = append(paths, path)
	}
	return paths
}

// root is the repository's top, seen from this package's folder.
const root = ".."

// walk calls visit for every file of the repository that is kept, with its path from the root in slashes.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	skipped := []string{".git", "build", "cdk.out", "node_modules"}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(skipped, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return fmt.Errorf("shorten path: %w", err)
		}
		visit(filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatalf("walk the repository: %v", err)
	}
}

// sources parses every Go file that is kept, test data left out.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "/testdata/") {
			return
		}
		all = append(all, parse(t, path, readFile(t, path)))
	})
	if len(all) == 0 {
		t.Fatal("no Go file was found: this test looks in the wrong place")
	}
	return all
}

func parse(t *testing.T, path string, text []byte) source {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return source{path: path, text: text, set: set, file: file}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	return text
}

func pathDir(path string) string {
	if i := strings.LastIndex(path, "/"); i >= 0 {
		return path[:i]
	}
	return "."
}

// within says whether a slash path is the folder or lies below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// report fails the test with every problem at once.
func report(t *testing.T, problems []string) {
	t.Helper()
	slices.Sort(problems)
	for _, problem := range problems {
		t.Error(problem)
	}
}

func TestImportsPointInward(t *testing.T) {
	var problems []string
	for _, src := range sources(t) {
		if src.isTest() {
			continue
		}
		for _, path := range src.imports(t) {
			if why := importRefused(src.dir(), path); why != "" {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", src.path, path, why))
			}
		}
	}
	report(t, problems)
}

func TestTheCoreReadsNoClock(t *testing.T) {
	var problems []string
	for _, src := range sources(t) {
		if src.isTest() || !isTimeless(src.dir()) {
			continue
		}
		for _, use := range clockUses(src) {
			problems = append(problems, use+": the time is an argument here")
		}
	}
	report(t, problems)
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	var problems []string
	for _, src := range sources(t) {
		if src.isGenerated() {
			continue
		}
		limit := fileLinesMax
		if src.isTest() {
			limit = testFileLinesMax
		}
		if src.lines() > limit {
			problems = append(problems, fmt.Sprintf("%s has %d lines, want at most %d", src.path, src.lines(), limit))
		}
		if !src.isTest() {
			problems = append(problems, longFunctions(src)...)
		}
	}
	report(t, problems)
}

func TestFunctionsOnlyTranslate(t *testing.T) {
	var problems []string
	for _, src := range sources(t) {
		name := src.path[strings.LastIndex(src.path, "/")+1:]
		if !within(src.path, "functions") || (name != "main.go" && name != "handler.go") {
			continue
		}
		if lines := codeLines(src); lines > handlerCodeMax {
			problems = append(problems, fmt.Sprintf("%s has %d lines of code, want at most %d", src.path, lines, handlerCodeMax))
		}
	}
	report(t, problems)
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	// A package of one file, or a program, may say it there; any other has a doc.go to begin with.
	files, documented := map[string]int{}, map[string]string{}
	for _, src := range sources(t) {
		if src.isTest() {
			continue
		}
		files[src.dir()]++
		if src.file.Doc != nil && (documented[src.dir()] == "" || strings.HasSuffix(src.path, "/doc.go")) {
			documented[src.dir()] = src.path
			if src.file.Name.Name == "main" {
				documented[src.dir()] = src.dir() + "/doc.go"
			}
		}
	}
	var problems []string
	for dir, count := range files {
		if where := documented[dir]; where == "" || (count > 1 && where != dir+"/doc.go") {
			problems = append(problems, dir+": want a package comment, in doc.go if the package has several files")
		}
	}
	report(t, problems)
}

// importRefused says why a package in dir may not import path, or nothing if it may.
func importRefused(dir, path string) string {
	own, isOwn := strings.CutPrefix(path, module+"/")
	switch {
	case isStandard(path):
		return standardRefused(dir, path)
	case within(dir, "shared/guard"):
		return refusedUnless(isOwn && within(own, "shared/guard"), "the core imports the standard library only")
	case within(dir, "shared/runner"):
		return refusedUnless(isOwn && ownedBy(own, "shared/runner", "shared/guard", "shared/fault"),
			"the runner imports guard, fault and the standard library only")
	case within(dir, "shared/fault"):
		return "fault imports the standard library only"
	case dir == "shared/sim":
		return "the simulator imports the standard library only"
	case within(dir, "shared/sim"):
		return refusedUnless(isOwn && ownedBy(own, "shared/sim", "shared/runner", "shared/guard", "shared/fault", "shared/memledger"),
			"a driver of the simulator imports sim, runner, guard, fault and memledger only")
	case isOwn && within(dir, "shared"):
		return sharedRefused(dir, own)
	}
	return ""
}

// standardRefused keeps the outside world out of the core.
func standardRefused(dir, path string) string {
	if !within(dir, "shared/guard") {
		return ""
	}
	for _, banned := range []string{"os", "net", "log", "context", "math/rand", "crypto/rand", "syscall", "unsafe"} {
		if within(path, banned) {
			return "the core decides from its input alone"
		}
	}
	return ""
}

// sharedRefused keeps shared packages free of what is built on them, and adapters apart.
func sharedRefused(dir, own string) string {
	for _, above := range []string{"functions", "cmd", "infra", "localstack"} {
		if within(own, above) {
			return "a shared package knows nothing of what is built on it"
		}
	}
	adapters := []string{"awsfleet", "beats", "alarms", "policystore", "ledger", "awsact", "report"}
	from, to := sharedName(dir), sharedName(own)
	if from != to && slices.Contains(adapters, from) && slices.Contains(adapters, to) {
		return "adapters never import each other"
	}
	return ""
}

// sharedName is the name of the folder right below shared, or nothing.
func sharedName(dir string) string {
	name, isShared := strings.CutPrefix(dir, "shared/")
	if !isShared {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	return name
}

func ownedBy(own string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return within(own, folder) })
}

func refusedUnless(allowed bool, why string) string {
	if allowed {
		return ""
	}
	return why
}

// isStandard tells the standard library by its first path element, which never has a dot. "C" is no part of it.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && path != "C"
}

func isTimeless(dir string) bool {
	return ownedBy(dir, "shared/guard", "shared/runner", "shared/sim")
}

// clockUses lists where a file takes the time from the machine, under whatever name it imports package time.
func clockUses(src source) []string {
	name := "time"
	for _, spec := range src.file.Imports {
		if spec.Path.Value == `"time"` && spec.Name != nil {
			name = spec.Name.Name
		}
	}
	banned := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	var uses []string
	if name == "." {
		uses = append(uses, src.path+" imports time with a dot")
	}
	ast.Inspect(src.file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == name && slices.Contains(banned, selector.Sel.Name) {
			uses = append(uses, fmt.Sprintf("%s uses time.%s", src.set.Position(selector.Pos()), selector.Sel.Name))
		}
		return true
	})
	return uses
}

// longFunctions lists the functions, literals included, whose bodies have more lines between their braces than allowed.
func longFunctions(src source) []string {
	var problems []string
	ast.Inspect(src.file, func(node ast.Node) bool {
		var name string
		switch fn := node.(type) {
		case *ast.FuncDecl:
			name = fn.Name.Name
		case *ast.FuncLit:
			name = "function literal"
		default:
			return true
		}
		start, end := src.set.Position(node.Pos()), src.set.Position(node.End())
		if lines := end.Line - start.Line - 1; lines > functionLinesMax {
			problems = append(problems, fmt.Sprintf("%s: %s has %d lines, want at most %d", start, name, lines, functionLinesMax))
		}
		return true
	})
	return problems
}

// codeLines counts the lines that hold anything but comments and blanks.
func codeLines(src source) int {
	set := token.NewFileSet()
	file := set.AddFile(src.path, set.Base(), len(src.text))
	var lexer scanner.Scanner
	lexer.Init(file, src.text, nil, 0)
	lines := map[int]bool{}
	for {
		pos, kind, literal := lexer.Scan()
		if kind == token.EOF {
			return len(lines)
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // put in by the scanner, not written
		}
		first := set.Position(pos).Line
		for line := first; line <= first+strings.Count(literal, "\n"); line++ {
			lines[line] = true
		}
	}
}
