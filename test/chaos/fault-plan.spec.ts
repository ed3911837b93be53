import { expect, it } from '@jest/globals';
import { planFaults } from './fault-plan.js';
import { planWork } from './work-plan.js';

it('a seed decides the faults', () => {
  expect(planFaults(7, 60)).toEqual(planFaults(7, 60));
  expect(planFaults(7, 60)).not.toEqual(planFaults(8, 60));
});

it('a seed and a name decide what a producer does', () => {
  const first = (seed: number, producer: string) => {
    const work = planWork(seed, producer);
    return Array.from({ length: 500 }, () => work.next().value);
  };
  expect(first(7, 'p1.1')).toEqual(first(7, 'p1.1'));
  expect(first(7, 'p1.1')).not.toEqual(first(7, 'p1.2'));
  expect(first(7, 'p1.1')).not.toEqual(first(8, 'p1.1'));
});

it('a target has one fault at a time, and all are over in time', () => {
  const plan = planFaults(3, 120);
  expect(plan.length).toBeGreaterThan(100);
  for (const [i, fault] of plan.entries()) {
    expect(fault.atMs + fault.lastsMs).toBeLessThanOrEqual(120_000);
    const next = plan.slice(i + 1).find(({ target }) => target === fault.target);
    if (next) expect(next.atMs).toBeGreaterThanOrEqual(fault.atMs + fault.lastsMs);
  }
});
