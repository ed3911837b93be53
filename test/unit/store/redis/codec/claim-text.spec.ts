import { expect, it } from '@jest/globals';
import { decodeClaim } from '../../../../../lib/store/redis/codec/claim-text.js';

it('a claim is read with its marks and what its run has reported; its tags are not', () => {
  expect(decodeClaim('1795523724860001cq 2 1 1795523724000 host-1 5::mail send\tred\tblue\n{"done":"1 2"}')).toEqual({
    fence: '1795523724860001',
    marks: 'cq',
    attempt: 2,
    crashes: 1,
    dueAtMs: 1795523724000,
    holder: 'host-1',
    lane: '5::mail send',
    progress: '{"done":"1 2"}',
  });
});

it('what a run has reported may hold the line breaks that JSON leaves as they are', () => {
  const progress = JSON.stringify('one\u2028two\u2029three');
  expect(decodeClaim(`7 2 1 1795523724000 host-1 5::work\tred\n${progress}`)).toMatchObject({
    fence: '7',
    attempt: 2,
    holder: 'host-1',
    progress,
  });
});

it.each(['', '7 1 0', '7 1 0 x w 5::work'])(
  'of none, and of one that somebody has damaged, nothing is known: %j',
  (text) => {
    expect(decodeClaim(text)).toEqual({
      fence: '0',
      marks: '',
      attempt: 0,
      crashes: 0,
      dueAtMs: 0,
      holder: '-',
      lane: '',
    });
  },
);
