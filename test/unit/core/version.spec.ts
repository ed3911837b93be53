import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { VERSION } from '../../../lib/core/version.js';

it('a worker tells the version of the package that it runs', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});
