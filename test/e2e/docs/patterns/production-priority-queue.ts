import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, ScheduledJob, UnrecoverableJobError } from 'nestjs-redis-scheduled-queue';

export const queues = {
  payments: { globalConcurrency: 50, rateLimit: { max: 100, perMs: 1_000 }, keepCompleted: 1_000 },
};
export const charge = defineScheduledJob<number>('charge', {
  queue: 'payments',
  maxAttempts: 8,
  backoff: { type: 'exponential', delayMs: 1_000, maxDelayMs: '1h', jitter: 0.5 },
  timeoutMs: '30s',
});
export abstract class Bank {
  abstract charge(cents: number, idempotencyKey: string, signal: AbortSignal): Promise<boolean>;
}

@Injectable()
export class Payments {
  constructor(private readonly bank: Bank) {}

  @OnScheduledJob(charge)
  async charge(cents: number, job: ScheduledJob<number>) {
    if (await this.bank.charge(cents, job.id, job.signal)) return 'paid';
    throw new UnrecoverableJobError('declined');
  }
}
