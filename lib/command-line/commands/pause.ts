import { span } from '../../core/read/duration.js';
import { type Command, changedAnswer } from '../command.js';
import { UsageError } from '../usage-error.js';
import { changeRecurrence } from './change-recurrence.js';

export const pause: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'lets nothing of a queue begin, what runs goes on; with --recurrence pauses one recurrence',
  options: ['for', 'recurrence'],
  check({ options }) {
    if (options.recurrence !== undefined && options.for !== undefined)
      throw new UsageError(
        'pause: got --for and --recurrence, expected one of them: a recurrence is paused until it is resumed.',
      );
  },
  async run(call) {
    const { queue, options, instance, next } = call;
    if (options.recurrence !== undefined) return changeRecurrence(call, 'pause');
    const forMs = options.for;
    await instance.inspector.pause({ queue, forMs });
    const end = forMs === undefined ? 'until it is resumed' : `for ${span(forMs)}`;
    return changedAnswer(1, `Queue '${queue}' is paused ${end}.\n\n${next(['To end the pause', 'resume', queue])}`);
  },
};

export const resume: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'ends the pause of a queue, or of one recurrence with --recurrence',
  options: ['recurrence'],
  async run(call) {
    const { queue, options, instance, next } = call;
    if (options.recurrence !== undefined) return changeRecurrence(call, 'resume');
    const wasPaused = await instance.inspector.isPaused({ queue });
    await instance.inspector.resume({ queue });
    const text = wasPaused ? `Queue '${queue}' goes on.` : `Queue '${queue}' was not paused.`;
    return changedAnswer(wasPaused ? 1 : 0, `${text}\n\n${next(['How it is', 'stats', queue])}`);
  },
};
