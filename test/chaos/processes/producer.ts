// A producer of the chaos suite: does what its plan says, several calls at a time, and notes each before and after.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  QueueUnavailableError,
  RedisScheduledQueueModule,
  type ScheduledJobRef,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';
import { planChanges } from '../change-plan.js';
import { History, type OperationName, type When } from '../history.js';
import { planRecurrenceWork } from '../recurrence-plan.js';
import {
  COMMAND_TIMEOUT_MS,
  MAX_LATENESS_MS,
  MAX_WAIT_MS,
  PREFIX,
  QUEUE_NAMES,
  QUEUE_OPTIONS,
  QUEUES,
  THROTTLE_MS,
} from '../settings.js';
import { type PlannedJob, type PlannedOperation, type PlannedTarget, planWork } from '../work-plan.js';
import { Recurring } from './recurring.js';
import { reportOn } from './self-report.js';

const { CONNECTION, WHO, HISTORY, SEED, WITHOUT } = process.env;
/** How many calls are under way at the most: more would wait for Redis longer than their time. */
const CALLS_AT_ONCE = 30;

const history = new History(HISTORY!, WHO!);
reportOn(history);

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: JSON.parse(CONNECTION!),
      prefix: PREFIX,
      role: 'producer',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      queues: { default: { ...QUEUE_OPTIONS, ...QUEUES.default }, kept: { ...QUEUE_OPTIONS, ...QUEUES.kept } },
    }),
  ],
})
class ProducerModule {}

Logger.overrideLogger(['error', 'warn', 'log']);
const app = await NestFactory.createApplicationContext(ProducerModule);
const producer = app.get(ScheduledQueueProducer);
const inspector = app.get(ScheduledQueueInspector);
const recurring = new Recurring(producer, history, (target) =>
  change('cancel', target, undefined, (ref) => producer.cancel(ref)),
);
const underWay = new Set<Promise<unknown>>();
let calls = 0;
let stopping = false;

function perform(planned: PlannedOperation): Promise<void> {
  switch (planned.operation) {
    case 'schedule':
      return schedule(planned.jobs);
    case 'again':
      return schedule([planned.job]);
    case 'replace':
      return replace(planned.job);
    case 'cancel':
      return change('cancel', planned.target, undefined, (ref) => producer.cancel(ref));
    case 'runNow':
      return change('runNow', planned.target, undefined, (ref) => producer.runNow(ref));
    case 'cancelRunning':
      return change('cancelRunning', planned.target, undefined, (ref) => inspector.cancelRunning(ref));
    case 'reschedule': {
      const when = whenOf(planned);
      return change('reschedule', planned.target, when, (ref) => producer.reschedule(ref, when));
    }
  }
}

/** Where the answer is lost, calls again with the ids that the error names, as its contract says is safe. */
async function schedule(jobs: readonly PlannedJob[], ids = jobs.map((job) => (job.chosen ? job.token : undefined))) {
  const call = ++calls;
  const items = jobs.map((job, i) => ({ ...item(job), options: { ...item(job).options, id: ids[i] } }));
  const whens = items.map(({ options }) => whenIn(options));
  for (const [i, { token, queue, payload }] of jobs.entries())
    history.note({ type: 'call', call, operation: 'schedule', token, queue, id: ids[i], when: whens[i], payload });
  try {
    const refs = items.length === 1 ? [await scheduleOne(items[0]!)] : await producer.scheduleMany(items);
    for (const [i, { token }] of jobs.entries()) answered(call, token, refs[i]!);
  } catch (error) {
    for (const { token } of jobs) failed(call, token, error);
    const { jobIds } = error as QueueUnavailableError;
    if (!stopping && jobIds?.length === jobs.length && ids.includes(undefined)) await schedule(jobs, [...jobIds]);
  }
}

function scheduleOne({ job, payload, options }: ReturnType<typeof item>): Promise<ScheduledJobRef> {
  return producer.schedule(job, payload, options);
}

async function replace(job: PlannedJob): Promise<void> {
  const call = ++calls;
  const { job: name, payload, options } = item(job);
  const { token, queue } = job;
  const when = whenIn(options);
  history.note({ type: 'call', call, operation: 'replace', token, queue, id: token, when, payload: job.payload });
  try {
    answered(call, token, await producer.schedule(name, payload, { ...options, id: token, onDuplicate: 'replace' }));
  } catch (error) {
    failed(call, token, error);
  }
}

