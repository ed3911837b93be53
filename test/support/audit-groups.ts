import type { QueueSnapshot } from './snapshot.js';

/** What is wrong with what is kept of groups: each has its place, and nothing outlives its jobs. */
export function auditGroups(queue: QueueSnapshot): string[] {
  const {
    lanes,
    heads,
    groups,
    runningOfGroups,
    held,
    pauses,
    holders,
    turns,
    left,
    turning,
    claims,
    active,
    takenAt,
  } = queue;
  const problems: string[] = [];
  const expected = new Set<string>();
  const running = new Set<string>();
  for (const lane of lanes.keys()) if (groupOf(lane) !== undefined) expected.add(`${groupOf(lane)}\t${lane}`);
  for (const [id] of active) {
    const lane = claims.get(id)?.match(/^(?:\S+ ){5}([^\t\n]*)/)?.[1] ?? '';
    if (groupOf(lane) !== undefined) running.add(`${groupOf(lane)}\t${id}`);
  }
  for (const member of groups)
    if (!expected.delete(member)) problems.push(`groups holds ${member}, which is not there`);
  for (const member of expected) problems.push(`groups lacks ${member}`);
  for (const member of runningOfGroups)
    if (!running.delete(member)) problems.push(`runningOfGroups holds ${member}, which does not run`);
  for (const member of running) problems.push(`runningOfGroups lacks ${member}`);
  const known = new Set([...groups, ...runningOfGroups].map((member) => member.split('\t', 1)[0]!));
  for (const [group, id] of holders) if (!claims.has(id)) problems.push(`${id} holds ${group} and has no claim`);
  for (const [key, units] of turns) {
    const [, priority, name] = key.match(/^(\d+):(.*)$/s)!;
    if (!turning.get(priority!)?.has(`:${name}`)) problems.push(`turning:${priority} lacks ${name}`);
    for (const [group] of units)
      if (!lanes.has(`${priority}:@${group}:${name}`)) problems.push(`${group} has a turn in ${key} and no lane`);
  }
  for (const [level, found] of heads) {
    const priority = level.match(/^(\d+)\^:@$/)?.[1];
    if (priority === undefined) continue;
    for (const [head] of found) {
      const lane = head.slice(head.indexOf('\t') + 1);
      const group = groupOf(lane)!;
      const hasTurn = turns
        .get(`${priority}:${lane.slice(lane.indexOf(':', lane.indexOf(':') + 1) + 1)}`)
        ?.some(([each]) => each === group);
      if (!hasTurn && !held.has(group)) problems.push(`${lane} was seen due, has no turn and is not held`);
    }
  }
  for (const priority of [...left.keys(), ...turning.keys()])
    if (
      ![...(heads.get(`${priority}^:@`) ?? []), ...(heads.get(`${priority}:@`) ?? [])].some(
        ([, due]) => Number(due) <= takenAt,
      )
    )
      problems.push(`turns of ${priority} are remembered, and nothing is due there`);
  for (const [group, until] of held)
    if (!known.has(group) && !pauses.has(group) && until === 'inf') problems.push(`${group} is held and has no jobs`);
  return problems;
}

const groupOf = (lane: string) => lane.match(/^\d+:!?@([^:]*):/)?.[1];
