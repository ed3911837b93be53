import { explainJob } from '../../api/inspection/explanation.js';
import type { ScheduledQueueEvents } from '../../api/scheduled-queue.events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { isReadable } from '../../store/envelope.js';
import { Ends } from '../look/ends.js';
import type { JobKind } from '../look/job-kind.js';
import { type HandledJob, whyUnhandled } from '../look/unhandled.js';
import { type WaitingJob, waitingJobs } from '../look/waiting-jobs.js';
import type { ProcessJobStore } from '../redis/process-job-store.js';
import type { Conductor } from './conductor.js';
import type { TestFleet } from './test-fleet.js';

/** One instance of the module under test, as the tester sees it. */
export class TestedInstance {
  readonly ends: Ends;

  constructor(
    private readonly store: ProcessJobStore,
    private readonly codecs: Codecs,
    readonly fleet: TestFleet,
    events: ScheduledQueueEvents,
    conductor: Conductor,
  ) {
    this.ends = new Ends(store);
    // Of jobs that the inspector deletes no event is told.
    store.onCancel = (job) => this.ends.hear({ type: 'cancelled', ...job });
    conductor.afterCall.push(() => this.ends.lookAgain());
    events.events$.subscribe({ next: (event) => this.ends.hear(event), complete: () => this.ends.close() });
  }

  /** Whether its store can be reached. */
  redisAway(on: boolean): void {
    this.store.outage.switch(on);
  }

  /** Why nothing becomes of a job outside the calls of the tester. `handled`: by all instances. */
  async explain({ id, queue }: { id: string; queue: string }, handled: readonly HandledJob[]): Promise<string> {
    if (this.store.outage.isOn) return 'Redis is away: nothing runs before the test calls redisAway(false).';
    const { view } = this.store.queue(queue);
    const envelope = (await view.job(id))?.envelope;
    const name = envelope && isReadable(envelope) ? envelope.name : undefined;
    const { code, message } = await explainJob(view, queue, id, this.fleet.parts.instance.settingsOf(queue));
    if (code === 'no-handler' && name !== undefined && !this.fleet.handles({ queue, name }))
      return `It is due, but ${whyUnhandled({ name, queue }, handled)}`;
    // The queue does not know a worker before its first turn with a claim; the kit does.
    const isDue = code === 'behind' || code === 'no-handler';
    const said = isDue ? 'It is due, and nothing has run since.' : message;
    return `${said} Call advance or drain: nothing runs and no time passes outside them.`;
  }

  waiting(kind: JobKind | undefined): WaitingJob[] {
    return waitingJobs(this.store, this.codecs, kind);
  }
}
