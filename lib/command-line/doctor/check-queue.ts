import type { InspectedWorker } from '../../api/inspection/inspected-worker.js';
import { firstFew } from '../../core/read/describe.js';
import { lossIn } from '../../store/redis/checks/index-watch.js';
import { queueKeys } from '../../store/redis/keys.js';
import type { BareInstance } from '../bare-instance.js';
import { type CheckName, type Finding, isRefusal, judge, NotKnown } from './finding.js';

/** A job that nobody handles is told once it has been due for so long: a deploy may have been under way. */
const LATE_MS = 60_000;
/** A recurrence that has run out of known instants is armed again within this time, wherever a worker lives. */
const ARMED_WITHIN_MS = 1_000;
/** Each is read with its payload. */
const RECURRENCES_LOOKED_AT = 10_000;
/** 500 000 jobs of 300 bytes, with their ids: what docs/scaling.md says a cluster can move with its default settings. */
const MOVABLE_BYTES = 160 * 1024 * 1024;
const NAMED = 3;

type Look = (instance: BareInstance, queue: string) => Promise<readonly string[]>;

/** The checks of one queue. */
const LOOKS: Partial<Record<CheckName, Look>> = { counters, recurrences, unhandled, options, 'big-queue': bigQueue };

/** `big-queue` only on a cluster: elsewhere nobody moves a queue key by key. */
export function queueChecks({ store }: BareInstance): CheckName[] {
  const checks = Object.keys(LOOKS) as CheckName[];
  return checks.filter((check) => check !== 'big-queue' || store.isClustered);
}

export async function checkQueue(instance: BareInstance, queue: string): Promise<Finding[]> {
  // Where Redis refuses it, each check says so.
  await instance.learn(queue).catch((error) => {
    if (!isRefusal(error)) throw error;
  });
  const found = await Promise.all(
    queueChecks(instance).map((check) => judge(check, () => LOOKS[check]!(instance, queue), queue)),
  );
  return found.flat();
}

async function counters({ store, prefix }: BareInstance, queue: string): Promise<string[]> {
  const placement = await store.inspection(queue).placement();
  if (!placement) throw new NotKnown(`Queue '${queue}' has too many lanes to count its jobs at one moment.`);
  const { jobs, counted } = placement;
  const loss = lossIn(queue, placement);
  if (loss !== undefined)
    return [`Redis has lost data: ${loss}. Restore a backup, or see docs/operations.md, "Data that Redis has lost".`];
  if (jobs === counted) return [];
  const { stats } = queueKeys(prefix, queue);
  return [
    `By its counters queue '${queue}' has ${counted} jobs, and there are ${jobs}: somebody has changed its keys, or a restore was partial. Once you know why, HINCRBY ${stats} scheduled ${jobs - counted} makes them agree.`,
  ];
}

async function recurrences(instance: BareInstance, queue: string): Promise<string[]> {
  const first = await unarmed(instance, queue);
  if (first.ids.length === 0 && first.lost === 0) return [];
  await new Promise((resolve) => setTimeout(resolve, ARMED_WITHIN_MS));
  const { ids, lost } = await unarmed(instance, queue);
  const still = ids.filter((id) => first.ids.includes(id)).map((id) => `'${id}'`);
  const remedy = 'call upsertRecurrence again, or restart a process that declares it.';
  return [
    ...(still.length > 0
      ? [`Active, and no occurrence is armed of ${firstFew(still, NAMED)} of queue '${queue}': ${remedy}`]
      : []),
    ...(Math.min(lost, first.lost) > 0
      ? [`Redis has lost when recurrences of queue '${queue}' run, and nobody lists them any more (${lost}): ${remedy}`]
      : []),
  ];
}

/** Ids of active recurrences none of which has a next occurrence, and how many others cannot be listed. */
async function unarmed({ store }: BareInstance, queue: string): Promise<{ ids: string[]; lost: number }> {
  const [all, lost] = await Promise.all([
    store.queue(queue).recurrences.list(0, RECURRENCES_LOOKED_AT),
    store.inspection(queue).lostTimings(),
  ]);
  const ids = all.filter(({ state, nextAtMs }) => state === 'active' && nextAtMs === null).map(({ id }) => id);
  if (ids.length === 0 && lost === 0 && all.length === RECURRENCES_LOOKED_AT)
    throw new NotKnown(`Only ${RECURRENCES_LOOKED_AT} recurrences of queue '${queue}' were looked at.`);
  return { ids, lost };
}

async function unhandled({ inspector, store }: BareInstance, queue: string): Promise<string[]> {
  const { blocked } = await inspector.load({ queue });
  // Nobody may work at a queue just because it is shut.
  if (blocked === 'paused' || blocked === 'blackout') return [];
  const [late, workers] = await Promise.all([store.inspection(queue).lateNames(LATE_MS), inspector.workers({ queue })]);
  const handled = new Set(workers.flatMap(({ handles }) => handles));
  if (handled.has('*')) return [];
  const { view } = store.queue(queue);
  const told = await Promise.all(
    late.map(async ({ name, version }) => {
      if (!handled.has(name)) return [`'${name}'`];
      const { count } = await view.handledBy(name, version);
      return count === 0 ? [`'${name}' (version ${version})`] : [];
    }),
  );
  // Several versions of a name that nobody handles are told once.
  const names = [...new Set(told.flat())];
  if (names.length === 0) return [];
  return [
    `Due for more than a minute in queue '${queue}', and no live worker handles it: ${firstFew(names, NAMED)}. Start one that does, or see docs/errors.md, "No handler".`,
  ];
}

async function options({ inspector }: BareInstance, queue: string): Promise<string[]> {
  const workers = await inspector.workers({ queue });
  const names = new Set(workers.flatMap((worker) => Object.keys(worker.options))) as Set<
    keyof InspectedWorker['options']
  >;
  return [...names].flatMap((name) => {
    const byValue = new Map<string, InspectedWorker[]>();
    for (const worker of workers) {
      const value = JSON.stringify(worker.options[name]);
      // A worker of another version may not list this option.
      if (value !== undefined) byValue.set(value, [...(byValue.get(value) ?? []), worker]);
    }
    if (byValue.size < 2) return [];
    const values = [...byValue].map(([value, [first, ...others]]) => {
      const more = others.length > 0 ? ` and ${others.length} more` : '';
      return `${value} in worker '${first!.id}' (${first!.host}, pid ${first!.pid})${more}`;
    });
    return [
      `The live workers of queue '${queue}' disagree: ${name} is ${values.join(', and ')}. Unless a deploy is under way, give all the same: see docs/operations.md, "Processes that disagree".`,
    ];
  });
}

export async function bigQueue({ store }: BareInstance, queue: string): Promise<string[]> {
  const { key, bytes } = await store.inspection(queue).largestHash();
  if (bytes < MOVABLE_BYTES) return [];
  return [
    `The key ${key} holds about ${Math.round(bytes / 1024 / 1024)} MiB, and a cluster moves a key whole: both servers stand still meanwhile, or the move fails. Before its slot is moved, let queue '${queue}' drain or give the move time: see docs/scaling.md, "Moving a big queue".`,
  ];
}
