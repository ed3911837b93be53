import { expect, it, jest } from '@jest/globals';
import { Standstill } from '../../../lib/terminus/standstill.js';

it('a probe after the shutdown starts no timer again', () => {
  jest.useFakeTimers();
  try {
    const standstill = new Standstill();
    standstill.watch();
    expect(jest.getTimerCount()).toBe(1);
    standstill.end();
    standstill.watch();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
