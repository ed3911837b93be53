import type { DeadFilter } from '../../core/options/dead-filter.js';
import { type Call, type Command, changedAnswer, refusal } from '../command.js';
import type { OwnOption } from '../options.js';

const FILTER: readonly OwnOption[] = ['name', 'reason', 'died-before', 'limit'];

export const replayDead: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'puts the dead jobs back that fit all that is given, all without it, due now and from attempt 1 on',
  options: [...FILTER, 'per-second'],
  asks: true,
  async run(call) {
    const { queue, options, instance, next } = call;
    const refused = await refusal(call, await question(call, 'Put back'));
    if (refused) return refused;
    const perSecond = options['per-second'];
    const changed = await instance.inspector.replayDead(filterOf(call), { queue, perSecond });
    return changedAnswer(changed, `${changed} put back.\n\n${next(['How they do', 'stats', queue])}`);
  },
};

export const purgeDead: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'deletes the dead jobs that fit all that is given, all without it',
  options: FILTER,
  asks: true,
  async run(call) {
    const { queue, instance, next } = call;
    const refused = await refusal(call, await question(call, 'Delete'));
    if (refused) return refused;
    const changed = await instance.inspector.purgeDead(filterOf(call), { queue });
    return changedAnswer(changed, `${changed} deleted.\n\n${next(['What else is dead', 'failures', queue])}`);
  },
};

function filterOf({ options }: Call): DeadFilter {
  const { name, reason, limit, 'died-before': diedBefore } = options;
  // A condition that is undefined is refused: it could be forgotten.
  return {
    ...(name && { names: name }),
    ...(reason && { reason }),
    ...(diedBefore && { diedBefore }),
    ...(limit && { limit }),
  };
}

async function question(call: Call, verb: string): Promise<string> {
  const { queue, options, instance } = call;
  if (options.yes) return '';
  const { dead } = await instance.inspector.counts({ queue });
  const { limit, ...conditions } = filterOf(call);
  const most = limit === undefined ? '' : ` at most ${limit} of`;
  const which =
    Object.keys(conditions).length === 0 ? `the ${dead} dead jobs` : `those of the ${dead} dead jobs that fit`;
  return `${verb}${most} ${which}, in queue '${queue}'?`;
}
