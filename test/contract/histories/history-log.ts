import { createHash } from 'node:crypto';

/** So many of the latest calls are told where the stores differ, or as many as one asks for. */
const TOLD = Number(process.env.HISTORY_TOLD ?? 20);
/** So much of what was given to one call, and of what was answered. */
const MOST_CHARACTERS = 1_500;

/** What was asked of both stores so far, and what they answered: a digest of all of it, and the latest calls as text. */
export class HistoryLog {
  private readonly hash = createHash('sha256');
  private readonly latest: string[] = [];

  /** Equal for two histories in which all calls and all answers were. */
  get digest(): string {
    return this.hash.copy().digest('hex');
  }

  /** The latest calls, in their order. */
  get tail(): string {
    return this.latest.join('\n');
  }

  /** `call`: the source of the function that has asked. */
  note(nowMs: number, call: string, given: unknown, [small, redis]: readonly unknown[]): void {
    const texts = [given, small, redis].map((value) => textOf(value));
    this.hash.update(`${nowMs} ${call} ${texts.join('\n')}\n`);
    const [asked, answered, expected] = texts.map(cut);
    const answers = expected === answered ? answered : `Redis ${expected}\n    the small one ${answered}`;
    this.latest.push(`  ${nowMs} ${call.replace(/\s+/g, ' ')} of ${asked}\n    ${answers}`);
    if (this.latest.length > TOLD) this.latest.shift();
  }
}

/** The same in every process and on every machine, whatever the order of the fields. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value, (key, field) => {
    if (key === 'pid' || key === 'host') return '';
    if (field === null || typeof field !== 'object' || Array.isArray(field)) return field;
    return Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return text ?? 'undefined';
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
