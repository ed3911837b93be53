/** Texts of the small Redis are bytes, a character each; those of its callers are Unicode. Most are ASCII, and the same in both. */

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
};

/** An argument, as ioredis would send it. */
export function toBytes(argument: string | number | Buffer): string {
  if (Buffer.isBuffer(argument)) return argument.toString('latin1');
  const text = String(argument);
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

export function toText(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}
