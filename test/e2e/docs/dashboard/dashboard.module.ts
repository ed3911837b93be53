import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@bull-board/express';
import { type BullBoardInstance, BullBoardModule, InjectBullBoard } from '@bull-board/nestjs';
import { Module, type OnModuleInit } from '@nestjs/common';
import { ScheduledQueueInspector, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueAdapter } from 'nestjs-redis-scheduled-queue/bull-board';

/** Asks the browser for name and password. Without a password in the environment nobody comes in. */
function onlyOperators(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const password = process.env.DASHBOARD_PASSWORD;
  const expected = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
  if (password && isEqual(request.headers.authorization ?? '', expected)) next();
  else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="queues"' }).end();
}

/** Takes as long however much is right. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

@Module({
  imports: [
    BullBoardModule.forRoot({
      route: '/queues',
      adapter: ExpressAdapter,
      middleware: onlyOperators,
    }),
  ],
})
export class DashboardModule implements OnModuleInit {
  constructor(
    @InjectBullBoard() private readonly board: BullBoardInstance,
    private readonly inspector: ScheduledQueueInspector,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  onModuleInit(): void {
    const { inspector, producer } = this;
    for (const queue of ['default', 'mail'])
      this.board.addQueue(new ScheduledQueueAdapter(inspector, { queue, producer }));
  }
}
