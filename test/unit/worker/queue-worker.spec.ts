import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { readQueueOptions } from '../../../lib/core/queue-options.js';
import { NodeTimers } from '../../../lib/core/timers.js';
import type { ClaimedJob, Turn, TurnAnswer, WorkerHints, WorkerSeat } from '../../../lib/store/job-store.js';
import { Processor } from '../../../lib/worker/processor.js';
import { QueueWorker } from '../../../lib/worker/queue-worker.js';
import { Reporter } from '../../../lib/worker/reporter.js';
import { Settler } from '../../../lib/worker/settler.js';
import { until } from '../../support/wait.js';

const NOTHING: TurnAnswer = {
  settled: [],
  lost: [],
  toCancel: [],
  recovered: [],
  late: [],
  missing: [],
  dropped: [],
  claimed: [],
  sleepMs: 60_000,
  lookFrom: '',
};
const CLAIM: ClaimedJob = {
  id: 'a',
  fence: '1',
  dueAtMs: 0,
  claimedAtMs: 0,
  attempt: 1,
  crashes: 0,
  envelope: '5::work\n0 \n\nnull',
};
const EVENTS = { wanted: false, tell() {} };
const LOG = { log() {}, warn() {}, error() {} };

/** A seat whose turns are answered by hand. */
class Seat implements WorkerSeat {
  readonly turns: Turn[] = [];
  private answers: ((answer: TurnAnswer) => void)[] = [];
  hints?: WorkerHints;

  turn(turn: Turn): Promise<TurnAnswer> {
    this.turns.push(turn);
    return new Promise((resolve) => this.answers.push(resolve));
  }

  answer(answer: Partial<TurnAnswer> = {}): void {
    const settled = this.turns.at(-1)!.settlements.map(() => 'counted' as const);
    this.answers.shift()?.({ ...NOTHING, settled, ...answer });
  }

  listen(hints: WorkerHints): void {
    this.hints = hints;
  }

  leave(): void {}
}

it('a wish to renew that overtakes the answer of a turn that renews is kept', async () => {
  const seat = new Seat();
  let finish = () => {};
  const run = () => new Promise<void>((resolve) => (finish = resolve));
  const settings = {
    maxAttempts: 1,
    timeoutMs: 0,
    backoff: { type: 'fixed', delayMs: 0 },
    concurrency: Number.POSITIVE_INFINITY,
    weight: 1,
  } as const;
  const handlers = new Map([['work', { name: 'work', settings, run } as never]]);
  const settler = new Settler(handlers, false);
  const processor = new Processor('q', handlers, undefined as never, settler, EVENTS);
  const options = readQueueOptions('q', { leaseMs: 3_600_000 });
  const worker = new QueueWorker(
    'q',
    seat,
    handlers,
    processor,
    settler,
    options,
    new NodeTimers(),
    new Reporter(LOG, EVENTS),
    'test',
  );
  worker.start();
  await nextRound();
  // Somebody asks for the job to be cancelled between its claim and the reading of the answer, and that is heard first.
  seat.hints!.renew();
  seat.answer({ claimed: [CLAIM] });
  await until('it renews', () => seat.turns.length === 2);
  expect(seat.turns[1]!.renewals).toMatchObject([{ id: 'a' }]);
  seat.answer();
  finish();
  await until('it settles', () => seat.turns.length === 3);
  seat.answer();
  const stopped = worker.stop(new AbortController().signal);
  await until('it takes its last turn', () => seat.turns.length === 4);
  seat.answer();
  await stopped;
});
