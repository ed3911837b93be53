// Of the declarations that the compiler wrote, keeps those that an entry point of the package leads to: no user's compiler reads the
// others, and they are two thirds of all.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** `entries`: files in `folder`. Removes declarations from the files there, and files that have none left. */
export function keepPublicTypes(folder, entries) {
  const modules = new Map();
  const moduleOf = (file) => {
    if (!modules.has(file)) modules.set(file, new DeclarationFile(file));
    return modules.get(file);
  };

  for (const entry of entries) for (const statement of moduleOf(entry).statements) keep(moduleOf(entry), statement);

  for (const file of readdirSync(folder, { recursive: true })) {
    const path = join(folder, file);
    if (!file.endsWith('.d.ts')) continue;
    if (modules.get(path)?.kept.size) writeFileSync(path, modules.get(path).text());
    else rmSync(path);
  }

  function keep(module, statement) {
    if (module.kept.has(statement)) return;
    module.kept.add(statement);
    if (ts.isExportDeclaration(statement) && statement.moduleSpecifier) {
      const from = module.resolve(statement.moduleSpecifier);
      // Of `export *` it is not known which names are asked for, so all of them are.
      if (from && statement.exportClause)
        for (const { propertyName, name } of statement.exportClause.elements)
          keepExport(moduleOf(from), (propertyName ?? name).text);
      else if (from) for (const each of moduleOf(from).statements) keep(moduleOf(from), each);
      return;
    }
    for (const name of namesIn(statement)) {
      for (const declared of module.declared.get(name) ?? []) keep(module, declared);
      const imported = module.imported.get(name);
      if (!imported) continue;
      module.used.add(name);
      if (imported.file) keepExport(moduleOf(imported.file), imported.name);
    }
  }

  function keepExport(module, name) {
    for (const declared of module.declared.get(name) ?? []) keep(module, declared);
    for (const statement of module.statements) {
      if (!ts.isExportDeclaration(statement)) continue;
      const names = statement.exportClause?.elements.map((each) => each.name.text);
      if (names?.includes(name)) keep(module, statement);
      if (names || !gives(module, statement, name)) continue;
      module.kept.add(statement);
      keepExport(moduleOf(module.resolve(statement.moduleSpecifier)), name);
    }
  }

  /** Whether an `export *` gives this name. */
  function gives(module, statement, name) {
    const from = module.resolve(statement.moduleSpecifier);
    if (!from || module.declared.has(name)) return false;
    const { declared, statements } = moduleOf(from);
    return (
      declared.has(name) ||
      statements.some(
        (each) =>
          ts.isExportDeclaration(each) &&
          (each.exportClause?.elements.some((element) => element.name.text === name) ??
            gives(moduleOf(from), each, name)),
      )
    );
  }
}

/** One file of declarations. */
class DeclarationFile {
  kept = new Set();
  /** The names it imports that what is kept says. */
  used = new Set();
  declared = new Map();
  imported = new Map();

  constructor(file) {
    this.file = file;
    this.source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true);
    this.imports = this.source.statements.filter(ts.isImportDeclaration);
    this.statements = this.source.statements.filter((each) => !ts.isImportDeclaration(each));
    for (const each of this.imports) this.readImport(each);
    for (const each of this.statements)
      for (const name of declaredBy(each)) this.declared.set(name, [...(this.declared.get(name) ?? []), each]);
  }

  readImport({ importClause, moduleSpecifier }) {
    if (!importClause) return;
    const bindings = importClause.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings))
      throw new Error(`${this.file}: only imports of names are understood here, not ${moduleSpecifier.getText()}.`);
    const file = this.resolve(moduleSpecifier);
    for (const { name, propertyName } of bindings.elements)
      this.imported.set(name.text, { file, name: (propertyName ?? name).text });
  }

  /** The file of a module of the package; `undefined` for one of another package. */
  resolve({ text }) {
    return text.startsWith('.') ? join(dirname(this.file), text.replace(/js$/, 'd.ts')) : undefined;
  }

  text() {
    const imports = this.imports.flatMap((each) => {
      if (!each.importClause) return [each.getText()];
      const names = each.importClause.namedBindings.elements.filter(({ name }) => this.used.has(name.text));
      if (names.length === 0) return [];
      const type = each.importClause.isTypeOnly ? 'type ' : '';
      return `import ${type}{ ${names.map((name) => name.getText()).join(', ')} } from ${each.moduleSpecifier.getText()};`;
    });
    const rest = this.statements.filter((each) => this.kept.has(each)).map((each) => each.getFullText().trimStart());
    // Without it a file that exports nothing else would export all that it declares.
    return `${[...imports, ...rest, 'export {};'].join('\n')}\n`;
  }
}

function declaredBy(statement) {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.text);
  return statement.name ? [statement.name.text] : [];
}

/** Every name that a declaration says, but those that it gives: its own, and those of members. */
function namesIn(statement) {
  const names = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node) && node.parent.name !== node) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return names;
}
