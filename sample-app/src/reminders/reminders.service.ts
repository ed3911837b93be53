import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { type InspectedJob, ScheduledQueueInspector, ScheduledQueueProducer } from '../../../lib/index.js';
import type { CreateReminderDto } from './create-reminder.dto.js';
import { sendReminder } from './reminder.job.js';

/** A reminder as the API shows it. */
export interface Reminder {
  id: string;
  text: string;
  state: string;
  dueAt: Date;
}

@Injectable()
export class RemindersService {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  async create({ text, at, inSeconds }: CreateReminderDto): Promise<{ id: string; dueAt: Date | null }> {
    const delay = inSeconds === undefined ? undefined : inSeconds * 1_000;
    const { id, dueAt } = await this.producer.schedule(sendReminder, { text }, { at, delay });
    return { id, dueAt };
  }

  /** Those that wait, in the order in which they are due. */
  async list(): Promise<Reminder[]> {
    const [due, scheduled] = await Promise.all([this.inspector.list('due'), this.inspector.list('scheduled')]);
    return [...due, ...scheduled].filter(isReminder).map(toReminder);
  }

  async find(id: string): Promise<Reminder> {
    return toReminder(await this.findJob(id));
  }

  async cancel(id: string): Promise<void> {
    const { state } = await this.findJob(id);
    if (await this.producer.cancel(id)) return;
    throw new ConflictException(`Reminder ${id} is not waiting any more; it was ${state}.`);
  }

  private async findJob(id: string): Promise<InspectedJob> {
    const job = await this.inspector.job(id);
    if (job && isReminder(job)) return job;
    throw new NotFoundException(`There is no reminder ${id}.`);
  }
}

function isReminder(job: InspectedJob): boolean {
  return job.name === sendReminder.name;
}

function toReminder({ id, payload, state, dueAt }: InspectedJob): Reminder {
  return { id, text: (payload as { text: string }).text, state, dueAt };
}
