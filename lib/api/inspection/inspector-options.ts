import { invalidSchedule } from '../../core/errors.js';
import { DEFAULT_QUEUE } from '../../core/options/queue-options.js';
import { keyPart } from '../../core/read/names.js';
import { readOptions } from '../../core/read/shape.js';

/** Which queue is meant; what is not an option is refused, lest it be the default one by mistake. */
export function queueOf(options: { queue?: string } | undefined, where: string): string {
  return readOptions(options, { queue: keyPart }, where, invalidSchedule).queue ?? DEFAULT_QUEUE;
}
