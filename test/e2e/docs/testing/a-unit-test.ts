import type { ScheduledJob } from 'nestjs-redis-scheduled-queue';
import { createScheduledJob } from 'nestjs-redis-scheduled-queue/testing';

export class Greetings {
  greet({ name }: { name: string }, job: ScheduledJob) {
    return job.attempt === job.maxAttempts ? `a last hello, ${name}` : `hello, ${name}`;
  }
}

export function lastAttempt(): string {
  const payload = { name: 'Ada' };
  return new Greetings().greet(payload, createScheduledJob('greet', payload, { attempt: 6 }));
}
