import { expect, it } from '@jest/globals';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import type { MessageLink } from '../../../../../lib/store/redis/link/redis-link.js';
import type { ServerClock } from '../../../../../lib/store/redis/link/server-clock.js';
import type { Hear } from '../../../../../lib/store/redis/link/wake-listener.js';
import { HintChannel } from '../../../../../lib/store/redis/session/hint-channel.js';

/** Redis' time when a message is heard. */
const NOW = 1_798_794_000_000.5;
/** As Redis writes what it has said, in ms and µs, so many µs before now. */
const before = (us: number) => (NOW - us / 1_000).toFixed(3);

function openChannel() {
  const looks: number[] = [];
  let hear: Hear = () => {};
  const listener = { hears: () => true, listen: (_: string, it: Hear) => (hear = it), unlisten() {} };
  const clock = { known: true, until: (atMs: number) => atMs - NOW };
  const channel = new HintChannel(
    listener as unknown as MessageLink,
    clock as unknown as ServerClock,
    queueKeys('sq', 'mail'),
    'w',
  );
  channel.listen({ look: (inMs) => looks.push(inMs), cancel() {} });
  return { channel, looks, hear: (message: string) => hear(message) };
}

it('a message looks at once, or when the job is due', () => {
  const { looks, hear } = openChannel();
  hear(before(300));
  hear(String(NOW + 2_000));
  expect(looks).toEqual([0, 2_000]);
});

it('a message that is older than the last turn looks a tenth of a second later', () => {
  const { channel, looks, hear } = openChannel();
  channel.turnGoesOut();
  channel.turnIsBack(Number(before(200)));
  hear(before(300));
  hear(before(100));
  expect(looks).toEqual([100, 0]);
});

it('a message in whole milliseconds may tell of what came after a turn in the same one', () => {
  const { channel, looks, hear } = openChannel();
  channel.turnGoesOut();
  channel.turnIsBack(Number(before(200)));
  hear(String(Math.floor(NOW)));
  expect(looks).toEqual([0]);
});

it('what is heard while a turn is under way waits for the answer, which tells what the turn has seen', () => {
  const { channel, looks, hear } = openChannel();
  channel.turnGoesOut();
  hear(before(300));
  hear(before(100));
  expect(looks).toEqual([]);
  channel.turnIsBack(Number(before(200)));
  expect(looks).toEqual([100, 0]);
});

it('what is heard while a turn fails is told', () => {
  const { channel, looks, hear } = openChannel();
  channel.turnGoesOut();
  hear(before(300));
  channel.turnIsBack();
  expect(looks).toEqual([0]);
});

it("after Redis' clock was set back, the turn that came last says what has been seen", () => {
  const { channel, looks, hear } = openChannel();
  for (const seen of [before(-60_000_000), before(200)]) {
    channel.turnGoesOut();
    channel.turnIsBack(Number(seen));
  }
  hear(before(100));
  expect(looks).toEqual([0]);
});
