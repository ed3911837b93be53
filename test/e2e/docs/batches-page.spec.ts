import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { type Mail, MailService, Mails, sendMail } from './batches/mails.js';

afterEach(stopApps);

it('many mails go with one request, and one that is refused is tried again alone', async () => {
  const requests: string[][] = [];
  const service: MailService = {
    send: async (mails: Mail[]) => {
      requests.push(mails.map(({ to }) => to));
      return mails.map(({ to }) => (to === 'nobody' ? new Error('no such address') : undefined));
    },
  };
  const providers = [Mails, { provide: MailService, useValue: service }];
  const { producer, inspector } = await startApp(providers, { queues: { default: { keepCompleted: 10 } } });
  const all = ['ada', 'bob', 'nobody'];
  const options = { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 100 } } as const;
  await producer.scheduleMany(
    all.map((to) => ({ job: sendMail, payload: { to, text: 'Hello' }, options: { ...options, id: to } })),
  );
  const [ada, bob, nobody] = await Promise.all(
    all.map((id) =>
      until(`${id} has ended`, async () => {
        const job = await inspector.job(id);
        return job?.endedAt && job;
      }),
    ),
  );
  expect(requests.map((each) => each.toSorted())).toEqual([all, ['nobody']]);
  expect([ada, bob].map((job) => [job!.state, job!.result])).toEqual([
    ['completed', 'sent at attempt 1'],
    ['completed', 'sent at attempt 1'],
  ]);
  expect(nobody).toMatchObject({ state: 'dead', attempts: 2, failures: [{ message: 'no such address' }, {}] });
});
