import luaparse from 'luaparse';

/** Where the last of several expressions may have several values; each with the list in which it stands. */
const LISTS = {
  CallExpression: 'arguments',
  ReturnStatement: 'arguments',
  LocalStatement: 'init',
  AssignmentStatement: 'init',
  TableConstructorExpression: 'fields',
};

/**
 * The tree of a text of Lua. luaparse tells nothing of parentheses, but `(f())` has one value where `f()` may have several: such an expression
 * is marked `inParens` where that matters, as the last of a list.
 */
export function parse(text) {
  const chunk = luaparse.parse(text, { luaVersion: '5.1', locations: true, ranges: true, comments: false });
  mark(chunk, text);
  return chunk;
}

function mark(node, text) {
  if (node === null || typeof node !== 'object') return;
  const last = node[LISTS[node.type]]?.at(-1);
  const value = last?.type === 'TableValue' ? last.value : last;
  if (value?.range) {
    // Behind the expression, up to the end of what it stands in; a call has a parenthesis of its own there.
    const rest = text.slice(value.range[1], node.range[1]).replace(/--.*/g, '');
    value.inParens = rest.split(')').length - 1 > Number(node.type === 'CallExpression');
  }
  for (const [key, child] of Object.entries(node)) if (key !== 'loc' && key !== 'range') mark(child, text);
}
