import { readFileSync } from 'node:fs';
import ts from 'typescript';

// The kit needs the same translation for patterns that a script puts together as it runs, so there is one, in TypeScript.
const text = readFileSync(new URL('../../../lib/testing/redis/lua/patterns.ts', import.meta.url), 'utf8');
const { outputText } = ts.transpileModule(text, {
  compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
});

export const { isPlain, toRegExp } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
