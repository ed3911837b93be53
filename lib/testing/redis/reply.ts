/** Such as `OK`. */
export class Status {
  constructor(readonly text: string) {}
}

/** What a command answers. Texts are bytes, a character each. */
export type Reply = number | string | null | Status | Reply[];

export const OK = new Status('OK');

/** An error as Redis answers it: its message begins with a code. By its name, ioredis' and this one are the same to who catches it. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

export const syntaxError = () => new ReplyError('ERR syntax error');
export const notAnInteger = () => new ReplyError('ERR value is not an integer or out of range');
