/** A value for the board, which sends it as JSON: a codec may answer what JSON does not have, and one such job would hide all of a page. */
export function asJson(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value, toJson) ?? 'null');
}

function toJson(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}
