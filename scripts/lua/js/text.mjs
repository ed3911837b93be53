const ESCAPES = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };

/** What a text in quotes of Lua means, a character a byte. `undefined` where it is written in a way that no script uses. */
export function valueOfText(raw) {
  if (!/^['"]/.test(raw)) return undefined;
  const bytes = Buffer.from(raw.slice(1, -1), 'utf8').toString('latin1');
  return bytes.replace(/\\(\d{1,3}|[\s\S])/g, (_, code) =>
    /^\d/.test(code) ? String.fromCharCode(Number(code)) : (ESCAPES[code] ?? code),
  );
}

/** A text as JavaScript, in ASCII alone. */
export function literalOf(text) {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
