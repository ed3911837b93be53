/** What a file does with the named fields of tables that it may share with other files. */
export class Fields {
  /** { name, field, line } */
  reads = [];
  /** Name -> field -> the line where it is set first, be it in the table that is assigned to the name. */
  sets = new Map();
  /** Names that stand for a table which the file makes with its fields named; and names that stand for anything else. */
  made = new Set();
  unknown = new Set();

  /** Gives each line the number that `lineOf` answers for it. */
  renumber(lineOf) {
    for (const read of this.reads) read.line = lineOf(read.line);
    for (const fields of this.sets.values()) for (const [field, line] of fields) fields.set(field, lineOf(line));
  }

  noteRead(name, field, line) {
    this.reads.push({ name, field, line });
  }

  noteSet(name, field, line) {
    if (!this.sets.has(name)) this.sets.set(name, new Map());
    if (!this.sets.get(name).has(field)) this.sets.get(name).set(field, line);
  }

  /** `value`: the expression that is assigned to the name; none where it is only declared. */
  noteValue(name, value) {
    if (value === undefined || value.type === 'NilLiteral') return;
    const fields = value.type === 'TableConstructorExpression' ? value.fields : [];
    if (fields.length === 0 || fields.some(({ type }) => type !== 'TableKeyString')) this.unknown.add(name);
    else this.made.add(name);
    for (const { type, key } of fields) if (type === 'TableKeyString') this.noteSet(name, key.name, key.loc.start.line);
  }
}

/**
 * Calls `refuse(file, line, text)` for each named field of a shared table that is read and that nothing sets: the fields of a table of
 * arguments stand in the header of each script, those of other tables in the code of any file. `filesOf` answers the files of a script;
 * `fieldsOf`, the fields of a file; `tablesOf`, the tables of arguments in a script's header: name -> field -> line.
 */
export function checkFields(scripts, filesOf, fieldsOf, tablesOf, refuse) {
  const all = new Map(scripts.flatMap((script) => filesOf(script)).map((file) => [file, fieldsOf(file)]));
  const some = (does) => [...all.values()].some(does);
  const isMade = (name) => some(({ made }) => made.has(name)) && !some(({ unknown }) => unknown.has(name));
  const isSet = (name, field) => some(({ sets }) => sets.get(name)?.has(field));
  for (const script of scripts) {
    const tables = tablesOf(script);
    const used = new Set();
    for (const file of filesOf(script)) {
      const { reads, sets } = all.get(file);
      for (const { name, field, line } of reads) {
        used.add(`${name}.${field}`);
        if (tables.has(name) ? tables.get(name).has(field) : isSet(name, field) || !isMade(name)) continue;
        refuse(
          file,
          line,
          tables.has(name)
            ? `'${name}.${field}' is not in the header of ${script}: add it there as '@arg ${name}.${field}', or correct the name`
            : `nothing sets '${name}.${field}': name it where '${name}' is made, or correct the name`,
        );
      }
      for (const [name, fields] of sets)
        for (const [field, line] of tables.has(name) ? fields : [])
          refuse(file, line, `'${name}.${field}' is written, and the caller of ${script} gives it: use a local`);
    }
    for (const [name, fields] of tables)
      for (const [field, line] of fields)
        if (!used.has(`${name}.${field}`))
          refuse(script, line, `'${name}.${field}' is in the header and used nowhere: take it off`);
  }
}
