import type { Log } from '../../core/log.js';
import { DEFAULT_TIMEOUT_MS } from '../../core/options/defaults.js';
import type { RunSettings } from '../../core/options/run-settings.js';
import { firstFew } from '../../core/read/describe.js';
import { span } from '../../core/read/duration.js';
import type { JobStore } from '../../store/job-store.js';
import type { HandlerRegistry, JobHandler } from '../../worker/run/job-handler.js';
import type { DeclaredRecurrences } from '../handlers/declared-recurrences.js';
import type { ModuleSettings } from '../module-options.js';
import { DEFAULT_INSTANCE } from '../tokens.js';

const QUEUES_TOLD = 10;

/** Tells at start what was found: where Redis is, and which method handles which job. Nest does the same for routes. */
export class StartLog {
  private isConnected = false;

  constructor(
    private readonly log: Log,
    private readonly settings: ModuleSettings,
    private readonly instance: string,
  ) {}

  /** Logs the first connection; later ones are told as the end of an outage. */
  readonly connected = (address: string): void => {
    if (this.isConnected) return;
    this.isConnected = true;
    const { prefix, role, runs, autoStart } = this.settings;
    const begins = autoStart || role === 'producer' ? '' : ', autoStart false';
    this.log.log(
      `Connected to ${address} (${this.named}prefix '${prefix}', role '${role}'${runs ? `, ${this.runs}` : ''}${begins}).`,
    );
  };

  /** One line for each handler: of those that this process runs with the recurrences that it declares; and which it does not run. */
  handlers(registry: HandlerRegistry, declared: DeclaredRecurrences, nowMs: number): void {
    if (registry.found().length === 0) {
      this.log.log(
        `No method with @OnScheduledJob was found in the providers and controllers of this application, so this process runs no jobs (${this.named}role '${this.settings.role}').`,
      );
    }
    for (const handler of registry.all())
      this.log.log(this.lineOf(handler, declared.linesOf(handler.queue, handler.name, nowMs)));
    for (const { queue, name, place } of registry.notRunHere())
      this.log.log(`Not run here {${name}, queue ${queue}} of ${place} (${this.named}${this.runs})`);
  }

  private lineOf({ queue, name, place, settings }: JobHandler, recurrences: readonly string[]): string {
    const { concurrency, globalConcurrency, rateLimit } = this.settings.settingsOf(queue);
    const limits = [
      settings.concurrency < concurrency
        ? `concurrency ${settings.concurrency} of ${concurrency}`
        : `concurrency ${concurrency}`,
      ...batchOf(settings),
      ...(settings.weight > 1 ? [`weight ${settings.weight}`] : []),
      ...(Number.isFinite(globalConcurrency) ? [`globalConcurrency ${globalConcurrency}`] : []),
      ...(rateLimit ? [`rateLimit ${rateLimit.max} in ${span(rateLimit.perMs)}`] : []),
      ...timeoutOf(settings.timeoutMs),
    ];
    return `Mapped {${name}, queue ${queue}} to ${place} (${this.named}${limits.join(', ')})${recurrences.map((line) => `, ${line}`).join('')}`;
  }

  /** The queues that the option `runs` names. */
  private get runs(): string {
    const names = (this.settings.runs ?? []).map((queue) => `'${queue}'`);
    return `runs ${firstFew(names, QUEUES_TOLD)}`;
  }

  /** Several instances of the module share a log. */
  private get named(): string {
    return this.instance === DEFAULT_INSTANCE ? '' : `instance '${this.instance}', `;
  }
}

function batchOf({ batch }: RunSettings): string[] {
  if (!batch) return [];
  return [`up to ${batch.size} jobs a call`, ...(batch.waitMs > 0 ? [`waitMs ${batch.waitMs}`] : [])];
}

function timeoutOf(timeoutMs: number): string[] {
  if (timeoutMs === DEFAULT_TIMEOUT_MS) return [];
  return [timeoutMs === 0 ? 'no timeout' : `timeoutMs ${timeoutMs}`];
}

/**
 * Connects in the background, so that a wrong address stands in the log at start and not at the first call. Workers connect by
 * themselves once they begin to claim; so a process that only handles jobs needs no further connection.
 */
export function connectAtStart(store: JobStore, { role, autoStart }: ModuleSettings, registry: HandlerRegistry): void {
  const claims = role !== 'producer' && autoStart && registry.queueNames().length > 0;
  if (!claims) store.connect();
}
