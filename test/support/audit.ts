import { Redis } from 'ioredis';
import { auditGroups } from './audit-groups.js';
import { type Pair, type QueueSnapshot, snapshot } from './snapshot.js';

/** What is wrong with a queue's keys, in sentences; none when every job is in exactly one state and every index is true. */
export async function audit(redis: Redis, prefix: string, queue = 'default'): Promise<string[]> {
  return auditSnapshot(await snapshot(redis, prefix, queue));
}

/** The same of a queue that has been read. */
export function auditSnapshot(queue: QueueSnapshot): string[] {
  const states = new Map<string, string[]>();
  const put = (id: string, state: string) => states.set(id, [...(states.get(id) ?? []), state]);
  for (const [lane, jobs] of queue.lanes) for (const [id] of jobs) put(id, `lane ${lane}`);
  for (const [id] of queue.active) put(id, 'active');
  for (const [id] of queue.dead) put(id, 'dead');
  return [
    ...auditStates(queue, states),
    ...auditIndexes(queue),
    ...auditVersions(queue),
    ...auditGroups(queue),
    ...auditTags(queue),
    ...auditClaims(queue, states),
    ...auditQueued(queue, states),
    ...auditCompleted(queue, states),
    ...auditEnded(queue, states),
    ...auditRecurrences(queue, states),
    ...auditCounters(queue, states.size),
  ];
}

function auditStates({ envelopes }: QueueSnapshot, states: Map<string, string[]>): string[] {
  const problems: string[] = [];
  for (const [id, found] of states) {
    if (found.length > 1) problems.push(`${id} is in ${found.join(' and ')}`);
    if (!envelopes.has(id)) problems.push(`${id} is in ${found[0]} and has no envelope`);
    const lane = envelopes.get(id)?.match(/^(?:[a-z]\d+ )?(.*)/)?.[1];
    // A suspect lies in a lane of its own kind.
    const suspectLane = lane?.replace(
      /^(\d+):(@?)([^:]*):/,
      (_, priority, kind, source) => `${priority}:!${kind ? `@${source}` : ''}:`,
    );
    if (found[0]!.startsWith('lane') && found[0] !== `lane ${lane}` && found[0] !== `lane ${suspectLane}`)
      problems.push(`${id} is in ${found[0]}, its envelope says ${lane}`);
  }
  for (const id of envelopes.keys()) if (!states.has(id)) problems.push(`${id} has an envelope and is nowhere`);
  return problems;
}

function auditIndexes({ lanes, heads, levels }: QueueSnapshot): string[] {
  const expected = new Map<string, Pair[]>();
  for (const [lane, jobs] of lanes) {
    const [priority, preferred] = lane.split(':', 2);
    const [id, due] = jobs[0]!;
    for (const level of levelsOf(priority!, preferred!, `${id}\t${lane}`, heads))
      expected.set(level, [...(expected.get(level) ?? []), [`${id}\t${lane}`, due]]);
  }
  const problems: string[] = [];
  for (const level of new Set([...expected.keys(), ...heads.keys()])) {
    const [found, wanted] = [text(heads.get(level)), text(expected.get(level))];
    if (found !== wanted) problems.push(`heads of ${level} are ${found}, expected ${wanted}`);
  }
  const earliest = new Map<string, Pair[]>();
  for (const [level, heads] of expected) {
    const [priority, ending = ''] = level.split(':');
    const due = String(Math.min(...heads.map(([, due]) => Number(due))));
    earliest.set(ending, [...(earliest.get(ending) ?? []), [priority!, due]]);
  }
  for (const ending of new Set([...earliest.keys(), ...levels.keys()])) {
    const [found, wanted] = [text(levels.get(ending)), text(earliest.get(ending))];
    if (found !== wanted) problems.push(`levels:${ending} are ${found}, expected ${wanted}`);
  }
  return problems;
}

function auditVersions({ lanes, versioned }: QueueSnapshot): string[] {
  const [found, wanted] = [
    [...versioned].sort(),
    [...lanes.keys()].filter((lane) => lane.includes('\x1f') && !/^\d+:!?@/.test(lane)).sort(),
  ];
  return found.join() === wanted.join() ? [] : [`versioned holds ${found}, expected ${wanted}`];
}

/** The keys of heads in which a lane has to stand. Whether a claim has seen a lane of a group due, its head alone tells. */
function levelsOf(priority: string, preferred: string, head: string, heads: Map<string, Pair[]>): string[] {
  if (preferred === '') return [priority];
  if (preferred.startsWith('!')) return [`${priority}:!`];
  if (!preferred.startsWith('@')) return [`${priority}:${preferred}`, `${priority}:*`];
  const isSeen = heads.get(`${priority}^:@`)?.some(([member]) => member === head);
  return [isSeen ? `${priority}^:@` : `${priority}:@`];
}

