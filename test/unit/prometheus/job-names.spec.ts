import { expect, it } from '@jest/globals';
import { jobNames } from '../../../lib/prometheus/job-names.js';

const labels = (names: ReturnType<typeof jobNames>, ...asked: string[]) => asked.map((name) => names.labelOf(name));

it('the first names met keep their label, and the rest read other for ever', () => {
  const names = jobNames(2, new Set());
  expect(labels(names, 'a', 'b', 'c', 'a', 'c', 'd', 'b')).toEqual(['a', 'b', 'other', 'a', 'other', 'other', 'b']);
});

it('a job named other is one of the others, and takes no place', () => {
  expect(labels(jobNames(1, new Set()), 'other', 'a', 'b')).toEqual(['other', 'a', 'other']);
});

it('an event that tells no name reads nothing, and takes no place', () => {
  expect(labels(jobNames(1, new Set()), '', 'a', '')).toEqual(['', 'a', '']);
  expect(labels(jobNames(['a'], new Set()), '', 'a', 'b')).toEqual(['', 'a', 'other']);
  expect(labels(jobNames(false, new Set()), '', 'a')).toEqual(['', '']);
});

it('those who count by number share the names of the process', () => {
  const met = new Set<string>();
  const [one, two] = [jobNames(2, met), jobNames(2, met)];
  expect(labels(one, 'a')).toEqual(['a']);
  expect(labels(two, 'b', 'c', 'a')).toEqual(['b', 'other', 'a']);
  expect(labels(one, 'b', 'd')).toEqual(['b', 'other']);
});

it('with 0 all names read other', () => {
  expect(labels(jobNames(0, new Set()), 'a', 'b')).toEqual(['other', 'other']);
});
