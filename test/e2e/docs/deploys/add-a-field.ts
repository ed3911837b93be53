import { Injectable } from '@nestjs/common';
import { IsEmail, IsOptional, IsString } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
} from 'nestjs-redis-scheduled-queue';

export class Mail {
  @IsEmail()
  to!: string;

  /** Since May. Jobs that were scheduled before have none. */
  @IsOptional()
  @IsString()
  language?: string;
}

export const sendMail = defineScheduledJob('mail.send', { payload: Mail });

@Injectable()
export class Mails {
  readonly sent: string[] = [];

  @OnScheduledJob(sendMail)
  send({ to, language = 'en' }: Mail) {
    this.sent.push(`${to} (${language})`);
  }
}
