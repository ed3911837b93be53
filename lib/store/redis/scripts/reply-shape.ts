/** How deep an answer is nested: 0 = a text or a number, 1 = a list of these, 2 = a list of lists. */
type Depth = number;

/** What the reply of a script looks like, by the script's contract. */
export type ReplyShape =
  | { readonly depth: Depth }
  | {
      readonly fields: readonly Depth[];
      /** How many of the fields are always there. */
      readonly least: number;
      /** Any number of further ones. */
      readonly rest?: Depth;
      /** A status and Redis' time stand before the fields; a call that did not run may answer these alone. */
      readonly isNumbered?: true;
    };

const RAN = /^(done|replayed)$/;
const STATUS = /^[a-z]+$/;
const TIME = /^\d+(\.\d+)?$/;

/** Whether a reply is one of the script at all. A broken proxy may answer `OK` or `null` to whatever it is sent. */
export function isReply(reply: unknown, shape: ReplyShape): boolean {
  if ('depth' in shape) return isDeep(reply, shape.depth);
  if (!Array.isArray(reply)) return false;
  if (!shape.isNumbered) return areFields(reply, 0, shape);
  const [status, now] = reply.slice(0, 2).map(String);
  if (!TIME.test(now ?? '') || !STATUS.test(status!)) return false;
  return !RAN.test(status!) || areFields(reply, 2, shape);
}

function areFields(
  reply: readonly unknown[],
  from: number,
  { fields, least, rest }: Exclude<ReplyShape, { depth: Depth }>,
): boolean {
  if (reply.length < from + least) return false;
  for (let i = from; i < reply.length; i++) {
    const depth = fields[i - from] ?? rest;
    if (depth === undefined || !isDeep(reply[i], depth)) return false;
  }
  return true;
}

function isDeep(value: unknown, depth: Depth): boolean {
  if (depth === 0) return typeof value === 'string' || typeof value === 'number' || Buffer.isBuffer(value);
  return Array.isArray(value) && (depth === 1 || value.every((each) => Array.isArray(each)));
}

/** What a plain reading command answers: `text` may be missing; `step` is one of a walk, a cursor and a list; `time` is seconds and microseconds. */
export type PlainReply = 'list' | 'text' | 'fields' | 'step' | 'count' | 'time';

export const isPlainReply: Record<PlainReply, (reply: unknown) => boolean> = {
  list: Array.isArray,
  text: (reply) => reply === null || typeof reply === 'string',
  fields: (reply) => typeof reply === 'object' && reply !== null,
  step: (reply) => Array.isArray(reply) && isDeep(reply[0], 0) && isDeep(reply[1], 1),
  count: (reply) => Number.isInteger(Number(reply)) && reply !== null,
  time: (reply) => Array.isArray(reply) && reply.length === 2 && reply.every((part) => TIME.test(String(part))),
};

/** Throws where a reply is none: as after a lost one, nobody knows whether the call has run, and it can be sent again. */
export function checked<T>(reply: T, isOne: (reply: T) => boolean, asked: string): T {
  if (isOne(reply)) return reply;
  throw new Error(`got ${kindOf(reply)} as the answer to ${asked}; does a proxy answer in place of Redis?`);
}

/** Nothing of its content, which may be a payload. */
function kindOf(reply: unknown): string {
  if (reply === null) return 'nothing';
  return Array.isArray(reply) ? `a list of ${reply.length}` : `a ${Buffer.isBuffer(reply) ? 'string' : typeof reply}`;
}
