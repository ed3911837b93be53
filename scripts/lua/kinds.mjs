const NUMBERS = ['number', 'count', 'bytes', 'ms', 'epoch ms'];
/** What a codec made may be bytes. */
const TEXTS = { text: 'string', payload: 'string | Buffer' };
const isWord = (kind) => /^'[^']*'$/.test(kind);

/** A kind may be several with ` | ` between them; where one of them is a word in quotes, the script gets the text. */
const eachOf = (kind) => kind.split(' | ');

export function isArgumentKind(kind) {
  return kind === 'flag' || eachOf(kind).every((one) => one in TEXTS || NUMBERS.includes(one) || isWord(one));
}

export function isReplyKind(kind) {
  return kind !== undefined && eachOf(kind).every((one) => /^(text|number|value)(\[\])*$/.test(one) || isWord(one));
}

/** The TypeScript type of a kind. */
export function typeOf(kind) {
  if (kind === 'flag') return 'boolean';
  return eachOf(kind)
    .map((one) =>
      NUMBERS.includes(one)
        ? 'number'
        : (TEXTS[one] ?? one).replace(/^text/, 'string').replace(/^value/, '(string | number)'),
    )
    .filter((type, i, all) => all.indexOf(type) === i)
    .join(' | ');
}
