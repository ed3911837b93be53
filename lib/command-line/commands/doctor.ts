import type { BareInstance } from '../bare-instance.js';
import { type Command, EXIT, type Next } from '../command.js';
import { checkQueue, queueChecks } from '../doctor/check-queue.js';
import { checkServers } from '../doctor/check-servers.js';
import { type CheckName, type Finding, isRefusal } from '../doctor/finding.js';
import type { Style } from '../text/style.js';
import { WIDTH, wrap } from '../text/words.js';

const INDENT = '    ';

export const doctor: Command = {
  operands: '[queue]',
  takes: { queue: 'possible', more: 0 },
  summary: 'what is wrong with Redis and with the queues, or with one of them; it changes nothing',
  options: [],
  async run({ queue, instance, style, next }) {
    const findings = await examine(instance, queue === '' ? await queuesOf(instance) : [queue]);
    const problems = findings.filter(({ level }) => level === 'problem');
    return {
      json: findings,
      text: () => `${shown(findings, style)}\n\n${next(nextOf(problems))}`,
      code: problems.length > 0 ? EXIT.missed : EXIT.done,
    };
  },
};

/** A queue takes some twenty calls, and Redis serves others meanwhile. */
const AT_ONCE = 10;

/** What Redis has refused to tell, where it has refused. */
async function queuesOf({ inspector }: BareInstance): Promise<readonly string[] | Error> {
  try {
    return (await inspector.queues()).map(({ name }) => name);
  } catch (error) {
    if (isRefusal(error)) return error as Error;
    throw error;
  }
}

async function examine(instance: BareInstance, queues: readonly string[] | Error): Promise<Finding[]> {
  if (queues instanceof Error) {
    const { message } = queues;
    const unknown = queueChecks(instance).map((check): Finding => ({ check, level: 'unknown', message }));
    return [...(await checkServers(instance, [])), ...unknown];
  }
  const findings = await checkServers(instance, queues);
  for (let from = 0; from < queues.length; from += AT_ONCE) {
    const some = queues.slice(from, from + AT_ONCE).map((each) => checkQueue(instance, each));
    findings.push(...(await Promise.all(some)).flat());
  }
  return findings;
}

/** What shows more of a problem with a queue. */
const NEXT: Partial<Record<CheckName, readonly [purpose: string, command: string]>> = {
  counters: ['How it is', 'stats'],
  recurrences: ['All of them', 'recurrences'],
  unhandled: ['Who handles what', 'workers'],
  options: ['Who works there', 'workers'],
};

function nextOf(problems: readonly Finding[]): Next {
  for (const { check, queue } of problems) {
    const next = NEXT[check];
    if (next && queue !== undefined) return [...next, queue];
  }
  return ['How the queues are', 'queues'];
}

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
