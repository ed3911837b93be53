import type { Clocks } from './clocks.js';
import type { ExitLine, Line, Outcome } from './history.js';
import { COMMAND_TIMEOUT_MS } from './settings.js';

/** When a call took effect, if it did: after this and before that, by Redis' clock. And what its caller was told. */
export interface Answered {
  begin: number;
  end: number;
  outcome: Outcome;
}

type CallType = 'call' | 'recurrenceCall';
type AnswerOf<T extends CallType> = Line & { type: T extends 'call' ? 'answer' : 'recurrenceAnswer' };
/** Of a call for many jobs, each has lines of its own. */
const keyOf = (line: { who: string; call: number; token?: string }) => `${line.who} ${line.call} ${line.token ?? ''}`;

/** Calls with their answers, where they got one. */
export function answeredCalls<T extends CallType>(
  lines: readonly Line[],
  clocks: Clocks,
  type: T,
): { call: Line & { type: T }; answer?: AnswerOf<T>; answered: Answered }[] {
  const answerType = type === 'call' ? 'answer' : 'recurrenceAnswer';
  const answers = new Map<string, AnswerOf<T>>();
  for (const line of lines) if (line.type === answerType) answers.set(keyOf(line as never), line as AnswerOf<T>);
  const exits = lines.filter((line): line is Line & ExitLine => line.type === 'exit');
  const gone = new Map(exits.map(({ who, mono }) => [who, mono]));
  return lines
    .filter((line): line is Line & { type: T } => line.type === type)
    .map((call) => {
      const answer = answers.get(keyOf(call as never));
      // A caller that died: what it had sent is refused by Redis once the call's time is over.
      const endedAt = answer?.mono ?? (gone.get(call.who) ?? Number.POSITIVE_INFINITY) + COMMAND_TIMEOUT_MS;
      const outcome = (answer as { outcome: Outcome } | undefined)?.outcome ?? 'unknown';
      return {
        call,
        answer,
        answered: { begin: clocks.at(call.mono).earliest, end: clocks.at(endedAt).latest, outcome },
      };
    });
}
