import { Inject } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../../core/errors.js';
import type { ScheduledQueueEvent } from '../../core/job/events.js';
import { type FoundMethod, isMadeAnew, makeAnew, methodsOf } from '../classes.js';
import { lostMarks } from '../handlers/marked-method.js';
import { INSTANCE_NAME, instanceNames, requireInstance } from '../instances.js';
import { EVENT_METADATA, type EventMark } from './on-scheduled-job-event.decorator.js';

/** One method that hears events. */
export interface JobEventListener extends EventMark {
  /** Where it stands in the application, such as `Alerts.onDead (AlertsModule)`. */
  readonly place: string;
  call(event: ScheduledQueueEvent): unknown;
}

/** Finds the methods that carry `@OnScheduledJobEvent` for one instance of the module, on providers and controllers. */
export class EventExplorer {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(INSTANCE_NAME) private readonly instanceName: string,
  ) {}

  /** The listeners, and a sentence for each that an override has taken the place of. Throws `InvalidOptionsError`. */
  explore(): { listeners: JobEventListener[]; overridden: string[] } {
    const instances = instanceNames(this.modules);
    const listeners: JobEventListener[] = [];
    const overridden: string[] = [];
    for (const found of methodsOf(this.discovery, this.scanner)) {
      const { place } = found;
      const marks: EventMark[] | undefined = Reflect.getMetadata(EVENT_METADATA, found.method);
      if (!marks) overridden.push(...this.overriddenBy(found));
      for (const mark of marks ?? []) {
        requireInstance(instances, mark.instance, `${place}: @OnScheduledJobEvent`, 'Say whose events it hears');
        if (mark.instance === this.instanceName) listeners.push({ ...mark, place, call: caller(found) });
      }
    }
    return { listeners, overridden };
  }

  private overriddenBy({ prototype, methodName, place }: FoundMethod): string[] {
    const lost = lostMarks<EventMark>(EVENT_METADATA, prototype, methodName);
    if (!lost?.marks.some(({ instance }) => instance === this.instanceName)) return [];
    if (lost.isReplaced) {
      throw new InvalidOptionsError(
        `${place}: another function, such as that of a decorator above @OnScheduledJobEvent, has taken the place of the method, and the mark is lost. Put @OnScheduledJobEvent above that decorator.`,
      );
    }
    return [
      `${place} overrides ${lost.className}.${methodName} without @OnScheduledJobEvent, so it hears no events. Repeat the decorator on the override.`,
    ];
  }
}

function caller({ wrapper, method }: FoundMethod): JobEventListener['call'] {
  const { instance } = wrapper;
  if (!isMadeAnew(wrapper)) return (event) => method.call(instance, event);
  return async (event) => method.call((await makeAnew(wrapper, event)).instance, event);
}
