import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { Settlement, Turn } from '../../job-store.js';
import { toDueArgument } from '../calls/job-arguments.js';
import { encodeRest, encodeRoute } from '../codec/envelope-text.js';
import { encodeFailure } from '../codec/failure-line.js';
import type { ScriptArgument } from '../scripts/bound-script.js';
import type { TurnArguments } from '../scripts/turn/contract.js';

type TurnLists = Pick<TurnArguments, 'completed' | 'others' | 'nextSteps' | 'renewals' | 'reports' | 'limits'>;

/** What a turn says, as the lists of its script. */
export function encodeTurn(
  { settlements, renewals, reports = [], handlers }: Turn,
  settings: QueueSettings,
): TurnLists {
  const plain: ScriptArgument[] = [];
  const fences: ScriptArgument[] = [];
  let fence = '';
  const rest: Settlement[] = [];
  const nextSteps: ScriptArgument[] = [];
  for (const settlement of settlements) {
    if (leavesNothing(settlement, settings)) {
      plain.push(settlement.id);
      fences.push(settlement.fence === fence ? '' : settlement.fence);
      fence = settlement.fence;
      pushStep(nextSteps, plain.length, settlement);
    } else rest.push(settlement);
  }
  const others: ScriptArgument[] = [];
  rest.forEach((settlement, i) => {
    const { transition, id, fence } = settlement;
    others.push(transition, id, fence, ...transitionArguments(settlement, settings));
    pushStep(nextSteps, plain.length + i + 1, settlement);
  });
  return {
    completed: { id: plain, fence: fences },
    others,
    nextSteps,
    renewals: renewals.flatMap(({ id, fence }) => [id, fence]),
    reports: reports.flatMap(({ id, fence, value }) => [id, fence, value]),
    limits: handlers.flatMap(({ name, weight, free, size }) => [name, weight, free, size]),
  };
}

/** Where the job's chain goes on, the next job. `index`: of the settlement, among all of the turn in the order of the script, from 1. */
function pushStep(steps: ScriptArgument[], index: number, settlement: Settlement): void {
  const next = settlement.transition === 'complete' && settlement.next;
  if (next) steps.push(index, next.id, Math.ceil(next.due.delayMs), encodeRoute(next), encodeRest(next, false));
}

/** The common end of a job: all of it goes, in one step with its batch. */
export function leavesNothing(settlement: Settlement, settings: QueueSettings): boolean {
  if (settlement.transition !== 'complete') return false;
  return !settlement.idWasChosen && settings.keepCompleted.count === 0;
}

/** Whether a step of a chain follows. */
export function goesOn(settlement: Settlement): boolean {
  return settlement.transition === 'complete' && settlement.next !== undefined;
}

/** Only a whole turn trims what is kept of jobs. */
export function leavesNothingToTrim({ transition }: Settlement, { keepCompleted, keepEnded }: QueueSettings): boolean {
  switch (transition) {
    case 'complete':
      return keepCompleted.count === 0;
    case 'dead':
      return false;
    case 'discard':
    case 'cancel':
      return keepEnded.count === 0;
    // Named one by one, so that the compiler asks about a new one.
    case 'retry':
    case 'snooze':
    case 'release':
    case 'extend':
      return true;
  }
}

function transitionArguments(settlement: Settlement, { keepEnded }: QueueSettings): [ScriptArgument, ScriptArgument] {
  switch (settlement.transition) {
    case 'complete':
      return [settlement.idWasChosen ? 'r' : '', withProgress(settlement.result ?? '', settlement)];
    case 'retry':
      return [Math.ceil(settlement.delayMs), withProgress(encodeFailure(settlement.failure), settlement)];
    case 'dead':
      return [deadFlags(settlement), withProgress(encodeFailure(settlement.failure), settlement)];
    case 'snooze':
      return [toDueArgument(settlement.due), withProgress('', settlement)];
    case 'discard':
      return [settlement.idWasChosen ? 'r' : '', keepEnded.count > 0 ? JSON.stringify(settlement.reason ?? '') : ''];
    case 'extend':
      return [settlement.leaseMs, ''];
    case 'release':
      return ['', withProgress('', settlement)];
    case 'cancel':
      return ['', ''];
  }
}

/** JSON has no tab of its own, so one parts the two. */
function withProgress(text: string, { progress }: { progress?: string }): string {
  return progress === undefined ? text : `${text}\t${progress}`;
}

function deadFlags({ ran, failed, idWasChosen }: Extract<Settlement, { transition: 'dead' }>): string {
  return `${ran ? '' : 'n'}${failed ? 'f' : ''}${idWasChosen ? 'r' : ''}`;
}
