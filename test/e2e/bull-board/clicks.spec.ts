import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { findChromium, startChromium } from '../../support/chromium.js';
import { DashboardProcess } from '../../support/dashboard-process.js';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// The board of docs/dashboard.md, as a person uses it in a browser.

if (!findChromium())
  process.stderr.write('No chromium on PATH, so nobody clicks on the dashboard: CONTRIBUTING.md says how to get it.\n');

const QUEUE = { queue: 'mail' };

(findChromium() ? describe : describe.skip)('on the dashboard, in Chromium', () => {
  let app: QueueApp;
  let dashboard: DashboardProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    app = await startApp([], { prefix: newPrefix(), role: 'producer' });
    [dashboard, browser] = await Promise.all([DashboardProcess.start(app.prefix, 'right'), startChromium()]);
    const { producer, inspector } = app;
    const send = (to: string, options = {}) =>
      producer.schedule('mail.send', { to, password: 'hunter2' }, { ...QUEUE, ...options });
    await send('ada@example.com');
    await send('ben@example.com');
    await send('cleo@slow.example', { id: 'welcome/1' });
    await send('dan@slow.example', { id: 'welcome/2' });
    await send('eve@example.com', { id: 'welcome/3', delay: '2h' });
    await send('finn@example.com', { id: 'welcome/4', delay: '1 day' });
    await producer.upsertRecurrence(
      { id: 'digest', ...QUEUE },
      'mail.send',
      { to: 'all@example.com' },
      { cron: '0 8 * * MON', timeZone: 'Europe/Paris' },
    );
    await until('all that is due has run', async () => {
      const { completed, dead } = await inspector.counts(QUEUE);
      return completed === 2 && dead === 2;
    });
    page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    await page.authenticate({ username: 'operator', password: 'right' });
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([dashboard?.stop(), stopApps()]);
  });

  it('opens a queue and its failed jobs, and shows each with its error', async () => {
    await page.goto(`${dashboard.url}/queues`);
    await page.locator('aside a[title=mail]').click();
    // The first page has links of the same address, which go away with it.
    await shows('welcome/1');
    await page.locator('main a[href="/queues/queue/mail?status=failed"]').click();
    await shows('welcome/1', 'welcome/2', '451 cleo@slow.example: greylisted, try again later');
    const picture = process.env.DASHBOARD_PICTURE;
    if (picture) await page.screenshot({ path: picture as `${string}.png` });
  });

  it('retries a failed job, which then completes', async () => {
    await press('welcome/1', 0);
    await confirm('Are you sure that you want to retry this job?');
    await until(
      'it has completed',
      async () => (await app.inspector.job({ id: 'welcome/1', ...QUEUE }))?.state === 'completed',
    );
    await shows('welcome/2');
    await hides('welcome/1');
  });

  it('deletes a delayed job, whose payload reads redacted', async () => {
    await page.locator('main a[href="/queues/queue/mail?status=delayed"]').click();
    await shows('welcome/3', 'welcome/4', 'eve@example.com', '[redacted]');
    expect(await page.content()).not.toContain('hunter2');
    await press('welcome/3', -1);
    await confirm('Are you sure that you want to clean this job?');
    await until('it is gone', async () => (await app.inspector.job({ id: 'welcome/3', ...QUEUE })) === null);
    await hides('welcome/3');
    expect((await app.inspector.job({ id: 'welcome/4', ...QUEUE }))!.state).toBe('scheduled');
  });

  it('says why a payload cannot be edited', async () => {
    await press('welcome/4', -2);
    await page.locator('[role=dialog] button[type=submit]').click();
    await shows('The payload of a job cannot be edited here');
    expect((await app.inspector.job({ id: 'welcome/4', ...QUEUE }))!.payload).toEqual({
      to: 'finn@example.com',
      password: 'hunter2',
    });
  });

  async function shows(...texts: string[]): Promise<void> {
    for (const text of texts) await until(`the page shows ${text}`, async () => (await shown()).includes(text));
  }

  const hides = (text: string) => until(`the page hides ${text}`, async () => !(await shown()).includes(text));

  /** What a person could read. As text, since no type here knows of a document. */
  const shown = () => page.evaluate('document.body.innerText') as Promise<string>;

  /** One of the buttons of a job, by its place. They have no names. */
  async function press(id: string, index: number): Promise<void> {
    const card = `//a[contains(@href, '${encodeURIComponent(id)}')]/ancestor::div[.//ul//button][1]`;
    const buttons = await page.$$(`::-p-xpath(${card}//ul[contains(@class, 'jobActions')]//button)`);
    await buttons.at(index)!.click();
  }

  async function confirm(question: string): Promise<void> {
    const dialog = await page.waitForSelector('[role=alertdialog]');
    expect(await dialog!.evaluate((element) => element.textContent)).toContain(question);
    await page.locator('[role=alertdialog] button').click();
    await page.waitForSelector('[role=alertdialog]', { hidden: true });
  }
});
