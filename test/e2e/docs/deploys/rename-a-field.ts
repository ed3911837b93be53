import { Injectable } from '@nestjs/common';
import { IsInt, IsISO4217CurrencyCode } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
} from 'nestjs-redis-scheduled-queue';

export class Invoice {
  @IsInt()
  cents!: number;

  @IsISO4217CurrencyCode()
  currency!: string;
}

export const sendInvoice = defineScheduledJob('invoice.send', {
  payload: Invoice,
  version: 3,
  upgrade: {
    // Version 1 had { total } in euros, version 2 had { cents }.
    1: ({ total }) => ({ cents: Math.round(total * 100) }),
    2: (invoice) => ({ ...invoice, currency: 'EUR' }),
  },
});

@Injectable()
export class Invoices {
  readonly sent: string[] = [];

  @OnScheduledJob(sendInvoice)
  send({ cents, currency }: Invoice, { version }: ScheduledJob<Invoice>) {
    this.sent.push(`${cents} ${currency}, of version ${version}`);
  }
}
