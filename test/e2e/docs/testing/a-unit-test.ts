import assert from 'node:assert/strict';
import type { ScheduledJob } from 'nestjs-redis-scheduled-queue';
import { createScheduledJob } from 'nestjs-redis-scheduled-queue/testing';

export class Greetings {
  greet({ name }: { name: string }, job: ScheduledJob) {
    return job.attempt === job.maxAttempts ? `a last hello, ${name}` : `hello, ${name}`;
  }
}

export function lastAttempt(): void {
  const payload = { name: 'Ada' };
  const job = createScheduledJob('greet', payload, { attempt: 6, maxAttempts: 6 });
  assert.equal(new Greetings().greet(payload, job), 'a last hello, Ada');
}
