import { Injectable } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsDate, IsEmail } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export class Invitation {
  @IsEmail()
  email!: string;

  @IsDate()
  @Type(() => Date)
  validUntil!: Date;
}

const invite = defineScheduledJob('invitation.send', { payload: Invitation });

@Injectable()
export class Invitations {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  send(email: string, validUntil: Date) {
    return this.producer.dispatch(invite, { email, validUntil });
  }

  @OnScheduledJob(invite)
  mail(invitation: Invitation) {
    const until = invitation.validUntil.toISOString();
    this.sent.push(`${invitation.email} until ${until}`);
  }
}
