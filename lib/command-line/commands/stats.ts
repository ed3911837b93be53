import type { Command, Next } from '../command.js';
import { pairs } from '../text/table.js';
import { about } from '../text/time.js';

export const stats: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'one queue: its jobs by state, its load, whether it is paused, and what has happened since it began',
  options: [],
  async run({ queue, instance: { inspector }, style, next }) {
    const [counts, load, counted, paused] = await Promise.all([
      inspector.counts({ queue }),
      inspector.load({ queue }),
      inspector.stats({ queue }),
      inspector.isPaused({ queue }),
    ]);
    const list = (numbers: object) =>
      Object.entries(numbers)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ');
    return {
      json: { counts, load, stats: counted, paused },
      text: () => {
        const { due, dueSoon, latenessMs, running, capacity, blocked } = load;
        const { dead } = counts;
        const oldest = due > 0 && blocked === null ? `, the oldest ${about(latenessMs)} late` : '';
        const rows = [
          ['queue', queue],
          ['paused', paused ? 'yes' : 'no'],
          ['jobs', list(counts)],
          ['load', `${due} due${oldest}, ${dueSoon} more within 1 min`],
          ['places', `${running} of ${capacity} taken${blocked === null ? '' : `, held by ${blocked}`}`],
          ...Object.entries(counted).map(([name, count]) => [name, String(count)] as const),
        ] as const;
        const nextOnes: Next[] = [
          ...(dead > 0 ? [[`Why ${dead} are dead`, 'failures', queue] as const] : []),
          ...(paused ? [['To end the pause', 'resume', queue] as const] : []),
          counts.due > 0 ? ['What is due', 'list', queue] : ['What is due later', 'list', queue, 'scheduled'],
        ];
        return `${pairs(rows, style)}\n\n${next(...nextOnes)}`;
      },
    };
  },
};
