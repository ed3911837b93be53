import { expect, it } from '@jest/globals';
import { SystemClock } from '../../../../lib/core/clock.js';
import { resolveRunSettings } from '../../../../lib/core/options/run-settings.js';
import type { PayloadCodec } from '../../../../lib/core/payload/codec.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import type { Envelope } from '../../../../lib/store/job-store.js';
import { ClaimOpener } from '../../../../lib/worker/run/claim-opener.js';
import { NextSteps } from '../../../../lib/worker/run/next-steps.js';
import type { RunningJob } from '../../../../lib/worker/run/running-job.js';
import { SettlementBuilder } from '../../../../lib/worker/run/settlement-builder.js';
import { rest } from '../../../support/manual-clock.js';
import { claimOf, EVENTS } from '../../../support/session-by-hand.js';

function openerOf(...codecs: PayloadCodec[]): ClaimOpener {
  const leases = { renewal: () => undefined, heldUntil: () => Number.POSITIVE_INFINITY };
  const byName = { get: () => ({ settings: resolveRunSettings() }) };
  const context = { queue: 'q', leases, events: EVENTS, clock: new SystemClock() };
  const byId = new Map(codecs.map((codec) => [codec.id, codec]));
  return new ClaimOpener(
    context,
    byName,
    new Codecs(byId),
    new SettlementBuilder(byName, undefined, new NextSteps(new SystemClock(), 1_000)),
  );
}

/** A run of job 'a' whose envelope has these. */
function runAt(opener: ClaimOpener, envelope: Partial<Envelope>): RunningJob {
  const claim = claimOf('a');
  return opener.open({ ...claim, envelope: { ...(claim.envelope as Envelope), ...envelope } }, 0) as RunningJob;
}

it('a payload that nobody waits for may fail to be decoded, as when its job goes back before that', async () => {
  const opener = openerOf({ id: 'late', encode: () => '', decode: () => Promise.reject(new Error('no key')) });
  const run = runAt(opener, { codec: 'late' });
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  process.on('unhandledRejection', hear);
  expect(opener.readPayload(run)).toBeUndefined();
  await rest();
  process.off('unhandledRejection', hear);
  expect(unheard).toEqual([]);
  await expect(run.payload).rejects.toThrow('no key');
});

it('a payload that cannot be read ends its job, and no error escapes: no JSON is dead, what a codec cannot read now is retried', () => {
  const decode = () => {
    throw new Error('no key');
  };
  const opener = openerOf({ id: 'locked', encode: () => '', decode });
  expect(opener.readPayload(runAt(opener, { payload: '{"half' }))).toMatchObject({
    settlement: { id: 'a', transition: 'dead' },
    reason: 'invalid-payload',
  });
  expect(opener.readPayload(runAt(opener, { codec: 'locked' }))).toMatchObject({
    settlement: { id: 'a', transition: 'retry' },
    error: new Error('no key'),
  });
});
