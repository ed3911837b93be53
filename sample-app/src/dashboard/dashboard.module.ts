import { ExpressAdapter } from '@bull-board/express';
import { type BullBoardInstance, BullBoardModule, InjectBullBoard } from '@bull-board/nestjs';
import { Module, type OnModuleInit } from '@nestjs/common';
import { ScheduledQueueAdapter } from '../../../lib/bull-board/index.js';
import { ScheduledQueueInspector, ScheduledQueueProducer } from '../../../lib/index.js';
import { onlyOperators } from './password.js';

/** bull-board at /queues. */
@Module({
  imports: [BullBoardModule.forRoot({ route: '/queues', adapter: ExpressAdapter, middleware: onlyOperators })],
})
export class DashboardModule implements OnModuleInit {
  constructor(
    @InjectBullBoard() private readonly board: BullBoardInstance,
    private readonly inspector: ScheduledQueueInspector,
    private readonly producer: ScheduledQueueProducer,
  ) {}

  onModuleInit(): void {
    const { inspector, producer } = this;
    this.board.addQueue(new ScheduledQueueAdapter(inspector, { queue: 'default', producer }));
  }
}
