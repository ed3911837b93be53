import type { InjectionToken } from '@nestjs/common';
import { ScheduledQueueConsumer } from '../api/scheduled-queue.consumer.js';
import { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { getScheduledQueueToken } from './tokens.js';

/** Under which tokens an instance of the module exports its services. */
export interface ServiceTokens {
  producer: InjectionToken;
  consumer: InjectionToken;
  inspector: InjectionToken;
  events: InjectionToken;
}

export function serviceTokens(name: string): ServiceTokens {
  return {
    producer: getScheduledQueueToken(ScheduledQueueProducer, name),
    consumer: getScheduledQueueToken(ScheduledQueueConsumer, name),
    inspector: getScheduledQueueToken(ScheduledQueueInspector, name),
    events: getScheduledQueueToken(ScheduledQueueEvents, name),
  };
}
