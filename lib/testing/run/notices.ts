import type { Log } from '../../core/log.js';
import { firstFew } from '../../core/read/describe.js';
import { ScheduledQueueTestError } from '../errors.js';
import type { TestCall } from './test-call.js';

const FAULTS_TOLD = 5;

/** Lines for a developer whose test says nothing by itself. They are errors: of the other levels Nest's logger for tests is silent. */
export class Notices {
  constructor(private readonly log: Log) {}

  /** The test runner may give the test up before its error comes. */
  slow(call: TestCall): void {
    this.log.error(
      `${titleOf(call, 'The')} has run for 4 s of real time, and the test waits for it; after 5 s its call of the tester fails. If the handler waits for a timer, let it call tester.sleep, or replace what it waits for. A test runner whose timeout is 5 s ends the test before that: raise its timeout to see the error.`,
    );
  }

  /** At the end of the application. A test that orders a fault is about what comes of it. */
  unused(faults: readonly string[]): void {
    if (faults.length > 0)
      this.log.error(
        `The application under test was closed before these faults had a run: ${firstFew(faults, FAULTS_TOLD)}. Has the job run, and is it that job?`,
      );
  }
}

export function titleOf({ runs }: TestCall, the = 'the'): string {
  const { name, id, queue } = runs[0]!.told;
  const others = runs.length > 1 ? ` and ${runs.length - 1} more in its call` : '';
  return `${the} handler of job '${name}' (${id}${others}) of queue '${queue}'`;
}

/** The error of a test that cannot go on because of this call. */
export function failure({ runs }: TestCall, message: string): ScheduledQueueTestError {
  const { name, id, queue } = runs[0]!.told;
  return new ScheduledQueueTestError(message, { queue, jobName: name, jobId: id });
}
