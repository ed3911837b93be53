import { type Command, EXIT } from '../command.js';
import { checkServers } from '../doctor/check-servers.js';
import type { Finding } from '../doctor/finding.js';
import type { Style } from '../text/style.js';
import { WIDTH, wrap } from '../text/words.js';

const INDENT = '    ';

export const doctor: Command = {
  operands: '[queue]',
  takes: { queue: 'possible', more: 0 },
  summary: 'what is wrong with Redis and with the queues, or with one of them; it only reads',
  options: [],
  async run({ queue, instance, style, next }) {
    const findings = await checkServers(instance, queue === '' ? [] : [queue]);
    const isWell = findings.every(({ level }) => level !== 'problem');
    return {
      json: findings,
      text: () => `${shown(findings, style)}\n\n${next(['How the queues are', 'queues'])}`,
      code: isWell ? EXIT.done : EXIT.missed,
    };
  },
};

/** What is not well in full, and the names of the checks that found nothing. */
function shown(findings: readonly Finding[], { bold, red }: Style): string {
  const mark = { problem: red('problem'), unknown: bold('unknown'), ok: 'ok' };
  const lines = (['problem', 'unknown'] as const).flatMap((level) =>
    findings
      .filter((finding) => finding.level === level)
      .flatMap(({ check, queue, message }) => [
        `${mark[level]}  ${check}${queue === undefined ? '' : ` of queue '${queue}'`}`,
        ...wrap(message, WIDTH - INDENT.length).map((line) => INDENT + line),
      ]),
  );
  const well = new Map<string, number>();
  for (const { check, level } of findings) if (level === 'ok') well.set(check, (well.get(check) ?? 0) + 1);
  const names = [...well].map(([check, count]) => (count === 1 ? check : `${check} (${count} queues)`)).join(', ');
  return [...lines, ...wrap(`ok  ${names}`)].join('\n');
}