async function change(
  operation: OperationName,
  { token, queue }: PlannedTarget,
  when: When | undefined,
  act: (ref: { id: string; queue: string }) => Promise<boolean>,
): Promise<void> {
  const call = ++calls;
  history.note({ type: 'call', call, operation, token, queue, id: token, when });
  try {
    const changed = await act({ id: token, queue });
    history.note({ type: 'answer', call, token, outcome: 'ok', changed });
  } catch (error) {
    failed(call, token, error);
  }
}

function answered(call: number, token: string, { id, created, dueAt, status }: ScheduledJobRef): void {
  history.note({ type: 'answer', call, token, outcome: 'ok', id, changed: created, status, dueAt: dueAt?.getTime() });
}

function failed(call: number, token: string, error: unknown): void {
  const known = error instanceof QueueUnavailableError;
  history.note({ type: 'answer', call, token, outcome: known ? error.outcome : 'unknown' });
  // Such as a script that does not run; what Redis says while it is away or full has a code of its own.
  if (!known || error.redisCode === 'ERR')
    history.note({ type: 'trouble', message: `a call threw ${(error as Error).stack}` });
}

function item({ queue, priority, payload, ...due }: PlannedJob) {
  const unfit = payload.kind === 'unfit';
  const carried = unfit ? { ...payload, revision: 'none' } : payload;
  const lateness =
    payload.kind === 'perishable' ? ({ maxLatenessMs: MAX_LATENESS_MS, onLate: 'dead-letter' } as const) : {};
  const spacing =
    payload.kind === 'debounced'
      ? { maxWaitMs: MAX_WAIT_MS }
      : payload.kind === 'throttled'
        ? { throttleMs: THROTTLE_MS }
        : {};
  const { group } = payload;
  return {
    job: payload.kind,
    payload: carried,
    options: { queue, priority, group, ...lateness, ...spacing, ...whenOf(due) },
  };
}

function whenOf({ delayMs, asInstant }: Pick<PlannedJob, 'delayMs' | 'asInstant'>): When {
  return asInstant ? { at: Date.now() + delayMs } : { delay: delayMs };
}

function whenIn(options: { at?: number } | { delay?: number }): When {
  return 'at' in options ? { at: options.at! } : { delay: (options as { delay: number }).delay };
}

/** One job in each queue, for the worker that alone is awake. */
async function probe(token: string): Promise<void> {
  for (const queue of QUEUE_NAMES) {
    const payload = { token: `${token}-${queue}`, revision: 0, kind: 'quick' } as const;
    const job = { token: payload.token, queue, chosen: true, priority: 5, delayMs: 0, asInstant: false, payload };
    await schedule([job]);
  }
}

/** Does what comes next, once it is time for that and some call has come back where too many are under way. */
async function carryOut<T extends { pauseMs: number }>(plan: Iterable<T>, act: (planned: T) => Promise<unknown>) {
  for (const planned of plan) {
    if (stopping) break;
    if (planned.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, planned.pauseMs));
    if (underWay.size >= CALLS_AT_ONCE) await Promise.race(underWay);
    const done: Promise<unknown> = act(planned).finally(() => underWay.delete(done));
    underWay.add(done);
  }
}

process.on('message', (message: string) => {
  const [, withinMs] = /^end-recurrences-(\d+)$/.exec(message) ?? [];
  if (message === 'stop') stopping = true;
  else if (withinMs) void recurring.end(Number(withinMs)).then(() => process.send?.('ended'));
  else void probe(message).then(() => process.send?.('scheduled'));
});
history.note({ type: 'ready' });
process.send?.('ready');
const first = recurring.upsertAll().finally(() => underWay.delete(first));
underWay.add(first);
await Promise.all([
  carryOut(planWork(Number(SEED), WHO!, JSON.parse(WITHOUT!)), perform),
  carryOut(planChanges(Number(SEED), WHO!), perform),
  carryOut(planRecurrenceWork(Number(SEED), WHO!), (planned) => recurring.perform(planned)),
]);
await Promise.all(underWay);
process.send?.('stopped');
