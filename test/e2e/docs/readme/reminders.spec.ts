import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import {
  overrideScheduledQueue,
  ScheduledQueueTester,
} from 'nestjs-redis-scheduled-queue/testing';
import { Reminders, RemindersModule, sendReminder } from './reminders.js';

it('reminds in 30 days, and not before', async () => {
  const builder = Test.createTestingModule({ imports: [RemindersModule] });
  const app = await overrideScheduledQueue(builder).compile();
  await app.init();
  const tester = app.get(ScheduledQueueTester);

  await app.get(Reminders).remind('ada@example.com', '30 days');
  await tester.advance('29 days');
  expect(tester.runs(sendReminder)).toHaveLength(0);
  await tester.advance('1 day');
  expect(tester.runs(sendReminder)).toHaveLength(1);
  await app.close();
});