function auditTags({ envelopes, tags, claims, queued }: QueueSnapshot): string[] {
  const problems: string[] = [];
  const tagsIn = (text = '') => text.split('\t').slice(1).sort().join(', ');
  const indexed = new Map<string, string[]>();
  for (const [tag, jobs] of tags) for (const [id] of jobs) indexed.set(id, [...(indexed.get(id) ?? []), tag]);
  for (const id of new Set([...envelopes.keys(), ...indexed.keys()])) {
    const wanted = tagsIn(envelopes.get(id)?.split('\n')[1]);
    const found = (indexed.get(id) ?? []).sort().join(', ');
    // Those of the running job, and of the one queued behind it.
    const ofBoth = [...new Set([wanted, tagsIn(queued.get(id)?.split('\n')[1])].join(', ').split(', '))];
    const all = ofBoth.filter(Boolean).sort().join(', ');
    if (found !== all) problems.push(`${id} is indexed under the tags "${found}", its envelopes say "${all}"`);
    const claimed = claims.has(id) ? tagsIn(firstLine(claims.get(id)!)) : wanted;
    if (claimed !== wanted)
      problems.push(`${id} has the tags "${claimed}" in its claim record, its envelope says "${wanted}"`);
  }
  return problems;
}

/** What a run has reported stands in the second one. */
const firstLine = (record: string) => record.split('\n', 1)[0]!;

function auditClaims({ claims }: QueueSnapshot, states: Map<string, string[]>): string[] {
  const problems: string[] = [];
  for (const [id, record] of claims) {
    const state = states.get(id)?.[0];
    const held = !/^0[a-z]* /.test(record);
    if (!state) problems.push(`${id} has a claim record and is nowhere`);
    else if (held !== (state === 'active')) problems.push(`${id} is ${state}, its claim record is "${record}"`);
  }
  for (const [id, [state]] of states)
    if (state === 'active' && !claims.has(id)) problems.push(`${id} is active without a claim record`);
  return problems;
}

function auditQueued({ queued, claims }: QueueSnapshot, states: Map<string, string[]>): string[] {
  const problems: string[] = [];
  for (const id of queued.keys()) {
    if (states.get(id)?.[0] !== 'active') problems.push(`${id} has a job queued behind it and is not active`);
    if (!/^\d+[a-z]*q/.test(claims.get(id) ?? ''))
      problems.push(`${id} has a job queued behind it, its claim record is "${claims.get(id)}"`);
  }
  return problems;
}

function auditCompleted({ completed, results }: QueueSnapshot, states: Map<string, string[]>): string[] {
  const problems: string[] = [];
  const ids = new Set(completed.map(([id]) => id));
  for (const id of ids) {
    if (!results.has(id)) problems.push(`${id} is completed and has no record of it`);
    if (states.has(id)) problems.push(`${id} is completed and in ${states.get(id)!.join(' and ')}`);
  }
  for (const id of results.keys())
    if (!ids.has(id)) problems.push(`${id} has a record of its end and is not completed`);
  return problems;
}

/** What is kept of a job that was discarded or cancelled is kept whole, and gone once there is a job of its id. */
function auditEnded({ ended, endings, completed }: QueueSnapshot, states: Map<string, string[]>): string[] {
  const problems: string[] = [];
  const ids = new Set(ended.map(([id]) => id));
  const isCompleted = new Set(completed.map(([id]) => id));
  for (const id of ids) {
    if (!/^[dc] \d+ \d+ ".*"\n[^\n]+\n[^\n]+\n[^\n]*\n$/.test(endings.get(id) ?? ''))
      problems.push(`${id} has ended, its record is "${endings.get(id)}"`);
    if (states.has(id)) problems.push(`${id} has ended and is in ${states.get(id)!.join(' and ')}`);
    if (isCompleted.has(id)) problems.push(`${id} has ended and is completed`);
  }
  for (const id of endings.keys()) if (!ids.has(id)) problems.push(`${id} has a record of its end and has not ended`);
  return problems;
}

/** What a recurrence has armed waits to begin. */
function auditRecurrences({ timetable }: QueueSnapshot, states: Map<string, string[]>): string[] {
  const problems: string[] = [];
  for (const [id, state] of timetable) {
    const [, armed] = state.split(' ', 2);
    const found = states.get(`${id}@${armed}`) ?? ['nowhere'];
    if (armed !== '0' && !found[0]!.startsWith('lane'))
      problems.push(`${id} has armed ${armed}, which is ${found.join(' and ')}`);
  }
  return problems;
}

function auditCounters({ stats }: QueueSnapshot, there: number): string[] {
  const count = (counter: string) => Number(stats.get(counter) ?? 0);
  const gone = count('completed') + count('cancelled') + count('discarded') + count('deadDropped');
  if (count('scheduled') === there + gone) return [];
  return [`${count('scheduled')} were scheduled, but ${there} are there and ${gone} are gone`];
}

function text(entries: readonly Pair[] = []): string {
  return JSON.stringify(entries.map(([member, score]) => `${member} ${score}`).sort());
}
